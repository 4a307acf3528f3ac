package sqllogic

import (
	"context"
	"errors"

	"github.com/minidb/minidb"
)

// embeddedConn runs scripts on minidb's embedded handle. Every file gets a database of its own, in
// memory.
type embeddedConn struct {
	opts []minidb.Option
	db   *minidb.DB
	conn *minidb.Conn
}

// Embedded returns a Conn on minidb itself, opened with the options and in memory.
func Embedded(opts ...minidb.Option) Conn {
	return &embeddedConn{opts: append(opts, minidb.InMemory())}
}

func (c *embeddedConn) Reset(ctx context.Context) error {
	err := c.Close()
	if err != nil {
		return err
	}
	if c.db, err = minidb.Open("", c.opts...); err != nil {
		return err
	}
	c.conn, err = c.db.Conn(ctx)
	return err
}

func (c *embeddedConn) Close() error {
	if c.db == nil {
		return nil
	}
	var err error
	if c.conn != nil {
		err = c.conn.Close()
	}
	err = errors.Join(err, c.db.Close())
	c.db, c.conn = nil, nil
	return err
}

func (c *embeddedConn) Run(ctx context.Context, sql string) (*Result, error) {
	rows, err := c.conn.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := &Result{}
	for _, t := range rows.ColumnTypes() {
		out.Bools = append(out.Bools, t.OID == oidBool)
	}
	for rows.Next() {
		vals := make([]Value, len(out.Bools))
		for i := range vals {
			text, ok := rows.Text(i)
			vals[i] = Value{Text: text, Null: !ok}
		}
		out.Rows = append(out.Rows, vals)
	}
	return out, rows.Err()
}
