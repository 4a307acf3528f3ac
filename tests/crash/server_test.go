package crash

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// buildServer compiles cmd/minidb.
func buildServer(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "minidb")
	out, err := exec.Command("go", "build", "-o", bin,
		"github.com/minidb/minidb/cmd/minidb").CombinedOutput()
	require.NoError(t, err, string(out))
	return bin
}

type server struct {
	bin, dir, addr string
	cmd            *exec.Cmd
	log            bytes.Buffer
}

func newServer(t *testing.T) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return &server{bin: buildServer(t), dir: filepath.Join(t.TempDir(), "data"),
		addr: l.Addr().String()}
}

func (s *server) url() string { return "postgres://tester@" + s.addr + "/postgres?sslmode=disable" }

func (s *server) start(t *testing.T) {
	t.Helper()
	s.log.Reset()
	s.cmd = exec.Command(s.bin, "serve", "--data", s.dir, "--listen", s.addr)
	s.cmd.Stderr = &s.log
	require.NoError(t, s.cmd.Start())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := connect(ctx, s.url())
	if err != nil {
		_ = s.kill()
		t.Fatalf("the server does not answer: %v\n%s", err, s.log.String())
	}
	require.NoError(t, conn.Close(ctx))
}

// kill ends the server with SIGKILL and waits for it.
func (s *server) kill() error {
	if err := s.cmd.Process.Kill(); err != nil {
		return err
	}
	_ = s.cmd.Wait()
	return nil
}

// stop ends the server with SIGINT and wants a clean exit.
func (s *server) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, s.cmd.Process.Signal(os.Interrupt))
	require.NoError(t, s.cmd.Wait(), s.log.String())
}

// check runs minidb check, which wants the directory for itself.
func (s *server) check(t *testing.T) {
	t.Helper()
	out, err := exec.Command(s.bin, "check", "--data", s.dir).CombinedOutput()
	require.NoError(t, err, string(out))
}

// connect tries until the server answers or ctx ends.
func connect(ctx context.Context, url string) (*pgx.Conn, error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, url)
		if err == nil {
			return conn, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-tick.C:
		}
	}
}
