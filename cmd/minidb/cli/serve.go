package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/internal/memory"
)

// serveOptions are the flags of serve.
type serveOptions struct {
	listen, data          string
	http                  string // "": none
	isolation, protocol   string // "": the default
	inMemory, acceptClock bool
	retention, drain      time.Duration
	connections, reserved int
	memory, columnFile    int64 // bytes
	access                accessOptions
	store                 storeOptions
	log                   logOptions
}

func readServeOptions(c *command, args []string) (o serveOptions, err error) {
	fs := c.flags()
	fs.StringVar(&o.listen, "listen", "127.0.0.1:5433", "address to listen on")
	fs.StringVar(&o.http, "http", "", "loopback address on which /metrics, /healthz, /readyz and "+
		"/debug/pprof/ are served, as 127.0.0.1:9187 (default: none)")
	fs.StringVar(&o.data, "data", "minidb-data", "data directory, made when it is missing")
	fs.BoolVar(&o.inMemory, "in-memory", false, "keep everything in memory; it is gone at the end")
	fs.DurationVar(&o.retention, "gc-retention", 10*time.Minute,
		"how long old versions of rows are kept for AS OF SYSTEM TIME, and old snapshots")
	fs.StringVar(&o.isolation, "isolation", "",
		"level of transactions that ask for none: \"read committed\" (the default), \"repeatable "+
			"read\" or \"serializable\"")
	fs.StringVar(&o.protocol, "commit-protocol", "auto",
		"how commits reach the store: auto, one-phase, two-phase or async; for studying them "+
			"with minidb dump")
	fs.BoolVar(&o.acceptClock, "accept-clock", false,
		"open a directory though the clock of this machine seems wrong; it stays in the timestamps")
	fs.IntVar(&o.connections, "max-connections", 100, "how many clients may be connected")
	fs.IntVar(&o.reserved, "reserved-connections", 3,
		"how many of these connections are kept for the user postgres")
	o.memory = memory.DefaultBound()
	fs.Func("memory", "how much memory the process may hold, as 2GiB or 512MB (default: half of "+
		"the machine's or the control group's)", func(text string) (err error) {
		o.memory, err = parseMemory(text)
		return err
	})
	fs.Func("column-file", "how large the temporary file of columns that scans keep may be, as "+
		"2GiB, or 0 for none (default: twice --memory, or a tenth of the free disk)",
		func(text string) (err error) {
			if o.columnFile, err = parseSize(text); err == nil && o.columnFile == 0 {
				o.columnFile = -1
			}
			return err
		})
	fs.DurationVar(&o.drain, "drain", 10*time.Second,
		"how long clients may take to finish their statements after a signal to end")
	o.access.flags(fs)
	o.store.flags(fs)
	o.log.flags(fs)
	if err := c.parseFlags(fs, args); err != nil {
		return o, err
	}
	if err := errors.Join(o.access.check(), o.store.check(), o.log.check()); err != nil {
		return o, err
	}
	if o.http != "" {
		if err := checkLoopback(o.http); err != nil {
			return o, err
		}
	}
	if !o.inMemory {
		o.access.data = o.store.directory(o.data)
	}
	switch {
	case o.retention <= 0:
		return o, usageError("--gc-retention must be more than nothing")
	case o.drain < 0:
		return o, usageError("--drain must not be negative")
	case o.connections < 1 || o.reserved < 0 || o.reserved >= o.connections:
		return o, usageError("--reserved-connections must be less than --max-connections, and " +
			"not negative")
	}
	return o, exclusive(fs, "data", "in-memory", "store")
}

// open opens the database; fatal receives the error that ends it, should there be one.
func (o *serveOptions) open(logger *slog.Logger, fatal func(error)) (*minidb.DB, error) {
	opts := []minidb.Option{minidb.Logger(logger), minidb.Retention(o.retention),
		minidb.OnFatal(fatal), minidb.MaxConnections(o.connections),
		minidb.ReservedConnections(o.reserved), minidb.MemoryLimit(o.memory),
		minidb.ColumnFile(o.columnFile),
		minidb.CommitProtocol(o.protocol)}
	if o.isolation != "" {
		opts = append(opts, minidb.DefaultIsolation(o.isolation))
	}
	if o.acceptClock {
		opts = append(opts, minidb.AcceptClock())
	}
	if o.inMemory {
		return minidb.Open("", append(opts, minidb.InMemory())...)
	}
	return o.store.open(o.data, opts...)
}

func serve(ctx context.Context, c *command, args []string) error {
	o, err := readServeOptions(c, args)
	if err != nil {
		return err
	}
	// The port first: a server that cannot listen should not open, let alone make, a directory.
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		return err
	}
	logger := o.log.logger(os.Stderr)
	seen, err := observe(o.http, logger)
	if err != nil {
		l.Close()
		return err
	}
	defer seen.close()
	failed := make(chan error, 1)
	db, err := o.open(logger, func(err error) { failed <- err })
	if err != nil {
		l.Close()
		return err
	}
	addr := l.Addr().(*net.TCPAddr)
	o.access.listensWider = !addr.IP.IsLoopback()
	if err := o.access.guard(ctx, db, logger); err != nil {
		l.Close()
		return errors.Join(err, db.Close())
	}
	o.access.adviseOthers(ctx, db, logger)
	o.logStart(logger, db, addr.String())
	seen.shows(db.Handler())
	fmt.Println(o.access.greeting(addr))
	notify(logger, "READY=1") // a client that comes before Serve waits in l's queue
	defer governMemory(ctx)()
	served := make(chan error, 1)
	go func() { served <- db.Serve(l) }()
	select {
	case err = <-served:
	case err = <-failed: // nothing can be served any more
		logger.Error("server stops", "reason", "the store cannot be written", "error", err)
	case <-ctx.Done():
		logger.Info("server stops", "reason", "signal")
		notify(logger, "STOPPING=1")
		err = stop(context.WithoutCancel(ctx), db, o.drain, logger)
	}
	seen.close() // before the database that it reads
	if closeErr := db.Close(); err == nil {
		err = closeErr
	}
	logger.Info("server has stopped", "error", err)
	return err
}

// stop lets the clients finish their statements, and cancels those that take longer: that is an
// orderly end too.
func stop(ctx context.Context, db *minidb.DB, drain time.Duration, logger *slog.Logger) error {
	logger.Info("draining: clients finish what they are running", "for", drain)
	limit, cancel := context.WithTimeout(ctx, drain)
	defer cancel()
	err := db.Shutdown(limit)
	if errors.Is(err, context.DeadlineExceeded) {
		logger.Warn("statements that ran on were cancelled")
		return nil
	}
	return err
}
