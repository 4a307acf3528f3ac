package sql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
)

// A transaction that imports a snapshot reads what the one that exported it reads, whatever has
// been committed since, until the latter has ended.
func TestTransactionsShareAnExportedSnapshot(t *testing.T) {
	e := newEngine(t)
	leader, worker, writer := newSession(t, e), newSession(t, e), newSession(t, e)
	mustQuery(t, writer, "CREATE TABLE t (a int); INSERT INTO t VALUES (1)")
	mustQuery(t, leader, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	run := func(text string) string { return mustQuery(t, leader, text) }
	id := value(t, run, "SELECT pg_export_snapshot()")
	mustQuery(t, writer, "INSERT INTO t VALUES (2); CREATE TABLE later ()")

	mustQuery(t, worker, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	mustQuery(t, worker, "SET TRANSACTION SNAPSHOT '"+id+"'")
	for _, s := range []func(string) string{run,
		func(text string) string { return mustQuery(t, worker, text) }} {
		require.Equal(t, "1", value(t, s, "SELECT count(*) FROM t"))
		require.Equal(t, "0", value(t, s, "SELECT count(*) FROM pg_class WHERE relname = 'later'"))
	}
	fails(t, worker, "SET TRANSACTION READ WRITE", sqlerr.ActiveSQLTransaction)
	mustQuery(t, worker, "ROLLBACK; BEGIN ISOLATION LEVEL REPEATABLE READ")
	fails(t, worker, "SET TRANSACTION SNAPSHOT '"+id+"'", sqlerr.FeatureNotSupported)
	mustQuery(t, worker, "ROLLBACK")
	mustQuery(t, leader, "COMMIT")

	mustQuery(t, worker, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	fails(t, worker, "SET TRANSACTION SNAPSHOT '"+id+"'", sqlerr.InvalidParameterValue)
}

func TestSnapshotsAreImportedBeforeAnyQuery(t *testing.T) {
	s := newSession(t, newEngine(t))
	for _, c := range []struct{ before, text, code string }{
		{"BEGIN", "SET TRANSACTION SNAPSHOT 'x'", sqlerr.FeatureNotSupported},
		{"BEGIN ISOLATION LEVEL REPEATABLE READ", "SET TRANSACTION SNAPSHOT 'x'",
			sqlerr.InvalidParameterValue},
		{"BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1", "SET TRANSACTION SNAPSHOT 'x'",
			sqlerr.ActiveSQLTransaction},
		{"BEGIN; SAVEPOINT a", "SELECT pg_export_snapshot()", sqlerr.ActiveSQLTransaction},
		{"BEGIN", "SET LOCAL TRANSACTION SNAPSHOT 'x'", sqlerr.FeatureNotSupported},
	} {
		mustQuery(t, s, c.before)
		fails(t, s, c.text, c.code)
		mustQuery(t, s, "ROLLBACK")
	}
}
