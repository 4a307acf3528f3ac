package sql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
)

// unserializable runs a statement that must be refused for the given reason.
func unserializable(t *testing.T, s *sql.Session, text, reason string) {
	t.Helper()
	e := fails(t, s, text, sqlerr.SerializationFailure)
	require.Equal(t, "could not serialize access due to read/write dependencies among transactions",
		e.Message)
	require.Regexp(t, "^Reason code: "+reason+"$", e.Detail)
	require.Equal(t, "The transaction might succeed if retried.", e.Hint)
}

const beginSerializable = "BEGIN ISOLATION LEVEL SERIALIZABLE; "

// TestACommittedPivotRefusesItsReader: also when the reader stops before the end of its range,
// which it notes when it stops. That statement returns the error, not the next one.
func TestACommittedPivotRefusesItsReader(t *testing.T) {
	for _, query := range []string{
		"SELECT * FROM t WHERE id = 1", "SELECT * FROM t ORDER BY id LIMIT 1",
		"SELECT count(*) FROM t",
		"SELECT id FROM t WHERE u = 1", "UPDATE t SET n = 0 WHERE n = 10",
	} {
		a, b, c := lockFixture(t)
		mustQuery(t, a, beginSerializable+"SELECT 1")
		mustQuery(t, b, beginSerializable+"SELECT n FROM t WHERE id = 2")
		mustQuery(t, c, beginSerializable+"UPDATE t SET n = 21 WHERE id = 2; COMMIT")
		mustQuery(t, b, "UPDATE t SET n = 11, u = 5 WHERE id = 1; COMMIT")
		unserializable(t, a, query, "Canceled on conflict out to pivot \\d+, during read\\.")
		mustQuery(t, a, "ROLLBACK")
	}
}

// TestAnImplicitSerializableStatementIsRunAgain: it may lose against a block, and its client does
// not see it.
func TestAnImplicitSerializableStatementIsRunAgain(t *testing.T) {
	a, b, c := lockFixture(t)
	for _, s := range []*sql.Session{a, b} {
		mustQuery(t, s, "SET default_transaction_isolation = serializable")
	}
	mustQuery(t, a, "BEGIN; SELECT sum(n) FROM t; UPDATE t SET n = n + 1 WHERE id = 1")
	done := blocked(t, b, c, "UPDATE t SET n = (SELECT sum(n) FROM t) WHERE id = 1")
	mustQuery(t, a, "COMMIT")
	require.NoError(t, <-done)
	require.Contains(t, mustQuery(t, c, "SELECT n FROM t WHERE id = 1"), "\n31\n")
}

// TestDeferrableWaits: for the writers that run, seen by others; it can be cancelled, and reads
// what is the same in every serial order.
func TestDeferrableWaits(t *testing.T) {
	a, b, c := lockFixture(t)
	deferrable := "BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE; "
	waits := func(text string) <-chan error {
		done := start(b, text)
		for {
			seen := mustQuery(t, c, "SELECT wait_event_type, wait_event, "+
				"pg_safe_snapshot_blocking_pids(pid) FROM pg_stat_activity WHERE wait_event = "+
				"'SafeSnapshot'")
			if seen == mustQuery(t, c, "SELECT 'IPC' wait_event_type, 'SafeSnapshot' wait_event, "+
				"ARRAY["+pid(a)+"] pg_safe_snapshot_blocking_pids") {
				return done
			}
		}
	}
	mustQuery(t, b, deferrable+"SELECT * FROM t; COMMIT") // there is no transaction to wait for
	mustQuery(t, a, beginSerializable+"UPDATE t SET n = 11 WHERE id = 1")
	done := waits(deferrable + "SELECT n FROM t WHERE id = 1")
	require.Contains(t, mustQuery(t, c, "SELECT pg_safe_snapshot_blocking_pids("+pid(a)+")"),
		"\n{}\n")
	mustQuery(t, a, "COMMIT")
	require.NoError(t, <-done)
	mustQuery(t, b, "COMMIT")

	mustQuery(t, a, beginSerializable+"UPDATE t SET n = 12 WHERE id = 1")
	done = waits(deferrable + "SELECT n FROM t WHERE id = 1")
	mustQuery(t, c, "SELECT pg_cancel_backend("+pid(b)+")")
	require.Equal(t, sqlerr.QueryCanceled, codeOf(<-done))
	mustQuery(t, b, "ROLLBACK")
	mustQuery(t, a, "ROLLBACK")
}

// TestADuplicateIsNoConflictOnASharedStore: a key that the snapshot shows stays a duplicate however
// often the statement is run again, also when the transaction has read the row; one that it has
// seen absent is a conflict.
func TestADuplicateIsNoConflictOnASharedStore(t *testing.T) {
	a, b, _ := sharedFixture(t)
	for _, locks := range []string{"on", "off"} {
		mustQuery(t, a, "SET minidb.write_locks = "+locks+
			"; SET default_transaction_isolation = serializable")
		for _, text := range []string{"INSERT INTO t VALUES (1, 0, 7)",
			"INSERT INTO t VALUES (7, 0, 1)"} {
			fails(t, a, text, sqlerr.UniqueViolation)
			mustQuery(t, a, "BEGIN; SELECT * FROM t")
			fails(t, a, text, sqlerr.UniqueViolation)
			mustQuery(t, a, "ROLLBACK")
		}
	}
	mustQuery(t, a, "SET minidb.write_locks = on; BEGIN; SELECT * FROM t WHERE id = 3")
	mustQuery(t, b, "INSERT INTO t VALUES (3, 30, 3)")
	fails(t, a, "INSERT INTO t VALUES (3, 0, 7)", sqlerr.SerializationFailure)
	mustQuery(t, a, "ROLLBACK")
}

// TestASchemaIsNoRow: a transaction that knew a table before its schema changed does not fail for
// that; what the change does to rows has its place in the order as any other write.
func TestASchemaIsNoRow(t *testing.T) {
	a, b, c := lockFixture(t)
	mustQuery(t, c, "ALTER TABLE t ADD CONSTRAINT positive CHECK (n > 0) NOT VALID; CREATE TABLE "+
		"v (n int); INSERT INTO v VALUES (1)")
	mustQuery(t, b, beginSerializable+"ALTER TABLE t VALIDATE CONSTRAINT positive")
	mustQuery(t, a, beginSerializable+"SELECT sum(n) FROM t; INSERT INTO t VALUES (3, 30, 3)")
	mustQuery(t, b, "COMMIT")
	mustQuery(t, a, "SELECT sum(n) FROM t; COMMIT")

	for _, change := range []string{"TRUNCATE v", "DROP TABLE v",
		"ALTER TABLE v ALTER n TYPE bigint USING n + 1"} {
		mustQuery(t, a, beginSerializable+"UPDATE t SET n = n + 1 WHERE id = 1")
		mustQuery(t, b, beginSerializable+"SELECT sum(n) FROM t; "+change+"; COMMIT")
		unserializable(t, a, "SELECT * FROM v", "Canceled on conflict out to pivot \\d+, during "+
			"read\\.")
		mustQuery(t, a, "ROLLBACK")
		mustQuery(t, c, "DROP TABLE IF EXISTS v; CREATE TABLE v (n int); INSERT INTO v VALUES (1)")
	}

	// A type that keeps what is stored of the rows changes none of them.
	mustQuery(t, a, beginSerializable+"UPDATE t SET n = n + 1 WHERE id = 1")
	mustQuery(t, b, beginSerializable+"SELECT sum(n) FROM t; ALTER TABLE v ALTER n TYPE bigint; "+
		"COMMIT")
	require.Contains(t, mustQuery(t, a, "SELECT * FROM v"), "\n1\n")
	mustQuery(t, a, "COMMIT")
}
