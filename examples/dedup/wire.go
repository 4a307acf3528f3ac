package main

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// wire is a connection over PostgreSQL's protocol.
type wire struct{ conn *pgx.Conn }

func (w *wire) Exec(ctx context.Context, sql string, args ...any) error {
	_, err := w.conn.Exec(ctx, sql, args...)
	return err
}

func (w *wire) Exists(ctx context.Context, sql string, args ...any) (bool, error) {
	rows, err := w.conn.Query(ctx, sql, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	found := rows.Next()
	rows.Close()
	return found, rows.Err()
}

// writer stores documents one after the other until ctx ends. A document whose acknowledgement was
// lost with the connection is stored again in the server's next life.
func writer(ctx context.Context, url, name string, acked func(document)) error {
	var conn *pgx.Conn
	defer func() {
		if conn != nil {
			_ = conn.Close(context.Background())
		}
	}()
	for n := 0; ; n++ {
		d := newDocument(name, n)
		for {
			if err := ctx.Err(); err != nil {
				return nil
			}
			if conn == nil || conn.IsClosed() {
				var err error
				if conn, err = connect(ctx, url); err != nil {
					return nil
				}
			}
			err := store(ctx, &wire{conn: conn}, d)
			if err == nil {
				acked(d)
				break
			}
			var coded interface{ SQLState() string }
			if errors.As(err, &coded) && !conn.IsClosed() && coded.SQLState()[:2] != "57" {
				return err
			}
			_ = conn.Close(ctx)
		}
	}
}

// connect tries until the server is back or ctx ends.
func connect(ctx context.Context, url string) (*pgx.Conn, error) {
	for {
		conn, err := pgx.Connect(ctx, url)
		if err == nil {
			return conn, nil
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}
