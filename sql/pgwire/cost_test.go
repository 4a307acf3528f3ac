package pgwire_test

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgproto3/v2"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/sql"
)

// counted is a listener whose connections count what a server asks of the system.
type counted struct {
	net.Listener
	reads, writes, deadlines atomic.Int64
}

func (l *counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &countedConn{Conn: c, l: l}, err
}

type countedConn struct {
	net.Conn
	l *counted
}

func (c *countedConn) Read(b []byte) (int, error) {
	c.l.reads.Add(1)
	return c.Conn.Read(b)
}

func (c *countedConn) Write(b []byte) (int, error) {
	c.l.writes.Add(1)
	return c.Conn.Write(b)
}

func (c *countedConn) SetReadDeadline(t time.Time) error {
	c.l.deadlines.Add(1)
	return c.Conn.SetReadDeadline(t)
}

func (c *countedConn) SetWriteDeadline(t time.Time) error {
	c.l.deadlines.Add(1)
	return c.Conn.SetWriteDeadline(t)
}

// TestASelectOnTheWireCostsLittle bounds what a prepared select costs beside its plan: one read,
// one write, no change of a deadline, and few objects.
func TestASelectOnTheWireCostsLittle(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := &counted{Listener: tcp}
	s := serveOn(t, l, sql.Options{}, nil)
	c := s.login(t, nil)
	c.send(&pgproto3.Query{String: "CREATE TABLE t (id int PRIMARY KEY, n int); " +
		"INSERT INTO t VALUES (77, 1)"})
	c.until("ReadyForQuery")
	c.send(&pgproto3.Parse{Name: "p", Query: "SELECT n FROM t WHERE id = $1"}, &pgproto3.Sync{})
	c.until("ReadyForQuery")
	packet := selectPacket(t)
	var in [1024]byte
	round := func() {
		_, err := c.conn.Write(packet)
		require.NoError(t, err)
		require.NoError(t, readUntilReady(c.conn, in[:]))
	}
	const runs = 500
	round() // AllocsPerRun begins with one, too
	reads, writes, deadlines := l.reads.Load(), l.writes.Load(), l.deadlines.Load()
	objects := testing.AllocsPerRun(runs-1, round)
	// the read for the next message has begun at either count, or not yet
	require.InDelta(t, runs, l.reads.Load()-reads, 1, "reads")
	require.EqualValues(t, runs, l.writes.Load()-writes, "writes")
	require.Equal(t, deadlines, l.deadlines.Load(), "deadlines")
	require.LessOrEqual(t, objects, 7.0)
}
