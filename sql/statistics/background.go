package statistics

import (
	"context"
	"errors"
	"time"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/wait"
)

// A table is analysed in the background when so many rows have changed.
const (
	analyzeThreshold = 50
	analyzeScale     = 0.1
)

// batchPause lies between two batches of an analysis in the background.
const batchPause = time.Millisecond

// Start begins the background's ticks. Requires: it is called once, and Close after it.
func (r *Registry) Start(interval time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	r.end, r.done = cancel, make(chan struct{})
	go func() {
		defer close(r.done)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if err := r.Tick(ctx); err != nil && ctx.Err() == nil {
				r.log.Warn("statistics in the background", "err", err)
			}
		}
	}()
}

// Close ends the background, waits for it, and stores the counters.
func (r *Registry) Close(ctx context.Context) error {
	if r.end != nil {
		r.end()
		<-r.done
	}
	r.tick.Lock()
	defer r.tick.Unlock()
	return r.storeCounters(ctx, true)
}

// scanTicks is at how many ticks the counters of a table are stored that was only read.
const scanTicks = 10

// Tick stores the counters, analyses the tables that have changed much, looks for statistics that
// other processes stored, and removes what is stored of tables that are gone.
func (r *Registry) Tick(ctx context.Context) error {
	r.tick.Lock()
	defer r.tick.Unlock()
	if err := r.sweep(ctx); err != nil {
		return err
	}
	if err := r.refresh(ctx); err != nil {
		return err
	}
	r.ticks++
	if err := r.storeCounters(ctx, r.ticks%scanTicks == 0); err != nil {
		return err
	}
	for _, id := range r.due() {
		if err := r.analyze(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// refresh looks for statistics that other processes have stored.
func (r *Registry) refresh(ctx context.Context) error {
	return r.read(ctx, func(tx *txn.Txn) error {
		return stats.Tables(ctx, tx, func(id table.ID) error {
			r.mu.Lock()
			old, cached := r.mu.tables[id]
			asked := cached || r.mu.loaded && !r.mu.stored[id]
			since := r.mu.since[id]
			r.mu.Unlock()
			if !asked {
				return nil // no cached copy to refresh: the next call reads what is stored
			}
			t, err := stats.ReadTable(ctx, tx, id)
			if err != nil || t == nil || old != nil && !t.Counted.After(old.Counted) {
				return err
			}
			c := r.counter(id)
			if err := r.base(ctx, id, c); err != nil {
				return err
			}
			if r.adopt(id, since) {
				c.adopt(int64(t.Rows))
			}
			return nil
		})
	})
}

// adopt forgets a table's statistics for those of another process, unless this one has stored some
// since.
func (r *Registry) adopt(id table.ID, since uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.since[id] != since {
		return false
	}
	delete(r.mu.tables, id)
	r.mu.stored[id] = true
	r.mu.since[id] = r.epoch.Add(1)
	return true
}

// storeCounters writes the counters that are not in the store; with scans, those of tables too that
// were only read.
func (r *Registry) storeCounters(ctx context.Context, scans bool) error {
	var failed error
	r.counters.Range(func(key, value any) bool {
		id, c := key.(table.ID), value.(*counter)
		if failed = r.base(ctx, id, c); failed != nil {
			return false
		}
		r.resized(ctx, id, c)
		c.mu.Lock()
		dirty, base := c.dirty || scans && c.scanned, c.base
		if dirty {
			c.dirty, c.scanned = false, false
		}
		c.mu.Unlock()
		if !dirty {
			return true
		}
		failed = r.write(ctx, func(tx *txn.Txn) error {
			// or a table that was dropped meanwhile would leave them behind
			tx.Validate(table.PointSpan(table.DescKey(id)))
			d, err := r.catalog.View(tx).RelationByID(ctx, id)
			if err != nil || d == nil {
				return err
			}
			stored := base
			stored.Scans = ofIndexes(d, base.Scans)
			return stats.WriteCounters(tx, id, &stored)
		})
		var conflict *txn.WriteConflictError
		if failed != nil {
			c.mu.Lock()
			c.dirty = true
			c.mu.Unlock()
		}
		if errors.As(failed, &conflict) {
			failed = nil // the next tick does it
		}
		return failed == nil
	})
	return failed
}

// due lists the tables that have changed much since they were analysed.
func (r *Registry) due() (out []table.ID) {
	r.counters.Range(func(key, value any) bool {
		c := value.(*counter)
		c.mu.Lock()
		defer c.mu.Unlock()
		if float64(c.base.Modified) > analyzeThreshold+analyzeScale*float64(max(c.base.Live, 0)) {
			out = append(out, key.(table.ID))
		}
		return true
	})
	return out
}

// analyze makes the statistics of a table.
func (r *Registry) analyze(ctx context.Context, id table.ID) error {
	_, err := r.Analyze(ctx, id, stats.Options{Pause: pause}, ByBackground)
	var conflict *txn.WriteConflictError
	if errors.As(err, &conflict) {
		return nil // another transaction analysed or changed it: it is due again if need be
	}
	return err
}

func pause(ctx context.Context) error { return wait.Pause(ctx, batchPause) }

// Sweep removes what is stored of tables that are gone.
func (r *Registry) Sweep(ctx context.Context) error {
	r.tick.Lock()
	defer r.tick.Unlock()
	return r.sweep(ctx)
}

// sweep forgets tables that are gone: DROP leaves what is stored here behind, so that it never
// conflicts with the background.
func (r *Registry) sweep(ctx context.Context) error {
	return r.write(ctx, func(tx *txn.Txn) error {
		view := r.catalog.View(tx)
		version, _, err := view.Version(ctx)
		if err != nil || version == r.swept {
			return err
		}
		gone := func(id table.ID) (bool, error) {
			d, err := view.RelationByID(ctx, id)
			return err == nil && d == nil, err
		}
		err = stats.Tables(ctx, tx, func(id table.ID) error {
			if yes, err := gone(id); err != nil || !yes {
				return err
			}
			return stats.Remove(ctx, tx, id)
		})
		r.counters.Range(func(key, _ any) bool {
			yes, gerr := gone(key.(table.ID))
			if gerr != nil {
				err = gerr
			} else if yes {
				r.forget(key.(table.ID))
			}
			return err == nil
		})
		if err == nil {
			r.swept = version
		}
		return err
	})
}

func (r *Registry) forget(id table.ID) {
	r.counters.Delete(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.mu.stored, id)
	delete(r.mu.tables, id)
	delete(r.mu.since, id)
}
