package minidb

import (
	"context"
)

// Conn is a session of its own: its transactions may be begun and ended by SQL, and its settings
// last. It belongs to one goroutine at a time.
type Conn struct {
	h    *handle
	done bool
}

// Conn takes a session out of the pool. Close puts it back.
func (db *DB) Conn(ctx context.Context) (*Conn, error) {
	h, err := db.acquire(ctx)
	if err != nil {
		return nil, err
	}
	return &Conn{h: h}, nil
}

// Exec is DB.Exec on this session.
func (c *Conn) Exec(ctx context.Context, text string, args ...any) (Result, error) {
	if c.done {
		return Result{}, ErrClosed
	}
	return c.h.exec(ctx, text, args)
}

// Query is DB.Query on this session; its rows are read or closed before the next statement.
func (c *Conn) Query(ctx context.Context, text string, args ...any) (*Rows, error) {
	if c.done {
		return nil, ErrClosed
	}
	return c.h.query(ctx, text, args)
}

// QueryRow is DB.QueryRow on this session.
func (c *Conn) QueryRow(ctx context.Context, text string, args ...any) *Row {
	r, err := c.Query(ctx, text, args...)
	return &Row{rows: r, err: err}
}

// Close rolls back what is open and gives the session back.
func (c *Conn) Close() error {
	if !c.done {
		c.done = true
		c.h.db.release(c.h)
	}
	return nil
}
