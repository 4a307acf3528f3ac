package sql_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/txn"
)

const showLevel = "SELECT setting, source FROM pg_settings WHERE name = " +
	"'default_transaction_isolation'"

func level(setting, source string) string {
	return "[setting source]\n" + setting + "|" + source + "\nSELECT 1\n"
}

// TestWhoChoosesTheIsolationLevel: each is stronger than those before it, as in PostgreSQL.
func TestWhoChoosesTheIsolationLevel(t *testing.T) {
	ctx := context.Background()
	e := newEngine(t)
	s := newSession(t, e)
	require.Equal(t, level("read committed", "default"), mustQuery(t, s, showLevel))

	mustQuery(t, s, "ALTER SYSTEM SET default_transaction_isolation = serializable")
	require.Equal(t, level("read committed", "default"), mustQuery(t, newSession(t, e), showLevel),
		"not before it is loaded")
	mustQuery(t, s, "SELECT pg_reload_conf()")
	require.Equal(t, level("serializable", "configuration file"), mustQuery(t, s, showLevel),
		"sessions that are there follow too")
	require.Equal(t, level("serializable", "configuration file"),
		mustQuery(t, newSession(t, e), showLevel))

	mustQuery(t, s, "ALTER DATABASE postgres SET default_transaction_isolation TO 'repeatable "+
		"read'")
	require.Equal(t, level("serializable", "configuration file"), mustQuery(t, s, showLevel),
		"sessions that are there do not follow")
	b := newSession(t, e)
	require.Equal(t, level("repeatable read", "database"), mustQuery(t, b, showLevel))
	require.Equal(t, "[transaction_isolation]\nrepeatable read\nSHOW\n",
		mustQuery(t, b, "SHOW transaction_isolation"))

	c, err := e.NewSession(ctx,
		sql.SessionOptions{User: "postgres",
			Settings: map[string]string{"default_transaction_isolation": "read committed"}})
	require.NoError(t, err)
	t.Cleanup(func() { c.Close(ctx) })
	require.Equal(t, level("read committed", "client"), mustQuery(t, c, showLevel))
	mustQuery(t, c, "SET default_transaction_isolation = serializable")
	require.Equal(t, level("serializable", "session"), mustQuery(t, c, showLevel))
	mustQuery(t, c, "RESET default_transaction_isolation")
	require.Equal(t, level("read committed", "client"), mustQuery(t, c, showLevel))

	mustQuery(t, s, "ALTER DATABASE postgres RESET ALL; ALTER DATABASE postgres SET "+
		"statement_timeout = '5s'")
	require.NoError(t, b.Refresh(ctx), "as a session that is taken out of a pool does")
	require.Equal(t, level("serializable", "configuration file"), mustQuery(t, b, showLevel))
	mustQuery(t, s, "ALTER SYSTEM RESET default_transaction_isolation")
	mustQuery(t, s, "SELECT pg_reload_conf()")
	require.Equal(t, level("read committed", "default"), mustQuery(t, b, showLevel))
}

// TestTheServersOptionStandsBetween what ALTER SYSTEM and ALTER DATABASE set, as PostgreSQL's
// command line does; and what they set is there after a start.
func TestTheServersOptionStandsBetween(t *testing.T) {
	on := memkv.New(memkv.Options{})
	t.Cleanup(func() { require.NoError(t, on.Close()) })
	e, store := openEngine(t, on, txn.Options{}, sql.Options{})
	mustQuery(t, newSession(t, e), "ALTER SYSTEM SET default_transaction_isolation = serializable")
	again, _ := openEngine(t, on, txn.Options{Oracle: store.Oracle()}, sql.Options{})
	require.Equal(t, level("serializable", "configuration file"),
		mustQuery(t, newSession(t, again), showLevel))
	with, _ := openEngine(t, on, txn.Options{Oracle: store.Oracle()}, sql.Options{
		Settings: map[string]string{"default_transaction_isolation": "repeatable read"}})
	s := newSession(t, with)
	require.Equal(t, level("repeatable read", "command line"), mustQuery(t, s, showLevel))
	mustQuery(t, s, "ALTER DATABASE postgres SET default_transaction_isolation = 'read committed'")
	require.Equal(t, level("read committed", "database"),
		mustQuery(t, newSession(t, with), showLevel))
}

// TestAlterDatabaseSet says what PostgreSQL 15 says.
func TestAlterDatabaseSet(t *testing.T) {
	e := newEngine(t)
	s := newSession(t, e)
	for _, x := range []struct{ text, code, message string }{
		{"SET default_transaction_isolation TO repeatable", "22023",
			`invalid value for parameter "default_transaction_isolation": "repeatable"`},
		{"SET nosuch = 1", "42704", `unrecognized configuration parameter "nosuch"`},
		{"SET max_connections = 5", "55P02",
			`parameter "max_connections" cannot be changed without restarting the server`},
		{"SET server_version = 5", "55P02", `parameter "server_version" cannot be changed`},
		{"SET transaction_isolation = serializable", "55P02",
			`parameter "transaction_isolation" cannot be changed`},
		{"SET shared_buffers = '4MB'", "55P02",
			`parameter "shared_buffers" cannot be changed without restarting the server`},
		{"SET statement_timeout = 1, 2", "22023", "SET statement_timeout takes only one argument"},
		{"SET LOCAL lock_timeout = 5", "42601", `syntax error at or near "lock_timeout"`},
		{"RENAME TO other", "0A000", "current database cannot be renamed"},
		{"OWNER TO nosuch", "42704", `role "nosuch" does not exist`},
	} {
		require.Equal(t, x.message, fails(t, s, "ALTER DATABASE postgres "+x.text, x.code).Message)
	}
	fails(t, s, "ALTER DATABASE nosuch SET statement_timeout = 5", "3D000")
	mustQuery(t, s, "ALTER DATABASE postgres RESET nosuch") // nothing is stored yet
	for _, text := range []string{`SET search_path = public, "B c"`, "SET foo.bar = 'x y'",
		"SET DateStyle = German", "SET lock_timeout = 5",
		"SET TIME ZONE 'Europe/Paris'", "SET lock_timeout TO '1min'",
		"SET idle_session_timeout = 7", "RESET idle_session_timeout"} {
		require.Equal(t, "ALTER DATABASE\n", mustQuery(t, s, "ALTER DATABASE postgres "+text))
	}
	fails(t, s, "ALTER DATABASE postgres RESET nosuch", "42704")
	mustQuery(t, s, "BEGIN; ALTER DATABASE postgres SET statement_timeout = '5s'; ROLLBACK")
	mustQuery(t, s, "SET extra_float_digits = 0; ALTER DATABASE postgres SET extra_float_digits "+
		"FROM CURRENT")
	require.Equal(t, "[datname setrole setconfig]\n"+
		`postgres|0|{"search_path=public, \"B c\"","foo.bar=x y",`+
		`DateStyle=german,lock_timeout=1min,TimeZone=Europe/Paris,extra_float_digits=0}`+
		"\nSELECT 1\n", mustQuery(t, s, "SELECT datname, setrole, setconfig FROM "+
		"pg_db_role_setting JOIN pg_database d ON d.oid = setdatabase"))

	n := newSession(t, e)
	for name, want := range map[string]string{"search_path": `public, "B c"`, "foo.bar": "x y",
		"DateStyle":    "German, DMY",
		"lock_timeout": "1min", "TimeZone": "Europe/Paris", "statement_timeout": "0"} {
		require.Equal(t, "["+name+"]\n"+want+"\nSHOW\n", mustQuery(t, n, "SHOW "+name))
	}
	mustQuery(t, s, "ALTER DATABASE postgres RESET ALL")
	require.Equal(t, "[count]\n0\nSELECT 1\n", mustQuery(t, s, "SELECT count(*) FROM "+
		"pg_db_role_setting"))
}

// TestAlterSystem says what PostgreSQL 15 says.
func TestAlterSystem(t *testing.T) {
	s := newSession(t, newEngine(t))
	for _, x := range []struct{ text, code, message string }{
		{"SET nosuch = 5", "42704", `unrecognized configuration parameter "nosuch"`},
		{"SET foo.bar = 5", "42704", `unrecognized configuration parameter "foo.bar"`},
		{"RESET nosuch", "42704", `unrecognized configuration parameter "nosuch"`},
		{"SET data_directory = 'x'", "55P02", `parameter "data_directory" cannot be changed`},
		{"SET server_version = 'x'", "55P02", `parameter "server_version" cannot be changed`},
		{"SET transaction_isolation = 'serializable'", "55P02",
			`parameter "transaction_isolation" cannot be changed`},
		{"SET lock_timeout = 'abc'", "22023", `invalid value for parameter "lock_timeout": "abc"`},
		{"SET time zone 'UTC'", "42601", `syntax error at or near "zone"`},
		{"SET port = 5", "0A000", "ALTER SYSTEM SET port is not supported"},
	} {
		require.Equal(t, x.message, fails(t, s, "ALTER SYSTEM "+x.text, x.code).Message)
	}
	fails(t, s, "SELECT 1; ALTER SYSTEM SET lock_timeout = 5", sqlerr.ActiveSQLTransaction)
	mustQuery(t, s, "BEGIN")
	fails(t, s, "ALTER SYSTEM SET lock_timeout = 5", sqlerr.ActiveSQLTransaction)
	mustQuery(t, s, "ROLLBACK")
	mustQuery(t, s, `ALTER SYSTEM SET search_path = a, "B c"`)
	mustQuery(t, s, "ALTER SYSTEM SET lock_timeout = '1min'")
	require.Equal(t, "[lock_timeout]\n0\nSHOW\n", mustQuery(t, s, "SHOW lock_timeout"))
	mustQuery(t, s, "SELECT pg_reload_conf()")
	require.Equal(t, "[lock_timeout]\n1min\nSHOW\n", mustQuery(t, s, "SHOW lock_timeout"))
	require.Equal(t, "[search_path]\na, \"B c\"\nSHOW\n", mustQuery(t, s, "SHOW search_path"))
	mustQuery(t, s, "ALTER SYSTEM RESET ALL")
	mustQuery(t, s, "SELECT pg_reload_conf()")
	require.Equal(t, "[lock_timeout]\n0\nSHOW\n", mustQuery(t, s, "SHOW lock_timeout"))
}
