package cli

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// serving runs serve on a free port. It returns its address, what it has printed until now, and
// what ends it, which requires that it succeeds.
func serving(t *testing.T, args ...string) (at string, printed func() string, end func()) {
	t.Helper()
	stdout, stderr := os.Stdout, os.Stderr
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	os.Stdout, os.Stderr = file, file
	ctx, terminate := context.WithCancel(context.Background())
	code := make(chan int, 1)
	go func() { code <- run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)) }()
	printed = func() string {
		b, err := os.ReadFile(file.Name())
		require.NoError(t, err)
		return string(b)
	}
	end = sync.OnceFunc(func() {
		terminate()
		require.Zero(t, <-code, printed())
		os.Stdout, os.Stderr = stdout, stderr
		require.NoError(t, file.Close())
	})
	t.Cleanup(end)
	ready := regexp.MustCompile(`psql -h (\S+) -p (\d+) `)
	for {
		select {
		case c := <-code:
			t.Fatalf("serve ended with %d: %s", c, printed())
		default:
			runtime.Gosched()
		}
		if m := ready.FindStringSubmatch(printed()); m != nil {
			return net.JoinHostPort(m[1], m[2]), printed, end
		}
	}
}

// O14: SIGTERM during a statement without end. It is cancelled when the time for it is over, its
// client receives 57P01, and the command succeeds.
func TestServeEndsALongStatementAndSucceeds(t *testing.T) {
	at, printed, terminate := serving(t, "--in-memory", "--drain", "1ms", "--max-connections", "7")
	connect := func() *pgx.Conn {
		conn, err := pgx.Connect(context.Background(), "postgres://postgres@"+at+"/postgres")
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
	require.Contains(t, printed(), "statements that ran on were cancelled")
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

// O8: the ready line names a host that one can connect to.
func TestAddresses(t *testing.T) {
	for listen, host := range map[string]string{"127.0.0.1": "127.0.0.1", "0.0.0.0": "127.0.0.1",
		"::": "127.0.0.1", "::1": "::1", "192.0.2.7": "192.0.2.7"} {
		require.Equal(t, host, reachable(&net.TCPAddr{IP: net.ParseIP(listen), Port: 5433}))
	}
}
