package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/ports"
)

// cluster is three members of etcd and three gateways, each a process.
type cluster struct {
	members, gateways []*child
	clients           []string // URLs of the members for clients
	store             string
}

// child is a process that can be killed and started again.
type child struct {
	t     *testing.T
	role  string
	args  []string
	ready string // what its output says when it serves; empty: nothing
	addr  string

	mu    sync.Mutex
	cmd   *exec.Cmd
	lines []string
	read  sync.WaitGroup
}

// startCluster starts three gateways by minidb serve on three members.
func startCluster(t *testing.T) *cluster { return startClusterOf(t, "minidb", "serve") }

// startClusterOf starts gateways of a role of their own (main_test.go), whose arguments come before
// those that all of them have.
func startClusterOf(t *testing.T, role string, args ...string) *cluster {
	free, err := ports.Free(9)
	require.NoError(t, err)
	at := func(i int) string { return fmt.Sprint("http://127.0.0.1:", free[i]) }
	c := &cluster{clients: []string{at(3), at(4), at(5)}}
	dir := t.TempDir()
	for i := range 3 {
		c.members = append(c.members, &child{t: t, role: "member", args: []string{
			filepath.Join(dir, name(i)), fmt.Sprint(i), strings.Join([]string{at(0), at(1), at(2)},
				","), strings.Join(c.clients, ",")}})
	}
	var hosts []string
	for _, m := range c.members {
		m.start()
	}
	for _, u := range c.clients {
		hosts = append(hosts, strings.TrimPrefix(u, "http://"))
	}
	c.store = "etcd://" + strings.Join(hosts, ",") + "/test"
	for i := range 3 {
		addr := fmt.Sprint("127.0.0.1:", free[6+i])
		c.gateways = append(c.gateways, &child{t: t, role: role, addr: addr,
			ready: "minidb is ready",
			args:  append(slices.Clone(args), "--listen", addr, "--store", c.store)})
	}
	for _, g := range c.gateways {
		g.start()
	}
	t.Cleanup(func() {
		for _, p := range append(c.gateways, c.members...) {
			p.kill()
		}
	})
	return c
}

// start starts the process, and waits until it is ready.
func (c *child) start() {
	cmd := exec.Command(os.Args[0], c.args...)
	cmd.Env = append(os.Environ(), childRole+"="+c.role)
	out, err := cmd.StdoutPipe()
	require.NoError(c.t, err)
	cmd.Stderr = cmd.Stdout
	require.NoError(c.t, cmd.Start())
	ready := make(chan bool, 1)
	c.read.Go(func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.mu.Lock()
			c.lines = append(c.lines, lines.Text())
			c.mu.Unlock()
			if c.ready != "" && strings.HasPrefix(lines.Text(), c.ready) {
				ready <- true
			}
		}
		ready <- false
	})
	c.mu.Lock()
	c.cmd = cmd
	c.mu.Unlock()
	if c.ready != "" {
		require.True(c.t, <-ready, "%v", c.lines)
	}
}

// kill ends the process at once.
func (c *child) kill() {
	c.mu.Lock()
	cmd := c.cmd
	c.cmd = nil
	c.mu.Unlock()
	if cmd == nil {
		return
	}
	_ = cmd.Process.Kill()
	c.read.Wait()
	_ = cmd.Wait()
}

// signal sends a signal to the process.
func (c *child) signal(s syscall.Signal) {
	require.NoError(c.t, c.cmd.Process.Signal(s))
}

// run runs a command of minidb to its end, which must be a success.
func (c *cluster) run(t *testing.T, args ...string) string {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), childRole+"=minidb")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// last returns the last line of output that holds a text; lines begin with their time.
func (c *child) last(text string) (line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.lines {
		if strings.Contains(l, text) {
			line = l
		}
	}
	return line
}
