package pgtest

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/minidb/minidb/internal/ports"
)

// server is a process of PostgreSQL's.
type server struct {
	port   int
	cmd    *exec.Cmd
	exited chan error // what Wait has returned
}

// run starts a server on a port that is free, and returns once it has replied to a query.
func run(postgres, data, sockets string, attr *syscall.SysProcAttr) (*server, error) {
	free, err := ports.Free(1)
	if err != nil {
		return nil, err
	}
	s := &server{port: free[0], exited: make(chan error, 1)}
	s.cmd = exec.Command(postgres, "-D", data, "-p", strconv.Itoa(free[0]), "-k", sockets, "-c",
		"fsync=off",
		"-c", "listen_addresses=127.0.0.1", "-c", "timezone=UTC")
	s.cmd.SysProcAttr, s.cmd.Dir = attr, sockets
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { s.exited <- s.cmd.Wait() }()
	return s, s.awaitReady(sockets)
}

// awaitReady returns once the server has replied to a query, or ended. It asks through the socket
// in the server's own folder, where no other server replies, and which the server makes when it
// listens on its port.
func (s *server) awaitReady(sockets string) error {
	ctx := context.Background()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgconn.Connect(ctx, fmt.Sprintf("host=%s port=%d user=postgres "+
			"dbname=postgres", sockets, s.port))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case ended := <-s.exited:
			return fmt.Errorf("postgres on port %d ended (%v) before it was ready: %w", s.port,
				ended, err)
		case <-tick.C:
		}
	}
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	<-s.exited
}
