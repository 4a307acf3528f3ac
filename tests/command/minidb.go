// Package command runs the built command minidb for tests: a server of a process of its own, which
// they may kill and start again. What a server in the test's own process will do is tests/served.
// It needs nothing of the product's packages, so tests/clients, a module of its own, can use it.
package command

import (
	"bufio"
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// Minidb is the built command minidb with a data directory. At most one server of it runs at a
// time; it ends with the test.
type Minidb struct {
	path, dir string
	server    *exec.Cmd
	log       logged
}

const module = "github.com/minidb/minidb"

// Build builds the command. Its data directory is new and empty.
func Build(t testing.TB) *Minidb {
	t.Helper()
	dir := t.TempDir()
	m := &Minidb{path: filepath.Join(dir, "minidb"), dir: filepath.Join(dir, "data")}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatalf("looking for the sources of minidb: %v", err)
	}
	build := exec.Command("go", "build", "-o", m.path, "./cmd/minidb")
	build.Dir = strings.TrimSpace(string(root))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building minidb: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		switch {
		case m.server == nil:
		case t.Failed():
			t.Logf("what minidb has logged: %s", m.Log())
			_ = m.Kill()
		default:
			m.Stop(t)
		}
	})
	return m
}

var ready = regexp.MustCompile(`^minidb is ready: psql -h (\S+) -p (\d+) `)

// Start serves the directory and returns the URL of the server, once it is ready. Each start has a
// port of its own.
func (m *Minidb) Start(t testing.TB) string {
	t.Helper()
	m.log.Reset()
	cmd := exec.Command(m.path, "serve", "--data", m.dir, "--listen", "127.0.0.1:0")
	cmd.Stderr = &m.log
	// A pipe of our own: Wait closes one that it made, and may do so before it has been read.
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	err = cmd.Start()
	w.Close()
	if err != nil {
		t.Fatalf("starting minidb: %v", err)
	}
	m.server = cmd
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		at := ready.FindStringSubmatch(lines.Text())
		if at == nil {
			continue
		}
		go func() { // what else it prints, until it ends
			defer out.Close()
			for lines.Scan() {
			}
		}()
		return "postgres://postgres@" + net.JoinHostPort(at[1], at[2]) +
			"/postgres?sslmode=disable"
	}
	out.Close()
	t.Fatalf("minidb ended before it was ready: %v\n%s", m.Kill(), m.Log())
	return ""
}

// Kill ends the server with SIGKILL and waits for it.
func (m *Minidb) Kill() error {
	server := m.server
	m.server = nil
	if err := server.Process.Kill(); err != nil {
		return err
	}
	_ = server.Wait()
	return nil
}

// Stop ends the server with SIGINT, and requires that it ends as it should.
func (m *Minidb) Stop(t testing.TB) {
	t.Helper()
	server := m.server
	m.server = nil
	if err := server.Process.Signal(os.Interrupt); err != nil {
		t.Fatalf("interrupting minidb: %v", err)
	}
	if err := server.Wait(); err != nil {
		t.Fatalf("minidb did not end as it should: %v\n%s", err, m.Log())
	}
}

// Check runs minidb check, for which no server may run.
func (m *Minidb) Check(t testing.TB) {
	t.Helper()
	if out, err := exec.Command(m.path, "check", "--data", m.dir).CombinedOutput(); err != nil {
		t.Fatalf("minidb check: %v\n%s", err, out)
	}
}

// Log returns what the server has written to its standard error since its start.
func (m *Minidb) Log() string { return m.log.String() }

// logged is a buffer that is read while a process still writes to it.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logged) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Reset()
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
