package pgwire_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgproto3/v2"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/sql/pgwire"
)

// journal is a log that a test reads.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

func (j *journal) logger() *slog.Logger { return slog.New(slog.NewTextHandler(j, nil)) }

// refusal logs in as a user and returns the error that comes instead of a session.
func (s *server) refusal(t testing.TB, user string) *pgproto3.ErrorResponse {
	t.Helper()
	c := s.dial(t)
	c.send(&pgproto3.StartupMessage{ProtocolVersion: 196608,
		Parameters: map[string]string{"user": user, "database": "postgres"}})
	for {
		switch m := c.receive().(type) {
		case *pgproto3.ErrorResponse:
			return m
		case *pgproto3.ReadyForQuery:
			t.Fatal("a session began")
		}
	}
}

// ended reads to the end of the connection.
func (c *client) ended() {
	c.t.Helper()
	for {
		if _, err := c.front.Receive(); err != nil {
			require.NotErrorIs(c.t, err, os.ErrDeadlineExceeded)
			return
		}
	}
}

// O6: clients that connect and stay silent keep no other client out. Each newcomer takes the place
// of the oldest.
func TestSilentConnectionsMakeRoom(t *testing.T) {
	var log journal
	s := start(t, sql.Options{MaxConnections: 3, Logger: log.logger()})
	old := s.login(t, nil)
	var silent []*client
	for range s.MaxSilent() + 20 {
		silent = append(silent, s.dial(t))
	}
	half := s.dial(t)
	_, err := half.conn.Write(startup(196608, "user\x00postgres\x00\x00")[:9])
	require.NoError(t, err)
	for range 30 {
		c := s.login(t, nil)
		require.Contains(t, c.query("SELECT 1"), "CommandComplete")
		c.send(&pgproto3.Terminate{})
		c.ended()
	}
	require.Contains(t, old.query("SELECT 1"), "CommandComplete")
	for _, c := range silent[:20] {
		c.ended()
	}
	require.Contains(t, log.String(), "they sent no start-up packet")
}

// A client that does not send its start-up packet in time is cut off, and leaves a log line.
func TestTheStartupPacketHasALimit(t *testing.T) {
	var log journal
	s := serve(t, sql.Options{Logger: log.logger()},
		func(s *pgwire.Server) { s.Limit(10*time.Millisecond, time.Minute, time.Minute) })
	for _, sent := range []string{"", "\x00\x00\x00\x30",
		"\x00\x00\x00\x30\x00\x03\x00\x00user\x00"} {
		c := s.dial(t)
		_, err := c.conn.Write([]byte(sent))
		require.NoError(t, err)
		c.ended()
	}
	require.Contains(t, log.String(), "no start-up packet in time")
}

// O16: a message that has begun must go on, but a session may be idle for as long as it likes.
func TestHalfAMessageEndsItsConnection(t *testing.T) {
	var log journal
	s := serve(t, sql.Options{Logger: log.logger()},
		func(s *pgwire.Server) { s.Limit(time.Minute, 10*time.Millisecond, time.Minute) })
	idle := s.login(t, nil)
	for name, b := range map[string][]byte{
		"a type": []byte("Q"), "half a length": []byte("Q\x00\x00"), "half a body": lying('Q', 100,
			"SELECT"),
		"half of a long body": lying('P', 1<<20, strings.Repeat("x", 100_000)),
	} {
		c := s.login(t, nil)
		c.query("BEGIN")
		_, err := c.conn.Write(b)
		require.NoError(t, err)
		require.Equal(t, "08P01", c.fatal(), name)
	}
	c := s.login(t, nil)
	c.send(&pgproto3.Query{String: "CREATE TABLE t (x text); COPY t FROM STDIN"})
	c.until("CopyInResponse")
	_, err := c.conn.Write(lying('d', 100, "half"))
	require.NoError(t, err)
	require.Equal(t, "08P01", c.fatal())
	require.Contains(t, idle.query("SELECT 1"), "CommandComplete")
	require.Contains(t, log.String(), "did not complete its message")
}

// O18: a client that is still sending a message which is too long reads why it is refused.
func TestAnOverlongMessageIsRefusedInWords(t *testing.T) {
	s := start(t, sql.Options{})
	c := s.login(t, nil)
	_, err := c.conn.Write(lying('Q', 100<<20, ""))
	require.NoError(t, err)
	piece := make([]byte, 1<<20)
	for range 100 {
		_, err := c.conn.Write(piece)
		require.NoError(t, err)
	}
	e, ok := c.receive().(*pgproto3.ErrorResponse)
	require.True(t, ok)
	require.Equal(t, "FATAL 08P01 invalid message length for message type \"Q\"",
		e.Severity+" "+e.Code+" "+e.Message)
	require.Contains(t, e.Detail, "104857596 bytes")
}

// O12: names that are no UTF-8 are refused before others can see them.
func TestNamesAreUTF8(t *testing.T) {
	s := start(t, sql.Options{})
	for _, packet := range []string{"user\x00\xff\xfe\x00database\x00postgres\x00\x00",
		"user\x00postgres\x00database\x00p\xe4\x00\x00",
		"user\x00postgres\x00search_path\x00\xff\x00\x00",
		"user\x00postgres\x00options\x00-c search_path=\xff\x00\x00"} {
		c := s.dial(t)
		_, err := c.conn.Write(startup(196608, packet))
		require.NoError(t, err)
		require.Equal(t, "22021", c.fatal(), "%q", packet)
	}
	c := s.login(t, map[string]string{"application_name": "caf\xe9"})
	require.Contains(t, c.query("SHOW application_name"), `"text":"caf?"`)
}

// The limits are settings, the last connections are for the superuser, and a refusal is logged.
func TestReservedConnections(t *testing.T) {
	var log journal
	s := start(t, sql.Options{MaxConnections: 4, ReservedConnections: 2, Logger: log.logger()})
	app := map[string]string{"user": "app", "database": "postgres"}
	first := s.login(t, app)
	require.Contains(t, first.query("SHOW max_connections"), `"text":"4"`)
	require.Contains(t, first.query("SELECT setting FROM pg_settings WHERE name = "+
		"'superuser_reserved_connections'"), `"text":"2"`)
	s.login(t, app)
	e := s.refusal(t, "app")
	require.Equal(t, "FATAL 53300 remaining connection slots are reserved for non-replication "+
		"superuser connections",
		e.Severity+" "+e.Code+" "+e.Message)
	s.login(t, nil)
	s.login(t, nil)
	for _, user := range []string{"app", "postgres"} {
		e = s.refusal(t, user)
		require.Equal(t, "FATAL 53300 sorry, too many clients already",
			e.Severity+" "+e.Code+" "+e.Message)
	}
	require.Equal(t, 3, strings.Count(log.String(), "53300"))
	k := s.dial(t) // a CancelRequest needs no slot
	_, err := k.conn.Write(startup(80877102,
		string(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 1), 2))))
	require.NoError(t, err)
	k.ended()
	first.send(&pgproto3.Terminate{})
	first.ended()
	s.login(t, nil)
}

// scarce is a listener that has no descriptors for a while.
type scarce struct {
	net.Listener
	failures []error
	failed   int
}

func (l *scarce) Accept() (net.Conn, error) {
	if l.failed < len(l.failures) {
		l.failed++
		return nil, &net.OpError{Op: "accept",
			Err: os.NewSyscallError("accept4", l.failures[l.failed-1])}
	}
	return l.Listener.Accept()
}

// O7: a process without descriptors waits for some, and serves on.
func TestAcceptWaitsForDescriptors(t *testing.T) {
	var log journal
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := serveOn(t, &scarce{Listener: l,
		failures: []error{syscall.EMFILE, syscall.ENFILE, syscall.EMFILE}},
		sql.Options{Logger: log.logger()}, nil)
	c := s.login(t, nil)
	require.Contains(t, c.query("SELECT 1"), "CommandComplete")
	require.Equal(t, 1, strings.Count(log.String(), "no connections are accepted"))
	require.Contains(t, log.String(), "accepted again")
}

// pipes is a listener without a network: a write to a client waits until the client reads.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }
func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) connect() net.Conn {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return ours
}

// overPipes is a server whose clients must read for it to write; it has little time for last
// messages.
func overPipes(t *testing.T) *server {
	return serveOn(t, newPipes(), sql.Options{},
		func(s *pgwire.Server) { s.Limit(time.Minute, time.Minute, time.Second) })
}

const endless = "SELECT repeat('x', 1000) FROM generate_series(1, 1000000000)"

// awaitStuck returns when a connection is in a write, which ends only when the client reads on.
func (s *server) awaitStuck() {
	for s.Writing() == 0 {
		runtime.Gosched()
	}
}

func pid(c *client) string { return strconv.Itoa(int(c.pid)) }

// O4: cancel, statement_timeout and terminate end a statement whose client does not read: its locks
// go.
func TestAClientThatDoesNotReadHoldsNoLocks(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, s *server, c, other *client){
		"cancel": func(t *testing.T, s *server, c, other *client) {
			other.query("SELECT pg_cancel_backend(" + pid(c) + ")")
		},
		"request": func(t *testing.T, s *server, c, _ *client) {
			k := s.dial(t)
			_, err := k.conn.Write(startup(80877102,
				string(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, c.pid),
					c.secret))))
			require.NoError(t, err)
		},
		"timeout": func(*testing.T, *server, *client, *client) {},
		"terminate": func(t *testing.T, s *server, c, other *client) {
			require.Contains(t, other.query("SELECT pg_terminate_backend("+pid(c)+", 60000)"),
				`"text":"t"`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := overPipes(t)
			other := s.login(t, nil)
			other.query("CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1)")
			first := "BEGIN; LOCK TABLE t; "
			if name == "timeout" {
				first = "SET statement_timeout = 5000; BEGIN; LOCK TABLE t; "
			}
			c := s.login(t, nil)
			c.send(&pgproto3.Query{String: first + endless})
			c.until("DataRow")
			s.awaitStuck()
			end(t, s, c, other)
			require.Contains(t, other.query("SELECT * FROM t"), "DataRow", "the lock is gone")
			if name == "terminate" {
				require.Contains(t, []string{"57P01", ""}, c.fatal())
				return
			}
			for { // a client that reads on gets whole messages, and then the error
				m := c.receive()
				if e, ok := m.(*pgproto3.ErrorResponse); ok {
					require.Equal(t, "57014", e.Code)
					break
				}
			}
			c.until("ReadyForQuery")
			require.Contains(t, c.query("ROLLBACK; SELECT 1"), "CommandComplete")
		})
	}
}

// A session that is stuck outside of a statement, with answers that its client does not read, is
// terminated too.
func TestTerminateEndsASessionStuckInItsAnswers(t *testing.T) {
	s := overPipes(t)
	other := s.login(t, nil)
	other.query("CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1)")
	c := s.login(t, nil)
	c.query("BEGIN; LOCK TABLE t")
	done := make(chan struct{})
	go func() { // until the server reads no more
		defer close(done)
		b, err := (&pgproto3.Query{String: "SELECT repeat('x', 50000)"}).Encode(nil)
		for err == nil {
			_, err = c.conn.Write(b)
		}
	}()
	s.awaitStuck()
	require.Contains(t, other.query("SELECT pg_terminate_backend("+pid(c)+", 60000)"), `"text":"t"`)
	require.Contains(t, other.query("SELECT * FROM t"), "DataRow")
	c.conn.Close()
	<-done
}

// O14: a statement that does not end in the time of a shutdown is cancelled, and its client gets
// an error with the reason.
func TestShutdownTellsTheClientOfALongStatement(t *testing.T) {
	s := overPipes(t)
	busy, idle, stuck := s.login(t, nil), s.login(t, nil), s.login(t, nil)
	stuck.send(&pgproto3.Query{String: endless})
	stuck.until("DataRow")
	busy.send(&pgproto3.Query{String: "SELECT count(*) FROM generate_series(1, 1000000000000)"})
	for !strings.Contains(idle.query("SELECT state FROM pg_stat_activity WHERE pid = "+pid(busy)),
		"active") {
		runtime.Gosched()
	}
	s.awaitStuck()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Shutdown(ctx) }()
	require.Equal(t, "57P01", idle.fatal())
	cancel()
	require.Equal(t, "57P01", busy.fatal())
	require.True(t, errors.Is(<-done, context.Canceled))
	require.Contains(t, []string{"57P01", ""}, stuck.fatal())
}
