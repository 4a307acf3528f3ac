package isolation

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/tests/served"
)

// serve starts minidb and says how to connect: in the directory, or in memory when it has no name.
func serve(t *testing.T, dir string) *pgconn.Config {
	t.Helper()
	start := served.InMemory
	if dir != "" {
		start = func(t testing.TB) string { return served.In(t, dir) }
	}
	cfg, err := pgconn.ParseConfig(start(t))
	require.NoError(t, err)
	cfg.RuntimeParams["datestyle"] = "Postgres, MDY"
	cfg.RuntimeParams["timezone"] = "PST8PDT"
	return cfg
}

// client is a session that runs one statement at a time in the background.
type client struct {
	t    *testing.T
	pc   *pgconn.PgConn
	done chan outcome // of the statement under way, nil when there is none
	got  *outcome     // it has ended

	mu            sync.Mutex
	notices       []*pgconn.Notice
	notifications []*pgconn.Notification
}

type outcome struct {
	results []*pgconn.Result
	err     error
}

func dial(t *testing.T, cfg *pgconn.Config) *client {
	t.Helper()
	c := &client{t: t}
	cfg = cfg.Copy()
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.notices = append(c.notices, n)
	}
	cfg.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.notifications = append(c.notifications, n)
	}
	pc, err := pgconn.ConnectConfig(t.Context(), cfg)
	require.NoError(t, err)
	c.pc = pc
	return c
}

func (c *client) close() { _ = c.pc.Close(context.Background()) }

// run runs a text of statements to its end.
func (c *client) run(sql string) outcome {
	var o outcome
	all := c.pc.Exec(c.t.Context(), sql)
	for all.NextResult() {
		r := all.ResultReader()
		fields := slices.Clone(r.FieldDescriptions()) // Read has none for a result without rows
		res := r.Read()
		res.FieldDescriptions = fields
		o.results = append(o.results, res)
	}
	o.err = all.Close()
	return o
}

func (c *client) must(sql string) []*pgconn.Result {
	c.t.Helper()
	o := c.run(sql)
	require.NoError(c.t, o.err, sql)
	return o.results
}

// start begins a statement.
func (c *client) start(sql string) {
	c.done, c.got = make(chan outcome, 1), nil
	go func(done chan<- outcome) { done <- c.run(sql) }(c.done)
}

// settled waits until the statement has ended, or waits for a lock or a safe snapshot: then it
// answers false. watcher is a session that waits for no lock.
func (c *client) settled(watcher *client) bool {
	query := fmt.Sprintf("SELECT 1 FROM pg_stat_activity WHERE wait_event_type IN ('Lock', "+
		"'IPC') AND pid = %d", c.pc.PID())
	for c.got == nil {
		select {
		case o := <-c.done:
			c.got = &o
		default:
			if rows := watcher.must(query)[0].Rows; len(rows) > 0 && len(c.done) == 0 {
				return false
			}
			runtime.Gosched()
		}
	}
	return true
}

// state is the SQLSTATE of an error, "" for none.
func state(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
