package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// O1: a server that is used is backed up by command, encrypted, and restored with its history.
func TestBackupAndRestoreByCommand(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	at, _, end := serving(t, "--data", in("data"))
	url := "postgres://postgres@" + at + "/postgres"
	conn, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	exec := func(q string) {
		_, err := conn.Exec(ctx, q)
		require.NoError(t, err)
	}
	good := func(args ...string) string {
		t.Helper()
		code, out, errOut := runCommand(t, args...)
		require.Zero(t, code, errOut)
		return out
	}
	bad := func(says string, args ...string) {
		t.Helper()
		code, _, errOut := runCommand(t, args...)
		require.NotZero(t, code)
		require.Contains(t, errOut, says)
	}
	key := good("backup", "key")
	require.NoError(t, os.WriteFile(in("key"), []byte(key), 0o600))
	public := key[strings.Index(key, "age1"):strings.Index(key, "\nAGE")]
	require.NoError(t, os.WriteFile(in("public"), []byte("# mine\n"+public+"\n"), 0o600))

	exec("CREATE TABLE t (id int PRIMARY KEY, v text UNIQUE)")
	exec("INSERT INTO t SELECT g, 'secret ' || g FROM generate_series(1, 1000) g")
	backUp := []string{"backup", "--url", url, "--to", in("backups"), "--recipients", in("public")}
	require.Contains(t, good(backUp...), "-full: as of ")
	exec("UPDATE t SET v = 'changed' WHERE id = 1")
	require.Contains(t, good(append(backUp, "--rate", "1GB")...), "-full, encrypted")
	list := good("backup", "list", "--from", in("backups"))
	require.Equal(t, 2, strings.Count(list, "\n"))
	require.Empty(t, good("backup", "prune", "--from", in("backups"), "--keep", "7d"))
	var holds int
	require.NoError(t, conn.QueryRow(ctx, "SELECT count(*) FROM minidb_holds WHERE oldest < now() "+
		"AND until > now() + '24 hours' AND NOT notifications").Scan(&holds))
	require.Equal(t, 1, holds) // the incremental one has taken over from the full one
	require.NoError(t, conn.Close(ctx))
	end()

	bad("no key that was given", "backup", "verify", "--from", in("backups"))
	verified := good("backup", "verify", "--from", in("backups"), "--key-file", in("key"), "--in",
		dir)
	require.Contains(t, verified, "every file is what was written")
	require.Contains(t, verified, "every index entry its row")
	left, err := filepath.Glob(in("minidb-verify-*"))
	require.NoError(t, err)
	require.Empty(t, left)
	bad("the first is of", "restore", "--from", in("backups"), "--to", in("new"), "--key-file",
		in("key"), "--to-time", time.Now().Add(-time.Hour).Format(time.RFC3339))
	first, _, _ := strings.Cut(list, ":")
	for to, args := range map[string][]string{
		"changed":  {"--to-time", time.Now().Add(time.Hour).Format(time.RFC3339)},
		"changed ": {"--to-time", time.Now().Add(time.Hour).Format("2006-01-02 15:04:05Z07:00")},
		" changed": {"--to-time", "tomorrow"},
		"secret 1": {"--name", first},
	} {
		out := good(append([]string{"restore", "--from", in("backups"), "--to", in(to),
			"--key-file", in("key")}, args...)...)
		require.Contains(t, out, "restored as of ")
		require.Contains(t, good("sql", "--data", in(to), "-c",
			"SELECT v FROM t WHERE id = 1; SELECT count(*) FROM t"),
			strings.TrimSpace(to)+"\n(1 row)")
	}
	good("backup", "--data", in("changed"), "--to", in("backups")) // another database now
	bad("several databases", "restore", "--from", in("backups"), "--to", in("new"))
}

func TestBackupRefuses(t *testing.T) {
	for line, says := range map[string]string{
		"backup --to x":                              "--data, --store or --url is missing",
		"backup --data x":                            "--to is missing",
		"backup --data x --to s3://bucket":           "other places are not supported",
		"backup --url postgres://x --to x":           "absolute path",
		"backup --data x --to x --follow":            "--follow is for a server",
		"backup --data x --to x --rate fast":         "not a size",
		"backup --data x --url postgres://x":         "exclude each other",
		"backup lst --to x":                          "list, verify, prune, key or flags",
		"backup list":                                "--from is missing",
		"backup prune --from x --keep 7":             "--keep",
		"restore --from x":                           "--to is missing",
		"restore --from x --to y --to-time monday":   "monday",
		"restore --from x --to y --to-time infinity": "no moment",
	} {
		code, _, errOut := runCommand(t, strings.Fields(line)...)
		require.Equal(t, 2, code, line)
		require.Contains(t, errOut, says, line)
	}
}

// TestBackupsOfAServerAreForSuperusers, into directories of its machine.
func TestBackupsOfAServerAreForSuperusers(t *testing.T) {
	ctx := context.Background()
	at, _, _ := serving(t, "--in-memory")
	conn, err := pgx.Connect(ctx, "postgres://postgres@"+at+"/postgres")
	require.NoError(t, err)
	place := t.TempDir()
	for _, c := range []struct{ query, code string }{
		{"SELECT * FROM minidb_backup('relative')", "42602"},
		{"SELECT * FROM minidb_backup('" + place + `', '{"fast": true}')`, "22023"},
		{"SELECT * FROM minidb_backup('" + place + `', '{"recipients": ["x"]}')`, "22023"},
		{"SELECT * FROM minidb_backup('" + place + `', '{"protect": "x"}')`, "22007"},
		{"SELECT * FROM minidb_backup('/proc/nothing')", "58030"},
		{"CREATE ROLE r; SET ROLE r; SELECT * FROM minidb_backup('" + place + "')", "42501"},
	} {
		_, err := conn.Exec(ctx, c.query)
		var e *pgconn.PgError
		require.ErrorAs(t, err, &e, c.query)
		require.Equal(t, c.code, e.Code, e.Message)
	}
	left, err := os.ReadDir(place)
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoError(t, conn.Close(ctx))
}

// TestFollowingAServer makes a backup each time, until a signal.
func TestFollowingAServer(t *testing.T) {
	at, _, _ := serving(t, "--in-memory")
	place := filepath.Join(t.TempDir(), "backups")
	o := &backupOptions{url: "postgres://postgres@" + at + "/postgres", to: place, follow: true,
		every: 1, fullEvery: time.Hour}
	backer, err := o.backer()
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	n := 0
	counted := func(ctx context.Context, full bool) (b backedUp, err error) {
		if b, err = backer(ctx, full); err == nil {
			if n++; n == 3 {
				stop()
			}
		}
		return b, err
	}
	require.NoError(t, o.repeat(ctx, counted))
	require.Equal(t, 3, n)
	_, out, _ := runCommand(t, "backup", "list", "--from", place)
	require.Equal(t, 1, strings.Count(out, "-full: as of"))
	require.Equal(t, 2, strings.Count(out, ", continues "))
}
