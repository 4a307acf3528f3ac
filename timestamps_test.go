package minidb_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
)

// TestTimestampsOfTransactions: SQL functions return at which timestamp a statement reads and a
// transaction was committed, and AS OF SYSTEM TIME reads exactly there.
func TestTimestampsOfTransactions(t *testing.T) {
	ctx := context.Background()
	db, err := minidb.Open("", minidb.InMemory(), minidb.GCInterval(-1))
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	a, err := db.Conn(ctx)
	require.NoError(t, err)
	defer func() { require.NoError(t, a.Close()) }()
	b, err := db.Conn(ctx)
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	run := func(c *minidb.Conn, text string) {
		t.Helper()
		_, err := c.Exec(ctx, text)
		require.NoError(t, err, text)
	}
	number := func(c *minidb.Conn, text string) (n int64) {
		t.Helper()
		require.NoError(t, c.QueryRow(ctx, text).Scan(&n), text)
		return n
	}
	const snapshot, commit = "SELECT minidb_snapshot_timestamp()",
		"SELECT minidb_last_commit_timestamp()"
	var none *int64
	require.NoError(t, a.QueryRow(ctx, commit).Scan(&none))
	require.Nil(t, none, "nothing was committed in this session")
	run(a, "CREATE TABLE t (id int PRIMARY KEY, n int)")
	run(a, "INSERT INTO t VALUES (1, 0)")
	first := number(a, commit)
	require.Less(t, first, number(a, snapshot))
	require.Equal(t, first, number(a, commit), "reading commits nothing")

	run(a, "BEGIN ISOLATION LEVEL REPEATABLE READ")
	start := number(a, snapshot)
	require.Equal(t, start, number(a, "SELECT txid_current()"))
	run(b, "UPDATE t SET n = 1")
	second := number(b, commit)
	require.Greater(t, second, start)
	require.Equal(t, start, number(a, snapshot), "one snapshot for the transaction")
	require.EqualValues(t, 0, number(a, "SELECT n FROM t"))
	run(a, "COMMIT")
	require.Equal(t, first, number(a, commit), "it wrote nothing")

	run(a, "BEGIN ISOLATION LEVEL READ COMMITTED")
	start = number(a, snapshot)
	require.Greater(t, number(a, snapshot), start, "one snapshot for each statement")
	require.LessOrEqual(t, number(a, "SELECT txid_current()"), start)
	run(a, "UPDATE t SET n = 7")
	run(a, "ROLLBACK")
	require.Equal(t, first, number(a, commit), "it did not commit")

	for ts, want := range map[int64]int64{first: 0, second - 1: 0, second: 1} {
		require.Equal(t, want, number(a, fmt.Sprintf("SELECT n FROM t AS OF SYSTEM TIME %d", ts)))
		run(a, fmt.Sprintf("BEGIN AS OF SYSTEM TIME %d", ts))
		require.Equal(t, want, number(a, "SELECT n FROM t"))
		require.Equal(t, ts, number(a, snapshot))
		run(a, "COMMIT")
	}
	require.EqualValues(t, 0, number(a,
		fmt.Sprintf("SELECT count(*) FROM t AS OF SYSTEM TIME %d", first-1)))
	for _, bad := range []string{"-470611104245481472", "9223372036854775807", "0::bigint"} {
		_, err := a.Exec(ctx, "SELECT n FROM t AS OF SYSTEM TIME "+bad)
		require.Equal(t, "22023", state(err), bad)
	}
}

// TestASecondLookTellsItsTimestamp: a row that was changed while READ COMMITTED waited for it is
// read at a timestamp above the commit that it waited for.
func TestASecondLookTellsItsTimestamp(t *testing.T) {
	ctx := context.Background()
	db, err := minidb.Open("", minidb.InMemory(), minidb.GCInterval(-1))
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	_, err = db.Exec(ctx, "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, "+
		"0), (2, 0)")
	require.NoError(t, err)
	first, err := db.Begin(ctx)
	require.NoError(t, err)
	_, err = first.Exec(ctx, "UPDATE t SET n = 1 WHERE id = 2")
	require.NoError(t, err)
	second, err := db.Begin(ctx, minidb.Isolation("read committed"))
	require.NoError(t, err)
	type result struct {
		id, n int
		ts    int64
	}
	done := make(chan []result)
	go func() {
		var out []result
		rows, err := second.Query(ctx, "UPDATE t SET n = n + 10 RETURNING id, n, "+
			"minidb_snapshot_timestamp()")
		for err == nil && rows.Next() {
			var r result
			err = rows.Scan(&r.id, &r.n, &r.ts)
			out = append(out, r)
		}
		if err != nil {
			t.Error(err)
		}
		done <- out
	}()
	for len(db.Store().RowLocks().Waits()) == 0 {
		select {
		case <-done:
			t.Fatal("it did not wait")
		default:
		}
	}
	require.NoError(t, first.Commit(ctx))
	got := <-done
	require.Len(t, got, 2)
	require.Equal(t, []int{10, 11}, []int{got[0].n, got[1].n})
	require.Greater(t, got[1].ts, got[0].ts)
	require.NoError(t, second.Commit(ctx))
}
