package sql_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
)

// typeFixture makes an enum, a domain and a table of both.
func typeFixture(t *testing.T, level string, sessions ...*sql.Session) {
	mustQuery(t, sessions[0], `CREATE TYPE mood AS ENUM ('low', 'high'); CREATE DOMAIN short AS int;
		CREATE TABLE typed (id int PRIMARY KEY, m mood, s short);
		INSERT INTO typed VALUES (1, 'low', 1)`)
	for _, s := range sessions {
		mustQuery(t, s, "SET default_transaction_isolation = '"+level+"'")
	}
}

// TestAConstraintOfADomainHoldsForWritersBesideIt: either the transaction that wrote a value fails,
// or the constraint that the value violates is not added.
func TestAConstraintOfADomainHoldsForWritersBesideIt(t *testing.T) {
	const violated = "SELECT count(*) FROM pg_constraint c, typed WHERE c.conname IN ('small', " +
		"'short_not_null') AND (s >= 10 OR s IS NULL)"
	atEachLevel(t, func(t *testing.T, level string) {
		inOneProcessAndTwo(t, func(t *testing.T, a, b, c *sql.Session) {
			typeFixture(t, level, a, b)
			for i, change := range []string{"ADD CONSTRAINT small CHECK (VALUE < 10)",
				"SET NOT NULL"} {
				value := []string{"50", "NULL"}[i]
				for _, write := range []string{"INSERT INTO typed VALUES (2, 'low', " + value + ")",
					"UPDATE typed SET s = " + value} {
					mustQuery(t, b, "BEGIN; "+write)
					altered := start(a, "ALTER DOMAIN short "+change)
					wrote := query(b, "COMMIT")
					if err := <-altered; err == nil && wrote == nil {
						t.Errorf("%s beside %s", change, write)
					}
					mustQuery(t, b, "ROLLBACK")
					require.Contains(t, mustQuery(t, c, violated), "\n0\n", change)
					mustQuery(t, c, "ALTER DOMAIN short DROP CONSTRAINT IF EXISTS small; ALTER "+
						"DOMAIN short DROP NOT NULL; DELETE FROM typed WHERE id > 1; UPDATE typed "+
						"SET s = 1")
				}
			}
		})
	})
}

// TestAPreparedStatementKeepsToADomainAsItIsNow: the plan that another session has is not used
// again once the domain has changed.
func TestAPreparedStatementKeepsToADomainAsItIsNow(t *testing.T) {
	inOneProcessAndTwo(t, func(t *testing.T, a, b, c *sql.Session) {
		typeFixture(t, "read committed", a)
		mustQuery(t, b, "PREPARE w (int, int) AS INSERT INTO typed VALUES ($1, 'low', $2)")
		mustQuery(t, b, "EXECUTE w (2, 50); DELETE FROM typed WHERE id = 2")
		mustQuery(t, a, "ALTER DOMAIN short ADD CONSTRAINT small CHECK (VALUE < 10)")
		fails(t, b, "EXECUTE w (3, 50)", sqlerr.CheckViolation)
		mustQuery(t, b, "EXECUTE w (3, 5)")
		mustQuery(t, a, "ALTER DOMAIN short DROP CONSTRAINT small")
		mustQuery(t, b, "EXECUTE w (4, 50)")
		mustQuery(t, b, "PREPARE m (text) AS INSERT INTO typed VALUES (5, $1::mood)")
		fails(t, b, "EXECUTE m ('mid')", sqlerr.InvalidTextRepresentation)
		mustQuery(t, a, "ALTER TYPE mood ADD VALUE 'mid' BEFORE 'high'; "+
			"ALTER TYPE mood RENAME VALUE 'low' TO 'down'")
		fails(t, b, "EXECUTE m ('low')", sqlerr.InvalidTextRepresentation)
		mustQuery(t, b, "EXECUTE m ('mid')")
		require.Contains(t, mustQuery(t, b, "SELECT string_agg(m::text, ' ' ORDER BY m) FROM "+
			"typed WHERE id IN (1, 5)"), "\ndown mid\n")
	})
}

// TestLabelsAreAddedBesideWriters: a transaction that has written values of an enum goes on while
// labels are added and renamed, and commits.
func TestLabelsAreAddedBesideWriters(t *testing.T) {
	inOneProcessAndTwo(t, func(t *testing.T, a, b, c *sql.Session) {
		typeFixture(t, "read committed", a, b)
		mustQuery(t, b, "BEGIN; INSERT INTO typed VALUES (2, 'high')")
		mustQuery(t, a, "ALTER TYPE mood ADD VALUE 'mid' BEFORE 'high'; "+
			"ALTER TYPE mood ADD VALUE 'top' AFTER 'high'; ALTER TYPE mood RENAME VALUE 'low' TO "+
			"'down'")
		mustQuery(t, b, "INSERT INTO typed VALUES (3, 'mid'), (4, 'top'); COMMIT")
		require.Contains(t, mustQuery(t, c, "SELECT string_agg(m::text, ' ' ORDER BY m) FROM "+
			"typed"), "\ndown mid high top\n")
	})
}

// TestSessionsThatAddLabelsAtOnce: each label gets a place of its own, between those named.
func TestSessionsThatAddLabelsAtOnce(t *testing.T) {
	here, there := twoProcesses(t)
	a := newSession(t, here)
	mustQuery(t, a, "CREATE TYPE mood AS ENUM ('low', 'high')")
	var adding sync.WaitGroup
	for i, e := range []*sql.Engine{here, here, there, there} {
		s := newSession(t, e)
		adding.Go(func() {
			for j := range 5 {
				text := fmt.Sprintf("ALTER TYPE mood ADD VALUE '%d-%d' BEFORE 'high'", i, j)
				for err := query(s, text); err != nil; err = query(s, text) {
					var e *sqlerr.Error
					if !errors.As(err, &e) || e.Code != sqlerr.SerializationFailure {
						t.Errorf("%s: %v", text, err)
						return
					}
				}
			}
		})
	}
	adding.Wait()
	require.Contains(t, mustQuery(t, a, "SELECT count(*), count(DISTINCT enumsortorder), (SELECT "+
		"min(l) FROM unnest(enum_range(NULL::mood)) l), (SELECT max(l) FROM "+
		"unnest(enum_range(NULL::mood)) l) FROM pg_enum"), "\n22|22|low|high\n")
	for i := range 4 { // those of one session are in the order in which it added them
		require.Contains(t, mustQuery(t, a, fmt.Sprintf("SELECT string_agg(l::text, ' ' ORDER BY "+
			"l) FROM unnest(enum_range(NULL::mood)) l WHERE l::text LIKE '%d-%%'", i)),
			fmt.Sprintf("\n%d-0 %[1]d-1 %[1]d-2 %[1]d-3 %[1]d-4\n", i))
	}
}

// TestATypeIsNotDroppedFromUnderANewUse: a transaction that makes something of a type and one that
// drops the type do not both commit.
func TestATypeIsNotDroppedFromUnderANewUse(t *testing.T) {
	for _, use := range []string{"CREATE TABLE other (m mood[])", "ALTER TABLE plain ADD m mood",
		"CREATE DOMAIN glad AS mood", "CREATE TYPE pair AS (m mood)",
		"CREATE VIEW seen AS SELECT 'low'::mood AS m", "CREATE TABLE other (n int CHECK " +
			"('low'::mood < 'high'))"} {
		t.Run(use, func(t *testing.T) {
			inOneProcessAndTwo(t, func(t *testing.T, a, b, c *sql.Session) {
				mustQuery(t, a, "CREATE TYPE mood AS ENUM ('low', 'high'); CREATE TABLE plain (n "+
					"int)")
				mustQuery(t, b, "BEGIN; "+use)
				dropped := start(a, "DROP TYPE mood")
				used := query(b, "COMMIT")
				err := <-dropped
				require.True(t, err != nil || used != nil, "both committed")
				if used == nil {
					var e *sqlerr.Error
					require.ErrorAs(t, err, &e)
					require.Contains(t, []string{sqlerr.DependentObjectsStillExist,
						sqlerr.SerializationFailure}, e.Code)
				}
				mustQuery(t, b, "ROLLBACK")
			})
		})
	}
}

// TestATypeThatATemporaryTableOfAnotherSessionUses can be dropped: the values of the table stay
// what they are, and nothing that other sessions see rests on the type.
func TestATypeThatATemporaryTableOfAnotherSessionUses(t *testing.T) {
	inOneProcessAndTwo(t, func(t *testing.T, a, b, c *sql.Session) {
		typeFixture(t, "read committed", a)
		mustQuery(t, b, "CREATE TEMP TABLE held (m mood[], s short, n mood); "+
			"INSERT INTO held VALUES ('{high,low}', 1, 'low')")
		mustQuery(t, b, "BEGIN; INSERT INTO held VALUES ('{low}', 2, 'high')")
		mustQuery(t, a, "DROP TABLE typed; DROP TYPE mood; DROP DOMAIN short")
		mustQuery(t, b, "COMMIT")
		require.Contains(t, mustQuery(t, b, "SELECT count(*), count(m), sum(s::int) FROM held"),
			"\n2|2|3\n")
		require.Error(t, query(b, "CREATE TABLE kept AS SELECT m FROM held"))
		mustQuery(t, b, "DROP TABLE held")
		require.Contains(t, mustQuery(t, c, "SELECT count(*) FROM pg_class WHERE relname = "+
			"'kept'"), "\n0\n")
		mustQuery(t, b, "CREATE TYPE mood AS ENUM ('other'); CREATE TEMP TABLE held (m mood); "+
			"INSERT INTO held VALUES ('other')")
	})
}
