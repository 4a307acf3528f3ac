package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime"
	"time"

	"github.com/minidb/minidb"
)

// drain is how long clients may take to finish their statements once the server is told to end.
const drain = 10 * time.Second

// ballastBytes is memory that is reserved and never touched, so it costs address space alone. Go
// collects garbage when the heap has doubled; a server's own heap is 3 MB beside the caches, and would
// double thirty times a second under short statements.
const ballastBytes = 32 << 20

func serve(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	listen := fs.String("listen", "127.0.0.1:5433", "address to listen on")
	data := fs.String("data", "minidb-data", "data directory, made when it is missing")
	inMemory := fs.Bool("in-memory", false, "keep everything in memory; it is gone at the end")
	retention := fs.Duration("gc-retention", 10*time.Minute, "how long old versions of rows are kept for AS OF SYSTEM TIME, and old snapshots")
	acceptClock := fs.Bool("accept-clock", false, "open a directory though the clock of this machine seems wrong; it stays in the timestamps")
	if err := c.parse(fs, args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return usageError(fmt.Sprintf("unexpected argument %q", fs.Arg(0)))
	}
	if *retention <= 0 {
		return usageError("--gc-retention must be more than nothing")
	}
	if err := exclusive(fs, "data", "in-memory"); err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	opts := []minidb.Option{minidb.Logger(logger), minidb.Retention(*retention)}
	failed := make(chan error, 1)
	opts = append(opts, minidb.OnFatal(func(err error) { failed <- err }))
	if *acceptClock {
		opts = append(opts, minidb.AcceptClock())
	}
	dir := *data
	if *inMemory {
		dir, opts = "", append(opts, minidb.InMemory())
	}
	// The port first: a server that cannot listen should not open, let alone make, a directory.
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	db, err := minidb.Open(dir, opts...)
	if err != nil {
		l.Close()
		return err
	}
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return err
	}
	fmt.Printf("minidb is ready: psql -h %s -p %s -U postgres postgres\n", host, port)
	ballast := make([]byte, ballastBytes)
	defer runtime.KeepAlive(ballast)
	served := make(chan error, 1)
	go func() { served <- db.Serve(l) }()
	select {
	case err = <-served:
	case err = <-failed: // nothing can be served any more
	case <-ctx.Done():
		logger.Info("draining: clients finish what they are running", "for", drain)
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
		err = db.Shutdown(limit)
		cancel()
	}
	if closeErr := db.Close(); err == nil {
		err = closeErr
	}
	return err
}
