package minidb_test

import (
	"context"
	"testing"
	"time"

	"github.com/minidb/minidb"
	"github.com/stretchr/testify/require"
)

// TestReadsOfThePast: a transaction AS OF SYSTEM TIME sees rows and schema as they were, writes
// nothing, and is refused outside the window.
func TestReadsOfThePast(t *testing.T) {
	ctx := context.Background()
	db, err := minidb.Open("", minidb.InMemory(), minidb.GCInterval(-1), minidb.Retention(time.Nanosecond))
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	c, err := db.Conn(ctx)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	run := func(text string) {
		_, err := c.Exec(ctx, text)
		require.NoError(t, err, text)
	}
	value := func(text string) (v string) {
		require.NoError(t, c.QueryRow(ctx, text).Scan(&v), text)
		return v
	}
	clock := func() string { return value("SELECT clock_timestamp()::text") }
	run("CREATE TABLE t (id int PRIMARY KEY, v text)")
	run("INSERT INTO t VALUES (1, 'old')")
	pass := func(since string) {
		for value("SELECT (clock_timestamp() > '"+since+"'::timestamptz + interval '2 ms')::text") != "true" {
		}
	}
	then := clock()
	pass(then)
	run("UPDATE t SET v = 'new'")
	run("ALTER TABLE t ADD COLUMN w int")
	pass(clock())

	for _, begin := range []string{
		"BEGIN AS OF SYSTEM TIME '" + then + "'",
		"BEGIN READ ONLY AS OF TIMESTAMP '" + then + "'",
		"BEGIN ISOLATION LEVEL READ COMMITTED; SET TRANSACTION AS OF SYSTEM TIME '" + then + "'",
	} {
		run(begin)
		require.Equal(t, "old", value("SELECT v FROM t"), begin)
		require.Equal(t, "old", value("SELECT v FROM t"), begin)
		_, err = c.Exec(ctx, "SELECT w FROM t")
		require.Equal(t, "42703", state(err), "the column was not there")
		run("ROLLBACK")
	}
	run("BEGIN AS OF SYSTEM TIME '-0.000001s'")
	require.Equal(t, "new", value("SELECT v FROM t"))
	_, err = c.Exec(ctx, "DELETE FROM t")
	require.Equal(t, "25006", state(err))
	run("ROLLBACK")

	_, err = c.Exec(ctx, "BEGIN AS OF SYSTEM TIME '2999-01-01'")
	require.Equal(t, "22023", state(err))
	run("ROLLBACK")
	_, err = c.Exec(ctx, "BEGIN READ WRITE AS OF SYSTEM TIME '-1s'")
	require.Equal(t, "22023", state(err))
	run("ROLLBACK")
	run("BEGIN")
	value("SELECT v FROM t")
	_, err = c.Exec(ctx, "SET TRANSACTION AS OF SYSTEM TIME '-1s'")
	require.Equal(t, "25001", state(err))
	run("ROLLBACK")

	_, err = db.Store().CollectGarbage(ctx)
	require.NoError(t, err)
	_, err = c.Exec(ctx, "BEGIN AS OF SYSTEM TIME '"+then+"'")
	require.Equal(t, "22023", state(err), "outside the window")
	require.ErrorContains(t, err, "before the oldest time that is kept")
	run("ROLLBACK")
}
