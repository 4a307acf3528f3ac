package sqllogic

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"
)

const oidBool = 16

type wireConn struct {
	url  string
	conn *pgconn.PgConn
}

// Dial connects to a server that speaks PostgreSQL's protocol.
func Dial(ctx context.Context, url string) (Conn, error) {
	c := &wireConn{url: url}
	return c, c.connect(ctx)
}

func (c *wireConn) connect(ctx context.Context) (err error) {
	c.conn, err = pgconn.Connect(ctx, c.url)
	return err
}

func (c *wireConn) Run(ctx context.Context, sql string) (*Result, error) {
	if c.conn.IsClosed() {
		if err := c.connect(ctx); err != nil {
			return nil, err
		}
	}
	results, err := c.conn.Exec(ctx, sql).ReadAll()
	if err != nil {
		return nil, err
	}
	out := &Result{}
	if len(results) == 0 {
		return out, nil
	}
	last := results[len(results)-1]
	for _, f := range last.FieldDescriptions {
		out.Bools = append(out.Bools, f.DataTypeOID == oidBool)
	}
	for _, row := range last.Rows {
		vals := make([]Value, len(row))
		for i, v := range row {
			vals[i] = Value{Text: string(v), Null: v == nil}
		}
		out.Rows = append(out.Rows, vals)
	}
	return out, nil
}

func (c *wireConn) Reset(ctx context.Context) error {
	_, err := c.Run(ctx, `DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public`)
	return err
}

func (c *wireConn) Close() error { return c.conn.Close(context.Background()) }
