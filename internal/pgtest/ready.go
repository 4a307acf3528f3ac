package pgtest

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// waitReady returns once the server has replied to a query.
func waitReady(port int, srv *exec.Cmd) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	url := fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
	for {
		conn, err := pgconn.Connect(ctx, url)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("process %d does not answer: %w", srv.Process.Pid, err)
		case <-tick.C:
		}
	}
}
