package main

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// O14: SIGTERM during a statement without end. It is cancelled when the time for it is over, its
// client receives 57P01, and the command succeeds.
func TestServeEndsALongStatementAndSucceeds(t *testing.T) {
	stdout, stderr := os.Stdout, os.Stderr
	defer func() { os.Stdout, os.Stderr = stdout, stderr }()
	printed := filepath.Join(t.TempDir(), "out")
	var err error
	os.Stdout, err = os.Create(printed)
	require.NoError(t, err)
	defer os.Stdout.Close()
	os.Stderr = os.Stdout
	ctx, terminate := context.WithCancel(context.Background())
	defer terminate()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"serve", "--in-memory", "--listen", "127.0.0.1:0", "--drain",
			"1ms", "--max-connections", "7"})
	}()
	ready := regexp.MustCompile(`psql -h (\S+) -p (\d+) `)
	var at [][]byte
	for at == nil {
		runtime.Gosched()
		b, err := os.ReadFile(printed)
		require.NoError(t, err)
		at = ready.FindSubmatch(b)
	}
	connect := func() *pgx.Conn {
		conn, err := pgx.Connect(context.Background(), "postgres://postgres@"+string(at[1])+":"+
			string(at[2])+"/postgres")
		require.NoError(t, err)
		return conn
	}
	busy, watch := connect(), connect()
	defer busy.Close(context.Background())
	defer watch.Close(context.Background())
	failed := make(chan error, 1)
	go func() {
		_, err := busy.Exec(context.Background(), "SELECT count(*) FROM generate_series(1, "+
			"1000000000000)")
		failed <- err
	}()
	for active := 0; active < 2; {
		require.NoError(t, watch.QueryRow(context.Background(),
			"SELECT count(*) FROM pg_stat_activity WHERE state = 'active'").Scan(&active))
	}
	terminate()
	var e *pgconn.PgError
	require.ErrorAs(t, <-failed, &e)
	require.Equal(t, "57P01", e.Code)
	require.Zero(t, <-code)
	b, err := os.ReadFile(printed)
	require.NoError(t, err)
	require.Contains(t, string(b), "statements that ran on were cancelled")
}

func TestVersion(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"--version"}, {"-version"}} {
		code, out, _ := runCommand(t, args...)
		require.Zero(t, code)
		require.Regexp(t, `^minidb \S+.*, server_version 15\.18, go1\.\S+ \w+/\w+\n$`, out)
	}
	code, _, _ := runCommand(t, "version", "x")
	require.Equal(t, 2, code)
	info := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}}}
	require.Contains(t, describeBuild(info), "minidb v1.2.3, commit 0123456789ab with changes, "+
		"server_version")
}

// O8: the ready line names a host that one can connect to, and listening beyond this machine is
// warned of.
func TestAddresses(t *testing.T) {
	for listen, host := range map[string]string{"127.0.0.1": "127.0.0.1", "0.0.0.0": "127.0.0.1",
		"::": "127.0.0.1", "::1": "::1", "192.0.2.7": "192.0.2.7"} {
		addr := &net.TCPAddr{IP: net.ParseIP(listen), Port: 5433}
		require.Equal(t, host, reachable(addr))
		var log bytes.Buffer
		warnIfOpen(slog.New(slog.NewTextHandler(&log, nil)), addr)
		require.Equal(t, !addr.IP.IsLoopback(), log.Len() > 0, listen)
	}
}
