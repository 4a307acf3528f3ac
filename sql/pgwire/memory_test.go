package pgwire_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgproto3/v2"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/sql"
)

// TestMessagesThatDoNotFit: a message for which there is no memory is read and refused with 53200;
// its connection goes on, and holds nothing.
func TestMessagesThatDoNotFit(t *testing.T) {
	pool := memory.NewPool(64 << 20)
	s := start(t, sql.Options{Memory: pool})
	c := s.login(t, nil)
	large := strings.Repeat("x", 40<<20)
	works := func() {
		t.Helper()
		c.send(&pgproto3.Query{String: "SELECT 41 + 1"})
		out := c.until("ReadyForQuery")
		require.Contains(t, out, "42")
		require.NotContains(t, out, "ErrorResponse")
		require.Zero(t, pool.Taken())
	}
	c.send(&pgproto3.Query{String: "SELECT '" + large + "'"})
	require.Contains(t, c.until("ReadyForQuery"), "53200")
	works()
	c.send(&pgproto3.Parse{Query: "SELECT length('" + large + "')"}, &pgproto3.Bind{},
		&pgproto3.Execute{}, &pgproto3.Sync{})
	out := c.until("ReadyForQuery")
	require.Contains(t, out, "53200")
	require.Equal(t, 1, strings.Count(out, "ErrorResponse"))
	works()
	c.send(&pgproto3.Parse{Query: "SELECT length($1)"},
		&pgproto3.Bind{Parameters: [][]byte{[]byte(large)}}, &pgproto3.Execute{}, &pgproto3.Sync{})
	require.Contains(t, c.until("ReadyForQuery"), "53200")
	works()
	c.send(&pgproto3.Query{String: "CREATE TABLE t (v text); COPY t FROM STDIN"})
	c.until("CopyInResponse")
	c.send(&pgproto3.CopyData{Data: []byte(large)}, &pgproto3.CopyData{Data: []byte("x\n")},
		&pgproto3.CopyDone{})
	require.Contains(t, c.until("ReadyForQuery"), "53200")
	works()
	c.send(&pgproto3.Query{String: "SELECT repeat('x', 20000000 + g) FROM generate_series(1, 1) g"})
	require.True(t, strings.Contains(c.until("ReadyForQuery"), "53200"), "rows")
	works()
	c.send(&pgproto3.Query{String: "SELECT repeat('x', 20000000)"})
	require.True(t, strings.Contains(c.until("ReadyForQuery"), "53200"))
	works()
	c.send(&pgproto3.Query{String: "SELECT length('" + large[:1<<20] + "')"})
	require.Contains(t, c.until("ReadyForQuery"), "1048576")
	works()
}

// TestCopyGathersNoMoreThanFits: large rows are inserted before many of them have gathered, and one
// that does not fit ends the COPY.
func TestCopyGathersNoMoreThanFits(t *testing.T) {
	pool := memory.NewPool(64 << 20)
	s := start(t, sql.Options{Memory: pool})
	c := s.login(t, nil)
	c.send(&pgproto3.Query{String: "CREATE TABLE t (v text); COPY t FROM STDIN"})
	c.until("CopyInResponse")
	piece := []byte(strings.Repeat("x", 60<<10))
	for range 40 {
		for range 17 { // about a megabyte
			c.send(&pgproto3.CopyData{Data: piece})
		}
		c.send(&pgproto3.CopyData{Data: []byte("\n")})
	}
	c.send(&pgproto3.CopyDone{})
	require.Contains(t, c.until("ReadyForQuery"), "COPY 40")
	require.Less(t, pool.Stats().Peak, int64(27<<20),
		"the transaction's writes have half of the pool")
	require.Zero(t, pool.Taken())
	c.send(&pgproto3.Query{String: "COPY t FROM STDIN"})
	c.until("CopyInResponse")
	for range 17 * 40 {
		c.send(&pgproto3.CopyData{Data: piece})
	}
	c.send(&pgproto3.CopyDone{})
	require.Contains(t, c.until("ReadyForQuery"), "53200")
	require.Zero(t, pool.Taken())
}

// TestAnnouncedMessagesHoldWhatCame: clients that announce much and send little hold little.
func TestAnnouncedMessagesHoldWhatCame(t *testing.T) {
	pool := memory.NewPool(64 << 20)
	s := start(t, sql.Options{Memory: pool})
	const clients, sent = 30, 300 << 10
	for range clients {
		c := s.login(t, nil)
		_, err := c.conn.Write(lying('B', 120<<20, strings.Repeat("x", sent)))
		require.NoError(t, err)
	}
	c := s.login(t, nil)
	c.send(&pgproto3.Query{String: "SELECT 41 + 1"})
	require.Contains(t, c.until("ReadyForQuery"), "42")
	stats := pool.Stats()
	require.LessOrEqual(t, stats.Peak, int64(clients*8*sent/2))
	require.Zero(t, stats.Ended)
}
