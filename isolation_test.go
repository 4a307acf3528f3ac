package minidb_test

import (
	"context"
	stdsql "database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
)

// TestReadCommittedIsTheDefault embedded: of DB.Begin, of BEGIN in a session and of database/sql. A
// transaction that waited for another one's row goes on with what that left.
func TestReadCommittedIsTheDefault(t *testing.T) {
	ctx, db := context.Background(), open(t)
	exec(t, db, "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0)")
	const add = "UPDATE t SET n = n + 1"

	tx, err := db.Begin(ctx)
	require.NoError(t, err)
	var level string
	require.NoError(t, tx.QueryRow(ctx, "SHOW transaction_isolation").Scan(&level))
	require.Equal(t, "read committed", level)
	var n int
	require.NoError(t, tx.QueryRow(ctx, "SELECT n FROM t").Scan(&n))
	exec(t, db, add)
	_, err = tx.Exec(ctx, add)
	require.NoError(t, err)
	require.NoError(t, tx.Commit(ctx))

	std := minidb.OpenSQL(db)
	defer func() { require.NoError(t, std.Close()) }()
	stdtx, err := std.BeginTx(ctx, &stdsql.TxOptions{Isolation: stdsql.LevelDefault})
	require.NoError(t, err)
	require.NoError(t, stdtx.QueryRow("SELECT n FROM t").Scan(&n))
	exec(t, db, add)
	_, err = stdtx.Exec(add)
	require.NoError(t, err)
	require.NoError(t, stdtx.Commit())
	require.NoError(t, db.QueryRow(ctx, "SELECT n FROM t").Scan(&n))
	require.Equal(t, 4, n)
}

// TestDefaultIsolation: the option chooses, and ALTER DATABASE wins over it, also for sessions that
// the handle has in its pool.
func TestDefaultIsolation(t *testing.T) {
	ctx := context.Background()
	_, err := minidb.Open("", minidb.InMemory(), minidb.DefaultIsolation("chaos"))
	require.ErrorContains(t, err,
		`invalid value for parameter "default_transaction_isolation": "chaos"`)
	db, err := minidb.Open("", minidb.InMemory(), minidb.DefaultIsolation("Repeatable Read"))
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	const level = "SELECT current_setting('transaction_isolation')"
	require.Equal(t, "repeatable read", scalar[string](t, db, level))
	exec(t, db, "ALTER DATABASE postgres SET default_transaction_isolation = serializable")
	require.Equal(t, "serializable", scalar[string](t, db, level))
	tx, err := db.Begin(ctx, minidb.Isolation("read committed"))
	require.NoError(t, err)
	var got string
	require.NoError(t, tx.QueryRow(ctx, level).Scan(&got))
	require.Equal(t, "read committed", got)
	require.NoError(t, tx.Rollback(ctx))
}
