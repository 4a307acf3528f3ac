package sql_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/txn"
)

// TestALargeStatementShowsItsProgressAndEndsWhenTold: a statement that has streamed most of its
// rows out stops at a locked one; others see how far it is, and end it, and nothing of it is left.
func TestALargeStatementShowsItsProgressAndEndsWhenTold(t *testing.T) {
	for _, how := range []string{"pg_cancel_backend", "pg_terminate_backend"} {
		t.Run(how, func(t *testing.T) {
			e := newEngineOn(t, memkv.New(memkv.Options{}), txn.Options{StreamBytes: 16 << 10})
			a, b, c := newSession(t, e), newSession(t, e), newSession(t, e)
			mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY, v text)")
			mustQuery(t, a, "INSERT INTO t SELECT g, repeat('old', 50) FROM generate_series(1, "+
				"300) g")
			mustQuery(t, b, "BEGIN")
			mustQuery(t, b, "SELECT * FROM t WHERE id = 300 FOR UPDATE")
			mustQuery(t, a, "BEGIN")
			wait := blocked(t, a, c, "UPDATE t SET v = repeat('new', 50)")
			of := " FROM minidb_progress WHERE pid = " + pid(a)
			require.Contains(t, mustQuery(t, c, "SELECT rows_written, keys_streamed > 100, "+
				"bytes_streamed > 10000, phase, query"+of),
				"\n299|t|t|running|UPDATE t SET v = repeat('new', 50)\n")
			require.Contains(t, mustQuery(t, c, "SELECT "+how+"("+pid(a)+")"), "\nt\n")
			if err := <-wait; how == "pg_cancel_backend" {
				require.Equal(t, sqlerr.QueryCanceled, codeOf(err))
				mustQuery(t, a, "ROLLBACK")
				a.Idle()
			} else {
				require.Equal(t, sqlerr.AdminShutdown, codeOf(err))
				require.True(t, a.Terminated())
				a.Close(context.Background())
			}
			mustQuery(t, b, "ROLLBACK")
			require.Contains(t, mustQuery(t, c, "SELECT count(*) FROM t WHERE v LIKE 'old%'"),
				"\n300\n")
			require.NotContains(t, mustQuery(t, c, "SELECT pid"+of), "\n"+pid(a)+"\n")
		})
	}
}

func TestCancelOfOneselfAndOfNobody(t *testing.T) {
	e := newEngine(t)
	a := newSession(t, e)
	fails(t, a, "SELECT pg_cancel_backend(pg_backend_pid())", sqlerr.QueryCanceled)
	out := mustQuery(t, a, "SELECT pg_cancel_backend(999999), pg_terminate_backend(999999, 5)")
	require.Contains(t, out, "PID 999999 is not a PostgreSQL backend process")
	require.Contains(t, out, "\nf|f\n")
	fails(t, a, "SELECT pg_terminate_backend(1, -1)", sqlerr.NumericValueOutOfRange)
}

// TestUpkeepShowsItsProgress: others see how far VACUUM, ANALYZE, CREATE INDEX and REINDEX are,
// with counts that are those of the moment.
func TestUpkeepShowsItsProgress(t *testing.T) {
	meter := kvtest.NewMeter(memkv.New(memkv.Options{}))
	t.Cleanup(func() { require.NoError(t, meter.Close()) })
	e, _ := openEngine(t, meter, txn.Options{}, sql.Options{})
	a, b := newSession(t, e), newSession(t, e)
	mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY, n int)")
	mustQuery(t, a, "INSERT INTO t SELECT g, g FROM generate_series(1, 6000) g")
	const vacuum = "SELECT relid::regclass, phase, heap_blks_total, num_dead_tuples FROM " +
		"pg_stat_progress_vacuum"
	const analyze = "SELECT relid::regclass, phase FROM pg_stat_progress_analyze"
	const index = "SELECT relid::regclass, index_relid > 0, command, phase, tuples_done, " +
		"tuples_total FROM pg_stat_progress_create_index"
	for _, c := range []struct {
		text string
		at   int64 // the key at which others look
		view string
		want string
	}{
		{"ANALYZE t", 4000, analyze, "t|acquiring sample rows"},
		{"ANALYZE t", 4000, "SELECT rows_read, rows_expected FROM minidb_progress WHERE pid = " +
			pid(a), "3072|6000"},
		{"CREATE INDEX i ON t (n)", 4000, index, "t|t|CREATE INDEX|building index: scanning " +
			"table|3072|6000"},
		{"REINDEX INDEX i", 4000, index, "t|t|REINDEX|building index: scanning table|3072|6000"},
		{"UPDATE t SET n = n + 1", 4000, vacuum, ""},
		{"VACUUM t", 10, vacuum, "t|initializing|NULL|0"},
		{"VACUUM t", 60000, vacuum, ""},
	} {
		var got string
		ctx := meter.Watch(t.Context(), c.at, func() { got = mustQuery(t, b, c.view) })
		require.NoError(t, a.Query(ctx, c.text, &transcript{s: a}), c.text)
		lines := strings.SplitN(got, "\n", 3)
		if c.want == "" {
			require.NotContains(t, got, "|", c.text)
			continue
		}
		require.GreaterOrEqual(t, len(lines), 2, "%s: %q", c.text, got)
		require.Equal(t, c.want, lines[1], c.text)
	}
	for _, view := range []string{vacuum, analyze, index} {
		require.Contains(t, mustQuery(t, b, view), "SELECT 0")
	}
}
