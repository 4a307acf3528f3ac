package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/recipes"
	"github.com/minidb/minidb/txn"
)

// Observers measures what observers cost and how quick they are, and prints a line for each.
func Observers(ctx context.Context, o Options, w io.Writer) error {
	for _, m := range []struct {
		name string
		run  func(context.Context, Options, io.Writer) error
	}{
		{"added to commits", addedToCommits}, {"commit to run", commitToRun},
		{"changes a second", changesPerSecond}, {"hot group", hotGroup},
		{"view", incrementalView}, {"lag", lagUnderLoad},
	} {
		if !strings.Contains(m.name, o.Only) {
			continue
		}
		if err := m.run(ctx, o, w); err != nil {
			return err
		}
	}
	return nil
}

// countedCommits is how many commits are counted.
const countedCommits = 1000

// addedToCommits counts what a commit of a row does, with and without an observer of the row.
func addedToCommits(ctx context.Context, o Options, w io.Writer) (err error) {
	raw, err := pebblekv.Open(filepath.Join(o.Dir, "counted"), pebblekv.Options{})
	if err != nil {
		return err
	}
	engine := record.New(raw)
	defer func() { err = errors.Join(err, raw.Close()) }()
	store, err := txn.Open(ctx, engine, txn.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	commit := func(n int, observed bool) error {
		t, err := store.Begin(ctx, txn.BeginOptions{})
		if err != nil {
			return err
		}
		defer func() { _ = t.Rollback(ctx) }()
		old, err := t.Get(ctx, key(n))
		if err != nil {
			return err
		}
		if observed {
			t.Notify(key(n), 1, slices.Clone(old))
		}
		if err := t.Set(key(n), value(n)); err != nil {
			return err
		}
		return t.Commit(ctx)
	}
	count := func(observed bool) (record.Counts, error) {
		before := engine.Counts()
		for n := range countedCommits {
			if err := commit(n, observed); err != nil {
				return record.Counts{}, err
			}
		}
		return engine.Since(before), nil
	}
	if _, err := count(false); err != nil { // the rows
		return err
	}
	plain, err := count(false)
	if err != nil {
		return err
	}
	observed, err := count(true)
	if err != nil {
		return err
	}
	per := func(n int64) float64 { return float64(n) / countedCommits }
	_, err = fmt.Fprintf(w, "what an observed column adds to a commit of one row (old image %d "+
		"bytes):\n  puts %+.2f, bytes %+.0f, reads %+.2f, syncs %+.2f\n", len(value(0)),
		per(observed.Sets-plain.Sets), per(observed.Bytes-plain.Bytes),
		per(observed.Gets+observed.Iters-plain.Gets-plain.Iters),
		per(int64(observed.Syncs)-int64(plain.Syncs)))
	return err
}

// observed opens a database with documents and an observer that writes a row for each change.
func observed(ctx context.Context, dir string, workers int) (*minidb.DB, error) {
	db, err := minidb.Open(dir)
	if err != nil {
		return nil, err
	}
	_, err = db.Exec(ctx, `CREATE TABLE docs (id bigint PRIMARY KEY, body text);
		CREATE TABLE lengths (id bigint PRIMARY KEY, length int)`)
	if err == nil {
		err = db.Observe(ctx, minidb.Observer{Name: "lengths", Table: "docs", Workers: workers},
			func(ctx context.Context, tx *minidb.Tx, c minidb.Change) error {
				var body string
				if err := c.Row.Get("body", &body); err != nil {
					return err
				}
				_, err := tx.Exec(ctx, "INSERT INTO lengths VALUES ($1, $2)", c.Key[0], len(body))
				return err
			})
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// commitToRun measures single changes, one after the other.
func commitToRun(ctx context.Context, o Options, w io.Writer) (err error) {
	db, err := observed(ctx, filepath.Join(o.Dir, "single"), 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var commits, runs []time.Duration
	for n := range max(o.Rounds*countedCommits/10, 1) {
		begun := time.Now()
		if _, err := db.Exec(ctx, "INSERT INTO docs VALUES ($1, 'a body')", n); err != nil {
			return err
		}
		committed := time.Now()
		if err := db.Settle(ctx, 0); err != nil {
			return err
		}
		commits = append(commits, committed.Sub(begun))
		runs = append(runs, time.Since(committed))
	}
	_, err = fmt.Fprintf(w, "one change at a time:\n  commit            %s\n  commit to "+
		"acknowledged run  %s\n", quantiles(commits), quantiles(runs))
	return err
}

// quantiles formats the median and the 99th percentile.
func quantiles(all []time.Duration) string {
	slices.Sort(all)
	at := func(share float64) float64 {
		return float64(all[int(share*float64(len(all)-1))].Microseconds()) / 1e3
	}
	return fmt.Sprintf("p50 %.2f ms, p99 %.2f ms", at(0.5), at(0.99))
}

// changesAtOnce is how many changes workers run behind, at most.
const changesAtOnce = 10_000

// changesPerSecond measures how quick workers are behind many changes.
func changesPerSecond(ctx context.Context, o Options, w io.Writer) error {
	changes := min(changesAtOnce, o.Rounds*countedCommits)
	fmt.Fprintf(w, "runs a second behind %d changes of one statement:\n", changes)
	for _, workers := range []int{1, 2, 8} {
		rate, err := behindOneStatement(ctx, filepath.Join(o.Dir, fmt.Sprint("workers", workers)),
			workers, changes)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "  %d workers  %.0f/s\n", workers, rate)
	}
	return nil
}

func behindOneStatement(ctx context.Context, dir string, workers, changes int) (rate float64,
	err error) {
	db, err := observed(ctx, dir, workers)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	begun := time.Now()
	_, err = db.Exec(ctx, "INSERT INTO docs SELECT g, 'a body' FROM generate_series(1, $1::int) g",
		changes)
	if err == nil {
		err = db.Settle(ctx, 0)
	}
	return float64(changes) / time.Since(begun).Seconds(), err
}

// hotGroup compares writers that all add to one group with writers that add to 64, both through
// the queue of package recipes. A turn ends when what it has added is folded.
func hotGroup(ctx context.Context, o Options, w io.Writer) (err error) {
	db, err := minidb.Open(filepath.Join(o.Dir, "groups"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.Exec(ctx, "CREATE TABLE groups (name text PRIMARY KEY, n bigint NOT NULL)")
	if err != nil {
		return err
	}
	c := &recipes.Combine{Name: "group_changes",
		Fold: func(ctx context.Context, tx *minidb.Tx, sums []recipes.Delta) error {
			for _, d := range sums {
				_, err := tx.Exec(ctx, `INSERT INTO groups AS g VALUES ($1, $2)
					ON CONFLICT (name) DO UPDATE SET n = g.n + excluded.n`, d.Key, d.By)
				if err != nil {
					return err
				}
			}
			return nil
		}}
	if err := c.Open(ctx, db); err != nil {
		return err
	}
	var hot, distinct tally
	for range o.Rounds {
		for groups, t := range map[int]*tally{1: &hot, 64: &distinct} {
			rate, err := addToGroups(ctx, db, c, groups, o.Round)
			if err != nil {
				return err
			}
			t.rates = append(t.rates, rate)
		}
	}
	_, err = fmt.Fprintf(w, "8 writers that add to groups, folded:\n  one group %s, 64 groups %s, "+
		"ratio %.2f\n", perSecond(hot, 1), perSecond(distinct, 1),
		median(pairRatios(hot, distinct)))
	return err
}

func addToGroups(ctx context.Context, db *minidb.DB, c *recipes.Combine, groups int,
	length time.Duration) (rate float64, err error) {
	const writers = 8
	errs, made := make([]error, writers), make([]int, writers)
	var wg sync.WaitGroup
	begun := time.Now()
	for i := range writers {
		wg.Go(func() {
			for ; errs[i] == nil && time.Since(begun) < length; made[i]++ {
				group := fmt.Sprintf("group %d of %d", (i+made[i]*writers)%groups, groups)
				errs[i] = db.Update(ctx, func(tx *minidb.Tx) error {
					return c.Add(ctx, tx, recipes.Delta{Key: group, By: 1})
				})
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return 0, err
	}
	if err := db.Settle(ctx, 0); err != nil {
		return 0, err
	}
	total := 0
	for _, n := range made {
		total += n
	}
	return float64(total) / time.Since(begun).Seconds(), nil
}
