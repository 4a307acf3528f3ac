package minidb_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/tests/served"
)

// TestAClientTakesChanges: a client in any language reads changes as JSON and writes what follows
// from them. The commit of its transaction acknowledges them. When its connection dies they are
// pending again, and another client takes them.
func TestAClientTakesChanges(t *testing.T) {
	ctx := context.Background()
	db := openObserved(t, countTables...)
	exec(t, db, "SELECT minidb_create_observer('lengths', 'docs', 1, '{body}', true)")
	exec(t, db, "INSERT INTO docs SELECT i, repeat('x', i % 4) FROM generate_series(1, 30) i")
	url, _ := served.DB(t, db)

	dying, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	_, err = dying.Exec(ctx, "BEGIN")
	require.NoError(t, err)
	require.Equal(t, 30, countLengths(t, dying, 1000))
	other, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	require.Zero(t, countLengths(t, other, 1000), "the first client holds them")
	// The connection is cut, without a message that ends it.
	require.NoError(t, dying.PgConn().Conn().Close())
	for taken := 0; taken < 30; { // until the server has noticed
		taken += countLengths(t, other, 7)
	}
	require.Zero(t, scalar[int64](t, db, countsBehind))
	require.Zero(t, left(t, db))

	exec(t, db, "UPDATE docs SET body = body || 'yy' WHERE url < '2'; DELETE FROM docs WHERE url "+
		"LIKE '3%'; UPDATE docs SET read = read + 1")
	_, err = other.Exec(ctx, "BEGIN ISOLATION LEVEL SERIALIZABLE")
	require.NoError(t, err)
	require.Equal(t, 13, countLengths(t, other, 1000))
	_, err = other.Exec(ctx, "COMMIT")
	require.NoError(t, err)
	require.Zero(t, scalar[int64](t, db, countsBehind))
	require.NoError(t, db.Settle(ctx, 0))
	require.NoError(t, other.Close(ctx))
}

// countLengths takes changes, and brings counts up to date with a statement for each. Outside of a
// block it opens one.
func countLengths(t *testing.T, conn *pgx.Conn, n int) (taken int) {
	ctx := context.Background()
	if conn.PgConn().TxStatus() == 'I' {
		_, err := conn.Exec(ctx, "BEGIN")
		require.NoError(t, err)
		defer func() {
			_, err := conn.Exec(ctx, "COMMIT")
			require.NoError(t, err)
		}()
	}
	type change struct {
		Key, Row, Before json.RawMessage
		Origin           int64
		Generation       int32
	}
	rows, err := conn.Query(ctx, "SELECT * FROM minidb_take('lengths', $1)", n)
	require.NoError(t, err)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[change])
	require.NoError(t, err)
	for _, c := range all {
		require.Positive(t, c.Origin)
		for _, side := range []struct {
			image json.RawMessage
			by    int
		}{{c.Before, -1}, {c.Row, 1}} {
			var doc *struct{ Body string }
			if side.image == nil {
				continue
			}
			require.NoError(t, json.Unmarshal(side.image, &doc))
			_, err := conn.Exec(ctx, `INSERT INTO counts VALUES ($1, $2)
				ON CONFLICT (len) DO UPDATE SET n = counts.n + $2`, len(doc.Body), side.by)
			require.NoError(t, err)
		}
	}
	return len(all)
}

// A call with a time to wait returns as soon as there is something. It ends with a cancel request,
// holds no snapshot meanwhile, and is woken when what another client has taken is free.
func TestATakeWaits(t *testing.T) {
	ctx := context.Background()
	db := openObserved(t, countTables...)
	exec(t, db, "SELECT minidb_create_observer('o', 'docs', 1, NULL, false)")
	url, _ := served.DB(t, db)
	conn, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(ctx)) }()
	type result struct {
		url string
		err error
	}
	start := func() <-chan result {
		done := make(chan result, 1)
		go func() {
			var r result
			r.err = conn.QueryRow(ctx, "SELECT key->>'url' FROM minidb_take('o', 5, '1 hour')").
				Scan(&r.url)
			done <- r
		}()
		return done
	}
	done := start()
	exec(t, db, "INSERT INTO docs VALUES ('a', 'x')")
	require.Equal(t, result{url: "a"}, <-done)

	exec(t, db, "INSERT INTO docs VALUES ('b', 'x')")
	tx, err := db.Begin(ctx)
	require.NoError(t, err)
	var key string
	take := "SELECT key->>'url' FROM minidb_take('o', 1)"
	require.NoError(t, tx.QueryRow(ctx, take).Scan(&key))
	require.Equal(t, "b", key)
	done = start()
	require.NoError(t, tx.Rollback(ctx))
	require.Equal(t, result{url: "b"}, <-done)

	done = start()
	pid := conn.PgConn().PID()
	for waiting := false; !waiting; {
		waiting = scalar[bool](t, db, fmt.Sprintf("SELECT EXISTS (SELECT FROM pg_stat_activity "+
			"WHERE pid = %d AND wait_event = 'MinidbTake')", pid))
	}
	require.Zero(t, scalar[int64](t, db, fmt.Sprintf("SELECT count(*) FROM pg_stat_activity "+
		"WHERE pid = %d AND backend_xmin IS NOT NULL", pid)))
	exec(t, db, fmt.Sprintf("SELECT pg_cancel_backend(%d)", pid))
	require.Equal(t, "57014", state((<-done).err))
}

// What a client writes in the transaction in which it takes goes back to the change from outside,
// as what a function writes. Workers of the observer beside it get what it leaves.
func TestTakesInAChain(t *testing.T) {
	ctx := context.Background()
	db := openObserved(t, "CREATE TABLE a(id int PRIMARY KEY)",
		"CREATE TABLE b(id int PRIMARY KEY)")
	exec(t, db, "SELECT minidb_create_observer('ab', 'a', 1, NULL, false)")
	got := make(chan minidb.Change, 1)
	require.NoError(t, db.Observe(ctx, minidb.Observer{Name: "b", Table: "b"},
		func(_ context.Context, _ *minidb.Tx, c minidb.Change) error {
			got <- c
			return nil
		}))
	exec(t, db, "INSERT INTO a VALUES (1)")
	exec(t, db, "INSERT INTO a VALUES (2)")
	tx, err := db.Begin(ctx)
	require.NoError(t, err)
	var key, origin, later int64
	take := "SELECT (key->>'id')::int8, origin FROM minidb_take('ab', 1)"
	require.NoError(t, tx.QueryRow(ctx, take).Scan(&key, &origin))
	require.EqualValues(t, 1, key)
	require.NoError(t, tx.QueryRow(ctx, take).Scan(&key, &later))
	require.EqualValues(t, 2, key)
	require.Less(t, origin, later)
	_, err = tx.Exec(ctx, "INSERT INTO b VALUES (7)")
	require.NoError(t, err)
	require.ErrorContains(t, db.Settle(ctx, 0), "ab")
	require.NoError(t, tx.Commit(ctx))
	c := <-got
	require.Equal(t, 1, c.Generation)
	require.Equal(t, origin, c.Origin, "the lower one")
	require.NoError(t, db.Settle(ctx, 0))
}

// A worker passes over a row that a client has taken, and runs on it when it is free.
func TestTakesBesideWorkers(t *testing.T) {
	ctx := context.Background()
	db := openObserved(t, countTables...)
	exec(t, db, "SELECT minidb_create_observer('lengths', 'docs', 1, NULL, false)")
	exec(t, db, "INSERT INTO docs VALUES ('a', 'x'), ('b', 'y'), ('c', 'z')")
	tx, err := db.Begin(ctx)
	require.NoError(t, err)
	_, err = tx.Exec(ctx, "SELECT * FROM minidb_take('lengths', 1)")
	require.NoError(t, err)
	require.NoError(t, db.Observe(ctx, minidb.Observer{Name: "lengths", Version: 1, Table: "docs"},
		wordCount))
	for scalar[int64](t, db, "SELECT runs FROM minidb_observers") < 2 {
		continue
	}
	require.EqualValues(t, 1, left(t, db))
	require.NoError(t, tx.Rollback(ctx))
	require.NoError(t, db.Settle(ctx, 0))
	require.Zero(t, scalar[int64](t, db, countsBehind))
	require.Zero(t, scalar[int64](t, db, "SELECT failures FROM minidb_observers"))

	var e *minidb.Error
	_, err = db.Exec(ctx, "SELECT * FROM minidb_take('nobody', 1)")
	require.True(t, errors.As(err, &e))
	require.Equal(t, "42704", e.Code)
}
