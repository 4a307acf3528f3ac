package pebblekv

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/minidb/minidb/internal/planted"
	"github.com/minidb/minidb/kv"
)

// Engine is a kv.Engine on Pebble. It is one group, exclusive, and lazy where asked.
type Engine struct {
	db      *pebble.DB
	lock    *pebble.Lock
	latches *latches
	syncs   atomic.Uint64

	// unsynced counts durable updates that are applied, or about to be, and not yet synced.
	unsynced atomic.Int64
	group    *groupCommit

	batches sync.Pool // of *kv.Batch

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

// Exclusive reports true: Pebble's lock file keeps other processes out.
func (e *Engine) Exclusive() bool { return true }

// Syncs returns how often a log file was synced.
func (e *Engine) Syncs() uint64 { return e.syncs.Load() }

// enter keeps the engine open until the returned function is called.
func (e *Engine) enter() error {
	e.gate.RLock()
	if e.gate.closed {
		e.gate.RUnlock()
		return kv.ErrClosed
	}
	return nil
}

// Update implements kv.Engine.
func (e *Engine) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	return e.update(ctx, rows, step, true, nil)
}

// UpdateEarly implements kv.Early: a batch is in the memtable before its log is synced, and the log
// keeps the order in which batches were applied.
func (e *Engine) UpdateEarly(ctx context.Context, rows [][]byte, step kv.Step, visible func()) error {
	return e.update(ctx, rows, step, true, visible)
}

// UpdateLazy implements kv.Lazy: the batch is in the log's buffer and in the memtable, and a later
// durable batch takes it to disk.
func (e *Engine) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	return e.update(ctx, rows, step, false, nil)
}

func (e *Engine) update(ctx context.Context, rows [][]byte, step kv.Step, durable bool, visible func()) error {
	if err := ctx.Err(); err != nil {
		return kv.NotApplied(err)
	}
	if err := e.enter(); err != nil {
		return kv.NotApplied(err)
	}
	defer e.gate.RUnlock()

	b := e.batches.Get().(*kv.Batch)
	defer func() {
		b.Reset()
		e.batches.Put(b)
	}()
	pb, err := e.latched(rows, step, b, durable)
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
	if err != nil {
		return mark(err)
	}
	return mark(pb.Close())
}

// latched runs the step and applies its batch under the rows' latches. The batch returned, if any,
// waits for its sync.
func (e *Engine) latched(rows [][]byte, step kv.Step, b *kv.Batch, durable bool) (*pebble.Batch, error) {
	var room [16]uint32
	slots := e.latches.acquire(rows, room[:0])
	defer e.latches.release(slots)

	r := &reader{src: e.db}
	if planted.Is(planted.CheckBeforeLatch) {
		e.latches.release(slots)
		defer e.latches.acquire(rows, nil)
	}
	err := step(r, b)
	if closeErr := r.close(); err == nil && closeErr != nil {
		err = kv.NotApplied(closeErr)
	}
	if err != nil {
		return nil, err
	}
	if b.Empty() {
		if durable && e.unsynced.Load() > 0 {
			return nil, mark(e.db.LogData(nil, pebble.Sync)) // kv I3: what the step read is durable
		}
		return nil, nil
	}
	pb := e.db.NewBatchWithSize(b.Bytes() + 16*b.Len() + 32)
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
	if !durable {
		return pb, mark(e.db.Apply(pb, pebble.NoSync))
	}
	e.unsynced.Add(1)
	if err := e.db.ApplyNoSyncWait(pb, pebble.Sync); err != nil {
		e.unsynced.Add(-1)
		return nil, mark(err)
	}
	return pb, nil
}

// Close implements kv.Engine. What lazy updates wrote becomes durable.
func (e *Engine) Close() error {
	e.gate.Lock()
	defer e.gate.Unlock()
	if e.gate.closed {
		return kv.ErrClosed
	}
	e.gate.closed = true
	return errors.Join(mark(closeDB(e.db)), e.lock.Close())
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
	return mark(e.db.Flush())
}

// Compact rewrites the whole store and waits for it.
func (e *Engine) Compact(ctx context.Context) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.gate.RUnlock()
	return mark(e.db.Compact(ctx, []byte{0x00}, []byte{0xff, 0xff, 0xff, 0xff}, false))
}

// Metrics returns Pebble's own report, for a person to read.
func (e *Engine) Metrics() string {
	if err := e.enter(); err != nil {
		return ""
	}
	defer e.gate.RUnlock()
	return e.db.Metrics().String()
}
