package txn

import (
	"context"
	"errors"
	"sort"

	"github.com/minidb/minidb/txn/commit"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/mvcc"
)

// Streamed is what a large transaction has streamed out so far.
type Streamed = commit.Streamed

// stream is a transaction that outgrew Options.StreamBytes: its writes go out as prewrites,
// whenever the buffer is full again (txn: I13; commit.Stream).
//
// Memory. What stays in memory is the buffer, the row locks (both bounded by Options.MaxTxnBytes),
// and a filter that recognizes most keys that were not streamed out. Past Options.RowLocks, on an
// exclusive engine, the row locks of streamed keys are given back, for the locks in the store
// replace them.
//
// Reads. A key that was streamed out is read back from the transaction's own lock, and written
// again over it. If such a read finds the primary's lock gone, a resolver has begun to remove the
// locks, and the transaction fails.
type stream struct {
	*commit.Stream
	// whole is the newest snapshot known to show the primary's lock, and so all that was streamed
	whole *hints.Snapshot
	out   int // how many times the buffer was streamed out
}

// afterWrite streams the buffer out when it is full, unless it is frozen.
func (t *Txn) afterWrite() error {
	held := t.buf.Held()
	room, err := t.counted.writes(int64(held), t.buf.Frozen())
	if err != nil || t.buf.Frozen() || room && held <= t.s.opts.StreamBytes {
		return err
	}
	return t.streamOut(t.writeContext())
}

// faultIn brings a write of the key that was streamed out back into the buffer, because the next
// write of the key depends on it, and a savepoint may want it back.
func (t *Txn) faultIn(key []byte) error {
	if t.stream == nil {
		return nil
	}
	if err := t.stream.Failed(); err != nil {
		return err
	}
	if !t.stream.MayHave(key) {
		return nil
	}
	if _, ok := t.buf.Get(key); ok {
		return nil
	}
	w, err := t.streamed(t.writeContext(), key)
	if err != nil || w.Kind == 0 {
		return err
	}
	t.buf.FaultIn(key, w)
	return nil
}

// streamOut prewrites what is buffered.
func (t *Txn) streamOut(ctx context.Context) error {
	if err := t.s.enter(); err != nil {
		return err
	}
	defer t.s.gate.RUnlock()
	if err := t.s.Room(t.frees); err != nil {
		return err
	}
	muts, absent, err := t.mutations(ctx, true)
	if err != nil {
		return err
	}
	t.validated = append(t.validated, absent...)
	if len(muts) == 0 {
		return nil
	}
	return t.prewriteStream(ctx, muts)
}

// prewriteStream prewrites the mutations of the buffer, and then forgets them. When it is cancelled
// all are still in the buffer, for the next time.
func (t *Txn) prewriteStream(ctx context.Context, muts []mvcc.Mutation) error {
	if t.stream == nil {
		t.stream = &stream{Stream: t.s.coordinator.NewStream(t.coordinated())}
	}
	t.buf.StreamsOut()
	if err := t.stream.Prewrite(ctx, t.writes(muts)); err != nil {
		return err
	}
	t.buf.StreamedOut()
	t.stream.out++
	t.counted.none()
	t.dropSnapshot()
	t.giveBackLocks(muts)
	if t.onStream != nil {
		t.onStream(t.stream.Sum())
	}
	return nil
}

// giveBackLocks gives back the row locks of keys that were just streamed out, if the transaction
// has many: their locks in the store exclude all others until the transaction ends, whatever it
// undoes. On a store that others share row locks have records, which are counted and kept.
func (t *Txn) giveBackLocks(muts []mvcc.Mutation) {
	o := t.waiter.Owner
	if o == nil || t.shared != nil || o.Locks() <= t.s.opts.RowLocks {
		return
	}
	o.ReleaseKeys(func(key string) bool {
		i := sort.Search(len(muts), func(i int) bool { return string(muts[i].Key) >= key })
		return i < len(muts) && string(muts[i].Key) == key
	})
}

// commitStream streams the rest out and commits the primary.
func (t *Txn) commitStream(ctx context.Context) error {
	if err := t.streamRest(ctx); err != nil {
		return t.stream.Abort(ctx, err)
	}
	var err error
	t.commitTS, err = t.stream.Commit(ctx, t.checks(nil))
	return err
}

// streamRest streams out what is buffered when the transaction commits.
func (t *Txn) streamRest(ctx context.Context) error {
	if err := t.stream.Failed(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := t.prepare(); err != nil {
		return err
	}
	muts, _, err := t.mutations(ctx, false)
	if err != nil || len(muts) == 0 {
		return err
	}
	return t.prewriteStream(ctx, muts)
}

// rollbackStream rolls back what was streamed out. On a closed store its locks are left to the
// transactions that meet them.
func (t *Txn) rollbackStream(ctx context.Context) {
	if errors.Is(t.stream.Failed(), ErrAbandoned) || t.s.enter() != nil {
		return
	}
	defer t.s.gate.RUnlock()
	t.stream.Rollback(ctx)
}
