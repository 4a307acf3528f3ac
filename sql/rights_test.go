package sql_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
)

// Rights that were revoked are gone for a transaction that keeps an older snapshot, be they on a
// schema, by its name or along the search path, on a sequence, or on a function that had no list of
// privileges when the snapshot was taken.
func TestOldSnapshotsKeepNoRevokedRights(t *testing.T) {
	e := newEngine(t)
	owner, s := newSession(t, e), newSession(t, e)
	mustQuery(t, owner, `CREATE ROLE al; CREATE SCHEMA sc; CREATE TABLE sc.t (a int);
		CREATE SEQUENCE q; GRANT USAGE ON SCHEMA sc TO al; GRANT SELECT ON sc.t TO al;
		GRANT USAGE ON SEQUENCE q TO al`)
	mustQuery(t, s, "SET ROLE al; SET search_path = sc, public")
	rights := []struct{ text, revoke, grant, code, asked string }{
		{"SELECT a FROM sc.t", "REVOKE USAGE ON SCHEMA sc FROM al",
			"GRANT USAGE ON SCHEMA sc TO al",
			sqlerr.InsufficientPrivilege, "has_schema_privilege('sc', 'usage')"},
		{"SELECT a FROM t", "REVOKE USAGE ON SCHEMA sc FROM al", "GRANT USAGE ON SCHEMA sc TO al",
			sqlerr.UndefinedTable, "has_schema_privilege('sc', 'usage')"},
		{"SELECT nextval('q')", "REVOKE USAGE ON SEQUENCE q FROM al",
			"GRANT USAGE ON SEQUENCE q TO al",
			sqlerr.InsufficientPrivilege, "has_sequence_privilege('q', 'usage')"},
		{"SELECT upper('a')", "REVOKE EXECUTE ON FUNCTION upper(text) FROM public",
			"GRANT EXECUTE ON FUNCTION upper(text) TO public",
			sqlerr.InsufficientPrivilege, "has_function_privilege('upper(text)', 'execute')"},
	}
	for _, r := range rights {
		mustQuery(t, s, "DEALLOCATE ALL; PREPARE kept AS "+r.text)
		mustQuery(t, s, "BEGIN ISOLATION LEVEL REPEATABLE READ")
		mustQuery(t, s, "EXECUTE kept")
		mustQuery(t, owner, r.revoke)
		require.Contains(t, mustQuery(t, s, "SELECT "+r.asked), "\nf\n", r.asked)
		mustQuery(t, s, "SAVEPOINT a")
		fails(t, s, "EXECUTE kept", r.code)
		mustQuery(t, s, "ROLLBACK TO a")
		fails(t, s, r.text, r.code)
		mustQuery(t, s, "ROLLBACK")
		fails(t, s, r.text, r.code)
		mustQuery(t, owner, r.grant)
		mustQuery(t, s, r.text)
	}
}

// The rows of a table that is gone are read in the past, and by an older snapshot, with the rights
// that it had.
func TestTablesThatAreGoneKeepTheirRights(t *testing.T) {
	e := newEngine(t)
	owner, s := newSession(t, e), newSession(t, e)
	mustQuery(t, owner, `CREATE ROLE al; CREATE TABLE gone (a int); CREATE TABLE shown (a int);
		INSERT INTO gone VALUES (1); INSERT INTO shown VALUES (1); GRANT SELECT ON shown TO al;
		CREATE TABLE own (a int); ALTER TABLE own OWNER TO al`)
	at := strings.Fields(mustQuery(t, owner, "SELECT minidb_snapshot_timestamp()"))[1]
	mustQuery(t, s, "SET ROLE al")
	mustQuery(t, s, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT a FROM own")
	mustQuery(t, owner, "DROP TABLE gone; DROP TABLE shown")
	fails(t, s, "SELECT a FROM gone", sqlerr.InsufficientPrivilege)
	mustQuery(t, s, "ROLLBACK")
	mustQuery(t, s, "SELECT a FROM shown AS OF SYSTEM TIME "+at)
	fails(t, s, "SELECT a FROM gone AS OF SYSTEM TIME "+at, sqlerr.InsufficientPrivilege)
	mustQuery(t, s, "RESET ROLE")
	mustQuery(t, s, "SELECT a FROM gone AS OF SYSTEM TIME "+at)
}

// A transaction keeps no revoked right by changes of the schema that it makes itself.
func TestOwnSchemaChangesKeepNoRevokedRights(t *testing.T) {
	e := newEngine(t)
	owner, s := newSession(t, e), newSession(t, e)
	mustQuery(t, owner, `CREATE ROLE al; CREATE TABLE g (a int); GRANT SELECT ON g TO al;
		GRANT CREATE ON SCHEMA public TO al`)
	mustQuery(t, s, `SET ROLE al; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT a FROM g;
		CREATE TABLE own (a int); INSERT INTO own VALUES (1); SELECT g.a FROM own, g`)
	mustQuery(t, owner, "REVOKE SELECT ON g FROM al")
	mustQuery(t, s, "SELECT a FROM own")
	fails(t, s, "SELECT a FROM g", sqlerr.InsufficientPrivilege)
	mustQuery(t, s, "ROLLBACK")
}

// COPY asks for USAGE on the schema that it names.
func TestCopyAsksForTheSchema(t *testing.T) {
	s := newSession(t, newEngine(t))
	mustQuery(t, s, `CREATE ROLE al; CREATE SCHEMA sc; CREATE TABLE sc.t (a int);
		GRANT SELECT ON sc.t TO al; GRANT pg_write_server_files TO al; SET ROLE al`)
	require.ErrorContains(t, fails(t, s, "COPY sc.t TO '"+filepath.Join(t.TempDir(), "f")+"'",
		sqlerr.InsufficientPrivilege), "permission denied for schema sc")
}

// What others do is not shown to a role that has none of their privileges: neither their statements
// nor the keys of rows that it may not read, in the views of minidb and in the errors of its own.
func TestStatementsOfOthersAreHidden(t *testing.T) {
	e := newEngine(t)
	a, c := newSession(t, e), newSession(t, e)
	mustQuery(t, a, `CREATE ROLE al LOGIN; CREATE TABLE t (id int PRIMARY KEY, n int);
		INSERT INTO t VALUES (1, 1), (2, 2); CREATE TABLE own (id int PRIMARY KEY, n int);
		INSERT INTO own VALUES (1, 1); GRANT SELECT, UPDATE ON own TO al;
		GRANT SELECT (id), UPDATE ON t TO al`)
	b, err := e.NewSession(context.Background(), sql.SessionOptions{User: "al",
		Database: "postgres"})
	require.NoError(t, err)
	t.Cleanup(func() { b.Close(context.Background()) })

	mustQuery(t, a, "BEGIN; UPDATE t SET n = 70001 WHERE id = 1")
	mustQuery(t, b, "BEGIN")
	mustQuery(t, b, "UPDATE own SET n = 3 WHERE id = 1")
	wait := blocked(t, a, c, "UPDATE own SET n = 70002 WHERE id = 1")
	waits := "SELECT waiting_query, blocking_query, key FROM minidb_lock_waits"
	require.Contains(t, mustQuery(t, c, waits), "|(1)\n")
	require.Contains(t, mustQuery(t, b, waits),
		"\n<insufficient privilege>|UPDATE own SET n = 3 WHERE id = 1|(1)\n")
	require.NotContains(t, mustQuery(t, b, "SELECT query FROM minidb_progress"), "70002")
	dead := fails(t, b, "UPDATE t SET n = 4 WHERE id = 1", sqlerr.DeadlockDetected)
	require.Contains(t, dead.Detail, "Process "+pid(b)+": UPDATE t SET n = 4 WHERE id = 1")
	require.NotContains(t, dead.Detail, "70002")
	require.NoError(t, <-wait)
	mustQuery(t, b, "ROLLBACK")

	mustQuery(t, c, "SET lock_timeout = '1ms'")
	fails(t, c, "UPDATE t SET n = 70003 WHERE id = 1", sqlerr.LockNotAvailable)
	conflicts := "SELECT kind, query, key, detail FROM minidb_conflicts"
	all := mustQuery(t, c, conflicts)
	require.Contains(t, all, "70002")
	require.Contains(t, all, "lock timeout|UPDATE t SET n = 70003 WHERE id = 1|(1)|Process")
	seen := mustQuery(t, b, conflicts)
	require.NotContains(t, seen, "7000")
	require.Contains(t, seen, "deadlock|UPDATE t SET n = 4 WHERE id = 1|")
	require.Contains(t, seen, "lock timeout|<insufficient privilege>|NULL|NULL\n")
	mustQuery(t, a, "ROLLBACK")
}

// Each kind of privilege is asked for: al has none but those that a case gives it.
func TestEachPrivilegeIsAskedFor(t *testing.T) {
	const denied = sqlerr.InsufficientPrivilege
	cases := map[string]struct{ setup, denied, allowed string }{
		"table":  {"GRANT SELECT ON t TO al", "DELETE FROM t", "SELECT * FROM t"},
		"column": {"GRANT SELECT (a) ON t TO al", "SELECT b FROM t", "SELECT a FROM t"},
		"columns": {"GRANT UPDATE (a), INSERT (a) ON t TO al", "UPDATE t SET a = 1, b = 1",
			"UPDATE t SET a = 1"},
		"returning": {"GRANT INSERT, SELECT (a) ON t TO al",
			"INSERT INTO t VALUES (7, 7) RETURNING b", "INSERT INTO t VALUES (7, 7) RETURNING a"},
		"conflict": {"GRANT INSERT, SELECT, UPDATE (a) ON t TO al",
			"INSERT INTO t VALUES (1, 1) ON CONFLICT (a) DO UPDATE SET b = 2",
			"INSERT INTO t VALUES (1, 1) ON CONFLICT (a) DO UPDATE SET a = 1"},
		"merge": {"GRANT SELECT (a), UPDATE (b) ON t TO al",
			"MERGE INTO t USING (VALUES (1)) v (x) ON a = x WHEN MATCHED THEN DELETE",
			"MERGE INTO t USING (VALUES (1)) v (x) ON a = x WHEN MATCHED THEN UPDATE SET b = x"},
		"usage": {"GRANT SELECT ON sc.u TO al", "SELECT * FROM sc.u", "SELECT 1"},
		"create": {"GRANT USAGE ON SCHEMA sc TO al", "CREATE TABLE sc.own (a int)",
			"CREATE TEMP TABLE own (a int)"},
		"sequence": {"GRANT SELECT ON q TO al", "SELECT nextval('q')", "SELECT last_value FROM q"},
		"execute": {"REVOKE EXECUTE ON FUNCTION reverse(text) FROM public", "SELECT reverse('a')",
			"SELECT initcap('a')"},
		"type": {"REVOKE USAGE ON TYPE y FROM public; GRANT CREATE ON SCHEMA public TO al",
			"CREATE TABLE own (a y)", "CREATE TABLE own (a int)"},
		"parameter": {"GRANT SET ON PARAMETER log_statement TO al; " +
			"GRANT ALTER SYSTEM ON PARAMETER deadlock_timeout TO al",
			"SET deadlock_timeout = '2s'", "SET log_statement = 'none'"},
		"alter system": {"GRANT ALTER SYSTEM ON PARAMETER deadlock_timeout TO al; " +
			"GRANT SET ON PARAMETER work_mem TO al",
			"ALTER SYSTEM SET work_mem = '1MB'", "ALTER SYSTEM SET deadlock_timeout = '2s'"},
		"stored parameter": {"GRANT SET ON PARAMETER al.own TO al",
			"ALTER ROLE al SET al.other = 'x'", "ALTER ROLE al SET al.own = 'x'"},
		"secret parameter": {"GRANT ALL ON t TO al", "SHOW data_directory",
			"SHOW data_checksums"},
		"like": {"GRANT SELECT (a) ON t TO al; GRANT SELECT ON v TO al",
			"CREATE TEMP TABLE own (LIKE t)", "CREATE TEMP TABLE own (LIKE v)"},
		"drop type": {"CREATE TYPE yo AS ENUM ('x'); ALTER TYPE yo OWNER TO al", "DROP TYPE y",
			"DROP TYPE yo"},
		"comment on type": {"CREATE TYPE yo AS ENUM ('x'); ALTER TYPE yo OWNER TO al",
			"COMMENT ON TYPE y IS 'x'", "COMMENT ON TYPE yo IS 'x'"},
		"last value": {"CREATE SEQUENCE o; GRANT UPDATE ON q TO al; GRANT USAGE ON o TO al",
			"SELECT pg_sequence_last_value('q')", "SELECT pg_sequence_last_value('o')"},
		"sequence parameters": {"CREATE SEQUENCE o; GRANT USAGE ON o TO al",
			"SELECT pg_sequence_parameters('q'::regclass)",
			"SELECT pg_sequence_parameters('o'::regclass)"},
		"reset of counters": {"SELECT 1", "SELECT pg_stat_reset()", "SELECT 1"},
		"temporary": {"REVOKE TEMPORARY ON DATABASE postgres FROM public",
			"CREATE TEMP TABLE own (a int)", "SELECT 1"},
		"view": {"GRANT SELECT ON v TO al; ALTER VIEW v OWNER TO bo; " +
			"GRANT SELECT (a) ON t TO bo; CREATE VIEW w AS SELECT b FROM t; " +
			"ALTER VIEW w OWNER TO bo; GRANT SELECT ON w TO al",
			"SELECT * FROM w", "SELECT * FROM v"},
		"invoker": {"ALTER VIEW v SET (security_invoker); GRANT SELECT ON v TO al",
			"SELECT * FROM v",
			"SELECT 1"},
		"inherit": {"GRANT SELECT ON t TO bo; GRANT bo TO al; ALTER ROLE al NOINHERIT",
			"SELECT * FROM t", "SET ROLE bo; SELECT * FROM t; SET ROLE al"},
		"check": {"GRANT ALL ON r TO al; CREATE POLICY p ON r USING (a < 5) WITH CHECK (a < 3)",
			"INSERT INTO r VALUES (3, 1)", "INSERT INTO r VALUES (-1, 1)"},
		"changed": {"GRANT ALL ON r TO al; CREATE POLICY p ON r USING (a < 5) WITH CHECK (a < 3)",
			"UPDATE r SET a = 4", "UPDATE r SET b = 4"},
		"upsert": {"GRANT ALL ON r TO al; CREATE POLICY p ON r FOR SELECT USING (true); " +
			"CREATE POLICY i ON r FOR INSERT WITH CHECK (true); " +
			"CREATE POLICY u ON r FOR UPDATE USING (a > 1) WITH CHECK (b < 9)",
			"INSERT INTO r VALUES (1, 1) ON CONFLICT (a) DO UPDATE SET b = 2",
			"INSERT INTO r VALUES (2, 1) ON CONFLICT (a) DO UPDATE SET b = 2"},
		"upserted": {"GRANT ALL ON r TO al; CREATE POLICY p ON r FOR SELECT USING (true); " +
			"CREATE POLICY i ON r FOR INSERT WITH CHECK (true); " +
			"CREATE POLICY u ON r FOR UPDATE USING (a > 0) WITH CHECK (b < 9)",
			"INSERT INTO r VALUES (2, 1) ON CONFLICT (a) DO UPDATE SET b = 9",
			"INSERT INTO r VALUES (2, 1) ON CONFLICT (a) DO UPDATE SET b = 2"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newSession(t, newEngine(t))
			mustQuery(t, s, `CREATE ROLE al; CREATE ROLE bo; CREATE SCHEMA sc;
				CREATE TABLE sc.u (a int); CREATE TABLE t (a int PRIMARY KEY, b int);
				INSERT INTO t VALUES (1, 1); CREATE SEQUENCE q; CREATE TYPE y AS ENUM ('x');
				CREATE VIEW v AS SELECT a FROM t; CREATE TABLE r (a int PRIMARY KEY, b int);
				INSERT INTO r VALUES (1, 1), (2, 1); ALTER TABLE r ENABLE ROW LEVEL SECURITY`)
			mustQuery(t, s, c.setup)
			mustQuery(t, s, "SET ROLE al")
			fails(t, s, c.denied, denied)
			mustQuery(t, s, c.allowed)
		})
	}
}

// What a role holds without grant option it cannot pass on; GRANT warns, as in PostgreSQL.
func TestOnlyTheGrantOptionPassesOn(t *testing.T) {
	s := newSession(t, newEngine(t))
	mustQuery(t, s, `CREATE ROLE al; CREATE ROLE bo; CREATE TABLE t (a int);
		GRANT SELECT ON t TO al; GRANT UPDATE ON t TO al WITH GRANT OPTION; SET ROLE al`)
	mustQuery(t, s, "GRANT SELECT, UPDATE ON t TO bo; SET ROLE bo; RESET ROLE")
	require.Contains(t, mustQuery(t, s, `SELECT has_table_privilege('bo', 't', 'select'),
		has_table_privilege('bo', 't', 'update')`), "\nf|t\n")
}

// A database lets in only roles with CONNECT.
func TestConnectIsAskedFor(t *testing.T) {
	e := newEngine(t)
	mustQuery(t, newSession(t, e), `CREATE ROLE al LOGIN;
		REVOKE CONNECT ON DATABASE postgres FROM public`)
	_, err := e.NewSession(context.Background(), sql.SessionOptions{User: "al",
		Database: "postgres"})
	require.Equal(t, sqlerr.InsufficientPrivilege, codeOf(err))
}

// Policies of a command decide on its rows alone; the owner is bound by FORCE.
func TestPoliciesHideRowsByCommand(t *testing.T) {
	s := newSession(t, newEngine(t))
	mustQuery(t, s, `CREATE ROLE al; CREATE TABLE r (a int); INSERT INTO r VALUES (1), (2), (3);
		ALTER TABLE r ENABLE ROW LEVEL SECURITY; GRANT ALL ON r TO al;
		CREATE POLICY s ON r FOR SELECT USING (a < 3);
		CREATE POLICY u ON r FOR UPDATE USING (a > 1);
		CREATE POLICY d ON r FOR DELETE USING (a < 2); SET ROLE al`)
	require.Contains(t, mustQuery(t, s, "SELECT count(*) FROM r"), "\n2\n")
	require.Contains(t, mustQuery(t, s, "UPDATE r SET a = a WHERE a > 0"), "UPDATE 1\n")
	require.Contains(t, mustQuery(t, s, "DELETE FROM r WHERE a > 0"), "DELETE 1\n")
	mustQuery(t, s, "RESET ROLE; ALTER TABLE r OWNER TO al; SET ROLE al")
	require.Contains(t, mustQuery(t, s, "SELECT count(*) FROM r"), "\n2\n")
	mustQuery(t, s, "ALTER TABLE r FORCE ROW LEVEL SECURITY")
	require.Contains(t, mustQuery(t, s, "SELECT count(*) FROM r"), "\n1\n")
}

// pg_stats shows values of columns that the role may read, of rows that no policy hides.
func TestStatisticsShowNoHiddenValues(t *testing.T) {
	s := newSession(t, newEngine(t))
	mustQuery(t, s, `CREATE ROLE al; CREATE TABLE t AS SELECT i % 2 AS a, i % 3 AS b
		FROM generate_series(1, 30) i; GRANT SELECT (a) ON t TO al`)
	mustQuery(t, s, "ANALYZE t")
	const shown = "SELECT attname FROM pg_stats WHERE tablename = 't' ORDER BY 1"
	require.Equal(t, "[attname]\na\nb\nSELECT 2\n", mustQuery(t, s, shown))
	mustQuery(t, s, "SET ROLE al")
	require.Equal(t, "[attname]\na\nSELECT 1\n", mustQuery(t, s, shown))
	mustQuery(t, s, "RESET ROLE; ALTER TABLE t ENABLE ROW LEVEL SECURITY; SET ROLE al")
	require.Equal(t, "[attname]\nSELECT 0\n", mustQuery(t, s, shown))
}

// information_schema shows what the role owns or may use. Its views ask for that in SQL, by the
// functions that answer for privileges.
func TestInformationSchemaHidesWhatARoleMayNotUse(t *testing.T) {
	s := newSession(t, newEngine(t))
	mustQuery(t, s, `CREATE ROLE al; CREATE ROLE bo; CREATE SCHEMA sc AUTHORIZATION bo;
		GRANT USAGE ON SCHEMA public TO al; SET ROLE bo; CREATE TABLE sc.t (a int PRIMARY KEY,
		b int REFERENCES sc.t CHECK (b > 0)); CREATE VIEW sc.v AS SELECT a FROM sc.t;
		CREATE SEQUENCE sc.q; SET ROLE al`)
	for _, v := range []string{"schemata schema_name", "tables table_schema", "views table_schema",
		"columns table_schema", "sequences sequence_schema", "table_constraints table_schema",
		"key_column_usage table_schema", "constraint_column_usage table_schema",
		"referential_constraints constraint_schema", "check_constraints constraint_schema",
		"table_privileges table_schema", "column_privileges table_schema"} {
		view, schema, _ := strings.Cut(v, " ")
		count := "SELECT count(*) > 0 FROM information_schema." + view + " WHERE " + schema +
			" = 'sc'"
		require.Contains(t, mustQuery(t, s, count), "\nf\n", view)
		require.Contains(t, mustQuery(t, s, "SET ROLE bo; "+count+"; SET ROLE al"), "\nt\n", view)
	}
}

// A session begins with no rights that its role may not take, be they asked for in the start-up
// packet or stored for the role, which each role may do for itself.
func TestSessionsBeginAsTheirOwnRole(t *testing.T) {
	e := newEngine(t)
	owner := newSession(t, e)
	mustQuery(t, owner, "CREATE ROLE al LOGIN; CREATE ROLE grp; CREATE ROLE bo LOGIN IN ROLE grp")
	begin := func(user string, asked map[string]string) (*sql.Session, error) {
		s, err := e.NewSession(t.Context(), sql.SessionOptions{User: user, Database: "postgres",
			Settings: asked})
		if err == nil {
			t.Cleanup(func() { s.Close(context.Background()) })
		}
		return s, err
	}
	const roles = "SELECT current_user, session_user, current_setting('is_superuser')"
	for _, name := range []string{"session_authorization", "Session_Authorization", "role",
		"ROLE"} {
		_, err := begin("al", map[string]string{name: "postgres"})
		require.Equal(t, sqlerr.InsufficientPrivilege, codeOf(err), name)
		_, err = begin("al", map[string]string{name: "nosuch"})
		require.Equal(t, sqlerr.InvalidParameterValue, codeOf(err), name)

		s, err := begin("al", nil)
		require.NoError(t, err)
		mustQuery(t, s, "ALTER ROLE al SET "+name+" = 'postgres'")
		s, err = begin("al", nil)
		require.NoError(t, err)
		require.Contains(t, mustQuery(t, s, roles), "\nal|al|off\n", name)
		mustQuery(t, s, "RESET ROLE; RESET SESSION AUTHORIZATION; ALTER ROLE al RESET ALL")
		require.Contains(t, mustQuery(t, s, roles), "\nal|al|off\n", name)
	}
	mustQuery(t, owner, "GRANT SET ON PARAMETER lc_messages TO al")
	_, err := begin("al", map[string]string{"Deadlock_Timeout": "2s"})
	require.Equal(t, sqlerr.InsufficientPrivilege, codeOf(err))
	_, err = begin("al", map[string]string{"log_connections": "off"})
	require.Equal(t, sqlerr.InsufficientPrivilege, codeOf(err))
	_, err = begin("al", map[string]string{"lc_messages": "C", "ignore_system_indexes": "off"})
	require.NoError(t, err)

	s, err := begin("bo", map[string]string{"role": "grp"})
	require.NoError(t, err)
	require.Contains(t, mustQuery(t, s, roles), "\ngrp|bo|off\n")
	mustQuery(t, s, "SET ROLE NONE")
	require.Contains(t, mustQuery(t, s, roles), "\nbo|bo|off\n")
	mustQuery(t, s, "RESET ROLE")
	require.Contains(t, mustQuery(t, s, roles), "\ngrp|bo|off\n")
	mustQuery(t, owner, "ALTER ROLE postgres SET role = 'grp'")
	s, err = begin("postgres", nil)
	require.NoError(t, err)
	require.Contains(t, mustQuery(t, s, roles), "\ngrp|postgres|off\n")
}

// Changes are taken by roles that may read and update all of the table, and announced by those
// that may update it.
func TestTakingChangesAsksForTheTable(t *testing.T) {
	s := newSession(t, newEngine(t))
	mustQuery(t, s, `CREATE ROLE al; CREATE TABLE t (a int PRIMARY KEY, b text);
		INSERT INTO t VALUES (1, 'hidden')`)
	mustQuery(t, s, "SELECT minidb_create_observer('o', 't', 1, NULL, true)")
	const take, notify = "SELECT minidb_take('o', 1)", `SELECT minidb_notify('o', '{"a": 1}')`
	for _, x := range []struct {
		grant          string
		take, announce bool
	}{{"SELECT", false, false}, {"UPDATE", false, true}, {"SELECT, UPDATE", true, true}} {
		mustQuery(t, s, "GRANT "+x.grant+" ON t TO al; SET ROLE al")
		for text, allowed := range map[string]bool{take: x.take, notify: x.announce} {
			if allowed {
				mustQuery(t, s, text)
			} else {
				fails(t, s, text, sqlerr.InsufficientPrivilege)
			}
		}
		mustQuery(t, s, "RESET ROLE; REVOKE ALL ON t FROM al")
	}
	mustQuery(t, s, `GRANT ALL ON t TO al; ALTER TABLE t ENABLE ROW LEVEL SECURITY; SET ROLE al`)
	fails(t, s, take, sqlerr.InsufficientPrivilege)
}

// SET and SHOW look up rights and give the transaction no snapshot: that of its first query counts.
func TestSetTakesNoSnapshot(t *testing.T) {
	e := newEngine(t)
	owner, s := newSession(t, e), newSession(t, e)
	mustQuery(t, owner, "CREATE ROLE al; CREATE TABLE t (a int); GRANT SELECT ON t TO al")
	for i, text := range []string{"SET ROLE al; RESET ROLE", "SET deadlock_timeout = '20ms'",
		"SHOW data_directory", "SET SESSION AUTHORIZATION al; RESET SESSION AUTHORIZATION"} {
		mustQuery(t, s, "BEGIN ISOLATION LEVEL REPEATABLE READ")
		mustQuery(t, s, text)
		mustQuery(t, owner, "INSERT INTO t VALUES (1)")
		require.Contains(t, mustQuery(t, s, "SELECT count(*) FROM t"), fmt.Sprintf("\n%d\n", i+1),
			text)
		mustQuery(t, s, "COMMIT")
	}
}
