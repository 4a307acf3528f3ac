package cli

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/pgtest"
)

// tryTo connects and returns the SQLSTATE of the refusal, "" if there was none.
func tryTo(t *testing.T, url string) string {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err == nil {
		var one int
		require.NoError(t, conn.QueryRow(context.Background(), "SELECT 1").Scan(&one))
		require.NoError(t, conn.Close(context.Background()))
		return ""
	}
	var e *pgconn.PgError
	require.ErrorAs(t, err, &e)
	return e.Code
}

// TestAFirstServeNeedsNothing: on this machine a new directory is open, and its file of rules says
// so; after the first password no client comes in without one, by the rules of a directory without
// a file.
func TestAFirstServeNeedsNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	at, _, end := serving(t, "--data", dir)
	require.Empty(t, tryTo(t, "postgres://anybody@"+at+"/postgres?sslmode=disable"))
	rules, err := os.ReadFile(filepath.Join(dir, "hba.conf"))
	require.NoError(t, err)
	require.Contains(t, string(rules), "127.0.0.0/8    trust")
	conn, err := pgx.Connect(context.Background(), "postgres://postgres@"+at+"/postgres")
	require.NoError(t, err)
	_, err = conn.Exec(context.Background(), "ALTER ROLE postgres PASSWORD 'p'")
	require.NoError(t, err)
	require.NoError(t, conn.Close(context.Background()))
	end()
	require.NoError(t, os.Remove(filepath.Join(dir, "hba.conf")))
	at, _, _ = serving(t, "--data", dir)
	require.Equal(t, "28P01", tryTo(t, "postgres://postgres:q@"+at+"/postgres"))
	require.Empty(t, tryTo(t, "postgres://postgres:p@"+at+"/postgres"))
}

// TestPasswordFile: every client needs the password, and one that is there stays.
func TestPasswordFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "password")
	require.NoError(t, os.WriteFile(file, []byte("it's \\ 1\n"), 0o600))
	data := filepath.Join(dir, "data")
	at, _, end := serving(t, "--data", data, "--password-file", file, "--self-signed")
	const right = "postgres://postgres:it%27s%20%5C%201@"
	for _, mode := range []string{"disable", "require"} {
		require.Empty(t, tryTo(t, right+at+"/postgres?sslmode="+mode))
		require.Equal(t, "28P01", tryTo(t, "postgres://postgres:x@"+at+"/postgres?sslmode="+mode))
		require.Equal(t, "28P01", tryTo(t, "postgres://nobody:x@"+at+"/postgres?sslmode="+mode))
	}
	for name, mode := range map[string]os.FileMode{"server.key": 0o600, "secret": 0o600,
		"hba.conf": 0o600} {
		info, err := os.Stat(filepath.Join(data, name))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), name)
	}
	require.Empty(t, tryTo(t, right+at+"/postgres?sslmode=verify-full&sslrootcert="+
		filepath.Join(data, "server.crt")))
	end()
	require.NoError(t, os.WriteFile(file, []byte("another"), 0o600))
	at, _, _ = serving(t, "--data", data, "--password-file", file)
	require.Empty(t, tryTo(t, right+at+"/postgres?sslmode=disable"))
}

// TestRulesAreReadAgain: at SIGHUP, and what is wrong then changes nothing.
func TestRulesAreReadAgain(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "rules")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	write("host all all all trust\n")
	at, printed, _ := serving(t, "--in-memory", "--hba", file)
	url := "postgres://postgres@" + at + "/postgres?sslmode=disable"
	require.Empty(t, tryTo(t, url))
	reload := func(want string) {
		before := strings.Count(printed(), want)
		require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
		for strings.Count(printed(), want) == before {
		}
	}
	write("host all all all nonsense\n")
	reload("who may come in stays as it was")
	require.Contains(t, printed(), `line 1: invalid authentication method \"nonsense\"`)
	require.Empty(t, tryTo(t, url))
	write("host all all all reject\n")
	reload("were read again")
	require.Equal(t, "28000", tryTo(t, url))
}

func TestKeysThatOthersCanReadAreRefused(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "c"), filepath.Join(dir, "k")
	require.NoError(t, writeSelfSigned(cert, key))
	require.NoError(t, os.Chmod(key, 0o640))
	code, _, stderr := runCommand(t, "serve", "--in-memory", "--listen", "127.0.0.1:0",
		"--tls-cert", cert, "--tls-key", key)
	require.NotZero(t, code)
	require.Contains(t, stderr, "has group or world access; chmod 0600")
	code, _, stderr = runCommand(t, "serve", "--in-memory", "--tls-cert", cert)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "--tls-cert and --tls-key belong together")
}

// TestPsqlBindsItsProofToTheConnection: libpq's own SCRAM, with and without TLS.
func TestPsqlBindsItsProofToTheConnection(t *testing.T) {
	psql := pgtest.Program(t, "psql")
	dir := t.TempDir()
	file := filepath.Join(dir, "password")
	require.NoError(t, os.WriteFile(file, []byte("secret"), 0o600))
	at, _, _ := serving(t, "--in-memory", "--password-file", file, "--self-signed")
	host, port, err := net.SplitHostPort(at)
	require.NoError(t, err)
	for _, x := range []struct{ options, password, want string }{
		{"sslmode=require channel_binding=require", "secret", "t"},
		{"sslmode=require channel_binding=disable", "secret", "t"},
		{"sslmode=disable", "secret", "t"},
		{"sslmode=disable channel_binding=require", "secret", "channel binding required"},
		{"sslmode=require", "wrong", "password authentication failed for user \"postgres\""},
	} {
		cmd := exec.Command(psql, "-XAtc", "SELECT true", "host="+host+" port="+port+
			" user=postgres dbname=postgres "+x.options)
		cmd.Env = append(os.Environ(), "PGPASSWORD="+x.password)
		out, _ := cmd.CombinedOutput()
		require.Contains(t, string(out), x.want, x.options)
	}
}
