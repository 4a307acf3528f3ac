package sql_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/txn"
)

// underWrites runs fn while four sessions write table t all the time, and returns the conflicts
// that any of them had with a change of the schema.
func underWrites(t *testing.T, e *sql.Engine, write string, fn func()) (out []string) {
	var writers sync.WaitGroup
	var stop atomic.Bool
	for g := range 4 {
		s := newSession(t, e)
		writers.Go(func() {
			for i := 0; !stop.Load(); i++ {
				text := fmt.Sprintf(write, g*1_000_000+i, i%7)
				if err := query(s, text); err != nil {
					t.Errorf("%s: %v", text, err)
					return
				}
			}
		})
	}
	fn()
	stop.Store(true)
	writers.Wait()
	for _, c := range e.Conflicts() {
		out = append(out, c.Kind+": "+c.Statement)
	}
	return out
}

// A statement that reads all rows of a table which is written all the time comes to its end at the
// first try, because the writers wait for it.
func TestAnIndexIsBuiltUnderConstantWrites(t *testing.T) {
	e := newEngine(t)
	s := newSession(t, e)
	mustQuery(t, s, "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t SELECT -g, g FROM "+
		"generate_series(1, 2000) g")
	conflicts := underWrites(t, e, "INSERT INTO t VALUES (%d, %d)", func() {
		for i := range 3 {
			mustQuery(t, s, fmt.Sprintf("CREATE INDEX i%d ON t (v)", i))
		}
	})
	require.Empty(t, conflicts)
	for i := range 3 {
		require.Contains(t, mustQuery(t, s, fmt.Sprintf("DROP INDEX i%d", i)), "DROP INDEX")
	}
}

// What changes nothing for writers of rows does not wait for a block that writes them, nor
// does it make the block fail.
func TestConstraintsAreValidatedBesideWriters(t *testing.T) {
	e := newEngine(t)
	a, b := newSession(t, e), newSession(t, e)
	mustQuery(t, a, "CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE t (id int PRIMARY KEY, v "+
		"int); CREATE INDEX t_v ON t (v)")
	mustQuery(t, a, "INSERT INTO p SELECT generate_series(0, 6); INSERT INTO t SELECT -g, g % 7 "+
		"FROM generate_series(1, 1000) g")
	for _, level := range []string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
		mustQuery(t, a, "ALTER TABLE t ADD CONSTRAINT small CHECK (v < 7) NOT VALID, ADD "+
			"CONSTRAINT ref FOREIGN KEY (v) REFERENCES p NOT VALID")
		mustQuery(t, b, "BEGIN ISOLATION LEVEL "+level)
		mustQuery(t, b, "INSERT INTO t VALUES (1, 1)")
		mustQuery(t, a, "ALTER TABLE t VALIDATE CONSTRAINT small, VALIDATE CONSTRAINT ref; "+
			"COMMENT ON COLUMN t.v IS 'small'; ALTER INDEX t_v RENAME TO t_v2")
		mustQuery(t, b, "INSERT INTO t VALUES (2, 2)")
		fails(t, b, "SAVEPOINT s; INSERT INTO t VALUES (3, 8)", sqlerr.CheckViolation)
		mustQuery(t, b, "ROLLBACK TO s; COMMIT")
		mustQuery(t, a, "DELETE FROM t WHERE id > 0; ALTER TABLE t DROP CONSTRAINT small, DROP "+
			"CONSTRAINT ref; ALTER INDEX t_v2 RENAME TO t_v")
	}
	mustQuery(t, a, "ALTER TABLE t ADD CONSTRAINT ref FOREIGN KEY (v) REFERENCES p NOT VALID")
	conflicts := underWrites(t, e, "INSERT INTO t VALUES (%d, %d)",
		func() { mustQuery(t, a, "ALTER TABLE t VALIDATE CONSTRAINT ref") })
	require.Empty(t, conflicts)
	require.Contains(t, mustQuery(t, a, "SELECT convalidated FROM pg_constraint WHERE conname = "+
		"'ref'"), "\nt\n")
}

// A constraint of the block's own is not known to other sessions: adding it waits for the writers
// of the table, and tests the rows that they wrote.
func TestAConstraintValidatedInItsOwnBlock(t *testing.T) {
	e := newEngine(t)
	a, b := newSession(t, e), newSession(t, e)
	mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY, v int)")
	mustQuery(t, b, "BEGIN; INSERT INTO t VALUES (1, 8)")
	mustQuery(t, a, "SET lock_timeout = '1ms'")
	const change = "BEGIN; ALTER TABLE t ADD CONSTRAINT small CHECK (v < 7) NOT VALID; ALTER " +
		"TABLE t VALIDATE CONSTRAINT small"
	fails(t, a, change, sqlerr.LockNotAvailable)
	mustQuery(t, b, "COMMIT")
	mustQuery(t, a, "ROLLBACK")
	fails(t, a, change, sqlerr.CheckViolation)
	mustQuery(t, a, "ROLLBACK")
}

// snapshots is an engine that calls a function before the next snapshot, which a transaction takes
// between its timestamp and the locks of its tables.
type snapshots struct {
	kv.Engine
	before func()
}

func (e *snapshots) Snapshot() (kv.Snapshot, error) {
	if before := e.before; before != nil {
		e.before = nil
		before()
	}
	return e.Engine.Snapshot()
}

func (e *snapshots) Exclusive() bool { return kv.IsExclusive(e.Engine) }

// A change of the schema that was over before the statement had the lock of its table, and after
// the timestamp at which it reads, is seen.
func TestASchemaThatChangedBeforeTheLock(t *testing.T) {
	engine := &snapshots{Engine: memkv.New(memkv.Options{})}
	e := newEngineOn(t, engine, txn.Options{})
	a, b := newSession(t, e), newSession(t, e)
	mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY, v int)")
	for i, begin := range []string{"BEGIN ISOLATION LEVEL READ COMMITTED", "BEGIN",
		"BEGIN ISOLATION LEVEL SERIALIZABLE", ""} {
		// a transaction that reads the catalog from now on has no earlier snapshot of it
		mustQuery(t, a, fmt.Sprintf("CREATE TABLE none%d ()", i))
		if begin != "" {
			mustQuery(t, b, begin)
		}
		called := false
		engine.before = func() {
			called = true
			mustQuery(t, a, fmt.Sprintf("CREATE INDEX i%d ON t (v)", i))
		}
		mustQuery(t, b, fmt.Sprintf("INSERT INTO t VALUES (%d, 7)", i))
		require.True(t, called)
		if begin != "" {
			mustQuery(t, b, "COMMIT")
		}
	}
	require.Empty(t, e.Conflicts())
	require.Contains(t, mustQuery(t, a, "SELECT count(*) FROM t WHERE v = 7"), "\n4\n")
}
