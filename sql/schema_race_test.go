package sql_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
)

// Two blocks that change different objects of the schema both commit, whichever ends first.
func TestChangesOfDifferentObjectsBothCommit(t *testing.T) {
	for i, pair := range [][2]string{
		{"CREATE TABLE a1 (id int PRIMARY KEY)", "CREATE TABLE b1 (id serial PRIMARY KEY, n int " +
			"UNIQUE)"},
		{"ALTER TABLE a ADD COLUMN m int DEFAULT 1", "ALTER TABLE b ADD CHECK (n > 0)"},
		{"DROP TABLE a", "CREATE INDEX b_n ON b (n)"},
		{"CREATE VIEW v AS SELECT id FROM b", "CREATE VIEW w AS SELECT n FROM b"},
		{"CREATE SCHEMA x", "DROP SCHEMA y"},
		{"COMMENT ON TABLE a IS 'one'", "TRUNCATE b"},
		{"CREATE SEQUENCE s", "ALTER TABLE b RENAME TO c"},
	} {
		for _, second := range []int{0, 1} {
			e := newEngine(t)
			s := [2]*sql.Session{newSession(t, e), newSession(t, e)}
			mustQuery(t, s[0], "CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int, n "+
				"int); CREATE SCHEMA y; INSERT INTO b VALUES (1, 1)")
			for k := range s {
				mustQuery(t, s[k], "BEGIN; "+pair[k])
			}
			mustQuery(t, s[1-second], "COMMIT")
			mustQuery(t, s[second], "COMMIT")
			require.Empty(t, e.Conflicts(), "pair %d", i)
		}
	}
}

// A name that another transaction is about to take is waited for: it is taken when that one
// commits, and free when it does not.
func TestANameThatIsBeingTakenIsWaitedFor(t *testing.T) {
	for _, c := range []struct{ first, second, code string }{
		{"CREATE TABLE a (id int)", "CREATE TABLE a (n text, k serial)", sqlerr.DuplicateTable},
		{"CREATE TABLE a (id int)", "CREATE VIEW a AS SELECT 1 AS x", sqlerr.DuplicateTable},
		{"CREATE INDEX i ON t (id)", "CREATE TABLE i (id int)", sqlerr.DuplicateTable},
		{"ALTER TABLE t RENAME TO a", "CREATE TABLE a (id int)", sqlerr.DuplicateTable},
		{"CREATE SCHEMA x", "CREATE SCHEMA x", sqlerr.DuplicateSchema},
	} {
		for _, end := range []string{"COMMIT", "ROLLBACK"} {
			for _, block := range []string{"", "BEGIN; "} {
				e := newEngine(t)
				a, b, watcher := newSession(t, e), newSession(t, e), newSession(t, e)
				mustQuery(t, a, "CREATE TABLE t (id int)")
				mustQuery(t, a, "BEGIN; "+c.first)
				done := blocked(t, b, watcher, block+c.second)
				mustQuery(t, a, end)
				err := <-done
				if end == "COMMIT" {
					require.Equal(t, c.code, codeOf(err), "%s; %s: %v", c.first, c.second, err)
					continue
				}
				require.NoError(t, err)
				if block != "" {
					mustQuery(t, b, "COMMIT")
				}
			}
		}
	}
}

// What a new object rests on does not go meanwhile: the other waits for the lock, or one of the two
// fails.
func TestNothingIsTakenFromUnderANewObject(t *testing.T) {
	for _, c := range []struct{ first, second, code string }{
		{"CREATE VIEW v AS SELECT id FROM t", "DROP TABLE t", sqlerr.DependentObjectsStillExist},
		{"CREATE TABLE n (id int DEFAULT nextval('s'))", "DROP SEQUENCE s",
			sqlerr.DependentObjectsStillExist},
		{"ALTER TABLE t ALTER id SET DEFAULT nextval('s')", "DROP SEQUENCE s",
			sqlerr.DependentObjectsStillExist},
		{"DROP TABLE t", "CREATE VIEW v AS SELECT id FROM t", sqlerr.UndefinedTable},
		{"DROP SEQUENCE s", "CREATE TABLE n (id int DEFAULT nextval('s'))", sqlerr.UndefinedTable},
	} {
		e := newEngine(t)
		a, b, watcher := newSession(t, e), newSession(t, e), newSession(t, e)
		mustQuery(t, a, "CREATE TABLE t (id int); CREATE SEQUENCE s")
		mustQuery(t, a, "BEGIN; "+c.first)
		done := blocked(t, b, watcher, c.second)
		mustQuery(t, a, "COMMIT")
		err := <-done
		require.Equal(t, c.code, codeOf(err), "%s; %s: %v", c.first, c.second, err)
	}
	for _, first := range []int{0, 1} {
		e := newEngine(t)
		s := [2]*sql.Session{newSession(t, e), newSession(t, e)}
		mustQuery(t, s[0], "CREATE SCHEMA x")
		mustQuery(t, s[0], "BEGIN; CREATE TABLE x.t (id int)")
		mustQuery(t, s[1], "BEGIN; DROP SCHEMA x")
		mustQuery(t, s[first], "COMMIT")
		fails(t, s[1-first], "COMMIT", sqlerr.SerializationFailure)
	}
}

// A block that keeps its snapshot conflicts at its commit, as before.
func TestASnapshotDoesNotChangeTheSchemaBesideAnother(t *testing.T) {
	e := newEngine(t)
	a, b := newSession(t, e), newSession(t, e)
	mustQuery(t, a, "BEGIN ISOLATION LEVEL REPEATABLE READ; CREATE TABLE a (id int)")
	mustQuery(t, b, "CREATE TABLE b (id int)")
	fails(t, a, "COMMIT", sqlerr.SerializationFailure)
}

// Sessions change the schema all at once, in blocks and alone. No session meets a conflict, and
// each sees all of it afterwards.
func TestManyChangeTheSchemaAtOnce(t *testing.T) {
	e := newEngine(t)
	var all sync.WaitGroup
	const sessions, rounds = 4, 10
	for g := range sessions {
		s := newSession(t, e)
		all.Go(func() {
			for i := range rounds {
				text := fmt.Sprintf("CREATE TABLE t%d_%d (id serial PRIMARY KEY, n int); ALTER "+
					"TABLE t%[1]d_%[2]d ADD UNIQUE (n)", g, i)
				if i%2 == 0 {
					text = "BEGIN; " + text + "; COMMIT"
				}
				if err := query(s, text); err != nil {
					t.Errorf("%s: %v", text, err)
					return
				}
			}
		})
	}
	all.Wait()
	s := newSession(t, e)
	require.Contains(t, mustQuery(t, s, "SELECT count(*) FROM pg_tables WHERE schemaname = "+
		"'public'"), fmt.Sprintf("\n%d\n", sessions*rounds))
	require.Contains(t, mustQuery(t, s, "SELECT count(*) FROM pg_indexes WHERE schemaname = "+
		"'public'"), fmt.Sprintf("\n%d\n", 2*sessions*rounds))
}
