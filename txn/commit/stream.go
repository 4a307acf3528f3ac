package commit

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/secondaries"
	"github.com/minidb/minidb/txn/tso"
	"github.com/minidb/minidb/txn/wait"
)

// Streamed is what a large transaction has streamed out so far.
type Streamed struct {
	Keys, Bytes int64
}

// Stream is the commit of a large transaction, which does not keep its writes in memory until
// then: they go out as prewrites under the primary of the first ones (txn: I13). Until the commit
// point they are locks like any other: other transactions wait for them or push them. On an engine
// that is not exclusive they are rolled back once the primary's time to live is over, which a
// goroutine extends while the transaction runs.
//
// Failures. A prewrite may meet what otherwise only a commit meets: conflicts, and locks of others.
// Such a failure fails the transaction. The end of a statement's context does not, once the primary
// is prewritten: a savepoint takes back what went out, and that cannot be cancelled.
//
// A Stream belongs to its transaction's goroutine. End must be called.
type Stream struct {
	streamState
	c *committer
	// from the lowest key streamed out, or about to be, to just above the highest
	span   kv.Span
	sum    Streamed
	failed error // the first failure; it fails the transaction
	begun  bool  // the primary was prewritten
	undone bool  // it was rolled back, as far as it could be

	cancel context.CancelFunc
	beats  sync.WaitGroup
}

// NewStream returns the stream of a transaction that has nothing in the store yet.
func (co *Coordinator) NewStream(tx Transaction) *Stream {
	st := &Stream{c: co.committer(tx, Writes{})}
	st.keys = newStreamedKeys(co.o.StreamBytes)
	st.c.stream, st.c.prewriting = &st.streamState, true
	return st
}

// Prewrite streams writes out. The primary is the first key of the first call. When the context
// ends in the middle, some of the writes are in the store, and the caller passes all of them again
// with the next call: a statement that was cancelled may be taken back to a savepoint. Any other
// failure fails the transaction (Failed). So does a failure of the primary, without which no other
// key can be prewritten.
func (st *Stream) Prewrite(ctx context.Context, w Writes) error {
	c := st.c
	c.Writes = w
	err := st.prewrite(ctx, c.batches())
	c.Muts = nil
	st.keys.add(w.Muts)
	if ended := ctx.Err(); ended != nil && st.begun && errors.Is(err, ended) {
		st.doubt = true
		return err
	}
	if err != nil {
		st.failed = c.finalError(err)
		return st.failed
	}
	st.sum.Keys += int64(len(w.Muts))
	st.sum.Bytes += int64(w.Bytes)
	st.doubt = false
	return nil
}

func (st *Stream) prewrite(ctx context.Context, batches []batch) error {
	c := st.c
	first := st.primary == nil
	if first {
		st.begin(c.Muts[0])
	}
	span := hints.Widened(st.span, c.Muts)
	st.span = span
	st.lockHolder.Span.Store(&span)
	if first {
		// The primary alone and first, so that there is something to keep alive.
		c.holds = c.tx.RowLocks.Mark() > 0
		err := c.prewrite(ctx, &batches[0])
		if st.begun = err == nil; st.begun {
			err = c.o.At(AfterPrewritePrimary)
		}
		st.beat()
		if err != nil {
			return err
		}
		batches = batches[1:]
	}
	if len(batches) > 0 {
		if err := c.prewriteAll(ctx, batches); err != nil {
			return err
		}
	}
	return c.o.At(AfterStreamed)
}

// begin makes the transaction a lock holder, whose primary is the key of a mutation.
func (st *Stream) begin(primary mvcc.Mutation) {
	c := st.c
	primary.Key, primary.Row = bytes.Clone(primary.Key), bytes.Clone(primary.Row)
	primary.Value, primary.Older = nil, nil
	st.primary = []mvcc.Mutation{primary}
	st.lockHolder = c.o.Memory.LockHolders.EnterStream(c.startTS)
	c.liveness = c.o.Memory.LivenessOf(st.lockHolder)
}

// beat extends the primary's lock for other processes, also while the client is idle.
func (st *Stream) beat() {
	if st.c.o.Peers == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	st.cancel = cancel
	ticker := time.NewTicker(max(st.c.o.LockTTL/3, time.Millisecond))
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

// Commit commits the primary: that makes all that was streamed out visible at once, at the
// commit_ts that it returns. The locks of the others become records in the background.
func (st *Stream) Commit(ctx context.Context, checks Checks) (tso.Timestamp, error) {
	c := st.c
	c.validate, c.reads = checks.Validate, checks.Reads
	if err := c.decide(ctx); err != nil {
		return 0, st.Abort(ctx, err)
	}
	if err := c.o.At(AfterCommitPoint); err != nil {
		return c.commitTS, err
	}
	st.finish(ctx, c.commitTS)
	c.counts.large.Add(1)
	return c.commitTS, nil
}

// Abort rolls the transaction back after a failure, and returns the error of its commit. Nothing is
// rolled back after ErrAmbiguous and ErrAbandoned.
func (st *Stream) Abort(ctx context.Context, err error) error {
	if errors.Is(err, ErrAbandoned) || errors.Is(err, ErrAmbiguous) {
		return err
	}
	st.Rollback(ctx)
	return st.c.finalError(err)
}

// Rollback rolls back what was streamed out: the primary now, because it decides, the others in the
// background. It may be repeated.
func (st *Stream) Rollback(ctx context.Context) {
	if st.undone {
		return
	}
	st.undone = true
	st.End()
	ctx, cancel := wait.Detached(ctx)
	defer cancel()
	if st.c.rollbackPrimary(ctx) {
		st.finish(ctx, 0)
	}
}

// finish settles all locks of the transaction but the primary's, in the background.
func (st *Stream) finish(ctx context.Context, commitTS tso.Timestamp) {
	work := secondaries.Work{StartTS: st.c.startTS, CommitTS: commitTS, Streamed: st.span}
	st.c.o.Memory.LockHolders.Decide(st.c.startTS, commitTS)
	st.c.o.Secondaries.Add(ctx, work)
}

// End stops the heartbeats. It may be repeated.
func (st *Stream) End() {
	if st.cancel != nil {
		st.cancel()
		st.beats.Wait()
	}
	st.c.liveness.End()
}

// Failed returns the failure of the transaction, or nil.
func (st *Stream) Failed() error { return st.failed }

// Fail fails the transaction, unless it has failed already.
func (st *Stream) Fail(err error) {
	if st.failed == nil {
		st.failed = err
	}
}

// Lost fails the transaction because the primary's lock is gone, and returns the failure: a
// resolver took the transaction for dead.
func (st *Stream) Lost() error {
	st.failed = st.c.finalError(&mvcc.RolledBackError{Key: st.Primary(), StartTS: st.c.startTS})
	return st.failed
}

// Sum returns what was streamed out.
func (st *Stream) Sum() Streamed { return st.sum }

// Primary returns the primary's key.
func (st *Stream) Primary() []byte { return st.c.primary() }

// MayHave reports whether a key may have been streamed out.
func (st *Stream) MayHave(key []byte) bool { return st.keys.mayHave(key) }

// LockHolder is the transaction among those that memory knows to have locks in the store.
func (st *Stream) LockHolder() *hints.LockHolder { return st.lockHolder }

// InDoubt reports whether some of the writes of the last Prewrite, which was cancelled, may be in
// the store.
func (st *Stream) InDoubt() bool { return st.doubt }
