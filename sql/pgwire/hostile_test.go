package pgwire_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgproto3/v2"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/sql/pgwire"
)

// frame is a message with its length, or with a wrong one.
func frame(typ byte, body string) []byte {
	b := append([]byte{typ}, binary.BigEndian.AppendUint32(nil, uint32(len(body)+4))...)
	return append(b, body...)
}

func lying(typ byte, length uint32, body string) []byte {
	b := append([]byte{typ}, binary.BigEndian.AppendUint32(nil, length)...)
	return append(b, body...)
}

// fatal reads to the end of the connection and returns the code of the FATAL error in it, if any.
func (c *client) fatal() string {
	code := ""
	for {
		m, err := c.front.Receive()
		if err != nil {
			return code
		}
		if e, ok := m.(*pgproto3.ErrorResponse); ok && e.Severity == "FATAL" {
			code = e.Code
		}
	}
}

var hostileFrames = map[string][]byte{
	"empty Query":                  frame('Q', ""),
	"Query without its zero":       frame('Q', "SELECT 1"),
	"Query with two":               frame('Q', "SELECT 1\x00\x00"),
	"Query longer than any":        lying('Q', 1<<31-1, "SELECT"),
	"negative length":              lying('Q', math.MaxUint32, "SELECT"),
	"length without itself":        lying('Q', 3, ""),
	"empty Parse":                  frame('P', ""),
	"Parse with too few types":     frame('P', "\x00\x00\x00\x05\x00\x00\x00\x17"),
	"Parse with more behind":       frame('P', "\x00\x00\x00\x00more"),
	"empty Bind":                   frame('B', ""),
	"Bind with a huge parameter":   frame('B', "\x00\x00\x00\x00\x00\x01\x7f\xff\xff\xff"),
	"Bind with a negative one":     frame('B', "\x00\x00\x00\x00\x00\x01\xff\xff\xff\xfe\x00\x00"),
	"Bind with 65535 of nothing":   frame('B', "\x00\x00\x00\x00\xff\xff"),
	"Bind with formats cut":        frame('B', "\x00\x00\xff\xff\x00"),
	"Bind without result formats":  frame('B', "\x00\x00\x00\x00\x00\x00"),
	"empty Describe":               frame('D', ""),
	"Describe of a strange thing":  frame('D', "X\x00"),
	"Describe without its zero":    frame('D', "Sabc"),
	"empty Close":                  frame('C', ""),
	"empty Execute":                frame('E', ""),
	"Execute without a limit":      frame('E', "\x00\x00\x00"),
	"Sync with a body":             frame('S', "x"),
	"Flush with a body":            frame('H', "x"),
	"Terminate with a body":        frame('X', "x"),
	"CopyDone with a body":         frame('c', "x"),
	"CopyFail without its zero":    frame('f', "x"),
	"a password nobody asked for":  frame('p', "secret\x00"),
	"an unknown type":              frame('~', ""),
	"a zero type":                  frame(0, ""),
	"a long name":                  lying('D', 1<<20, "S"),
	"HTTP":                         []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
	"text that ends in the middle": lying('Q', 100, "SELECT"),
}

func TestHostileFramesEndTheirConnectionOnly(t *testing.T) {
	s := start(t, sql.Options{})
	witness := s.login(t, nil)
	for name, bytes := range hostileFrames {
		t.Run(name, func(t *testing.T) {
			c := s.login(t, nil)
			_, err := c.conn.Write(bytes)
			require.NoError(t, err)
			require.NoError(t, c.conn.(interface{ CloseWrite() error }).CloseWrite())
			code := c.fatal()
			require.Contains(t, []string{"08P01", ""}, code)
			witness.send(&pgproto3.Query{String: "SELECT 1"})
			require.Contains(t, witness.until("ReadyForQuery"), "SELECT 1")
		})
	}
}

func TestBytesThatAreNoText(t *testing.T) {
	s := start(t, sql.Options{})
	c := s.login(t, nil)
	c.send(&pgproto3.Query{String: "SELECT '\xff\xfe'"})
	require.Contains(t, c.until("ReadyForQuery"), "22021")
	c.send(&pgproto3.Parse{Query: "SELECT $1::text"}, &pgproto3.Bind{Parameters: [][]byte{{0xc3}}},
		&pgproto3.Sync{})
	require.Contains(t, c.until("ReadyForQuery"), "22021")
}

func TestDeepAndLongStatementsAreBounded(t *testing.T) {
	s := start(t, sql.Options{})
	c := s.login(t, nil)
	for _, text := range []string{
		"SELECT " + strings.Repeat("(", 100_000) + "1" + strings.Repeat(")", 100_000),
		"SELECT " + strings.Repeat("- ", 100_000) + "1",
		"SELECT " + strings.Repeat("1 + ", 200_000) + "1",
		"SELECT " + strings.Repeat("NOT ", 100_000) + "true",
		strings.Repeat("SELECT (", 50_000),
	} {
		c.send(&pgproto3.Query{String: text})
		require.Contains(t, c.until("ReadyForQuery"), "ErrorResponse")
	}
	c.send(&pgproto3.Query{String: "SELECT 1"})
	require.Contains(t, c.until("ReadyForQuery"), "CommandComplete")
}

func startup(code uint32, rest string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(8+len(rest)))
	return append(binary.BigEndian.AppendUint32(b, code), rest...)
}

func TestStartup(t *testing.T) {
	s := start(t, sql.Options{})
	for _, c := range []struct {
		name, code string
		packet     []byte
	}{
		{"unknown database", "3D000", startup(196608, "user\x00u\x00database\x00nope\x00\x00")},
		{"database named like the user", "3D000", startup(196608, "user\x00u\x00\x00")},
		{"no user", "28000", startup(196608, "database\x00postgres\x00\x00")},
		{"protocol 2", "0A000", startup(2<<16, "user\x00u\x00\x00")},
		{"no end", "08P01", startup(196608, "user\x00u\x00database")},
		{"more behind the end", "08P01", startup(196608, "user\x00u\x00\x00x")},
		{"bad setting", "42704", startup(196608, "user\x00postgres\x00nope\x001\x00\x00")},
		{"bad encoding", "0A000",
			startup(196608, "user\x00postgres\x00client_encoding\x00LATIN1\x00\x00")},
		{"bad option", "42601", startup(196608, "user\x00postgres\x00options\x00-z\x00\x00")},
		{"replication", "0A000",
			startup(196608, "user\x00postgres\x00replication\x00database\x00\x00")},
		{"too long", "08P01", binary.BigEndian.AppendUint32(nil, 1<<20)},
		{"too short", "08P01", binary.BigEndian.AppendUint32(nil, 4)},
		{"negative", "08P01", binary.BigEndian.AppendUint32(nil, math.MaxUint32)},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := s.dial(t)
			_, err := k.conn.Write(c.packet)
			require.NoError(t, err)
			require.Equal(t, c.code, k.fatal())
		})
	}
}

func TestSSLAndGSSAreDeclined(t *testing.T) {
	s := start(t, sql.Options{})
	c := s.dial(t)
	for _, code := range []uint32{80877103, 80877104} {
		_, err := c.conn.Write(startup(code, ""))
		require.NoError(t, err)
		answer := make([]byte, 1)
		_, err = io.ReadFull(c.conn, answer)
		require.NoError(t, err)
		require.Equal(t, "N", string(answer))
	}
	c.send(&pgproto3.StartupMessage{ProtocolVersion: 196608,
		Parameters: map[string]string{"user": "postgres"}})
	got := c.until("ReadyForQuery")
	require.Equal(t, 13, strings.Count(got, "ParameterStatus"))
	require.Contains(t, got, `"Name":"server_version","Type":"ParameterStatus","Value":"15.18"`)
}

func TestStartupParametersAreSettings(t *testing.T) {
	s := start(t, sql.Options{})
	c := s.login(t, map[string]string{
		"options":          `-c statement_timeout=5s --search-path=a,\ b -cextra_float_digits=2`,
		"application_name": "me", "client_encoding": "'utf-8'", "DateStyle": "german"})
	_, port, err := net.SplitHostPort(c.conn.RemoteAddr().String())
	require.NoError(t, err)
	for name, want := range map[string]string{"port": port, "statement_timeout": "5s",
		"search_path": "a, b", "extra_float_digits": "2",
		"application_name": "me", "client_encoding": "UTF8", "datestyle": "German, DMY"} {
		c.send(&pgproto3.Query{String: "SHOW " + name})
		require.Contains(t, c.until("ReadyForQuery"), `"text":"`+want+`"`)
	}
	c.send(&pgproto3.Query{String: "SET application_name = 'other'; RESET application_name; SHOW " +
		"application_name"})
	require.Contains(t, c.until("ReadyForQuery"), `"text":"me"`)
}

func TestALaterMinorVersionIsNegotiated(t *testing.T) {
	s := start(t, sql.Options{})
	c := s.dial(t)
	_, err := c.conn.Write(startup(196608+2, "user\x00postgres\x00_pq_.future\x00x\x00\x00"))
	require.NoError(t, err)
	head := make([]byte, 5)
	_, err = io.ReadFull(c.conn, head)
	require.NoError(t, err)
	require.Equal(t, byte('v'), head[0])
	body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
	_, err = io.ReadFull(c.conn, body)
	require.NoError(t, err)
	require.True(t, bytes.HasSuffix(body, []byte("_pq_.future\x00")))
	c.until("ReadyForQuery")
}

func TestTooManyConnections(t *testing.T) {
	s := start(t, sql.Options{MaxConnections: 2})
	a, _ := s.login(t, nil), s.login(t, nil)
	c := s.dial(t)
	c.send(&pgproto3.StartupMessage{ProtocolVersion: 196608,
		Parameters: map[string]string{"user": "postgres"}})
	require.Equal(t, "53300", c.fatal())
	a.send(&pgproto3.Query{String: "SELECT 1"})
	require.Contains(t, a.until("ReadyForQuery"), "CommandComplete")
}

// requestCancel sends a CancelRequest for what a client runs, on a connection of its own.
func (s *server) requestCancel(t *testing.T, c *client) *client {
	k := s.dial(t)
	_, err := k.conn.Write(startup(80877102,
		string(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, c.pid), c.secret))))
	require.NoError(t, err)
	return k
}

// TestACancelRequestOvertakesItsStatement: clients that send both at once send the statement first,
// and nothing makes a server read it first.
func TestACancelRequestOvertakesItsStatement(t *testing.T) {
	s := serve(t, sql.Options{}, func(s *pgwire.Server) { s.Overtake(time.Hour) })
	c := s.login(t, nil)
	k := s.requestCancel(t, c)
	c.send(&pgproto3.Query{String: "SELECT pg_sleep(3600)"})
	require.Contains(t, c.until("ReadyForQuery"), "ErrorResponse")
	_, err := k.conn.Read(make([]byte, 1))
	require.Equal(t, io.EOF, err)
}

// TestACancelRequestOfNothingEnds, and the next statement is not its.
func TestACancelRequestOfNothingEnds(t *testing.T) {
	s := start(t, sql.Options{})
	c := s.login(t, nil)
	_, err := s.requestCancel(t, c).conn.Read(make([]byte, 1))
	require.Equal(t, io.EOF, err)
	c.send(&pgproto3.Query{String: "SELECT 1"})
	require.Contains(t, c.until("ReadyForQuery"), "CommandComplete")
}

func TestCancelRequest(t *testing.T) {
	s := start(t, sql.Options{})
	c := s.login(t, nil)
	c.send(&pgproto3.Query{String: "SELECT * FROM generate_series(1, 1000000000)"})
	c.until("DataRow") // it runs
	s.requestCancel(t, c)
	for {
		if e, ok := c.receive().(*pgproto3.ErrorResponse); ok {
			require.Equal(t, "57014", e.Code)
			break
		}
	}
	c.until("ReadyForQuery")
}

func TestShutdownLetsStatementsFinish(t *testing.T) {
	s := start(t, sql.Options{})
	idle, busy := s.login(t, nil), s.login(t, nil)
	busy.send(&pgproto3.Query{String: "COPY (SELECT * FROM generate_series(1, 1000000)) TO STDOUT"})
	busy.until("CopyOutResponse")
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		require.NoError(t, s.Shutdown(context.Background()))
	}()
	require.Equal(t, "57P01", idle.fatal())
	done := false
	for !done {
		if m, ok := busy.receive().(*pgproto3.CommandComplete); ok {
			require.Equal(t, "COPY 1000000", string(m.CommandTag))
			done = true
		}
	}
	require.Equal(t, "57P01", busy.fatal())
	wg.Wait()
}

func TestCloseCancelsWhatRuns(t *testing.T) {
	s := start(t, sql.Options{})
	c := s.login(t, nil)
	c.send(&pgproto3.Query{String: "SELECT * FROM generate_series(1, 1000000000)"})
	c.until("DataRow")
	require.NoError(t, s.Close())
}

func TestIdleSessionsEnd(t *testing.T) {
	s := start(t, sql.Options{})
	c := s.login(t, nil)
	c.send(&pgproto3.Query{String: "SET idle_in_transaction_session_timeout = 1; BEGIN"})
	require.Equal(t, "25P03", c.fatal())
	c = s.login(t, nil)
	c.send(&pgproto3.Query{String: "SET idle_session_timeout = 1"})
	require.Equal(t, "57P05", c.fatal())
}
