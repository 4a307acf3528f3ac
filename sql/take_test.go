package sql_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/observer"
)

// taken returns the keys that a statement takes.
func taken(t *testing.T, s *sql.Session, text string) (keys []string) {
	t.Helper()
	_, rows, _ := strings.Cut(mustQuery(t, s, text), "]\n")
	lines := strings.Split(strings.TrimSpace(rows), "\n")
	return append(keys, lines[:len(lines)-1]...)
}

const takeIDs = "SELECT key->>'id' FROM minidb_take('o', %d)"

// inBothStores runs a test in one process, and in two that share a store.
func inBothStores(t *testing.T, test func(t *testing.T, here, there *sql.Engine,
	store *txn.Store)) {
	t.Run("one", func(t *testing.T) {
		on := memkv.New(memkv.Options{})
		t.Cleanup(func() { require.NoError(t, on.Close()) })
		e, store := openEngine(t, on, txn.Options{}, sql.Options{})
		test(t, e, e, store)
	})
	t.Run("two", func(t *testing.T) {
		all, stores := processes(t, 2,
			memkv.New(memkv.Options{Shared: true, HashGroups: 3, Lost: 5}))
		test(t, all[0], all[1], stores[0])
	})
}

// cells counts the notifications in the store.
func cells(t *testing.T, store *txn.Store) (n int) {
	t.Helper()
	require.NoError(t, store.Notifications(context.Background(), kv.Span{},
		func([]byte, *txn.Notification) error {
			n++
			return nil
		}))
	return n
}

func TestTakenChangesAreAcknowledgedByTheCommit(t *testing.T) {
	inBothStores(t, func(t *testing.T, here, there *sql.Engine, store *txn.Store) {
		a, b := newSession(t, here), newSession(t, there)
		mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY, n int)")
		observe(t, a, "o", "t")
		mustQuery(t, a, "INSERT INTO t SELECT g, 0 FROM generate_series(1, 5) g")
		none := []string(nil)

		// Two transactions take different rows. A rollback, and a session that ends, free theirs.
		mustQuery(t, a, "BEGIN")
		first := taken(t, a, fmt.Sprintf(takeIDs, 2))
		require.Len(t, first, 2)
		mustQuery(t, b, "BEGIN ISOLATION LEVEL SERIALIZABLE")
		second := taken(t, b, fmt.Sprintf(takeIDs, 9))
		require.ElementsMatch(t, []string{"1", "2", "3", "4", "5"}, append(second, first...))
		require.Equal(t, none, taken(t, b, fmt.Sprintf(takeIDs, 9)), "what it has taken itself")
		c := newSession(t, there)
		require.Equal(t, none, taken(t, c, fmt.Sprintf(takeIDs, 9)))
		mustQuery(t, a, "ROLLBACK")
		require.ElementsMatch(t, first, taken(t, c, "BEGIN; "+fmt.Sprintf(takeIDs, 9)))
		c.Terminate()
		c.Close(context.Background())
		require.ElementsMatch(t, first, taken(t, a, "BEGIN; "+fmt.Sprintf(takeIDs, 9)))
		require.Equal(t, 5, cells(t, store))
		mustQuery(t, a, "COMMIT")
		require.Equal(t, 3, cells(t, store))
		mustQuery(t, b, "COMMIT")
		require.Zero(t, cells(t, store))

		// A new change has the row as it was at the last run before it.
		mustQuery(t, b, "UPDATE t SET n = 1 WHERE id = 2; UPDATE t SET n = 2 WHERE id = 2;"+
			"DELETE FROM t WHERE id = 1; UPDATE t SET n = n WHERE id = 4;"+
			"UPDATE t SET n = 7 WHERE id = 3; UPDATE t SET n = 0 WHERE id = 3")
		mustQuery(t, a, "INSERT INTO t VALUES (6, 0); DELETE FROM t WHERE id = 6")
		require.Equal(t, "[key row before generation]\n"+
			"{\"id\": 1}|NULL|{\"n\": 0, \"id\": 1}|0\n"+
			"{\"id\": 2}|{\"n\": 2, \"id\": 2}|{\"n\": 0, \"id\": 2}|0\nSELECT 2\n", mustQuery(t, a,
			"SELECT key, row, before, generation FROM minidb_take('o', 9) ORDER BY 1"))
		require.Zero(t, cells(t, store))
		require.Equal(t, none, taken(t, a, fmt.Sprintf(takeIDs, 9)))
	})
}

// A savepoint takes back what was taken after it, and so does the attempt at a statement that is
// run again.
func TestSavepointsTakeBackWhatWasTaken(t *testing.T) {
	inBothStores(t, func(t *testing.T, here, there *sql.Engine, store *txn.Store) {
		a, b := newSession(t, here), newSession(t, there)
		mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int)")
		observe(t, a, "o", "t")
		mustQuery(t, a, "INSERT INTO t SELECT generate_series(1, 3)")
		require.Equal(t, []string{"1"}, taken(t, a, "BEGIN; "+fmt.Sprintf(takeIDs, 1)))
		mustQuery(t, a, "SAVEPOINT s")
		require.Equal(t, []string{"2", "3"}, taken(t, a, fmt.Sprintf(takeIDs, 9)))
		require.Empty(t, taken(t, b, fmt.Sprintf(takeIDs, 9)))
		mustQuery(t, a, "ROLLBACK TO s; COMMIT")
		require.Equal(t, 2, cells(t, store))
		require.Equal(t, []string{"2"}, taken(t, b, "BEGIN; "+fmt.Sprintf(takeIDs, 1)))
		mustQuery(t, b, "SAVEPOINT s")
		require.Equal(t, []string{"3"}, taken(t, b, fmt.Sprintf(takeIDs, 9)))
		mustQuery(t, b, "ROLLBACK TO s")
		require.Equal(t, []string{"3"}, taken(t, b, fmt.Sprintf(takeIDs, 9)), "again")
		mustQuery(t, b, "COMMIT")
		require.Zero(t, cells(t, store))

		// Two calls in one statement take different rows, also where the statement writes.
		mustQuery(t, a, "INSERT INTO t SELECT generate_series(11, 14)")
		mustQuery(t, a, `WITH
			a AS (INSERT INTO u SELECT (key->>'id')::int FROM minidb_take('o', 3)),
			b AS (INSERT INTO u SELECT (key->>'id')::int FROM minidb_take('o', 3))
			SELECT 1`)
		require.Equal(t, []string{"11", "12", "13", "14"},
			taken(t, a, "SELECT id FROM u ORDER BY 1"))
		require.Zero(t, cells(t, store))
	})
}

// The run has one snapshot: READ COMMITTED becomes REPEATABLE READ, if nothing was read before.
func TestATakeFixesTheSnapshot(t *testing.T) {
	inBothStores(t, func(t *testing.T, here, there *sql.Engine, store *txn.Store) {
		a, b := newSession(t, here), newSession(t, there)
		mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY, n int); CREATE TABLE u (n int)")
		observe(t, a, "o", "t")
		mustQuery(t, a, "INSERT INTO t VALUES (1, 1), (2, 2)")
		for _, begin := range []string{"BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ"} {
			require.NotEmpty(t, taken(t, a, begin+"; "+fmt.Sprintf(takeIDs, 9)), begin)
			mustQuery(t, b, "UPDATE t SET n = n + 10; INSERT INTO u VALUES (1)")
			require.Equal(t, "[transaction_isolation]\nrepeatable read\nSHOW\n",
				mustQuery(t, a, "SHOW transaction_isolation"))
			require.Equal(t, "[count]\n0\nSELECT 1\n", mustQuery(t, a, "SELECT count(*) FROM u"))
			// What was changed after the snapshot is pending still, with the row that was taken as
			// its old image.
			require.Empty(t, taken(t, a, fmt.Sprintf(takeIDs, 9)))
			mustQuery(t, a, "COMMIT; DELETE FROM u")
			require.Equal(t, 2, cells(t, store))
		}
		require.Equal(t, "[before row]\n11|21\n12|22\nSELECT 2\n", mustQuery(t, a,
			"SELECT before->'n' AS before, row->'n' AS row FROM minidb_take('o', 9) ORDER BY 1"))

		mustQuery(t, b, "UPDATE t SET n = 0")
		for _, before := range []string{"BEGIN; SELECT 1; ", "BEGIN; INSERT INTO u VALUES (1); ",
			"SELECT 1; "} {
			e := fails(t, a, before+fmt.Sprintf(takeIDs, 9), sqlerr.ActiveSQLTransaction)
			require.Contains(t, e.Hint, "REPEATABLE READ")
			mustQuery(t, a, "ROLLBACK")
		}
		// A later query may take where the snapshot is that of the first one. What the transaction
		// itself has written it leaves.
		mustQuery(t, a, "BEGIN ISOLATION LEVEL REPEATABLE READ; UPDATE t SET n = -1 WHERE id = 1")
		require.Equal(t, []string{"2"}, taken(t, a, fmt.Sprintf(takeIDs, 9)))
		mustQuery(t, a, "COMMIT")
		require.Equal(t, "[before row]\n21|-1\nSELECT 1\n", mustQuery(t, a,
			"SELECT before->'n' AS before, row->'n' AS row FROM minidb_take('o', 9)"))
	})
}

func TestRefusedTakes(t *testing.T) {
	e := newEngine(t)
	s := newSession(t, e)
	mustQuery(t, s, "CREATE TABLE t (id int PRIMARY KEY)")
	observe(t, s, "o", "t")
	for text, code := range map[string]string{
		"SELECT minidb_take('p', 1)":                         sqlerr.UndefinedObject,
		"SELECT * FROM minidb_take('p', 1)":                  sqlerr.UndefinedObject,
		"SELECT * FROM minidb_take('o', 0)":                  sqlerr.InvalidParameterValue,
		"SELECT * FROM minidb_take('o', 1, '-1s')":           sqlerr.InvalidParameterValue,
		"BEGIN READ ONLY; SELECT * FROM minidb_take('o', 1)": sqlerr.ReadOnlySQLTransaction,
		"BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1; " +
			"SELECT FROM minidb_take('o', 1, '1s')": sqlerr.ActiveSQLTransaction,
		"BEGIN; SAVEPOINT a; SELECT FROM minidb_take('o', 1, '1s')": sqlerr.ActiveSQLTransaction,
	} {
		fails(t, s, text, code)
		mustQuery(t, s, "ROLLBACK")
	}
	require.Equal(t, "[key]\nSELECT 0\n", mustQuery(t, s,
		"SELECT key FROM minidb_take(NULL, 1)"))
	require.Equal(t, "[key]\nSELECT 0\n", mustQuery(t, s,
		"SELECT key FROM minidb_take('o', 1, '0s')"))
}

// An observer with a backfill hands out the rows that were there before it, also in the first call.
func TestTakesOfABackfill(t *testing.T) {
	inBothStores(t, func(t *testing.T, here, there *sql.Engine, store *txn.Store) {
		s := newSession(t, here)
		mustQuery(t, s, "CREATE TABLE t (id int PRIMARY KEY, n int);"+
			"INSERT INTO t SELECT g, 0 FROM generate_series(1, 700) g")
		mustQuery(t, s, "SELECT minidb_create_observer('o', 't', 1, NULL, true)")
		mustQuery(t, s, "UPDATE t SET n = 1 WHERE id IN (3, 650); DELETE FROM t WHERE id = 4")
		seen := map[string]bool{}
		for {
			some := taken(t, s, "SELECT key->>'id' FROM minidb_take('o', 300) WHERE before IS NULL")
			if len(some) == 0 {
				break
			}
			for _, id := range some {
				require.False(t, seen[id], id)
				seen[id] = true
			}
		}
		require.Len(t, seen, 699)
		require.Zero(t, cells(t, store))
	})
}

// After TRUNCATE a client gets each row that it had acknowledged as gone, and after a rewrite the
// rows with the columns that they had.
func TestTakesAfterAChangeOfTheTable(t *testing.T) {
	inBothStores(t, func(t *testing.T, here, there *sql.Engine, store *txn.Store) {
		s := newSession(t, here)
		mustQuery(t, s, "CREATE TABLE t (id int PRIMARY KEY, n int)")
		observe(t, s, "o", "t")
		mustQuery(t, s, "INSERT INTO t VALUES (1, 10), (2, 20)")
		require.Len(t, taken(t, s, fmt.Sprintf(takeIDs, 9)), 2)
		mustQuery(t, s, "INSERT INTO t VALUES (3, 30); TRUNCATE t; INSERT INTO t VALUES (2, 21)")
		const changes = "SELECT key->'id' AS id, before->'n' AS before, row->'n' AS row " +
			"FROM minidb_take('o', 9) ORDER BY 1"
		require.Equal(t, "[id before row]\n1|10|NULL\n2|20|21\nSELECT 2\n",
			mustQuery(t, s, changes))
		mustQuery(t, s, "ALTER TABLE t ALTER COLUMN n TYPE text USING n || 'x'")
		require.Equal(t, "[id before row]\n2|21|\"21x\"\nSELECT 1\n", mustQuery(t, s, changes))
		require.Empty(t, taken(t, s, fmt.Sprintf(takeIDs, 9)))
		require.Equal(t, "[pending]\n0\nSELECT 1\n", mustQuery(t, s,
			"SELECT pending FROM minidb_observers"))
	})
}

// Clients drain changes at once, each in transactions of random sizes of which some fail, beside
// writers: each change is in exactly one transaction that commits, so what they add up is right.
func TestClientsDrainExactlyOnce(t *testing.T) {
	inBothStores(t, func(t *testing.T, here, there *sql.Engine, store *txn.Store) {
		setup := newSession(t, here)
		mustQuery(t, setup, "CREATE TABLE t (id int PRIMARY KEY, n int);"+
			"CREATE TABLE log (id int, was int, is_ int)")
		observe(t, setup, "o", "t")
		const rows = 1000
		mustQuery(t, setup, fmt.Sprintf("INSERT INTO t SELECT g, 1 FROM generate_series(1, %d) g",
			rows))
		var wg sync.WaitGroup
		writing := make(chan struct{})
		wg.Go(func() {
			defer close(writing)
			r, s := rand.New(rand.NewPCG(7, 0)), newSession(t, there)
			for range 60 {
				mustQuery(t, s, fmt.Sprintf("UPDATE t SET n = n + 1 WHERE id BETWEEN %[1]d AND "+
					"%[1]d + 3", 1+r.IntN(rows)))
				mustQuery(t, s, fmt.Sprintf("DELETE FROM t WHERE id = %d", 1+r.IntN(rows)))
			}
		})
		for client, e := range []*sql.Engine{here, there, there} {
			wg.Go(func() {
				r, s := rand.New(rand.NewPCG(7, uint64(client+1))), newSession(t, e)
				drain(t, s, r, writing)
			})
		}
		wg.Wait()
		mustQuery(t, setup, `INSERT INTO log SELECT (key->>'id')::int, (before->>'n')::int,
			(row->>'n')::int FROM minidb_take('o', 100000)`)
		require.Zero(t, cells(t, store))
		// What is added up from the differences is what is there.
		require.Equal(t, "[count]\n0\nSELECT 1\n", mustQuery(t, setup, `SELECT count(*) FROM
			(SELECT id, sum(coalesce(is_, 0) - coalesce(was, 0)) AS n FROM log GROUP BY id) l
			FULL JOIN t USING (id) WHERE coalesce(l.n, 0) <> coalesce(t.n, 0)`))
	})
}

// drain takes changes until the writer has ended and nothing is left that it sees.
func drain(t *testing.T, s *sql.Session, r *rand.Rand, writing <-chan struct{}) {
	for {
		ended := false
		select {
		case <-writing:
			ended = true
		default:
		}
		err := query(s, "BEGIN")
		if err == nil {
			err = query(s, fmt.Sprintf(`INSERT INTO log SELECT (key->>'id')::int,
				(before->>'n')::int, (row->>'n')::int FROM minidb_take('o', %d)`, 1+r.IntN(60)))
		}
		if err == nil && r.IntN(4) > 0 {
			err = query(s, "COMMIT")
		} else {
			_ = query(s, "ROLLBACK")
			continue
		}
		if err != nil {
			require.Equal(t, sqlerr.SerializationFailure, codeOf(err), "%v", err)
			_ = query(s, "ROLLBACK")
			continue
		}
		if ended && strings.Contains(mustQuery(t, s, "SELECT pending FROM minidb_observers"),
			"\n0\n") {
			return
		}
	}
}

// What a process has acknowledged and not removed when it died, the next call removes, and hands
// out nothing of it.
func TestATakeCleansUpAfterACrash(t *testing.T) {
	inBothStores(t, func(t *testing.T, here, there *sql.Engine, store *txn.Store) {
		ctx, s := context.Background(), newSession(t, here)
		mustQuery(t, s, "CREATE TABLE t (id int PRIMARY KEY, n int)")
		observe(t, s, "o", "t")
		mustQuery(t, s, "INSERT INTO t VALUES (1, 0), (2, 0), (3, 0)")
		require.Len(t, taken(t, s, fmt.Sprintf(takeIDs, 9)), 3)
		mustQuery(t, s, "UPDATE t SET n = 1 WHERE id = 1; DELETE FROM t WHERE id = 2")
		mustQuery(t, s, "SELECT * FROM t") // waits for what is under way

		cat, err := catalog.Open(ctx, store, catalog.WithPrograms(sql.Programs()))
		require.NoError(t, err)
		tx, err := store.Begin(ctx, txn.BeginOptions{})
		require.NoError(t, err)
		o, ok, err := cat.View(tx).Observer(ctx, catalog.PostgresID, "o")
		require.NoError(t, err)
		require.True(t, ok)
		target := o.Target()
		var keys [][]byte
		require.NoError(t, store.Notifications(ctx, target.Rows,
			func(key []byte, _ *txn.Notification) error {
				keys = append(keys, bytes.Clone(key))
				return nil
			}))
		require.Len(t, keys, 2)
		for _, key := range keys {
			c, found, err := target.Take(ctx, tx, key)
			require.NoError(t, err)
			require.Equal(t, observer.Pending, found)
			require.NoError(t, target.Acknowledge(tx, &c))
		}
		require.NoError(t, tx.Commit(ctx)) // and no Clean
		require.Equal(t, 2, cells(t, store))
		require.Empty(t, taken(t, s, fmt.Sprintf(takeIDs, 9)))
		require.Zero(t, cells(t, store))
		require.NoError(t, catalog.Check(ctx, store, func(p catalog.Problem) { t.Error(p) }))
	})
}
