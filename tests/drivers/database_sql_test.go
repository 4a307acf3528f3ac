package drivers

import (
	"context"
	"database/sql"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"
	"github.com/stretchr/testify/require"

	_ "github.com/minidb/minidb"
	"github.com/minidb/minidb/tests/served"
)

type sqlClient struct{ conn *sql.Conn }

func (c sqlClient) exec(t *testing.T, q string, args ...any) error {
	_, err := c.conn.ExecContext(t.Context(), q, args...)
	return err
}

func (c sqlClient) one(t *testing.T, dest []any, q string, args ...any) error {
	return c.conn.QueryRowContext(t.Context(), q, args...).Scan(dest...)
}

func (c sqlClient) column(t *testing.T, q string, args ...any) []string {
	rows, err := c.conn.QueryContext(t.Context(), q, args...)
	require.NoError(t, err)
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		require.NoError(t, rows.Scan(&s))
		out = append(out, s)
	}
	require.NoError(t, rows.Err())
	return out
}

func TestDatabaseSQL(t *testing.T) {
	dsn := func(t *testing.T) string { return served.InMemory(t) }
	for _, d := range []struct {
		name, driver string
		dsn          func(t *testing.T) string
	}{
		{"lib/pq", "postgres", dsn},
		{"pgx stdlib", "pgx", dsn},
		{"embedded", "minidb", func(t *testing.T) string { return t.TempDir() }},
	} {
		t.Run(d.name, func(t *testing.T) {
			db, err := sql.Open(d.driver, d.dsn(t))
			require.NoError(t, err)
			defer db.Close()
			conn, err := db.Conn(t.Context())
			require.NoError(t, err)
			defer conn.Close()
			tour(t, sqlClient{conn})
			transactions(t, conn)
		})
	}
}

// transactions goes through database/sql's own transactions and prepared statements.
func transactions(t *testing.T, conn *sql.Conn) {
	ctx := t.Context()
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	require.NoError(t, err)
	st, err := tx.PrepareContext(ctx, `INSERT INTO people (name) VALUES ($1) RETURNING id`)
	require.NoError(t, err)
	for range 3 {
		var id int64
		require.NoError(t, st.QueryRowContext(ctx, "prepared").Scan(&id))
		require.Positive(t, id)
	}
	require.NoError(t, st.Close())
	require.NoError(t, tx.Rollback())
	var n int
	require.NoError(t, conn.QueryRowContext(ctx,
		`SELECT count(*) FROM people WHERE name = 'prepared'`).Scan(&n))
	require.Zero(t, n)
	res, err := conn.ExecContext(ctx, `UPDATE people SET ratio = $1`, 0.5)
	require.NoError(t, err)
	changed, err := res.RowsAffected()
	require.NoError(t, err)
	require.EqualValues(t, 3, changed)
}

func TestEmbeddedContextsCancel(t *testing.T) {
	db, err := sql.Open("minidb", t.TempDir())
	require.NoError(t, err)
	defer db.Close()
	canceled, cancel := context.WithCancel(t.Context())
	rows, err := db.QueryContext(canceled, `SELECT g FROM generate_series(1, 1000000000) AS s (g)`)
	require.NoError(t, err)
	require.True(t, rows.Next())
	cancel()
	for rows.Next() {
	}
	require.ErrorIs(t, rows.Err(), context.Canceled)
	_, err = db.ExecContext(canceled, `SELECT 1`)
	require.ErrorIs(t, err, context.Canceled)
	var n int
	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT 1`).Scan(&n))
}
