package sql_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
)

// keepsSnapshot are the levels of which a block reads one snapshot.
var keepsSnapshot = []string{"REPEATABLE READ", "SERIALIZABLE"}

// newer is a database in which session a changes the schema under a block of b.
type newer struct {
	t     *testing.T
	level string // of the block
	a, b  *sql.Session
	e     *sql.Engine
	st    *txn.Store
}

func newNewer(t *testing.T, level string) *newer {
	e, st := openEngine(t, memkv.New(memkv.Options{}), txn.Options{}, sql.Options{})
	n := &newer{t: t, level: level, a: newSession(t, e), b: newSession(t, e), e: e, st: st}
	mustQuery(t, n.a, `CREATE TABLE p (id int PRIMARY KEY, u int UNIQUE);
		CREATE TABLE c (id int PRIMARY KEY, p int, q int, n int NOT NULL DEFAULT 0);
		CREATE INDEX c_n ON c (n); CREATE TABLE other (id int);
		INSERT INTO p VALUES (1, 10), (2, 20), (3, 30); INSERT INTO c VALUES (1, 1, 10)`)
	return n
}

// eachSnapshot runs a test at each level that keeps its snapshot, and checks what it leaves behind.
func eachSnapshot(t *testing.T, test func(t *testing.T, n *newer)) {
	for _, level := range keepsSnapshot {
		t.Run(level, func(t *testing.T) {
			n := newNewer(t, level)
			test(t, n)
			n.clean()
		})
	}
}

// block begins a block of b whose snapshot is taken, and none of whose tables is locked.
func (n *newer) block() {
	mustQuery(n.t, n.b, "BEGIN ISOLATION LEVEL "+n.level+"; SELECT count(*) FROM other")
}

// fails runs a statement of b in the block, which goes on after it.
func (n *newer) fails(text, code string) {
	n.t.Helper()
	mustQuery(n.t, n.b, "SAVEPOINT s")
	fails(n.t, n.b, text, code)
	mustQuery(n.t, n.b, "ROLLBACK TO s")
}

func (n *newer) clean() {
	n.t.Helper()
	require.NoError(n.t, catalog.Check(context.Background(), n.st,
		func(p catalog.Problem) { n.t.Error(p) }))
}

// A block that keeps its snapshot obeys the constraints that were added since, and commits.
func TestABlockObeysConstraintsNewerThanItsSnapshot(t *testing.T) {
	eachSnapshot(t, func(t *testing.T, n *newer) {
		n.block()
		mustQuery(t, n.a, "ALTER TABLE c ADD CONSTRAINT small CHECK (id < 100)")
		n.fails("INSERT INTO c VALUES (100, 1, 10)", sqlerr.CheckViolation)
		n.fails("UPDATE c SET id = 100", sqlerr.CheckViolation)
		mustQuery(t, n.b, "INSERT INTO c VALUES (1, 9, 90) ON CONFLICT DO NOTHING")
		n.fails("INSERT INTO c VALUES (1, 9, 90) ON CONFLICT (id) DO UPDATE SET id = 100",
			sqlerr.CheckViolation)
		mustQuery(t, n.b, "INSERT INTO c VALUES (2, 7, 70)")
		mustQuery(t, n.b, "COMMIT")

		n.block()
		mustQuery(t, n.a, "DELETE FROM c WHERE id = 2; ALTER TABLE c ADD CONSTRAINT ref FOREIGN "+
			"KEY (p) REFERENCES p")
		n.fails("INSERT INTO c VALUES (3, 8, 80)", sqlerr.ForeignKeyViolation)
		n.fails("DELETE FROM p WHERE id = 1", sqlerr.ForeignKeyViolation)
		mustQuery(t, n.b, "DELETE FROM p WHERE id = 2; INSERT INTO c VALUES (3, 3, 30)")
		mustQuery(t, n.b, "COMMIT")

		n.block()
		mustQuery(t, n.a, "ALTER TABLE c DROP CONSTRAINT small, ALTER n DROP NOT NULL")
		mustQuery(t, n.b, "INSERT INTO c VALUES (100, 1, 10, NULL)")
		mustQuery(t, n.b, "COMMIT")
	})
}

// A second foreign key between two tables leaves the descriptor of the referenced one as it was. A
// block that removes its keys looks for references by the new one nevertheless, also if it has
// removed keys by the old one alone; and if another change keeps the block from knowing it, the
// block fails.
func TestABlockObeysASecondForeignKeyNewerThanItsSnapshot(t *testing.T) {
	eachSnapshot(t, func(t *testing.T, n *newer) {
		mustQuery(t, n.a, "ALTER TABLE c ADD CONSTRAINT ref FOREIGN KEY (p) REFERENCES p; INSERT "+
			"INTO c VALUES (2, NULL, 20)")
		n.block()
		mustQuery(t, n.a, "ALTER TABLE c ADD CONSTRAINT ref2 FOREIGN KEY (q) REFERENCES p (u)")
		n.fails("DELETE FROM p WHERE id = 2", sqlerr.ForeignKeyViolation)
		mustQuery(t, n.b, "ROLLBACK")

		mustQuery(t, n.a, "ALTER TABLE c DROP CONSTRAINT ref2")
		n.block()
		mustQuery(t, n.a, "ALTER TABLE c ADD CONSTRAINT ref2 FOREIGN KEY (q) REFERENCES p (u); "+
			"CREATE INDEX ON c (q)")
		mustQuery(t, n.b, "DELETE FROM p WHERE id = 2")
		fails(t, n.b, "COMMIT", sqlerr.SerializationFailure)
	})
}

// Tables that a foreign key joins are of one state: where the referencing one has changed too much
// to be known, the referenced one is not known to be referenced either.
func TestABlockFailsOnAReferenceWhoseTableItCannotKnow(t *testing.T) {
	eachSnapshot(t, func(t *testing.T, n *newer) {
		n.block()
		mustQuery(t, n.a, "ALTER TABLE c ADD CONSTRAINT ref FOREIGN KEY (p) REFERENCES p; CREATE "+
			"INDEX c_q ON c (q)")
		mustQuery(t, n.b, "DELETE FROM p WHERE id = 1")
		fails(t, n.b, "COMMIT", sqlerr.SerializationFailure)
	})
}

// A check that was put off is done under whatever name its constraint has by then, by whomever it
// was given.
func TestADeferredCheckOutlivesTheNameOfItsConstraint(t *testing.T) {
	for _, level := range append([]string{"READ COMMITTED"}, keepsSnapshot...) {
		t.Run(level, func(t *testing.T) {
			n := newNewer(t, level)
			violates := func(text, constraint string) {
				t.Helper()
				require.Equal(t, constraint,
					fails(t, n.b, text, sqlerr.ForeignKeyViolation).Constraint)
				mustQuery(t, n.b, "ROLLBACK")
				n.clean()
			}
			const rename = "ALTER TABLE c RENAME CONSTRAINT ref TO other"
			mustQuery(t, n.a, "ALTER TABLE c ADD CONSTRAINT ref FOREIGN KEY (p) REFERENCES p "+
				"DEFERRABLE INITIALLY DEFERRED")
			for _, write := range []string{"DELETE FROM p WHERE id = 1",
				"INSERT INTO c VALUES (2, 4, 40)"} {
				n.block()
				mustQuery(t, n.b, write+"; "+rename)
				violates("COMMIT", "other")
				n.block()
				mustQuery(t, n.b, "SET CONSTRAINTS ref DEFERRED; "+write+"; "+rename)
				violates("SET CONSTRAINTS other IMMEDIATE", "other")
			}

			n.block()
			mustQuery(t, n.b, "DELETE FROM p WHERE id = 1")
			mustQuery(t, n.a, "SET lock_timeout = '1ms'; "+rename)
			require.Contains(t, mustQuery(t, n.b, "SELECT id FROM c"), "\n1\n")
			violates("COMMIT", "other")

			n.block()
			mustQuery(t, n.b, "DELETE FROM p WHERE id = 1")
			mustQuery(t, n.a, "ALTER TABLE c RENAME CONSTRAINT other TO another")
			violates("SET CONSTRAINTS another IMMEDIATE", "another")
		})
	}
}

// A change that says more about rows than the snapshot keeps is a conflict: no row lacks an entry
// or a column, and none is found by an index that is younger than what it must show.
func TestABlockFailsOnChangesOfRowsNewerThanItsSnapshot(t *testing.T) {
	for _, change := range []string{
		"CREATE INDEX c_q ON c (q)", "ALTER TABLE c ADD UNIQUE (q)",
		"ALTER TABLE c ADD COLUMN m int DEFAULT 5", "ALTER TABLE c DROP COLUMN q",
		"ALTER TABLE c ALTER q TYPE text", "ALTER TABLE c ALTER q SET NOT NULL", "TRUNCATE c",
		"ALTER TABLE c ADD CHECK (id < 100), ADD COLUMN m int",
		"ALTER TABLE c ADD CHECK (id < 100); CREATE INDEX c_q ON c (q)",
		"DROP INDEX c_n; CREATE INDEX c_q ON c (q)",
		"CREATE TABLE fresh (id int PRIMARY KEY); ALTER TABLE c ADD FOREIGN KEY (q) REFERENCES " +
			"fresh NOT VALID",
	} {
		t.Run(change, func(t *testing.T) {
			eachSnapshot(t, func(t *testing.T, n *newer) {
				n.block()
				mustQuery(t, n.a, "UPDATE c SET q = 11")
				mustQuery(t, n.a, change)
				require.Contains(t, mustQuery(t, n.b, "SELECT q FROM c WHERE q = 10"), "\n10\n")
				mustQuery(t, n.b, "INSERT INTO c (id, p) VALUES (2, 1)")
				fails(t, n.b, "COMMIT", sqlerr.SerializationFailure)
			})
		})
	}
}

// What the block has read of the newest schema counts from then on: a later change that it does not
// know is a conflict, and so is the schema change of its own beside that of another.
func TestABlockThatKnowsTheNewestSchemaStillConflicts(t *testing.T) {
	eachSnapshot(t, func(t *testing.T, n *newer) {
		n.block()
		mustQuery(t, n.a, "ALTER TABLE c ADD CONSTRAINT small CHECK (id < 100)")
		// its lock is gone
		mustQuery(t, n.b, "SAVEPOINT s; INSERT INTO c VALUES (2, 1, 10); ROLLBACK TO s")
		mustQuery(t, n.a, "CREATE INDEX c_q ON c (q)")
		mustQuery(t, n.b, "INSERT INTO c VALUES (2, 1, 10)")
		fails(t, n.b, "COMMIT", sqlerr.SerializationFailure)
		n.clean()

		n.block()
		mustQuery(t, n.a, "ALTER TABLE c DROP CONSTRAINT small")
		mustQuery(t, n.b, "INSERT INTO c VALUES (100, 1, 10)")
		fails(t, n.b, "ALTER TABLE p ADD CHECK (id > 0); COMMIT", sqlerr.SerializationFailure)
		mustQuery(t, n.b, "ROLLBACK")

		n.block()
		mustQuery(t, n.b, "ALTER TABLE p ADD CONSTRAINT own CHECK (id > 0)")
		n.fails("INSERT INTO p VALUES (0)", sqlerr.CheckViolation)
		mustQuery(t, n.b, "INSERT INTO p VALUES (9); COMMIT")
	})
}

// A writer fills blocks that keep their snapshots, with statements that may break a constraint.
type newerWriter struct {
	s            *sql.Session
	r            *rand.Rand
	number       int // of the writer
	rows         int
	done, obeyed int // blocks that committed, statements that were refused
}

func (w *newerWriter) statement() string {
	id, parent, unique := w.number*1_000_000+w.rows, 1+w.r.IntN(12), 10*(1+w.r.IntN(12))
	w.rows++
	switch w.r.IntN(6) {
	case 0, 1:
		return fmt.Sprintf("INSERT INTO c VALUES (%d, %d, %d)", id, parent, unique)
	case 2:
		return fmt.Sprintf("UPDATE c SET q = %d WHERE id = (SELECT max(id) FROM c WHERE p = %d)",
			unique, parent)
	case 3:
		return fmt.Sprintf("DELETE FROM p WHERE id = %d", parent)
	}
	return fmt.Sprintf("INSERT INTO p VALUES (%d, %[1]d0) ON CONFLICT DO NOTHING", parent)
}

// block runs one, to its end or to a conflict.
func (w *newerWriter) block(level string) (err error) {
	texts := []string{"BEGIN ISOLATION LEVEL " + level, "SELECT count(*) FROM other"}
	for range 3 {
		texts = append(texts, fmt.Sprintf("SELECT pg_sleep(0.00%d)", w.r.IntN(3)), "SAVEPOINT s",
			w.statement())
	}
	for _, text := range append(texts, "COMMIT") {
		err := query(w.s, text)
		switch codeOf(err) {
		case "":
		case "23503", "23514":
			w.obeyed++
			err = query(w.s, "ROLLBACK TO s")
		case "40001", "40P01":
			return query(w.s, "ROLLBACK")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	w.done++
	return nil
}

// Blocks write while their constraints and indexes come and go. At no time does a row break a
// constraint that is there, or lack an entry.
func TestConstraintsComeAndGoUnderBlocks(t *testing.T) {
	n := newNewer(t, "") // blocks of others alone
	mustQuery(t, n.a, "DELETE FROM c; INSERT INTO p SELECT g, g * 10 FROM generate_series(4, 12) g")
	var running sync.WaitGroup
	var stop atomic.Bool
	writers := make([]*newerWriter, 4)
	for i := range writers {
		w := &newerWriter{s: newSession(t, n.e), r: rand.New(rand.NewPCG(uint64(i), 11)), number: i}
		writers[i] = w
		running.Go(func() {
			for !stop.Load() {
				if err := w.block(keepsSnapshot[w.number%2]); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	defer func() {
		stop.Store(true)
		running.Wait()
		for _, w := range writers {
			t.Log(w.done, "committed,", w.obeyed, "refused")
			require.Positive(t, w.done)
			require.Positive(t, w.obeyed)
		}
	}()
	again := func(text string) { // it may be the victim of a deadlock
		t.Helper()
		for {
			err := query(n.a, text)
			if code := codeOf(err); code != "40P01" && code != "40001" {
				require.NoError(t, err)
				return
			}
			mustQuery(t, n.a, "ROLLBACK")
		}
	}
	for range 20 {
		again(`BEGIN ISOLATION LEVEL READ COMMITTED; LOCK TABLE p, c;
			DELETE FROM c WHERE p NOT IN (SELECT id FROM p) OR
				q NOT IN (SELECT u FROM p) OR q > 100;
			ALTER TABLE c ADD CONSTRAINT ref FOREIGN KEY (p) REFERENCES p; COMMIT`)
		n.clean()
		again(`BEGIN ISOLATION LEVEL READ COMMITTED; LOCK TABLE p, c;
			DELETE FROM c WHERE q NOT IN (SELECT u FROM p) OR q > 100;
			ALTER TABLE c ADD CONSTRAINT ref2 FOREIGN KEY (q) REFERENCES p (u),
				ADD CONSTRAINT small CHECK (q <= 100); COMMIT`)
		for range 5 {
			n.clean()
			require.Contains(t, mustQuery(t, n.a, "SELECT pg_sleep(0.003); SELECT count(*) FROM "+
				"c WHERE q > 100"), "\n0\n")
		}
		again("CREATE INDEX c_q ON c (q)")
		n.clean()
		again("DROP INDEX c_q")
		again("ALTER TABLE c DROP CONSTRAINT ref, DROP CONSTRAINT ref2, DROP CONSTRAINT small")
	}
}

// A prepared statement follows the schema through a block.
func TestAPreparedStatementObeysConstraintsNewerThanItsSnapshot(t *testing.T) {
	n := newNewer(t, "REPEATABLE READ")
	mustQuery(t, n.b, "PREPARE add AS INSERT INTO c VALUES ($1, 1, 10); EXECUTE add(2); EXECUTE "+
		"add(3)")
	n.block()
	mustQuery(t, n.a, "ALTER TABLE c ADD CONSTRAINT small CHECK (id < 100)")
	n.fails("EXECUTE add(100)", sqlerr.CheckViolation)
	mustQuery(t, n.b, "EXECUTE add(4); COMMIT")
	mustQuery(t, n.a, "ALTER TABLE c DROP CONSTRAINT small")
	mustQuery(t, n.b, "EXECUTE add(100)")
	n.clean()
}
