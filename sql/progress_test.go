package sql_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
)

// TestALargeStatementShowsItsProgressAndEndsWhenTold: a statement that has streamed most of its rows out
// stops at a locked one; others see how far it is, and end it, and nothing of it is left.
func TestALargeStatementShowsItsProgressAndEndsWhenTold(t *testing.T) {
	for _, how := range []string{"pg_cancel_backend", "pg_terminate_backend"} {
		t.Run(how, func(t *testing.T) {
			e := newEngineOn(t, memkv.New(memkv.Options{}), txn.Options{StreamBytes: 16 << 10})
			a, b, c := newSession(t, e), newSession(t, e), newSession(t, e)
			mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY, v text)")
			mustQuery(t, a, "INSERT INTO t SELECT g, repeat('old', 50) FROM generate_series(1, 300) g")
			mustQuery(t, b, "BEGIN")
			mustQuery(t, b, "SELECT * FROM t WHERE id = 300 FOR UPDATE")
			mustQuery(t, a, "BEGIN")
			wait := blocked(t, a, c, "UPDATE t SET v = repeat('new', 50)")
			of := " FROM minidb_progress WHERE pid = " + pid(a)
			require.Contains(t, mustQuery(t, c, "SELECT rows_written, keys_streamed > 100, bytes_streamed > 10000, phase, query"+of),
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
			require.Contains(t, mustQuery(t, c, "SELECT count(*) FROM t WHERE v LIKE 'old%'"), "\n300\n")
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
