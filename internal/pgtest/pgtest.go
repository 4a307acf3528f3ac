// Package pgtest starts a PostgreSQL 15 of its own for a test, to be asked how PostgreSQL behaves.
// Its programs come from Debian's postgresql-15; a test that needs them skips, with the reason,
// where they are missing.
package pgtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

var shared struct {
	sync.Mutex
	url  string
	stop func()
}

// Program finds a program of PostgreSQL's, on PATH or where Debian keeps those of its servers, or
// skips the test.
func Program(t testing.TB, name string) string {
	t.Helper()
	if p, err := exec.LookPath(name); err == nil {
		return p
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/15/bin/" + name)
	if len(found) == 0 {
		t.Skipf("%s is not installed (Debian: postgresql-15)", name)
	}
	return found[0]
}

// Server returns the URL of a PostgreSQL 15 that all tests of the process share. TestMain must be
// Main, or call Stop.
func Server(t testing.TB) string {
	t.Helper()
	initdb, postgres := Program(t, "initdb"), Program(t, "postgres")
	shared.Lock()
	defer shared.Unlock()
	if shared.url != "" {
		return shared.url
	}
	url, stop, err := start(initdb, postgres)
	if err != nil {
		t.Fatalf("starting PostgreSQL: %v", err)
	}
	shared.url, shared.stop = url, stop
	return url
}

// Connect returns a connection to the shared server, which is closed with the test.
func Connect(t testing.TB) *pgconn.PgConn {
	t.Helper()
	conn, err := pgconn.Connect(context.Background(), Server(t))
	if err != nil {
		t.Fatalf("connecting to PostgreSQL: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// Empty drops everything in the schema public.
func Empty(t testing.TB, conn *pgconn.PgConn) {
	t.Helper()
	err := conn.Exec(t.Context(), "DROP SCHEMA public CASCADE; CREATE SCHEMA public").Close()
	if err != nil {
		t.Fatalf("emptying the schema of PostgreSQL: %v", err)
	}
}

// Main is a TestMain that stops the shared server after the tests.
func Main(m *testing.M) {
	code := m.Run()
	Stop()
	os.Exit(code)
}

// Stop ends the shared server, if there is one.
func Stop() {
	shared.Lock()
	defer shared.Unlock()
	if shared.stop != nil {
		shared.stop()
		shared.url, shared.stop = "", nil
	}
}

// start makes a cluster in a temporary folder and runs a server. PostgreSQL refuses to run as root:
// then it runs as the user postgres that Debian's package makes.
func start(initdb, postgres string) (string, func(), error) {
	dir, err := os.MkdirTemp("", "minidb-pg")
	if err != nil {
		return "", nil, err
	}
	attr, err := credential(dir)
	if err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	data := filepath.Join(dir, "data")
	mk := exec.Command(initdb, "-D", data, "-A", "trust", "-U", "postgres", "--locale=C", "-E",
		"UTF8", "-N")
	mk.SysProcAttr, mk.Dir = attr, dir
	if out, err := mk.CombinedOutput(); err != nil {
		os.RemoveAll(dir)
		return "", nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	var srv *server
	for range 5 { // another process may take the port before this server does
		if srv, err = run(postgres, data, dir, attr); err == nil {
			break
		}
	}
	if err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", srv.port),
		func() {
			srv.stop()
			os.RemoveAll(dir)
		}, nil
}

func credential(dir string) (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		return attr, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("running as root without a user postgres: %w", err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr, os.Chown(dir, uid, gid)
}
