package pgwire_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgproto3/v2"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/sql/pgwire"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is a server on a port of its own over a store in memory.
type server struct {
	*pgwire.Server
	addr  string
	pipes *pipes // set: the server listens here
}

func start(t testing.TB, o sql.Options) *server { return serve(t, o, nil) }

// serve is start with something to be done to the server before it listens.
func serve(t testing.TB, o sql.Options, prepare func(*pgwire.Server)) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return serveOn(t, l, o, prepare)
}

func serveOn(t testing.TB, l net.Listener, o sql.Options, prepare func(*pgwire.Server)) *server {
	t.Helper()
	ctx := context.Background()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	kv := memkv.New(memkv.Options{})
	store, err := txn.Open(ctx, kv, txn.Options{Logger: o.Logger})
	require.NoError(t, err)
	cat, err := catalog.Open(ctx, store, catalog.WithPrograms(sql.Programs()))
	require.NoError(t, err)
	e := sql.NewEngine(store, cat, o)
	s := &server{Server: pgwire.NewServer(e), addr: l.Addr().String()}
	s.pipes, _ = l.(*pipes)
	if prepare != nil {
		prepare(s.Server)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.ErrorIs(t, <-done, pgwire.ErrServerClosed)
		e.Close()
		require.NoError(t, store.Close())
		require.NoError(t, kv.Close())
	})
	return s
}

// client is the other end of a connection.
type client struct {
	t           testing.TB
	conn        net.Conn
	front       *pgproto3.Frontend
	pid, secret uint32
}

func (s *server) dial(t testing.TB) *client {
	t.Helper()
	conn, err := s.connect()
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return &client{t: t, conn: conn,
		front: pgproto3.NewFrontend(pgproto3.NewChunkReader(bufio.NewReader(conn)), conn)}
}

func (s *server) connect() (net.Conn, error) {
	if s.pipes != nil {
		return s.pipes.connect(), nil
	}
	return net.Dial("tcp", s.addr)
}

// login is dial and a session.
func (s *server) login(t testing.TB, params map[string]string) *client {
	t.Helper()
	c := s.dial(t)
	p := map[string]string{"user": "postgres"}
	for k, v := range params {
		p[k] = v
	}
	c.send(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersionNumber, Parameters: p})
	for {
		switch m := c.receive().(type) {
		case *pgproto3.BackendKeyData:
			c.pid, c.secret = m.ProcessID, m.SecretKey
		case *pgproto3.ErrorResponse:
			t.Fatalf("login: %s", m.Message)
		case *pgproto3.ReadyForQuery:
			return c
		}
	}
}

func (c *client) send(ms ...pgproto3.FrontendMessage) {
	c.t.Helper()
	var buf []byte
	for _, m := range ms {
		var err error
		buf, err = m.Encode(buf)
		require.NoError(c.t, err)
	}
	_, err := c.conn.Write(buf)
	require.NoError(c.t, err)
}

func (c *client) receive() pgproto3.BackendMessage {
	c.t.Helper()
	m, err := c.front.Receive()
	require.NoError(c.t, err)
	return m
}

// untilReady collects messages up to ReadyForQuery as lines of JSON.
func (c *client) until(last string) string {
	var b strings.Builder
	for {
		m := c.receive()
		line := describe(c.t, m)
		fmt.Fprintln(&b, line)
		if strings.Contains(line, `"Type":"`+last+`"`) {
			return b.String()
		}
	}
}

// describe is a message as JSON without what is empty.
func describe(t testing.TB, m pgproto3.BackendMessage) string {
	raw, err := json.Marshal(m)
	require.NoError(t, err)
	var all map[string]any
	require.NoError(t, json.Unmarshal(raw, &all))
	for _, where := range []string{"File", "Line", "Routine"} { // in PostgreSQL's source
		delete(all, where)
	}
	for k, v := range all {
		switch x := v.(type) {
		case nil:
			delete(all, k)
		case string:
			if x == "" {
				delete(all, k)
			}
		case float64:
			if x == 0 && k != "TableOID" {
				delete(all, k)
			}
		case []any:
			if k == "Fields" {
				all[k] = fields(x)
			}
		}
	}
	out, err := json.Marshal(all)
	require.NoError(t, err)
	return string(out)
}

// fields shortens a RowDescription to name:type/format.
func fields(fs []any) []string {
	out := make([]string, len(fs))
	for i, f := range fs {
		m := f.(map[string]any)
		out[i] = fmt.Sprintf("%v:%v/%v", m["Name"], m["DataTypeOID"], m["Format"])
	}
	return out
}

// message makes a frontend message from its type and JSON fields: `Parse {"Query":"SELECT 1"}`.
func message(t testing.TB, line string) pgproto3.FrontendMessage {
	name, fields, _ := strings.Cut(line, " ")
	kinds := map[string]pgproto3.FrontendMessage{
		"Query": &pgproto3.Query{}, "Parse": &pgproto3.Parse{}, "Bind": &pgproto3.Bind{},
		"Describe": &pgproto3.Describe{},
		"Execute":  &pgproto3.Execute{}, "Close": &pgproto3.Close{}, "Sync": &pgproto3.Sync{},
		"Flush":    &pgproto3.Flush{},
		"CopyData": &pgproto3.CopyData{}, "CopyDone": &pgproto3.CopyDone{},
		"CopyFail":  &pgproto3.CopyFail{},
		"Terminate": &pgproto3.Terminate{}, "FunctionCall": &pgproto3.FunctionCall{},
	}
	m := kinds[name]
	require.NotNil(t, m, "unknown message %q", name)
	if fields == "" {
		return m
	}
	switch m := m.(type) {
	case *pgproto3.Describe: // its JSON has the object type as a string
		m.ObjectType, m.Name = fields[0], strings.TrimSpace(fields[1:])
		return m
	case *pgproto3.Close:
		m.ObjectType, m.Name = fields[0], strings.TrimSpace(fields[1:])
		return m
	case *pgproto3.CopyData:
		m.Data = []byte(strings.ReplaceAll(fields, `\n`, "\n"))
		return m
	}
	require.NoError(t, json.Unmarshal([]byte(fields), m))
	return m
}

// Scripts: "send" writes messages, a line each, all at once; "receive until=ReadyForQuery" shows
// what comes back. "login" starts another session under a name. With MINIDB_TEST_POSTGRES set to
// psql's connection arguments (-h HOST -p PORT), PostgreSQL answers instead: -rewrite writes what
// it says, and a plain run compares.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		login := loginTo(t)
		clients := map[string]*client{}
		of := func(d *datadriven.TestData) *client {
			name := ""
			d.MaybeScanArgs(t, "c", &name)
			if clients[name] == nil {
				clients[name] = login()
			}
			return clients[name]
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			c := of(d)
			switch d.Cmd {
			case "send":
				var ms []pgproto3.FrontendMessage
				for _, line := range strings.Split(d.Input, "\n") {
					ms = append(ms, message(t, line))
				}
				c.send(ms...)
				return ""
			case "receive":
				last := "ReadyForQuery"
				d.MaybeScanArgs(t, "until", &last)
				return c.until(last)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

// loginTo returns what logs in at a new server, or at a new database of PostgreSQL's.
func loginTo(t *testing.T) func() *client {
	args := strings.Fields(os.Getenv("MINIDB_TEST_POSTGRES"))
	if len(args) == 0 {
		s := start(t, sql.Options{})
		return func() *client { return s.login(t, nil) }
	}
	host, port := "localhost", "5432"
	for i := 0; i+1 < len(args); i++ {
		switch args[i] {
		case "-h":
			host = args[i+1]
		case "-p":
			port = args[i+1]
		}
	}
	s := &server{addr: net.JoinHostPort(host, port)}
	name := fmt.Sprintf("pgwire_%d", time.Now().UnixNano())
	postgres := s.login(t, nil)
	postgres.send(&pgproto3.Query{String: "CREATE DATABASE " + name})
	require.NotContains(t, postgres.until("ReadyForQuery"), "ErrorResponse")
	t.Cleanup(func() {
		postgres.send(&pgproto3.Query{String: "DROP DATABASE " + name + " WITH (FORCE)"})
		require.NotContains(t, postgres.until("ReadyForQuery"), "ErrorResponse")
	})
	return func() *client { return s.login(t, map[string]string{"database": name}) }
}
