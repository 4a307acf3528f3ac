package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/minidb/minidb"
)

// source is what loaders load.
type source interface {
	steps() int
	step(i int) step
}

// folder is HTML files. A file deep down has a higher rank than one at the top.
type folder struct {
	files []step
}

func readFolder(dir string) (*folder, error) {
	f := &folder{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		extension := strings.ToLower(filepath.Ext(name))
		f.files = append(f.files, step{url: "file:///" + name, rank: strings.Count(name, "/"),
			body:     strings.ToValidUTF8(strings.ReplaceAll(string(body), "\x00", " "), "\uFFFD"),
			resource: extension != ".html" && extension != ".htm"})
		return nil
	})
	return f, err
}

func (f *folder) steps() int      { return len(f.files) }
func (f *folder) step(i int) step { return f.files[i] }

// batch is what a loader stores in one transaction.
type batch struct {
	urls, bodies         []string
	ranks                []int
	gone                 []string
	resources, resBodies []string
	next                 int // the step with which the loader goes on
}

// add puts a step into the batch. It reports false when the batch has the document already.
func (b *batch) add(s step, seen map[string]bool) bool {
	if seen[s.url] {
		return false
	}
	seen[s.url] = true
	switch {
	case s.resource:
		b.resources, b.resBodies = append(b.resources, s.url), append(b.resBodies, s.body)
	case s.gone:
		b.gone = append(b.gone, s.url)
	default:
		b.urls, b.ranks = append(b.urls, s.url), append(b.ranks, s.rank)
		b.bodies = append(b.bodies, s.body)
	}
	return true
}

// statement runs SQL in the transaction of a loader, embedded or over the wire.
type statement func(ctx context.Context, sql string, args ...any) error

// store writes a batch and how far the loader has come, so that after a crash no step is left out.
func (b *batch) store(ctx context.Context, run statement, loader int) error {
	for _, q := range []struct {
		n    int
		sql  string
		args []any
	}{
		{len(b.urls), `INSERT INTO documents
			SELECT unnest($1::text[]), unnest($2::int[]), unnest($3::text[])
			ON CONFLICT (url) DO UPDATE SET rank = excluded.rank, body = excluded.body`,
			[]any{b.urls, b.ranks, b.bodies}},
		{len(b.gone), "DELETE FROM documents WHERE url = ANY($1::text[])", []any{b.gone}},
		{len(b.resources), `INSERT INTO resources SELECT unnest($1::text[]), unnest($2::text[])
			ON CONFLICT (url) DO UPDATE SET body = excluded.body`,
			[]any{b.resources, b.resBodies}},
		{1, `INSERT INTO loaders VALUES ($1, $2)
			ON CONFLICT (loader) DO UPDATE SET next = excluded.next`, []any{loader, b.next}},
	} {
		if q.n == 0 {
			continue
		}
		if err := run(ctx, q.sql, q.args...); err != nil {
			return err
		}
	}
	return nil
}

// loading is the loaders of a run.
type loading struct {
	db      *minidb.DB
	from    source
	loaders int
	batch   int
	// done counts the steps that are stored, those of earlier processes included.
	done atomic.Int64
	// wire is the URL of the database when loaders are its clients; "": they are embedded.
	wire   string
	stored func(steps int) // is called after each transaction
	gate   *gate
}

// run stores all steps that are not stored yet. Loader i has the steps i, i + loaders, …
func (l *loading) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for i := range l.loaders {
		wg.Go(func() {
			if err := l.load(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func (l *loading) load(ctx context.Context, loader int) error {
	next := loader
	var known *int
	err := l.db.QueryRow(ctx, "SELECT max(next) FROM loaders WHERE loader = $1",
		loader).Scan(&known)
	if err != nil {
		return err
	}
	if known != nil {
		next = *known
		l.done.Add(int64((next - loader) / l.loaders))
	}
	store := l.embedded
	if l.wire != "" {
		conn, err := pgx.Connect(ctx, l.wire)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
		store = func(ctx context.Context, b *batch, loader int) error {
			return storeOverWire(ctx, conn, b, loader)
		}
	}
	for next < l.from.steps() {
		if err := l.gate.pass(ctx); err != nil {
			return err
		}
		b := batch{next: next}
		seen := map[string]bool{}
		for n := 0; n < l.batch && b.next < l.from.steps(); n++ {
			if !b.add(l.from.step(b.next), seen) {
				break
			}
			b.next += l.loaders
		}
		if err := store(ctx, &b, loader); err != nil {
			return err
		}
		l.done.Add(int64((b.next - next) / l.loaders))
		l.stored((b.next - next) / l.loaders)
		next = b.next
	}
	return nil
}

func (l *loading) embedded(ctx context.Context, b *batch, loader int) error {
	return l.db.Update(ctx, func(tx *minidb.Tx) error {
		return b.store(ctx, func(ctx context.Context, sql string, args ...any) error {
			_, err := tx.Exec(ctx, sql, args...)
			return err
		}, loader)
	})
}

// storeOverWire is a transaction at the default level, READ COMMITTED: two loaders that bring one
// document wait for each other.
func storeOverWire(ctx context.Context, conn *pgx.Conn, b *batch, loader int) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	err = b.store(ctx, func(ctx context.Context, sql string, args ...any) error {
		_, err := tx.Exec(ctx, sql, args...)
		return err
	}, loader)
	if err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// gate holds loaders back while the observers are far behind.
type gate struct {
	p *pipeline
	// What was pending for the parser when it was asked for, minus what was loaded and plus what
	// was parsed by then.
	offset atomic.Int64
}

const (
	// backlogMax is how many documents may wait to be parsed while loaders go on.
	backlogMax = 2000
	gatePause  = 10 * time.Millisecond
)

// set receives how many documents wait to be parsed.
func (g *gate) set(pending int64) {
	g.offset.Store(pending - g.p.counts.loaded.Load() + g.p.counts.parsed.Load())
}

// pass waits until the backlog is small.
func (g *gate) pass(ctx context.Context) error {
	for g.offset.Load()+g.p.counts.loaded.Load()-g.p.counts.parsed.Load() > backlogMax {
		select {
		case <-time.After(gatePause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
