package pebblekv

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/minidb/minidb/kv"
)

// Engine is a kv.Engine on Pebble. It is one group, exclusive, and lazy where asked.
type Engine struct {
	db      *pebble.DB
	lock    *pebble.Lock
	latches *latches
	tables  *tableFiles
	syncs   atomic.Uint64
	// volatile: nothing is durable (Options.Volatile).
	volatile bool

	// cacheBytes and memTableBytes are what the block cache and all memtables may take.
	cacheBytes, memTableBytes int64

	replay     Replay
	corruption corruption
	space      space

	fail failure
	lazy lazyWrites

	// unsynced counts durable updates that are applied, or about to be, and not yet synced.
	unsynced atomic.Int64
	group    *groupCommit

	batches sync.Pool // of *kv.Batch
	ingests ingests

	// gate keeps Close apart from calls under way.
	gate struct {
		sync.RWMutex
		closed bool
	}
}

func newEngine() *Engine {
	e := &Engine{latches: newLatches()}
	e.group = newGroupCommit(&e.unsynced)
	e.batches.New = func() any { return new(kv.Batch) }
	return e
}

// Replay returns what opening the store read from its log.
func (e *Engine) Replay() Replay { return e.replay }

// MemoryBytes is what the block cache and the memtables may take.
func (e *Engine) MemoryBytes() (cache, memTables int64) { return e.cacheBytes, e.memTableBytes }

// Exclusive reports true: Pebble's lock file keeps other processes out.
func (e *Engine) Exclusive() bool { return true }

// Syncs returns how often a log file was synced.
func (e *Engine) Syncs() uint64 { return e.syncs.Load() }

// Failure returns the error that ended the engine, for which errors.Is(err, kv.ErrFailed) holds,
// and nil while it works.
func (e *Engine) Failure() error { return e.fail.get() }

// enter keeps the engine open until gate is read-unlocked. It refuses a closed and a failed one.
func (e *Engine) enter() error {
	e.gate.RLock()
	err := e.fail.get()
	if e.gate.closed {
		err = kv.ErrClosed
	}
	if err != nil {
		e.gate.RUnlock()
	}
	return err
}

// Update implements kv.Engine.
func (e *Engine) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	return e.update(ctx, rows, step, true, nil)
}

// UpdateEarly implements kv.Early: a batch is in the memtable before its log is synced, and the log
// keeps the order in which batches were applied.
func (e *Engine) UpdateEarly(ctx context.Context, rows [][]byte, step kv.Step,
	visible func()) error {
	return e.update(ctx, rows, step, true, visible)
}

// UpdateLazy implements kv.Lazy: the batch is in the log's buffer and in the memtable, and a later
// durable batch takes it to disk.
func (e *Engine) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	return e.update(ctx, rows, step, false, nil)
}

func (e *Engine) update(ctx context.Context, rows [][]byte, step kv.Step, durable bool,
	visible func()) error {
	if err := ctx.Err(); err != nil {
		return kv.NotApplied(err)
	}
	if err := e.enter(); err != nil {
		return kv.NotApplied(err)
	}
	defer e.gate.RUnlock()

	durable = durable && !e.volatile
	b := e.batches.Get().(*kv.Batch)
	defer func() {
		b.Reset()
		e.batches.Put(b)
	}()
	pb, lazily, err := e.latched(rows, step, b, durable)
	if err != nil || pb == nil {
		return err
	}
	if visible != nil {
		visible()
	}
	if durable {
		err = pb.SyncWait()
		e.unsynced.Add(-1)
	}
	// A failed engine's syncs return nil: the result of this update is unknown.
	if failed := e.fail.get(); failed != nil {
		return failed
	}
	if err != nil {
		return mark(err)
	}
	e.lazy.raise(lazily)
	return mark(pb.Close())
}

// latched runs the step and applies its batch under the rows' latches. The batch returned, if any,
// waits for its sync, which takes the first lazily lazy updates to disk too.
func (e *Engine) latched(rows [][]byte, step kv.Step, b *kv.Batch, durable bool) (pb *pebble.Batch,
	lazily uint64, err error) {
	var room [16]uint32
	slots := e.latches.acquire(rows, room[:0])
	defer e.latches.release(slots)

	r := &reader{src: e.db}
	err = step(r, b)
	if closeErr := r.close(); err == nil && closeErr != nil {
		err = kv.NotApplied(closeErr)
	}
	if failed := e.fail.get(); failed != nil {
		err = kv.NotApplied(failed) // what the step read may not be on disk
	}
	switch {
	case err != nil:
		return nil, 0, err
	case b.Empty() && durable:
		return nil, 0, e.syncWhatWasRead()
	case b.Empty():
		return nil, 0, nil
	}
	if err := b.CheckRows(rows); err != nil {
		return nil, 0, err
	}
	if pb, err = e.pebbleBatch(b); err != nil {
		return nil, 0, err
	}
	if !durable {
		e.lazy.begun.Add(1)
		err = e.db.Apply(pb, pebble.NoSync)
		e.lazy.applied.Add(1)
		return pb, 0, mark(err)
	}
	lazily = e.lazy.settled()
	e.unsynced.Add(1)
	if err := e.db.ApplyNoSyncWait(pb, pebble.Sync); err != nil {
		e.unsynced.Add(-1)
		return nil, 0, mark(err)
	}
	return pb, lazily, nil
}

// syncWhatWasRead makes durable what a step that wrote nothing may have read (kv I3): updates that
// wait for their sync, and lazy ones.
func (e *Engine) syncWhatWasRead() error {
	covered := e.lazy.settled()
	if e.unsynced.Load() == 0 && !e.lazy.unsynced() {
		return nil
	}
	err := e.db.LogData(nil, pebble.Sync)
	if failed := e.fail.get(); failed != nil {
		return kv.NotApplied(failed)
	}
	if err == nil {
		e.lazy.raise(covered)
	}
	return mark(err)
}

// pebbleBatch copies a batch into one of Pebble's.
func (e *Engine) pebbleBatch(b *kv.Batch) (pb *pebble.Batch, err error) {
	pb = e.db.NewBatchWithSize(b.Bytes() + 16*b.Len() + 32)
	for i := range b.Len() {
		key, value, deleted := b.Op(i)
		if deleted {
			err = pb.Delete(key, nil)
		} else {
			err = pb.Set(key, value, nil)
		}
		if err != nil {
			return nil, errors.Join(kv.NotApplied(err), pb.Close())
		}
	}
	return pb, nil
}

// Close implements kv.Engine. What lazy updates wrote becomes durable.
func (e *Engine) Close() error {
	// first: updates under way may wait for space
	e.space.close.Do(func() { close(e.space.closing) })
	e.gate.Lock()
	defer e.gate.Unlock()
	if e.gate.closed {
		return kv.ErrClosed
	}
	e.gate.closed = true
	err := errors.Join(mark(closeDB(e.db)), e.lock.Close())
	if failed := e.fail.get(); failed != nil {
		return failed // also where the last writes of closing were what failed
	}
	return err
}

// closeDB turns Pebble's panic about iterators that are still open into an error: it is a broken
// promise of the caller, but the process may well be on its way out.
func closeDB(db *pebble.DB) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("close store: %v", p)
		}
	}()
	return db.Close()
}

// Flush writes the memtable to tables and waits for it.
func (e *Engine) Flush() error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.gate.RUnlock()
	return e.unlessFailed(e.db.Flush())
}

// unlessFailed returns the failure that ended the engine, and otherwise err: a failed engine lets
// Pebble believe that its writes succeed.
func (e *Engine) unlessFailed(err error) error {
	if failed := e.fail.get(); failed != nil {
		return failed
	}
	return mark(err)
}

// Compact rewrites the whole store and waits for it.
func (e *Engine) Compact(ctx context.Context) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.gate.RUnlock()
	return e.unlessFailed(e.db.Compact(ctx, []byte{0x00}, []byte{0xff, 0xff, 0xff, 0xff}, false))
}

// CompactRange implements kv.RangeCompacter.
func (e *Engine) CompactRange(ctx context.Context, span kv.Span) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.gate.RUnlock()
	if span.End == nil {
		span.End = []byte{0xff, 0xff, 0xff, 0xff}
	}
	if span.Empty() {
		return nil
	}
	return e.unlessFailed(e.db.Compact(ctx, span.Start, span.End, false))
}

// Metrics returns Pebble's own report, for a person to read.
func (e *Engine) Metrics() string {
	if err := e.enter(); err != nil {
		return ""
	}
	defer e.gate.RUnlock()
	return e.db.Metrics().String()
}
