package minidb_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
)

func columns(t *testing.T, rows *minidb.Rows, err error) []string {
	t.Helper()
	require.NoError(t, err)
	names := rows.Columns()
	require.True(t, rows.Next(), "%v", rows.Err())
	require.NoError(t, rows.Close())
	return names
}

func TestStatementsFollowTheSchema(t *testing.T) {
	ctx := context.Background()
	db, err := minidb.Open("", minidb.InMemory(), minidb.Logger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec(ctx, "CREATE TABLE t(a int); INSERT INTO t VALUES (1)")
	require.NoError(t, err)
	c, err := db.Conn(ctx)
	require.NoError(t, err)
	defer c.Close()
	const text = "SELECT * FROM t WHERE a = $1"
	get := func() []string {
		rows, err := c.Query(ctx, text, 1)
		return columns(t, rows, err)
	}
	exec := func(text string) {
		_, err := c.Exec(ctx, text)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"a"}, get())
	exec("ALTER TABLE t ADD b int")
	require.Equal(t, []string{"a", "b"}, get())
	exec("BEGIN")
	require.Equal(t, []string{"a", "b"}, get())
	exec("ALTER TABLE t ADD c int")
	require.Equal(t, []string{"a", "b", "c"}, get())
	exec("SAVEPOINT s; ALTER TABLE t DROP b")
	require.Equal(t, []string{"a", "c"}, get())
	exec("ROLLBACK TO s")
	require.Equal(t, []string{"a", "b", "c"}, get())
	exec("ROLLBACK")
	require.Equal(t, []string{"a", "b"}, get())
	exec("ALTER TABLE t DROP b")
	exec("ALTER TABLE t RENAME a TO b")
	_, err = c.Query(ctx, text, 1)
	require.ErrorContains(t, err, "does not exist")
	exec("DROP TABLE t; CREATE TABLE t(a text); INSERT INTO t VALUES ('x')")
	rows, err := c.Query(ctx, text, "x") // the parameter has another type now
	require.Equal(t, []string{"a"}, columns(t, rows, err))
}
