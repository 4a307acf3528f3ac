package pgwire_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/sql"
)

// records are those of a log in JSON with a message.
func (j *journal) records(t testing.TB, message string) (out []map[string]any) {
	t.Helper()
	for line := range strings.Lines(j.String()) {
		var r map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &r), line)
		if r["msg"] == message {
			out = append(out, r)
		}
	}
	return out
}

// logged starts a server that logs JSON.
func logged(t *testing.T) (*journal, *server) {
	log := new(journal)
	return log, start(t, sql.Options{Logger: slog.New(slog.NewJSONHandler(log, nil))})
}

func (s *server) pgx(t *testing.T, options string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(context.Background(), "postgres://postgres@"+s.addr+
		"/postgres?application_name=shop"+options)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// O9: errors that clients get are in the log, with what they were about, as one record each,
// whatever the client writes.
func TestErrorsOfStatementsAreLogged(t *testing.T) {
	ctx := context.Background()
	log, s := logged(t)
	c := s.pgx(t, "")
	const text = "SELECT\n'level=ERROR msg=\"forged\"', nothing"
	_, err := c.Exec(ctx, text)
	require.Error(t, err)
	require.Empty(t, log.records(t, "forged"))
	got := log.records(t, "statement failed")
	require.Len(t, got, 1)
	r := got[0]
	require.Equal(t, "WARN", r["level"])
	require.Equal(t, "ERROR", r["severity"])
	require.Equal(t, "42703", r["sqlstate"])
	require.Equal(t, `column "nothing" does not exist`, r["error"])
	require.EqualValues(t, strings.Index(text, "nothing")+1, r["position"])
	require.Equal(t, text, r["statement"])
	require.EqualValues(t, c.PgConn().PID(), r["session"])
	require.Equal(t, "postgres", r["user"])
	require.Equal(t, "postgres", r["database"])
	require.Equal(t, "shop", r["application"])
	for _, setting := range []string{"log_min_error_statement = fatal", "log_min_messages = log"} {
		_, err = c.Exec(ctx, "SET "+setting)
		require.NoError(t, err)
		_, err = c.Exec(ctx, "SELECT nothing")
		require.Error(t, err)
	}
	got = log.records(t, "statement failed")
	require.Len(t, got, 2, "log_min_messages keeps the last one out")
	require.NotContains(t, got[1], "statement")
}

func TestPasswordsAreNotLogged(t *testing.T) {
	ctx := context.Background()
	log, s := logged(t)
	c := s.pgx(t, "")
	for _, text := range []string{"SET log_statement = 'all'", "SET log_min_duration_statement = 0",
		"SET log_parameter_max_length_on_error = -1",
		"CREATE ROLE a PASSWORD 's3cret'", "ALTER ROLE a PASSWORD 's3cret'",
		"DO $$ BEGIN EXECUTE 'ALTER ROLE a PASSWORD ''s3cret'''; END $$"} {
		_, _ = c.Exec(ctx, text)
	}
	for _, text := range []string{"ALTER ROLE a PASSWORD 's3cret' 's3cret'",
		"ALTER ROLE missing PASSWORD 's3cret'", "ALTER ROLE a PASSWORD 's3cret"} {
		_, err := c.Exec(ctx, text)
		require.Error(t, err)
	}
	require.NotContains(t, log.String(), "s3cret")
	require.GreaterOrEqual(t, strings.Count(log.String(), "PASSWORD '***'"), 5)
}

func TestSlowStatementsAreLogged(t *testing.T) {
	ctx := context.Background()
	log, s := logged(t)
	c := s.pgx(t, "")
	exec := func(text string, args ...any) {
		_, err := c.Exec(ctx, text, args...)
		require.NoError(t, err)
	}
	exec("CREATE TABLE t (id int PRIMARY KEY, v text)")
	require.Empty(t, log.records(t, "slow statement"))
	exec("SET log_min_duration_statement = 0")
	exec("SET log_parameter_max_length = 4")
	exec("INSERT INTO t SELECT g, $1 FROM generate_series(1, 3) g", "it's long")
	exec("SET log_parameter_max_length = 0")
	exec("UPDATE t SET v = $1", "other")
	exec("SET log_min_duration_statement = 1000000")
	exec("SELECT 'too fast'")
	of := map[string]map[string]any{}
	for _, r := range log.records(t, "slow statement") {
		if r["step"] == nil {
			of[strings.Fields(r["statement"].(string))[0]] = r
		}
	}
	require.EqualValues(t, 3, of["INSERT"]["rows"])
	require.Equal(t, "$1 = 'it''s...'", of["INSERT"]["parameters"])
	require.Positive(t, of["INSERT"]["duration_ms"])
	require.Regexp(t, `^\d+$`, of["INSERT"]["transaction"])
	require.EqualValues(t, 3, of["UPDATE"]["rows"])
	require.NotContains(t, of["UPDATE"], "parameters")
	require.NotContains(t, log.String(), "too fast")
	exec("SET auto_explain.log_min_duration = 0")
	exec("SET auto_explain.log_analyze = on")
	exec("SELECT * FROM t WHERE id = $1", 2)
	got := log.records(t, "slow statement")
	last := got[len(got)-1]
	require.Regexp(t, `^Index Scan using t_pkey on t .*actual time=.*rows=1`, last["plan"])
	require.EqualValues(t, 1, last["rows"])
}

func TestLogStatement(t *testing.T) {
	ctx := context.Background()
	for what, texts := range map[string][]string{
		"none": nil,
		"ddl":  {"CREATE TABLE t (i int)"},
		"mod":  {"CREATE TABLE t (i int)", "INSERT INTO t VALUES ($1)", "TRUNCATE t"},
		"all": {"CREATE TABLE t (i int)", "INSERT INTO t VALUES ($1)", "SELECT i FROM t",
			"TRUNCATE t"},
	} {
		log, s := logged(t)
		c := s.pgx(t, "&default_query_exec_mode=exec")
		_, err := c.Exec(ctx, "SET log_statement = '"+what+"'")
		require.NoError(t, err)
		for _, text := range []string{"CREATE TABLE t (i int)", "INSERT INTO t VALUES ($1)",
			"SELECT i FROM t", "TRUNCATE t"} {
			var args []any
			if strings.Contains(text, "$1") {
				args = append(args, 7)
			}
			_, err = c.Exec(ctx, text, args...)
			require.NoError(t, err)
		}
		var got []string
		for _, r := range log.records(t, "statement") {
			got = append(got, r["statement"].(string))
			if strings.Contains(r["statement"].(string), "$1") {
				require.Equal(t, "$1 = '7'", r["parameters"])
			}
		}
		require.Equal(t, texts, got, what)
	}
}

func TestConnectionsAreLoggedWhereAskedFor(t *testing.T) {
	ctx := context.Background()
	log, s := logged(t)
	require.NoError(t, s.pgx(t, "").Close(ctx))
	require.Empty(t, log.records(t, "connection authorized"))
	c := s.pgx(t, "&log_connections=on&log_disconnections=on")
	require.Len(t, log.records(t, "connection authorized"), 1)
	require.NoError(t, c.Close(ctx))
	<-c.PgConn().CleanupDone()
	require.NoError(t, s.Close())
	got := log.records(t, "disconnection")
	require.Len(t, got, 1)
	require.Contains(t, got[0], "session_seconds")
}

// TestLongLockWaitsAreLogged: one record while a wait is longer than deadlock_timeout, and one when
// it is over. The statement's own record counts the wait, also if the statement ran again after it.
func TestLongLockWaitsAreLogged(t *testing.T) {
	for _, text := range []string{"SELECT * FROM t FOR UPDATE", "UPDATE t SET n = 2 WHERE id = 1"} {
		t.Run(text, func(t *testing.T) { longLockWait(t, text) })
	}
}

func longLockWait(t *testing.T, text string) {
	ctx := context.Background()
	log, s := logged(t)
	a, b := s.pgx(t, ""), s.pgx(t, "")
	exec := func(c *pgx.Conn, text string) {
		_, err := c.Exec(ctx, text, pgx.QueryExecModeSimpleProtocol)
		require.NoError(t, err)
	}
	exec(a, "CREATE TABLE t (id int PRIMARY KEY, n int)")
	exec(a, "INSERT INTO t VALUES (1, 0)")
	exec(b, "SET log_lock_waits = on")
	exec(b, "SET deadlock_timeout = '1ms'")
	exec(b, "SET log_min_duration_statement = 0")
	exec(a, "BEGIN")
	exec(a, "UPDATE t SET n = 1")
	done := make(chan error, 1)
	go func() {
		_, err := b.Exec(ctx, text, pgx.QueryExecModeSimpleProtocol)
		done <- err
	}()
	for len(log.records(t, "still waiting for a lock")) == 0 {
		exec(a, "SELECT 1")
	}
	exec(a, "COMMIT")
	require.NoError(t, <-done)
	waits := log.records(t, "still waiting for a lock")
	require.Len(t, waits, 1)
	require.EqualValues(t, b.PgConn().PID(), waits[0]["session"])
	require.Equal(t, []any{float64(a.PgConn().PID())}, waits[0]["holders"])
	require.Equal(t, text, waits[0]["statement"])
	require.Regexp(t, `^(AccessE|E)xclusiveLock on tuple of relation \d+$`, waits[0]["lock"])
	require.Len(t, log.records(t, "got the lock"), 1)
	slow := log.records(t, "slow statement")
	last := slow[len(slow)-1]
	require.Equal(t, text, last["statement"])
	require.EqualValues(t, 1, last["lock_waits"])
}
