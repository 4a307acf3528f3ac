package statistics

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/txn"
)

// Change is what a transaction did to a table.
type Change struct {
	Table                      table.ID
	Inserted, Updated, Deleted int64
	// Truncated: all rows that were there went before the rest happened.
	Truncated bool
}

// Cause is why statistics were stored.
type Cause uint8

// The causes.
const (
	ByAnalyze Cause = iota
	ByBackground
	ByVacuum
)

// counter counts the changes of a table: what was stored, and what has come since.
type counter struct {
	inserted, updated, deleted atomic.Int64 // since base

	mu     sync.Mutex
	loaded bool           // base is what the store has, or newer
	base   stats.Counters // as stored, and what was folded in since
	at     int64          // base.Live when the statistics were made
	// planned is the size for which plans are good.
	planned int64
	dirty   bool // base is not in the store
	scanned bool // nor are the scans in it, for which alone it is not written at each tick
	scans   map[table.IndexID]*Scans
}

func (r *Registry) counter(id table.ID) *counter {
	c, ok := r.counters.Load(id)
	if !ok {
		c, _ = r.counters.LoadOrStore(id, &counter{})
	}
	return c.(*counter)
}

// Note adds the changes of a transaction that has committed.
func (r *Registry) Note(ctx context.Context, changes []Change) {
	for i := range changes {
		ch := &changes[i]
		c := r.counter(ch.Table)
		if ch.Truncated {
			if err := r.base(ctx, ch.Table, c); err != nil {
				r.log.Warn("statistics", "table", ch.Table, "err", err)
			}
			c.truncate()
		}
		most := int64(0)
		if ch.Inserted != 0 {
			most = c.inserted.Add(ch.Inserted)
		}
		if ch.Updated != 0 {
			c.updated.Add(ch.Updated)
		}
		if ch.Deleted != 0 {
			most = max(most, c.deleted.Add(ch.Deleted))
		}
		if most >= resizeChanges || ch.Truncated {
			r.resized(ctx, ch.Table, c)
		}
	}
}

// Plans are made anew when a table has become much larger or smaller than they were made for:
// twice, or half, and more than a few rows. That is looked at after so many changes, and at each
// tick.
const (
	resizeChanges = 200
	resizeFactor  = 2
	resizeRows    = 200
)

// resized raises the epoch for a table of which there are statistics, if its size is another one.
func (r *Registry) resized(ctx context.Context, id table.ID, c *counter) {
	if err := r.base(ctx, id, c); err != nil {
		r.log.Warn("statistics", "table", id, "err", err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	now, then := max(c.base.Live, 0), c.planned
	if now <= then*resizeFactor+resizeRows && then <= now*resizeFactor+resizeRows {
		return
	}
	c.planned = now
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.stored[id] {
		r.mu.since[id] = r.epoch.Add(1)
	}
}

// grown is by how many rows the table has grown since its statistics were made.
func (c *counter) grown() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	return c.base.Live - c.at
}

// fold moves what has come since into base. Requires: c.mu.
func (c *counter) fold() {
	c.foldScans()
	ins, upd, del := c.inserted.Swap(0), c.updated.Swap(0), c.deleted.Swap(0)
	if ins|upd|del == 0 {
		return
	}
	b := &c.base
	b.Inserted += ins
	b.Updated += upd
	b.Deleted += del
	b.Live += ins - del
	b.Modified += ins + upd + del
	b.InsertedSince += ins
	c.dirty = true
}

func (c *counter) truncate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	c.base.Modified += max(c.base.Live, 0)
	c.base.Live = 0
	c.dirty = true
}

// replace sets the rows to what was counted.
func (c *counter) replace(rows int64, by Cause, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	b := &c.base
	b.Live, c.dirty = rows, true
	c.at, c.planned = rows, rows
	switch by {
	case ByVacuum:
		b.LastVacuum, b.InsertedSince = now, 0
		b.Vacuums++
	case ByAnalyze:
		b.LastAnalyze, b.Modified = now, 0
		b.Analyzes++
	case ByBackground:
		b.LastAutoanalyze, b.Modified = now, 0
		b.Autoanalyzes++
	}
}

// adopt sets the rows to what another process counted.
func (c *counter) adopt(rows int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	c.base.Live, c.at, c.planned, c.base.Modified = rows, rows, rows, 0
}

// base reads the stored counters of a table, once.
func (r *Registry) base(ctx context.Context, id table.ID, c *counter) error {
	c.mu.Lock()
	loaded := c.loaded
	c.mu.Unlock()
	if loaded {
		return nil
	}
	var stored *stats.Counters
	var t *stats.Table
	err := r.read(ctx, func(tx *txn.Txn) (err error) {
		if stored, err = stats.ReadCounters(ctx, tx, id); err == nil {
			t, err = stats.ReadTable(ctx, tx, id)
		}
		return err
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded {
		return nil
	}
	c.loaded = true
	c.add(stored, t)
	return nil
}

// add puts what is stored below what was counted in memory. Requires: c.mu.
func (c *counter) add(stored *stats.Counters, t *stats.Table) {
	if stored == nil {
		stored = &stats.Counters{}
	}
	b := &c.base
	live := stored.Live
	if t != nil {
		if last := latest(stored.LastAnalyze, stored.LastAutoanalyze,
			stored.LastVacuum); t.Counted.After(last) {
			// The process that gathered the statistics died before it stored its counters.
			live, stored.Modified, stored.LastAnalyze = int64(t.Rows), 0, t.Counted
		}
		c.at, c.planned = int64(t.Rows), int64(t.Rows)
	}
	b.Live += live
	b.Inserted += stored.Inserted
	b.Updated += stored.Updated
	b.Deleted += stored.Deleted
	b.Modified += stored.Modified
	b.InsertedSince += stored.InsertedSince
	b.Vacuums += stored.Vacuums
	b.Analyzes += stored.Analyzes
	b.Autoanalyzes += stored.Autoanalyzes
	for _, s := range stored.Scans {
		b.AddScans(s)
	}
	b.LastVacuum = latest(b.LastVacuum, stored.LastVacuum)
	b.LastAnalyze = latest(b.LastAnalyze, stored.LastAnalyze)
	b.LastAutoanalyze = latest(b.LastAutoanalyze, stored.LastAutoanalyze)
}

func latest(ts ...time.Time) time.Time {
	out := ts[0]
	for _, t := range ts[1:] {
		if t.After(out) {
			out = t
		}
	}
	return out
}

// Reset sets the counters of tables of a database to zero. Their rows stay counted: sizes are
// estimated by them.
func (r *Registry) Reset(ctx context.Context, database table.ID, tables ...table.ID) error {
	for _, id := range tables {
		c := r.counter(id)
		if err := r.base(ctx, id, c); err != nil {
			return err
		}
		c.mu.Lock()
		c.fold()
		c.base, c.dirty = stats.Counters{Live: c.base.Live}, true
		c.mu.Unlock()
	}
	r.resets.Store(database, time.Now())
	return nil
}

// LastReset returns when counters of a database were last reset by this process.
func (r *Registry) LastReset(database table.ID) (time.Time, bool) {
	at, ok := r.resets.Load(database)
	if !ok {
		return time.Time{}, false
	}
	return at.(time.Time), true
}

// Counters returns what has happened to a table.
func (r *Registry) Counters(ctx context.Context, id table.ID) (stats.Counters, error) {
	c := r.counter(id)
	if err := r.base(ctx, id, c); err != nil {
		return stats.Counters{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	out := c.base
	out.Live = max(out.Live, 0)
	return out, nil
}
