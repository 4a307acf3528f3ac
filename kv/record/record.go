// Package record counts what is done to an engine: tests assert the counts, `minidb bench` prints
// them.
package record

import (
	"context"
	"sync/atomic"

	"github.com/minidb/minidb/kv"
)

// Engine passes everything on to an engine, and counts it.
type Engine struct {
	kv.Wrapped
	snapshots, updates, lazy, ranges, ingests, gets, iters atomic.Int64
	sets, deletes, bytes, ingested, steps                  atomic.Int64

	// Stepping counts the steps of iterators too, at the price of an allocation for each iterator.
	// It is set before the engine is used.
	Stepping bool
}

// Counts are the operations so far.
type Counts struct {
	Snapshots, Updates, Lazy int64 // Lazy are the updates that asked for no sync
	Ranges                   int64 // that were deleted at once
	Ingests, Ingested        int64 // files' worth of new keys, and how many keys were in them
	Gets, Iters              int64 // of readers, in steps and in snapshots
	Steps                    int64 // of these iterators, only with Engine.Stepping
	Sets, Deletes            int64
	Bytes                    int64 // of keys and values that were set
	Syncs                    uint64
}

// New wraps an engine.
func New(e kv.Engine) *Engine { return &Engine{Wrapped: kv.Wrapped{Engine: e}} }

// Counts returns the operations so far.
func (r *Engine) Counts() Counts {
	return Counts{
		Snapshots: r.snapshots.Load(), Updates: r.updates.Load(), Lazy: r.lazy.Load(),
		Ranges: r.ranges.Load(), Ingests: r.ingests.Load(), Ingested: r.ingested.Load(),
		Gets: r.gets.Load(), Iters: r.iters.Load(), Steps: r.steps.Load(),
		Sets: r.sets.Load(), Deletes: r.deletes.Load(), Bytes: r.bytes.Load(),
		Syncs: r.Syncs(),
	}
}

// Since returns the operations after an earlier count.
func (r *Engine) Since(c Counts) Counts {
	n := r.Counts()
	return Counts{
		Snapshots: n.Snapshots - c.Snapshots, Updates: n.Updates - c.Updates, Lazy: n.Lazy - c.Lazy,
		Ranges: n.Ranges - c.Ranges, Ingests: n.Ingests - c.Ingests,
		Ingested: n.Ingested - c.Ingested, Gets: n.Gets - c.Gets, Iters: n.Iters - c.Iters,
		Steps: n.Steps - c.Steps,
		Sets:  n.Sets - c.Sets, Deletes: n.Deletes - c.Deletes, Bytes: n.Bytes - c.Bytes,
		Syncs: n.Syncs - c.Syncs,
	}
}

// Snapshot implements kv.Engine.
func (r *Engine) Snapshot() (kv.Snapshot, error) {
	r.snapshots.Add(1)
	s, err := r.Wrapped.Engine.Snapshot()
	if err != nil {
		return nil, err
	}
	return &recordedSnapshot{recorded{s, r}, s}, nil
}

// Update implements kv.Engine.
func (r *Engine) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	r.updates.Add(1)
	return r.Wrapped.Engine.Update(ctx, rows, r.step(step))
}

// UpdateLazy implements kv.Lazy.
func (r *Engine) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	r.lazy.Add(1)
	return kv.UpdateLazy(ctx, r.Wrapped.Engine, rows, r.step(step))
}

// UpdateEarly implements kv.Early.
func (r *Engine) UpdateEarly(ctx context.Context, rows [][]byte, step kv.Step,
	visible func()) error {
	r.updates.Add(1)
	return kv.UpdateEarly(ctx, r.Wrapped.Engine, rows, r.step(step), visible)
}

// DeleteRange implements kv.RangeDeleter.
func (r *Engine) DeleteRange(ctx context.Context, span kv.Span) error {
	r.ranges.Add(1)
	return r.Wrapped.DeleteRange(ctx, span)
}

// Ingest implements kv.Ingester.
func (r *Engine) Ingest(ctx context.Context, sources []kv.Source) error {
	r.ingests.Add(1)
	counted := make([]kv.Source, len(sources))
	for i, source := range sources {
		counted[i] = func(put func(key, value []byte) error) error {
			return source(func(key, value []byte) error {
				r.ingested.Add(1)
				return put(key, value)
			})
		}
	}
	return r.Wrapped.Ingest(ctx, counted)
}

func (r *Engine) step(step kv.Step) kv.Step {
	return func(kr kv.Reader, b *kv.Batch) error {
		err := step(recorded{kr, r}, b)
		for i := range b.Len() {
			if key, value, deleted := b.Op(i); deleted {
				r.deletes.Add(1)
			} else {
				r.sets.Add(1)
				r.bytes.Add(int64(len(key) + len(value)))
			}
		}
		return err
	}
}

type recorded struct {
	kv.Reader
	r *Engine
}

func (r recorded) Get(ctx context.Context, key []byte) ([]byte, error) {
	r.r.gets.Add(1)
	return r.Reader.Get(ctx, key)
}

func (r recorded) NewIter(ctx context.Context, span kv.Span) (kv.Iterator, error) {
	return r.stepped(r.Reader.NewIter(ctx, span))
}

// NewVersionIter implements kv.Versioned where the engine's readers do.
func (r recorded) NewVersionIter(ctx context.Context, span kv.Span, low,
	high uint64) (kv.Iterator, error) {
	return r.stepped(kv.NewVersionIter(ctx, r.Reader, span, low, high))
}

func (r recorded) stepped(it kv.Iterator, err error) (kv.Iterator, error) {
	r.r.iters.Add(1)
	if err != nil || !r.r.Stepping {
		return it, err
	}
	return &stepping{it, &r.r.steps}, nil
}

// stepping counts the steps to a next key.
type stepping struct {
	kv.Iterator
	steps *atomic.Int64
}

func (s *stepping) Next() bool {
	s.steps.Add(1)
	return s.Iterator.Next()
}

func (s *stepping) NextPrefix() bool {
	s.steps.Add(1)
	return s.Iterator.NextPrefix()
}

type recordedSnapshot struct {
	recorded
	s kv.Snapshot
}

func (s *recordedSnapshot) Close() error { return s.s.Close() }
