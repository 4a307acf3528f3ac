package sql_test

import (
	"testing"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
	"github.com/stretchr/testify/require"
)

// moves are what gives the rows of table p, or the entries of its unique key u, another place.
var moves = []string{
	"ALTER TABLE p ALTER x TYPE text USING x || 'y'", "REINDEX TABLE p",
	"TRUNCATE p CASCADE; INSERT INTO p VALUES (1, 1, 'y'), (2, 2, 'y')",
}

const beginRepeatable = "BEGIN ISOLATION LEVEL REPEATABLE READ; "

// TestAParentThatMovedIsLockedWhereItIs: a block from before refers to a row in its old place,
// which others delete in the new one.
func TestAParentThatMovedIsLockedWhereItIs(t *testing.T) {
	inOneProcessAndTwo(t, func(t *testing.T, a, b, _ *sql.Session) {
		for _, column := range []string{"id", "u"} {
			for _, move := range moves {
				mustQuery(t, a, "DROP TABLE IF EXISTS p, c CASCADE; CREATE TABLE p (id int "+
					"PRIMARY KEY, u int UNIQUE, x text)")
				mustQuery(t, a, "CREATE TABLE c (id int PRIMARY KEY, p int REFERENCES p ("+column+
					")); INSERT INTO p VALUES (1, 1, 'x'), (2, 2, 'x')")
				mustQuery(t, a, beginRepeatable+"SELECT * FROM t")
				mustQuery(t, b, move)
				mustQuery(t, b, "DELETE FROM p WHERE id = 1")
				err := query(a, "INSERT INTO c VALUES (1, 1)")
				if err == nil {
					err = query(a, "COMMIT")
				}
				require.Equal(t, sqlerr.SerializationFailure, codeOf(err), "%s: %s", column, move)
				mustQuery(t, a, "ROLLBACK")
				require.Contains(t, mustQuery(t, a, "SELECT count(*) FROM c"), "\n0\n")
			}
		}
	})
}

// TestARowThatMovedIsLockedWhereItIs: FOR UPDATE in a block from before locks a row in its old
// place.
func TestARowThatMovedIsLockedWhereItIs(t *testing.T) {
	inOneProcessAndTwo(t, func(t *testing.T, a, b, _ *sql.Session) {
		mustQuery(t, a, "CREATE TABLE p (id int PRIMARY KEY, u int UNIQUE, x text); INSERT INTO "+
			"p VALUES (1, 1, 'x')")
		mustQuery(t, a, beginRepeatable+"SELECT * FROM t")
		mustQuery(t, b, moves[0])
		err := query(a, "SELECT * FROM p WHERE id = 1 FOR UPDATE")
		mustQuery(t, b, "UPDATE p SET x = 'z' WHERE id = 1")
		if err == nil {
			err = query(a, "UPDATE t SET n = 0 WHERE id = 1; COMMIT")
		}
		require.Equal(t, sqlerr.SerializationFailure, codeOf(err))
		mustQuery(t, a, "ROLLBACK")
	})
}

// TestABlockFromBeforeReadsTheOldRows, whatever took them away; and cannot write them.
func TestABlockFromBeforeReadsTheOldRows(t *testing.T) {
	for _, change := range []string{"TRUNCATE v", "DROP TABLE v",
		"ALTER TABLE v ALTER n TYPE text USING n || 'x'", "DROP INDEX v_n", "REINDEX TABLE v"} {
		a, b, _ := lockFixture(t)
		mustQuery(t, b, "CREATE TABLE v (id int PRIMARY KEY, n int); CREATE INDEX v_n ON v (n); "+
			"INSERT INTO v SELECT i, i FROM generate_series(1, 10) i")
		mustQuery(t, a, beginRepeatable+"SELECT * FROM t")
		mustQuery(t, b, change)
		vacuumTwice(t, b)
		require.Contains(t, mustQuery(t, a, "SELECT count(*), sum(n) FROM v"), "\n10|55\n", change)
		require.Contains(t, mustQuery(t, a, "SELECT id FROM v WHERE n = 3"), "\n3\n", change)
		err := query(a, "INSERT INTO v VALUES (11, 11)")
		if err == nil {
			err = query(a, "COMMIT")
		}
		require.Equal(t, sqlerr.SerializationFailure, codeOf(err), change)
		mustQuery(t, a, "ROLLBACK")
		vacuumTwice(t, b)
	}
}

// vacuumTwice lets the collector delete what was dropped, and look again.
func vacuumTwice(t *testing.T, s *sql.Session) {
	t.Helper()
	for range 2 {
		mustQuery(t, s, "VACUUM")
	}
}
