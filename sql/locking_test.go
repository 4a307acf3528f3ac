package sql_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
)

// Nothing of a locking clause is silently left out: what cannot be locked is refused.
func TestLockingClausesLockOrRefuse(t *testing.T) {
	s := newSession(t, newEngine(t))
	run := func(text string) *sqlerr.Error {
		err := query(s, text)
		var e *sqlerr.Error
		if err != nil {
			require.True(t, errors.As(err, &e), "%v", err)
		}
		return e
	}
	require.Nil(t, run("CREATE TABLE t(id int PRIMARY KEY); INSERT INTO t VALUES (1); CREATE "+
		"VIEW v AS SELECT * FROM t"))
	require.Nil(t, run("SELECT * FROM t, (SELECT 1) q FOR UPDATE OF t"))
	require.Nil(t, run("SELECT * FROM t, (SELECT 1) q FOR UPDATE OF q"), "nothing to lock there")
	require.Nil(t, run("WITH w AS (SELECT 1) SELECT * FROM t, w, (SELECT * FROM w) x, (VALUES "+
		"(1)) v FOR UPDATE"), "only t")
	require.Nil(t, run("SELECT * FROM t FOR UPDATE SKIP LOCKED"))
	require.Nil(t, run("CREATE VIEW few AS SELECT DISTINCT id FROM t"))
	require.Nil(t, run("SELECT * FROM v FOR UPDATE"))
	require.Nil(t, run("SELECT * FROM (SELECT * FROM t) x FOR SHARE"))
	require.Nil(t, run("SELECT 1 FROM t a LEFT JOIN t b USING (id) FOR UPDATE OF a"))
	require.Nil(t, run("SELECT 1 FROM t a LEFT JOIN t b USING (id) WHERE b.id > 0 FOR UPDATE"),
		"an inner join by its condition")
	for text, pos := range map[string]int{
		"SELECT * FROM few FOR UPDATE":                                    19,
		"SELECT * FROM (SELECT * FROM t LIMIT 1) x FOR SHARE":             43,
		"WITH q AS (SELECT 1) SELECT * FROM t, q FOR UPDATE OF q":         55,
		"SELECT * FROM t, generate_series(1, 2) q FOR NO KEY UPDATE OF q": 63,
		"SELECT id, count(*) OVER () FROM t FOR UPDATE":                   0,
		"SELECT * FROM (t a JOIN t b USING (id)) j FOR UPDATE":            43,
		// PostgreSQL gives no position here.
		"SELECT 1 FROM t a LEFT JOIN t b USING (id) FOR UPDATE":                                0,
		"SELECT 1 FROM t a LEFT JOIN t b USING (id) FOR UPDATE OF b":                           0,
		"SELECT 1 FROM t a RIGHT JOIN t b USING (id) FOR SHARE OF a":                           0,
		"SELECT 1 FROM t a FULL JOIN t b USING (id) FOR KEY SHARE OF a":                        0,
		"SELECT 1 FROM t a LEFT JOIN (t b JOIN t c USING (id)) ON a.id = b.id FOR UPDATE OF c": 0,
		"SELECT 1 FROM t a LEFT JOIN " +
			"(SELECT * FROM t WHERE id > 0) b USING (id) FOR NO KEY UPDATE OF b": 0,
	} {
		e := run(text)
		require.NotNil(t, e, text)
		require.Equal(t, sqlerr.FeatureNotSupported, e.Code, text)
		require.Equal(t, pos, e.Position, text)
	}
	e := run("BEGIN READ ONLY; SELECT * FROM t FOR NO KEY UPDATE")
	require.NotNil(t, e)
	require.Equal(t, "cannot execute SELECT FOR NO KEY UPDATE in a read-only transaction",
		e.Message)
}

// A cursor that has given rows goes on where the next one was deleted, but not where it may have
// another key now: it cannot follow it, and must not leave it out.
func TestACursorDoesNotLoseARowThatMoved(t *testing.T) {
	e := newEngine(t)
	a, b := newSession(t, e), newSession(t, e)
	mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY, n int)")
	for change, want := range map[string]string{
		"DELETE FROM t WHERE id = 2":       "",
		"UPDATE t SET id = 9 WHERE id = 2": sqlerr.SerializationFailure,
		// one commit
		"UPDATE t SET n = 5 WHERE id = 2; DELETE FROM t WHERE id = 2": "",
		"BEGIN; DELETE FROM t WHERE id = 2; " +
			"UPDATE t SET n = 1; COMMIT": sqlerr.SerializationFailure,
		"DELETE FROM t WHERE id = 2; INSERT INTO t VALUES (2, 7)": "",
		"BEGIN; UPDATE t SET id = 9 WHERE id = 2; COMMIT; " +
			"DELETE FROM t WHERE id = 9": sqlerr.SerializationFailure,
		// The row that is deleted in the end is another, be it the same by its values.
		"BEGIN; UPDATE t SET id = 9 WHERE id = 2; COMMIT; BEGIN; INSERT INTO t VALUES (2, 7); " +
			"COMMIT; DELETE FROM t WHERE id = 2": sqlerr.SerializationFailure,
		"BEGIN; UPDATE t SET id = 9 WHERE id = 2; COMMIT; BEGIN; INSERT INTO t VALUES (2, 2); " +
			"COMMIT; DELETE FROM t WHERE id = 2": sqlerr.SerializationFailure,
	} {
		mustQuery(t, a, "DELETE FROM t; INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)")
		mustQuery(t, a, "BEGIN ISOLATION LEVEL READ COMMITTED; DECLARE c CURSOR FOR SELECT id "+
			"FROM t ORDER BY id FOR KEY SHARE; FETCH c")
		mustQuery(t, b, change)
		require.Equal(t, want, codeOf(query(a, "FETCH ALL c")), change)
		mustQuery(t, a, "ROLLBACK")
	}
}
