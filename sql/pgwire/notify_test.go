package pgwire_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgproto3/v2"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/sql"
)

func (c *client) query(text string) string {
	c.t.Helper()
	c.send(&pgproto3.Query{String: text})
	return c.until("ReadyForQuery")
}

func TestNotifications(t *testing.T) {
	s := start(t, sql.Options{})
	l, n := s.login(t, nil), s.login(t, nil)
	l.query("LISTEN c")

	n.query("NOTIFY c, 'while it waits'")
	require.Contains(t, l.until("NotificationResponse"), `"Payload":"while it waits"`)
	require.Contains(t, l.query("SELECT 1"), `"CommandTag":"SELECT 1"`,
		"goes on as if nothing had been")

	l.query("BEGIN")
	n.query("BEGIN; NOTIFY c, 'undone'; ROLLBACK; NOTIFY c, 'in a transaction'")
	require.NotContains(t, l.query("SELECT 1"), "NotificationResponse")
	require.Contains(t, l.query("COMMIT"), `"Payload":"in a transaction"`)

	require.Contains(t, l.query("SELECT pg_notify('c', 'own')"), fmt.Sprintf(`"PID":%d`, l.pid))
	require.Contains(t, l.query("SELECT * FROM pg_listening_channels()"), `"DataRow"`)
	l.query("UNLISTEN c")
	require.NotContains(t, l.query("NOTIFY c, 'gone'"), "NotificationResponse")
	require.Contains(t, n.query("SELECT pg_notify('', 'x')"), "channel name cannot be empty")
}

// TestNotificationsDuringMessages: a connection whose client is in the middle of a message is not
// disturbed, and nothing is lost.
func TestNotificationsDuringMessages(t *testing.T) {
	const sent = 300
	s := start(t, sql.Options{})
	l := s.login(t, nil)
	l.query("LISTEN c")
	var wg sync.WaitGroup
	for i := range 2 {
		n := s.login(t, nil)
		wg.Go(func() {
			for k := range sent {
				n.query(fmt.Sprintf("NOTIFY c, '%d %d'", i, k))
			}
		})
	}
	raw, err := (&pgproto3.Query{String: "SELECT 1"}).Encode(nil)
	require.NoError(t, err)
	next, got := [2]int{}, 0
	hear := func(m pgproto3.BackendMessage) (ready bool) {
		if r, ok := m.(*pgproto3.NotificationResponse); ok {
			var i, k int
			_, err := fmt.Sscanf(r.Payload, "%d %d", &i, &k)
			require.NoError(t, err)
			require.Equal(t, next[i], k, "in order")
			next[i], got = k+1, got+1
		}
		_, ready = m.(*pgproto3.ReadyForQuery)
		return ready
	}
	for range 100 {
		for i := range raw { // byte by byte, so that it rings in between
			_, err := l.conn.Write(raw[i : i+1])
			require.NoError(t, err)
		}
		for !hear(l.receive()) {
		}
	}
	wg.Wait()
	for got < 2*sent {
		hear(l.receive())
	}
}
