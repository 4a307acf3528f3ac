package txn

import (
	"bytes"
	"context"
	"errors"
	"sort"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/secondaries"
	"github.com/minidb/minidb/txn/tso"
	"github.com/minidb/minidb/txn/wait"
)

// afterWrite streams the buffer out when it is full, unless it is frozen.
func (t *Txn) afterWrite() error {
	held := t.buf.held()
	room, err := t.counted.writes(int64(held), t.buf.frozen)
	if err != nil || t.buf.frozen || room && held <= t.s.opts.StreamBytes {
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
	if t.stream.failed != nil {
		return t.stream.failed
	}
	if !t.stream.keys.mayHave(key) {
		return nil
	}
	if _, ok := t.buf.get(key); ok {
		return nil
	}
	w, err := t.streamed(t.writeContext(), key)
	if err != nil || w.kind == 0 {
		return err
	}
	t.buf.faultIn(key, w)
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

// prewriteStream prewrites the mutations of the buffer, and then forgets them. When the context
// ends in the middle, some are in the store and all are still in the buffer, for the next time: a
// statement that was cancelled may be taken back to a savepoint. Any other failure fails the
// transaction. So does a failure of the primary, without which no other key can be prewritten.
func (t *Txn) prewriteStream(ctx context.Context, muts []mvcc.Mutation) error {
	st := t.stream
	if st == nil {
		st = t.newStream(muts[0])
	}
	st.c.muts = muts
	batches := st.c.batches()
	t.buf.streamed = true
	span := hints.Widened(st.span, muts)
	st.span = span
	st.lockHolder.Span.Store(&span)
	var err error
	if t.stream == nil {
		// The primary alone and first, so that there is something to keep alive.
		t.stream = st
		st.c.holds = t.shared.Mark() > 0
		err = st.c.prewrite(ctx, &batches[0])
		if st.begun = err == nil; st.begun {
			err = t.s.at(AfterPrewritePrimary)
		}
		st.beat()
		batches = batches[1:]
	}
	if err == nil && len(batches) > 0 {
		err = st.c.prewriteAll(ctx, batches)
	}
	if err == nil {
		err = t.s.at(AfterStreamed)
	}
	st.c.muts = nil
	st.keys.add(muts)
	if ended := ctx.Err(); ended != nil && st.begun && errors.Is(err, ended) {
		st.doubt = true
		return err
	}
	if err != nil {
		st.failed = st.c.finalError(err)
		return st.failed
	}
	st.sum.Keys += int64(len(muts))
	st.sum.Bytes += int64(t.buf.bytes)
	t.buf.streamedOut()
	t.counted.none()
	st.doubt = false
	t.dropSnapshot()
	t.giveBackLocks(muts)
	if t.onStream != nil {
		t.onStream(st.sum)
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

func (t *Txn) newStream(primary mvcc.Mutation) *stream {
	primary.Key, primary.Row, primary.Value = bytes.Clone(primary.Key), bytes.Clone(primary.Row),
		nil
	primary.Older = nil
	k := t.s.memory.LockHolders.EnterStream(t.reg.startTS)
	t.liveness = t.s.memory.LivenessOf(k)
	return &stream{
		c: &committer{s: t.s, t: t, startTS: t.reg.startTS,
			anchor: []mvcc.Mutation{primary}, prewriting: true},
		keys:       newStreamedKeys(t.s.opts.StreamBytes),
		lockHolder: k,
	}
}

// beat extends the primary's lock for other processes, also while the client is idle.
func (st *stream) beat() {
	if st.c.s.peers == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	st.cancel = cancel
	ticker := time.NewTicker(max(st.c.s.opts.LockTTL/3, time.Millisecond))
	st.beats.Go(func() {
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				_ = st.c.heartbeat(ctx) // if it fails, the commit point finds that out
			}
		}
	})
}

// commitStream streams the rest out and commits the primary: that makes all of it visible at once.
// The locks of the others become records in the background.
func (t *Txn) commitStream(ctx context.Context) error {
	st, c := t.stream, t.stream.c
	err := st.failed
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = t.prepare()
	}
	if err == nil {
		var muts []mvcc.Mutation
		if muts, _, err = t.mutations(ctx, false); err == nil && len(muts) > 0 {
			err = t.prewriteStream(ctx, muts)
		}
	}
	if t.reads != nil {
		c.reads = t.reads.spans()
	}
	if err == nil {
		c.validate = t.validated
		err = c.decide(ctx)
	}
	switch {
	case errors.Is(err, ErrAbandoned), errors.Is(err, ErrAmbiguous):
		return err
	case err != nil:
		t.undoStream(ctx)
		return c.finalError(err)
	}
	t.commitTS = c.commitTS
	if err := c.s.at(AfterCommitPoint); err != nil {
		return err
	}
	st.finish(ctx, c.commitTS)
	return nil
}

// rollbackStream rolls back what was streamed out: the primary now, because it decides, the others
// in the background. On a closed store they are left to the transactions that meet them.
func (t *Txn) rollbackStream(ctx context.Context) {
	if errors.Is(t.stream.failed, ErrAbandoned) || t.s.enter() != nil {
		return
	}
	defer t.s.gate.RUnlock()
	t.undoStream(ctx)
}

func (t *Txn) undoStream(ctx context.Context) {
	st, c := t.stream, t.stream.c
	if st.undone {
		return
	}
	st.undone = true
	st.stop()
	c.t.liveness.End()
	if c.s.at(BeforeRollback) != nil {
		return
	}
	ctx, cancel := wait.Detached(ctx)
	defer cancel()
	primary := [][]byte{c.first()[0].Row}
	c.s.memory.Recent.RollingBack(c.startTS, primary...)
	err := kv.UpdateLazy(ctx, c.s.engine, primary, func(r kv.Reader, b *kv.Batch) error {
		return mvcc.Rollback(ctx, r, b, c.startTS, primary, true)
	})
	if err != nil || c.s.at(AfterRollbackPrimary) != nil {
		return
	}
	st.finish(ctx, 0)
}

// finish settles all locks of the transaction but the primary's, in the background.
func (st *stream) finish(ctx context.Context, commitTS tso.Timestamp) {
	work := secondaries.Work{StartTS: st.c.startTS, CommitTS: commitTS, Streamed: st.span}
	st.c.s.memory.LockHolders.Decide(st.c.startTS, commitTS)
	st.c.s.secondaries.Add(ctx, work)
}
