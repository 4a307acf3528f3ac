package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/minidb/minidb"
)

type options struct {
	dir       string
	folder    string
	seed      uint64
	documents int
	recrawls  int
	loaders   int
	batch     int
	wire      bool
	serving   string // URL of the database for the serving table
	kills     int
	verify    bool
	child     bool // the process that is killed
}

func (o *options) source() (source, error) {
	if o.folder != "" {
		return readFolder(o.folder)
	}
	return &web{seed: o.seed, documents: o.documents, recrawls: o.recrawls}, nil
}

func (o *options) index() string { return filepath.Join(o.dir, "index") }

// serveDatabase opens a database and serves it on a free port of this machine.
func serveDatabase(dir string) (db *minidb.DB, url string, err error) {
	db, err = minidb.Open(dir)
	if err != nil {
		return nil, "", err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", errors.Join(err, db.Close())
	}
	go func() { _ = db.Serve(l) }()
	return db, "postgres://webindex@" + l.Addr().String() + "/postgres?sslmode=disable", nil
}

// run does everything in this process, or in another one that is killed again and again.
func run(ctx context.Context, o options) (err error) {
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "webindex"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(o.dir)) }()
	}
	if o.serving == "" {
		db, url, err := serveDatabase(filepath.Join(o.dir, "serving"))
		if err != nil {
			return err
		}
		defer db.Close()
		o.serving = url
	}
	if o.kills > 0 {
		err = supervise(ctx, o)
	} else {
		err = index(ctx, o)
	}
	if err != nil || !o.verify {
		return err
	}
	return prove(ctx, o)
}

// index runs loaders and pipeline until all is loaded and nothing is pending.
func index(ctx context.Context, o options) (err error) {
	from, err := o.source()
	if err != nil {
		return err
	}
	db, url, err := serveDatabase(o.index())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	out, err := newServing(ctx, o.serving)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.close(ctx)) }()
	p := &pipeline{}
	observing, stop := context.WithCancel(ctx)
	defer stop()
	if err := p.start(observing, db, out); err != nil {
		return err
	}
	gate := &gate{p: p}
	begun, before := time.Now(), processorTime()
	table := &progress{db: db, p: p, gate: gate, total: from.steps(), out: os.Stdout,
		live: isTerminal(os.Stdout)}
	var showing sync.WaitGroup
	showing.Go(func() { table.run(observing) })
	defer showing.Wait()
	defer stop()
	l := &loading{db: db, from: from, loaders: o.loaders, batch: o.batch, gate: gate}
	l.stored = func(n int) {
		p.counts.loaded.Add(int64(n))
		if o.child {
			fmt.Println("stored", l.done.Load())
		}
	}
	if o.wire {
		l.wire = url
	}
	if err := l.run(ctx); err != nil {
		return err
	}
	fmt.Println("loaded")
	if err := db.Settle(ctx, 0); err != nil {
		return err
	}
	if o.child {
		fmt.Println("settled")
		return nil
	}
	steps, took := p.counts.loaded.Load(), time.Since(begun)
	fmt.Printf("settled: %d documents in %.1f s, %.0f a second, %.2f ms of processor time each\n",
		steps, took.Seconds(), float64(steps)/took.Seconds(),
		float64((processorTime()-before).Microseconds())/1e3/float64(max(steps, 1)))
	return nil
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// prove opens the database and checks what the example promises.
func prove(ctx context.Context, o options) error {
	db, err := minidb.Open(o.index())
	if err != nil {
		return err
	}
	defer db.Close()
	out, err := newServing(ctx, o.serving)
	if err != nil {
		return err
	}
	defer func() { _ = out.close(ctx) }()
	wrong, err := verify(ctx, db, out, os.Stdout)
	if err != nil {
		return err
	}
	problems, err := db.Check(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("problems found by check: %d\n", len(problems))
	for _, p := range problems {
		fmt.Println("  ", p)
	}
	if wrong+len(problems) > 0 {
		return errors.New("the index is wrong")
	}
	return nil
}
