package sqllogic

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/jackc/pgx/v5/pgconn"
)

const oidBool = 16

// wireConn runs scripts in a database of its own, which is gone after Close: scripts begin with an
// empty schema, and the database that the URL names may be in use.
type wireConn struct {
	url     string
	scratch string
	conn    *pgconn.PgConn
}

// Dial connects to a server that speaks PostgreSQL's protocol, and makes a database there.
func Dial(ctx context.Context, url string) (Conn, error) {
	c := &wireConn{url: url, scratch: fmt.Sprintf("sqllogictest_%d", rand.Uint32())}
	if err := c.outside(ctx, "CREATE DATABASE "+c.scratch); err != nil {
		return nil, err
	}
	if err := c.connect(ctx); err != nil {
		return nil, errors.Join(err, c.outside(ctx, "DROP DATABASE "+c.scratch))
	}
	return c, nil
}

// outside runs a statement in the database of the URL.
func (c *wireConn) outside(ctx context.Context, sql string) error {
	conn, err := pgconn.Connect(ctx, c.url)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql).ReadAll()
	return errors.Join(err, conn.Close(ctx))
}

func (c *wireConn) connect(ctx context.Context) error {
	cfg, err := pgconn.ParseConfig(c.url)
	if err != nil {
		return err
	}
	cfg.Database = c.scratch
	c.conn, err = pgconn.ConnectConfig(ctx, cfg)
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

func (c *wireConn) Close() error {
	ctx := context.Background()
	err := c.conn.Close(ctx)
	<-c.conn.CleanupDone()
	return errors.Join(err, c.outside(ctx, "DROP DATABASE "+c.scratch))
}
