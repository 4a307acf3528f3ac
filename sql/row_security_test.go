package sql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/txn"
)

// guardedTable is an engine with a table of two owners' rows, and a session of its owner.
func guardedTable(t *testing.T) (*sql.Engine, *sql.Session) {
	e, _ := openEngine(t, memkv.New(memkv.Options{}), txn.Options{}, sql.Options{})
	s := newSession(t, e)
	mustQuery(t, s, `CREATE ROLE al; CREATE ROLE bo;
		CREATE TABLE g (a int PRIMARY KEY, b text NOT NULL, c int CHECK (c > 0), o name);
		INSERT INTO g VALUES (0, 'z', 1, 'bo'), (1, 'x', 1, 'al'), (2, 'y', 1, 'bo');
		CREATE POLICY p ON g USING (o = current_user);
		GRANT SELECT (a), INSERT, UPDATE ON g TO al, bo`)
	return e, s
}

// Values that a role may not read are not in the details of errors, unless it wrote them itself.
func TestErrorsShowNoValuesThatTheRoleMayNotRead(t *testing.T) {
	_, s := guardedTable(t)
	mustQuery(t, s, "SET ROLE al")
	detail := func(text, code, want string) {
		t.Helper()
		require.Equal(t, want, fails(t, s, text, code).Detail)
	}
	detail("INSERT INTO g (a, b, c) VALUES (3, 'n', -1)", sqlerr.CheckViolation,
		"Failing row contains (a, b, c) = (3, n, -1).")
	detail("UPDATE g SET c = -5", sqlerr.CheckViolation,
		"Failing row contains (a, c) = (0, -5).")
	detail("UPDATE g SET b = NULL", sqlerr.NotNullViolation,
		"Failing row contains (a, b) = (0, null).")
	detail("INSERT INTO g VALUES (2, 'n', 1, 'al')", sqlerr.UniqueViolation,
		"Key (a)=(2) already exists.")
	mustQuery(t, s, "RESET ROLE; ALTER TABLE g ENABLE ROW LEVEL SECURITY; SET ROLE al")
	detail("INSERT INTO g VALUES (2, 'n', 1, 'al')", sqlerr.UniqueViolation, "")
	detail("INSERT INTO g VALUES (3, 'n', -1, 'al')", sqlerr.CheckViolation, "")
}

// Errors of foreign keys name the values of a key only to roles that may read its columns, also
// when they are checked at the end of the transaction.
func TestForeignKeysShowNoKeyThatTheRoleMayNotRead(t *testing.T) {
	e, _ := openEngine(t, memkv.New(memkv.Options{}), txn.Options{}, sql.Options{})
	s := newSession(t, e)
	mustQuery(t, s, `CREATE ROLE al;
		CREATE TABLE pk (a int, b int, PRIMARY KEY (a, b)); INSERT INTO pk VALUES (1, 1);
		CREATE TABLE fk (a int, b int, FOREIGN KEY (a, b) REFERENCES pk DEFERRABLE);
		INSERT INTO fk VALUES (1, 1);
		GRANT INSERT, UPDATE, SELECT (a) ON fk, pk TO al`)
	expect := func(absent, referenced string) {
		t.Helper()
		mustQuery(t, s, "SET ROLE al")
		const code = sqlerr.ForeignKeyViolation
		require.Equal(t, absent, fails(t, s, "INSERT INTO fk VALUES (2, 2)", code).Detail)
		require.Equal(t, referenced, fails(t, s, "UPDATE pk SET a = 3", code).Detail)
		mustQuery(t, s, "BEGIN; SET CONSTRAINTS ALL DEFERRED; INSERT INTO fk VALUES (2, 2)")
		require.Equal(t, absent, fails(t, s, "COMMIT", code).Detail)
		mustQuery(t, s, "BEGIN; SET CONSTRAINTS ALL DEFERRED; INSERT INTO fk VALUES (2, 2)")
		require.Equal(t, absent, fails(t, s, "SET CONSTRAINTS ALL IMMEDIATE", code).Detail)
		mustQuery(t, s, "ROLLBACK; RESET ROLE")
	}
	const absent, referenced = "Key is not present in table \"pk\".",
		"Key is still referenced from table \"fk\"."
	expect(absent, referenced)
	mustQuery(t, s, "GRANT SELECT (b) ON fk, pk TO al")
	expect("Key (a, b)=(2, 2) is not present in table \"pk\".",
		"Key (a, b)=(1, 1) is still referenced from table \"fk\".")
	mustQuery(t, s, `ALTER TABLE fk ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON fk USING (true);
		ALTER TABLE pk ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON pk USING (true)`)
	expect(absent, referenced)
}

// A statement that begins after a change of policies or rights has committed obeys it, though its
// plan was kept, and though its transaction has an older snapshot.
func TestKeptPlansObeyNewPoliciesAndRevokedRights(t *testing.T) {
	e, owner := guardedTable(t)
	s := newSession(t, e)
	mustQuery(t, s, "SET ROLE al; PREPARE q AS SELECT a FROM g ORDER BY a")
	all := mustQuery(t, s, "EXECUTE q")
	mustQuery(t, s, "BEGIN ISOLATION LEVEL REPEATABLE READ")
	require.Equal(t, all, mustQuery(t, s, "EXECUTE q"))
	mustQuery(t, s, "COMMIT; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
	mustQuery(t, owner, "ALTER TABLE g ENABLE ROW LEVEL SECURITY")
	own := mustQuery(t, s, "EXECUTE q")
	require.NotEqual(t, all, own)
	mustQuery(t, s, "COMMIT")
	require.Equal(t, own, mustQuery(t, s, "EXECUTE q"))

	mustQuery(t, s, "SET ROLE bo")
	require.NotEqual(t, own, mustQuery(t, s, "EXECUTE q"), "the plan was made for another role")
	mustQuery(t, s, "RESET ROLE")
	require.Equal(t, all, mustQuery(t, s, "EXECUTE q"))
	mustQuery(t, s, "SET ROLE al")
	require.Equal(t, own, mustQuery(t, s, "EXECUTE q"))

	mustQuery(t, s, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
	mustQuery(t, owner, "REVOKE SELECT (a) ON g FROM al")
	fails(t, s, "EXECUTE q", sqlerr.InsufficientPrivilege)
	mustQuery(t, s, "ROLLBACK")
	fails(t, s, "EXECUTE q", sqlerr.InsufficientPrivilege)
}

// A condition that may fail is not evaluated for rows that a policy hides.
func TestConditionsSeeNoHiddenRows(t *testing.T) {
	_, s := guardedTable(t)
	mustQuery(t, s, "ALTER TABLE g ENABLE ROW LEVEL SECURITY; GRANT SELECT ON g TO al; SET ROLE al")
	for _, text := range []string{
		"SELECT a FROM g WHERE 1 / a > 0",
		"SELECT max(1 / a) FROM g",
		"SELECT g.a FROM (VALUES (0), (1)) v (x) JOIN g ON g.a = v.x AND 1 / g.a > 0",
		"UPDATE g SET c = c WHERE 1 / a > 0",
		"WITH q AS (SELECT * FROM g) SELECT 1 / a FROM q WHERE 1 / a > 0",
	} {
		require.NoError(t, query(s, text), text)
	}
}
