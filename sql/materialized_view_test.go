package sql_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
)

// viewFixture makes a materialized view m of t's rows, with a unique index.
func viewFixture(t *testing.T, a *sql.Session) {
	t.Helper()
	mustQuery(t, a, "CREATE MATERIALIZED VIEW m AS SELECT id, n FROM t")
	mustQuery(t, a, "CREATE UNIQUE INDEX m_id ON m (id)")
	mustQuery(t, a, "CREATE INDEX m_n ON m (n)")
}

var isolationLevels = []string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}

const sumOfView = "SELECT count(*), sum(n) FROM m"

// TestReadersBesideARefreshConcurrently: they do not wait, and see the rows of before the REFRESH
// or those of after it, by the table and by each index, as their level says.
func TestReadersBesideARefreshConcurrently(t *testing.T) {
	inOneProcessAndTwo(t, func(t *testing.T, a, b, c *sql.Session) {
		viewFixture(t, a)
		want := "2|30"
		for i, level := range isolationLevels {
			changed := fmt.Sprintf("2|%d", 100+21+i)
			both := func(s *sql.Session, want string) {
				t.Helper()
				require.Contains(t, mustQuery(t, s, sumOfView), "\n"+want+"\n", level)
				require.Contains(t, mustQuery(t, s, sumOfView+" WHERE n > 0"), "\n"+want+"\n",
					level)
			}
			mustQuery(t, b, "BEGIN ISOLATION LEVEL "+level)
			both(b, want)
			mustQuery(t, a, fmt.Sprintf("UPDATE t SET n = %d WHERE n < 90; UPDATE t SET n = 100 "+
				"WHERE id = 1", 21+i))
			mustQuery(t, a, "BEGIN; REFRESH MATERIALIZED VIEW CONCURRENTLY m")
			both(a, changed)
			both(b, want)
			both(c, want)
			mustQuery(t, a, "COMMIT")
			both(c, changed)
			if level == "READ COMMITTED" {
				both(b, changed)
			} else {
				both(b, want)
			}
			mustQuery(t, b, "COMMIT")
			want = changed
		}
	})
}

// TestRefreshWaitsForReaders: the plain one, and they for it.
func TestRefreshWaitsForReaders(t *testing.T) {
	a, b, c := lockFixture(t)
	viewFixture(t, a)
	mustQuery(t, b, "BEGIN; "+sumOfView)
	mustQuery(t, a, "UPDATE t SET n = n + 1")
	done := blocked(t, a, c, "REFRESH MATERIALIZED VIEW m")
	mustQuery(t, b, "COMMIT")
	require.NoError(t, <-done)
	mustQuery(t, a, "UPDATE t SET n = n + 1; BEGIN; REFRESH MATERIALIZED VIEW m")
	done = blocked(t, b, c, sumOfView)
	mustQuery(t, a, "COMMIT")
	require.NoError(t, <-done)
	require.Contains(t, mustQuery(t, b, sumOfView), "\n2|34\n")
	// A REFRESH that had to wait for a writer of its table sees what that wrote.
	mustQuery(t, b, "BEGIN; LOCK TABLE t; UPDATE t SET n = 0")
	done = blocked(t, a, c, "REFRESH MATERIALIZED VIEW CONCURRENTLY m")
	mustQuery(t, b, "COMMIT")
	require.NoError(t, <-done)
	require.Contains(t, mustQuery(t, b, sumOfView), "\n2|0\n")
}

// TestABlockFromBeforeReadsTheRowsOfBeforeRefresh, by its own schema, and so does AS OF SYSTEM
// TIME.
func TestABlockFromBeforeReadsTheRowsOfBeforeRefresh(t *testing.T) {
	for _, refresh := range []string{"REFRESH MATERIALIZED VIEW m",
		"REFRESH MATERIALIZED VIEW CONCURRENTLY m", "REFRESH MATERIALIZED VIEW m WITH NO DATA",
		"DROP MATERIALIZED VIEW m"} {
		inOneProcessAndTwo(t, func(t *testing.T, a, b, _ *sql.Session) {
			viewFixture(t, b)
			mustQuery(t, a, beginRepeatable+"SELECT * FROM t")
			var at int64
			_, err := fmt.Sscanf(mustQuery(t, b, "SELECT minidb_snapshot_timestamp() AS at"),
				"[at]\n%d", &at)
			require.NoError(t, err)
			mustQuery(t, b, "UPDATE t SET n = n + 1; INSERT INTO t VALUES (3, 3, 3)")
			mustQuery(t, b, refresh)
			vacuumTwice(t, b)
			require.Contains(t, mustQuery(t, a, sumOfView), "\n2|30\n", refresh)
			require.Contains(t, mustQuery(t, a, "SELECT id FROM m WHERE n = 10"), "\n1\n", refresh)
			require.Contains(t, mustQuery(t, b, fmt.Sprintf("%s AS OF SYSTEM TIME %d", sumOfView,
				at)), "\n2|30\n", refresh)
			mustQuery(t, a, "COMMIT")
		})
	}
}

// TestOfTwoRefreshesOneFails where each has its own snapshot: the view would have rows of both.
func TestOfTwoRefreshesOneFails(t *testing.T) {
	inOneProcessAndTwo(t, func(t *testing.T, a, b, _ *sql.Session) {
		viewFixture(t, a)
		for _, second := range []string{"REFRESH MATERIALIZED VIEW CONCURRENTLY m",
			"REFRESH MATERIALIZED VIEW m"} {
			for _, first := range []string{"REFRESH MATERIALIZED VIEW CONCURRENTLY m",
				"REFRESH MATERIALIZED VIEW m"} {
				mustQuery(t, b, "DELETE FROM t WHERE id > 2")
				mustQuery(t, b, "REFRESH MATERIALIZED VIEW m")
				mustQuery(t, b, "INSERT INTO t VALUES (3, 30, 3)")
				mustQuery(t, a, beginRepeatable+"SELECT * FROM t")
				mustQuery(t, b, "DELETE FROM t WHERE id = 3; INSERT INTO t VALUES (4, 40, 4)")
				mustQuery(t, b, first)
				err := query(a, second)
				if err == nil {
					err = query(a, "COMMIT")
				}
				require.Equal(t, sqlerr.SerializationFailure, codeOf(err), "%s; %s", first, second)
				mustQuery(t, a, "ROLLBACK")
				require.Contains(t, mustQuery(t, a, sumOfView), "\n3|70\n")
			}
		}
	})
}

// TestOfTwoRefreshesInTwoProcessesOneFails at READ COMMITTED too: by snapshots of statements.
func TestOfTwoRefreshesInTwoProcessesOneFails(t *testing.T) {
	a, b, _ := sharedFixture(t)
	viewFixture(t, a)
	mustQuery(t, a, "INSERT INTO t VALUES (3, 30, 3)")
	mustQuery(t, a, "BEGIN; REFRESH MATERIALIZED VIEW CONCURRENTLY m")
	mustQuery(t, b, "DELETE FROM t WHERE id = 3; INSERT INTO t VALUES (4, 40, 4)")
	mustQuery(t, b, "REFRESH MATERIALIZED VIEW CONCURRENTLY m")
	require.Equal(t, sqlerr.SerializationFailure, codeOf(query(a, "COMMIT")))
	require.Contains(t, mustQuery(t, a, sumOfView), "\n3|70\n")
}

// TestRefreshIsSerializable: a block that reads the view and writes its table, beside one that
// refreshes it from that table. In no serial order would each miss what the other did.
func TestRefreshIsSerializable(t *testing.T) {
	a, b, _ := lockFixture(t)
	viewFixture(t, a)
	mustQuery(t, a, "UPDATE t SET n = n + 1")
	mustQuery(t, a, beginSerializable+sumOfView)
	mustQuery(t, b, beginSerializable+"REFRESH MATERIALIZED VIEW CONCURRENTLY m")
	mustQuery(t, a, "UPDATE t SET n = 0; COMMIT")
	require.Equal(t, sqlerr.SerializationFailure, codeOf(query(b, "COMMIT")))
}

// TestRefreshConcurrentlyWritesWhatDiffers, and no more: of rows, and of entries of indexes.
func TestRefreshConcurrentlyWritesWhatDiffers(t *testing.T) {
	a, b, _ := lockFixture(t)
	mustQuery(t, a, "CREATE TABLE s (id int, u int, x numeric, y text)")
	mustQuery(t, a, "INSERT INTO s SELECT i, -i, i, 'y' FROM generate_series(1, 50) i; "+
		"INSERT INTO s VALUES (NULL, NULL, 1.0, 'z'), (NULL, NULL, 1.0, 'z')")
	mustQuery(t, a, "CREATE MATERIALIZED VIEW d AS SELECT * FROM s")
	mustQuery(t, a, "CREATE UNIQUE INDEX d_id ON d (id); CREATE UNIQUE INDEX d_u ON d (u)")
	for _, step := range []struct {
		change  string
		written string // inserted, updated, deleted
	}{
		{"SELECT", "0|0|0"},
		{"UPDATE s SET y = 'w' WHERE id = 7", "0|1|0"},
		{"UPDATE s SET x = 8.0 WHERE id = 8", "0|1|0"}, // equal, and not the same
		{"DELETE FROM s WHERE id = 9", "0|0|1"},
		{"INSERT INTO s VALUES (9, -9, 9, 'y'), (60, -60, 1, NULL)", "2|0|0"},
		{"UPDATE s SET id = id + 100 WHERE id = 10", "1|0|1"},
		// The keys of the second index change places.
		{"UPDATE s SET u = id - 23 WHERE id IN (11, 12)", "2|0|2"},
		{"UPDATE s SET id = 27 - id WHERE id IN (13, 14)", "2|0|2"},
		{"INSERT INTO s VALUES (NULL, NULL, 1.0, 'z'), (NULL, 5000, NULL, NULL)", "2|0|0"},
		{"DELETE FROM s WHERE id IS NULL", "0|0|4"},
		{"TRUNCATE s", "0|0|51"},
		{"INSERT INTO s SELECT i, i, i, 'y' FROM generate_series(1, 3000) i", "3000|0|0"},
		{"UPDATE s SET y = 'x'", "0|3000|0"},
	} {
		mustQuery(t, a, step.change)
		const counters = "SELECT n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_user_tables " +
			"WHERE relname = 'd'"
		before := counts(t, mustQuery(t, a, counters))
		mustQuery(t, a, "REFRESH MATERIALIZED VIEW CONCURRENTLY d")
		after := counts(t, mustQuery(t, a, counters))
		require.Equal(t, step.written, fmt.Sprintf("%d|%d|%d", after[0]-before[0],
			after[1]-before[1], after[2]-before[2]), step.change)
		for _, side := range []string{"s EXCEPT ALL SELECT *, x::text FROM d",
			"d EXCEPT ALL SELECT *, x::text FROM s"} {
			require.Contains(t, mustQuery(t, b, "SELECT count(*) FROM (SELECT *, x::text FROM "+
				side+") q"), "\n0\n", step.change)
		}
		require.Contains(t, mustQuery(t, b, "SELECT count(*) FROM s LEFT JOIN d ON d.u = s.u "+
			"WHERE d.u IS NULL AND s.u IS NOT NULL"), "\n0\n")
	}
}

// TestAViewIsAlwaysOneResultOfItsQuery, while other sessions move amounts between the rows of its
// table, and refresh it, in place or not: every reader at every level sees one result, by the rows
// and by each index.
func TestAViewIsAlwaysOneResultOfItsQuery(t *testing.T) {
	one := newEngine(t)
	here, there := twoProcesses(t)
	for _, engines := range [][]*sql.Engine{{one, one}, {here, there}} {
		a, _, _ := lockFixtureOf(t, engines[0], engines[1])
		mustQuery(t, a, "INSERT INTO t SELECT i, 10, i FROM generate_series(3, 20) i")
		viewFixture(t, a)
		const total = 30 + 18*10
		const right = "SELECT 1 / (count(*) = 20 AND sum(n) = %d)::int FROM m"
		var others []<-chan error
		// until runs texts until they have succeeded so often; conflicts are run again.
		until := func(s *sql.Session, times int, texts ...string) {
			done := make(chan error, 1)
			others = append(others, done)
			go func() {
				for n := 0; n < times; {
					err := query(s, texts[n%len(texts)])
					switch codeOf(err) {
					case "":
						n++
					case sqlerr.SerializationFailure, sqlerr.DeadlockDetected:
						_ = query(s, "ROLLBACK")
					default:
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		for i, e := range engines {
			until(newSession(t, e), 60, fmt.Sprintf("BEGIN; UPDATE t SET n = n - 1 WHERE id = %d; "+
				"UPDATE t SET n = n + 1 WHERE id = %d; COMMIT", i+1, 20-i),
				fmt.Sprintf("BEGIN; UPDATE t SET n = n - 3 WHERE id = %d; UPDATE t SET n = n + 3 "+
					"WHERE id = %d; COMMIT", 7+i, 9+i))
			until(newSession(t, e), 30, "REFRESH MATERIALIZED VIEW CONCURRENTLY m",
				"BEGIN ISOLATION LEVEL REPEATABLE READ; REFRESH MATERIALIZED VIEW CONCURRENTLY m; "+
					"COMMIT", "REFRESH MATERIALIZED VIEW m")
			for _, level := range isolationLevels {
				until(newSession(t, e), 30, fmt.Sprintf("BEGIN ISOLATION LEVEL %s; "+right+"; "+
					right+" WHERE id > 0; "+right+" WHERE n > -1000; COMMIT", level, total, total,
					total))
			}
		}
		for _, done := range others {
			require.NoError(t, <-done)
		}
	}
}

// counts reads three numbers of a row.
func counts(t *testing.T, text string) (n [3]int) {
	t.Helper()
	_, err := fmt.Sscanf(text, "[n_tup_ins n_tup_upd n_tup_del]\n%d|%d|%d", &n[0], &n[1], &n[2])
	require.NoError(t, err, text)
	return n
}

// TestARefreshKeepsToTheMemoryOfAStatement.
func TestARefreshKeepsToTheMemoryOfAStatement(t *testing.T) {
	a, _, _ := lockFixture(t)
	mustQuery(t, a, "CREATE TABLE s AS SELECT i, repeat('x', 100) x FROM "+
		"generate_series(1, 20000) i")
	mustQuery(t, a, "CREATE MATERIALIZED VIEW d AS SELECT * FROM s; CREATE UNIQUE INDEX ON d (i)")
	mustQuery(t, a, "SET minidb.statement_memory = '1MB'")
	fails(t, a, "REFRESH MATERIALIZED VIEW CONCURRENTLY d", sqlerr.OutOfMemory)
	mustQuery(t, a, "REFRESH MATERIALIZED VIEW d")
	require.Contains(t, mustQuery(t, a, "SELECT count(*) FROM d"), "\n20000\n")
}
