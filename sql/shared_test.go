package sql_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
)

const notShared = " is not supported on a store that several processes share"

// refused maps statements to what the error names.
func refused() map[string]string {
	out := map[string]string{
		"BEGIN; LOCK TABLE t":                               "LOCK TABLE",
		"BEGIN; LOCK TABLE t IN ACCESS SHARE MODE NOWAIT":   "LOCK TABLE",
		"BEGIN; LOCK TABLE v":                               "LOCK TABLE",
		"BEGIN; LOCK TABLE mine, t":                         "LOCK TABLE",
		"BEGIN; LOCK TABLE over":                            "LOCK TABLE",
		"DO $$ BEGIN LOCK TABLE t; END $$":                  "LOCK TABLE",
		"LISTEN c":                                          "LISTEN",
		"NOTIFY c":                                          "NOTIFY",
		"NOTIFY c, 'x'":                                     "NOTIFY",
		"SELECT pg_notify('c', 'x')":                        "pg_notify",
		"DO $$ BEGIN PERFORM pg_notify('c', ''); END $$":    "pg_notify",
		"SELECT * FROM pg_stat_activity":                    "pg_stat_activity",
		"SELECT count(*) FROM pg_stat_get_activity(NULL)":   "pg_stat_activity",
		"SELECT pg_stat_get_backend_idset()":                "pg_stat_activity",
		"SELECT pg_stat_get_backend_dbid(pg_backend_pid())": "pg_stat_activity",
		"SELECT FROM pg_locks":                              "pg_locks",
		"SELECT * FROM pg_lock_status()":                    "pg_locks",
		"SELECT pg_blocking_pids(pg_backend_pid())":         "pg_blocking_pids",
		"SELECT pg_safe_snapshot_blocking_pids(1)":          "pg_safe_snapshot_blocking_pids",
		"SELECT pg_current_snapshot()":                      "pg_current_snapshot",
		"SELECT txid_current_snapshot()":                    "txid_current_snapshot",
		"SELECT pg_xact_status(pg_current_xact_id())":       "pg_xact_status",
		"SELECT txid_status(txid_current())":                "txid_status",
	}
	return out
}

// What a process keeps in its memory binds no other process: on a store that several may use it is
// refused by name, in whichever process, rather than done for the sessions of one.
func TestASharedStoreRefusesWhatOneProcessKeeps(t *testing.T) {
	here, there := twoProcesses(t)
	for _, e := range []*sql.Engine{here, there} {
		s := newSession(t, e)
		mustQuery(t, s, "CREATE TABLE IF NOT EXISTS t (id int); CREATE OR REPLACE VIEW v AS "+
			"SELECT FROM t; CREATE TEMP TABLE mine (id int); CREATE TEMP VIEW over AS "+
			"SELECT FROM t")
		for text, name := range refused() {
			e := fails(t, s, text, sqlerr.FeatureNotSupported)
			require.Equal(t, name+notShared, e.Message, text)
			mustQuery(t, s, "ROLLBACK")
		}
	}

	// On a store that is one process's alone nothing of it is refused.
	s := newSession(t, newEngine(t))
	s.OnNotify(func() {})
	mustQuery(t, s, "CREATE TABLE t (id int); CREATE VIEW v AS SELECT FROM t; CREATE TEMP TABLE "+
		"mine (id int); CREATE TEMP VIEW over AS SELECT FROM t")
	for text := range refused() {
		mustQuery(t, s, text)
		mustQuery(t, s, "ROLLBACK")
	}
}

// The errors say where in the statement the construct is, and what to use instead.
func TestARefusalOnASharedStoreIsOfUse(t *testing.T) {
	here, _ := twoProcesses(t)
	s := newSession(t, here)
	mustQuery(t, s, "CREATE TABLE t (id int)")
	for text, want := range map[string]struct {
		position int
		hint     string
	}{
		"BEGIN; LOCK TABLE t":            {19, "SELECT ... FOR UPDATE"},
		"SELECT 1; LISTEN c":             {11, "minidb_take()"},
		"SELECT 1; NOTIFY c":             {11, "minidb_take()"},
		"SELECT * FROM pg_locks":         {0, "minidb_lock_waits"},
		"SELECT * FROM pg_stat_activity": {0, "minidb_progress"},
	} {
		e := fails(t, s, text, sqlerr.FeatureNotSupported)
		require.Equal(t, want.position, e.Position, text)
		require.Contains(t, e.Hint, want.hint, text)
		mustQuery(t, s, "ROLLBACK")
	}
	_, err := here.Listen(t.Context(), "postgres", func() {}, "c")
	require.Equal(t, sqlerr.FeatureNotSupported, codeOf(err))
}

// What has nothing to do, and what is the session's own, works: pools of connections send some of
// it whenever a client is done.
func TestASharedStoreAllowsWhatIsTheSessionsOwn(t *testing.T) {
	here, _ := twoProcesses(t)
	s := newSession(t, here)
	s.OnNotify(func() {})
	for _, text := range []string{
		"SELECT pg_advisory_unlock_all(); CLOSE ALL; UNLISTEN *; RESET ALL",
		"UNLISTEN c", "DISCARD ALL",
		"CREATE TEMP TABLE mine (id int); BEGIN; LOCK TABLE mine; ROLLBACK",
		"CREATE TABLE kept (id int)",
		"BEGIN ISOLATION LEVEL REPEATABLE READ; LOCK TABLE kept IN ACCESS SHARE MODE; ROLLBACK",
		"CREATE TABLE t (id int); ALTER TABLE t ADD n int; TRUNCATE t; CREATE INDEX ON t (n)",
		"VACUUM t", "VACUUM", "ANALYZE t", "REINDEX TABLE t",
		"SELECT txid_current(), pg_current_xact_id()",
		"SELECT * FROM pg_stat_database", "SELECT * FROM pg_stat_user_tables",
		"EXPLAIN SELECT * FROM pg_stat_activity",
		"CREATE SEQUENCE pg_locks; SELECT last_value FROM public.pg_locks",
	} {
		require.NotContains(t, mustQuery(t, s, text), notShared, text)
	}
	require.Equal(t, "[pg_listening_channels]\nSELECT 0\n",
		mustQuery(t, s, "SELECT pg_listening_channels()"))
	require.Equal(t, "[numbackends]\nNULL\nSELECT 1\n", mustQuery(t, s,
		"SELECT numbackends FROM pg_stat_database WHERE datname = current_database()"))
	fails(t, s, "VACUUM FULL", sqlerr.FeatureNotSupported)
	fails(t, s, "CHECKPOINT", sqlerr.FeatureNotSupported)
}

// Views that are of use though they show one process come with a notice, one in each message.
func TestAViewOfOneProcessSaysSo(t *testing.T) {
	here, there := twoProcesses(t)
	s, _ := newSession(t, here), newSession(t, there)
	notice := "NOTICE 00000: minidb_progress shows this process only, of several that share " +
		"the store\n"
	query := "SELECT a.pid = pg_backend_pid() AS own FROM minidb_progress a, minidb_progress"
	for range 2 {
		require.Equal(t, "[own]\n"+notice+"t\nSELECT 1\n", mustQuery(t, s, query))
	}
	for _, view := range []string{"minidb_conflicts", "minidb_lock_waits", "minidb_memory",
		"minidb_reruns", "pg_stat_gssapi", "pg_stat_ssl", "pg_stat_progress_analyze",
		"pg_stat_progress_basebackup", "pg_stat_progress_copy", "pg_stat_progress_create_index",
		"pg_stat_progress_vacuum"} {
		require.Contains(t, mustQuery(t, s, "SELECT FROM "+view), "NOTICE 00000: "+view+
			" shows this process only")
	}
	require.Contains(t, mustQuery(t, s, "SELECT pg_reload_conf()"), "WARNING 01000: "+
		"pg_reload_conf has reloaded the settings in this process only")

	const each = "WARNING 01000: CONNECTION LIMIT counts the sessions of each process by itself, " +
		"of several that share the store\n"
	role, database := "CREATE ROLE r CONNECTION LIMIT 1", "CREATE DATABASE d CONNECTION LIMIT 9"
	require.Equal(t, each+"CREATE ROLE\n", mustQuery(t, s, role))
	require.Equal(t, each+"CREATE DATABASE\n", mustQuery(t, s, database))
	const unseen = "WARNING 01000: sessions in database \"%s\" were looked for in this process " +
		"only, of several that share the store\n"
	require.Equal(t, fmt.Sprintf(unseen, "d")+"ALTER DATABASE\n",
		mustQuery(t, s, "ALTER DATABASE d RENAME TO e"))
	require.Equal(t, fmt.Sprintf(unseen, "e")+"DROP DATABASE\n",
		mustQuery(t, s, "DROP DATABASE e"))
	require.Equal(t, "ALTER ROLE\n", mustQuery(t, s, "ALTER ROLE r CONNECTION LIMIT 0"))

	alone := newSession(t, newEngine(t))
	require.Equal(t, "CREATE ROLE\n", mustQuery(t, alone, role))
	require.Equal(t, "CREATE DATABASE\n", mustQuery(t, alone, database))
	require.Equal(t, "[own]\nt\nSELECT 1\n", mustQuery(t, alone, query))
	require.NotContains(t, mustQuery(t, alone, "SELECT pg_reload_conf()"), "WARNING")
}

// Clients such as pgAdmin look their own connection up when they begin.
func TestASessionFindsItsOwnConnection(t *testing.T) {
	here, there := twoProcesses(t)
	for _, e := range []*sql.Engine{newEngine(t), here, there} {
		s, err := e.NewSession(t.Context(), sql.SessionOptions{User: "postgres",
			Client: "127.0.0.1:5"})
		require.NoError(t, err)
		require.Contains(t, mustQuery(t, s, "SELECT gss_authenticated, principal, encrypted FROM "+
			"pg_stat_gssapi WHERE pid = pg_backend_pid()"), "\nf|NULL|f\nSELECT 1\n")
		require.Contains(t, mustQuery(t, s, "SELECT ssl, version, cipher, bits FROM pg_stat_ssl "+
			"WHERE pid = pg_backend_pid()"), "\nf|NULL|NULL|NULL\nSELECT 1\n")
		s.Close(context.Background())
	}
}

// The number of a session names it among those of all processes: a signal never reaches a session
// of the same number elsewhere.
func TestSignalsStayInTheirProcess(t *testing.T) {
	here, there := twoProcesses(t)
	a, b, other := newSession(t, here), newSession(t, here), newSession(t, there)
	pids := map[int32]bool{}
	for _, e := range []*sql.Engine{here, there} {
		for range 100 {
			s := newSession(t, e)
			require.Positive(t, s.PID())
			require.NotContains(t, pids, s.PID())
			pids[s.PID()] = true
		}
	}
	for _, function := range []string{"pg_cancel_backend", "pg_terminate_backend"} {
		e := fails(t, a, "SELECT "+function+"("+pid(other)+")", sqlerr.FeatureNotSupported)
		require.Equal(t, function+" of a session of another process that shares the store is not "+
			"supported", e.Message)
		require.Equal(t, "["+function+"]\nWARNING 01000: PID 0 is not a PostgreSQL "+
			"backend process\nf\nSELECT 1\n", mustQuery(t, a, "SELECT "+function+"(0)"))
	}
	mustQuery(t, other, "SELECT 1")
	require.True(t, there.Cancel(a.PID(), a.Secret()), "it is of no session there")
	require.False(t, here.Cancel(a.PID(), a.Secret()), "it runs nothing")

	sleeps := start(b, "SELECT pg_sleep(3600)")
	for len(sleeps) == 0 { // it may not run yet
		require.Contains(t, mustQuery(t, a, "SELECT pg_cancel_backend("+pid(b)+")"), "\nt\n")
	}
	require.Equal(t, sqlerr.QueryCanceled, codeOf(<-sleeps))
	require.Contains(t, mustQuery(t, a, "SELECT pg_terminate_backend("+pid(b)+")"), "\nt\n")
	fails(t, b, "SELECT 1", sqlerr.AdminShutdown)

	alone := newEngine(t)
	for i := range 3 {
		require.Equal(t, fmt.Sprint(i+1), pid(newSession(t, alone)))
	}
}

// A snapshot is imported where it was exported, and named for what it is elsewhere.
func TestASnapshotOfAnotherProcessIsNotImported(t *testing.T) {
	here, there := twoProcesses(t)
	leader, near, far := newSession(t, here), newSession(t, here), newSession(t, there)
	const begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	mustQuery(t, leader, begin)
	id := value(t, func(text string) string { return mustQuery(t, leader, text) },
		"SELECT pg_export_snapshot()")
	mustQuery(t, near, begin+"; SET TRANSACTION SNAPSHOT '"+id+"'; SELECT 1; COMMIT")
	mustQuery(t, far, begin)
	e := fails(t, far, "SET TRANSACTION SNAPSHOT '"+id+"'", sqlerr.InvalidParameterValue)
	require.Equal(t, "No running transaction of this process has exported it.", e.Detail)
	mustQuery(t, leader, "COMMIT")
}
