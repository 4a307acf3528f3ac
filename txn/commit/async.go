package commit

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/minidb/minidb/txn/wait"
)

// Async commit (txn: I12). A transaction is committed as soon as all its locks are durable, at the
// highest of their lowest commit timestamps.
//
// Each lock draws its timestamp under the rows' latches, after the commit entered the table in
// flight. So it is above every earlier read: on an engine of this process's own, the oracle's
// newest timestamp is the newest read. A lock's timestamp never changes, and no reader pushes it.
//
// The primary's lock lists the other keys, and a resolver looks at all of them. If all locks are
// there, the transaction is committed. If one is missing and the owner is dead, a protected
// rollback record takes the missing lock's place first, and then everything is rolled back.

// A resolver reads all keys of the primary's list, so neither may be many.
const (
	asyncKeysMax  = 256
	asyncBytesMax = 4 << 10
)

// asyncCommit prewrites all keys durably. With the last lock the transaction is committed at the
// highest of their lowest commit timestamps, and Commit returns. The write records follow in the
// background; until then a reader finds the status in the locks.
func (c *committer) asyncCommit(ctx context.Context) (err error) {
	batches := c.batches()
	if err := c.o.At(BeforePrewrite); err != nil {
		return err
	}
	c.async = &async{secondaries: make([][]byte, 0, len(c.Muts)-1)}
	for i := range c.Muts[1:] {
		c.async.secondaries = append(c.async.secondaries, c.Muts[i+1].Key)
	}
	c.enterLockHolders()
	c.liveness.BeginAsync()
	defer func() { c.leaveDoubtful(err) }()
	err = c.prewriteAll(ctx, batches)
	if errors.Is(err, ErrAbandoned) {
		return err
	}
	if err == nil {
		c.commitTS = tso.Timestamp(c.async.highest.Load())
	} else if c.lockHolder, err = nil, c.learnAsync(ctx, err); errors.Is(err, ErrAmbiguous) {
		return err
	} else if err != nil {
		c.rollback(ctx, batches)
		return c.finalError(err)
	}
	if err := c.o.At(AfterPrewrite); err != nil {
		return err
	}
	c.finishAll(ctx, batches)
	return nil
}

// leaveDoubtful takes the batches whose results were lost out of the table in flight: at once when
// the status of the transaction is known, and otherwise when it is.
func (c *committer) leaveDoubtful(err error) {
	all := slices.Collect(maps.Keys(c.async.doubtful.all))
	if len(all) == 0 {
		return
	}
	if errors.Is(err, ErrAmbiguous) {
		rows := rowsOf(c.Muts)
		c.leaveLater(all, func(ctx context.Context) error {
			_, err := c.o.Resolver.CheckLocks(ctx, c.startTS, rows, true)
			return err
		})
		return
	}
	for _, p := range all {
		c.o.Memory.InFlight.Leave(p)
	}
}

// prewriteAsync is one attempt at a batch. It enters the table of commits in flight before it
// draws, as a one-phase commit does and for the same reason: a reader whose start_ts is above what
// is drawn here copies the table later, and finds the locks, or waits for them (docs/adr/0002).
func (c *committer) prewriteAsync(ctx context.Context, b *batch,
	p mvcc.PrewriteParams) (unknown bool, err error) {
	var entry *hints.Pending
	defer func() {
		switch {
		case entry == nil:
		case unknown:
			c.async.doubt(entry, b)
		default:
			c.o.Memory.InFlight.Leave(entry)
		}
	}()
	source := c.drawer
	p.Secondaries = c.async.secondaries
	rows := c.validatedRows(b.Rows[:len(b.Rows):len(b.Rows)])
	var highest tso.Timestamp
	unknown, err = kv.Attempt(ctx, c.o.Engine, rows, func(r kv.Reader, kb *kv.Batch) (err error) {
		if err := c.checkRowLocks(b.Muts); err != nil {
			return err
		}
		var room [16]uint32
		slots := c.fillHints(b, room[:0])
		highest, err = mvcc.PrewriteAsync(ctx, r, kb, p, b.Muts, func() (tso.Timestamp, error) {
			if err := c.validateIn(ctx, r); err != nil {
				return 0, err
			}
			if entry == nil {
				entry = c.o.Memory.InFlight.Enter(b.Muts)
			} else {
				entry.CommitTS.Store(0) // the engine runs the step again
			}
			ts, ok := source.TryNext()
			if !ok {
				return 0, errExtend
			}
			entry.CommitTS.Store(uint64(ts))
			return ts, nil
		})
		if err == nil {
			c.o.Memory.LockHolders.Count(c.startTS, slots)
		}
		return err
	})
	if err != nil {
		return unknown, err
	}
	if b.Uncertain {
		// What an earlier attempt has written is there now, or never will be (kv's contract), and
		// readers find the locks. They must not wait here for a commit that waits for them.
		for _, p := range c.async.settled(b) {
			c.o.Memory.InFlight.Leave(p)
		}
	}
	for {
		old := c.async.highest.Load()
		if old >= uint64(highest) || c.async.highest.CompareAndSwap(old, uint64(highest)) {
			return false, nil
		}
	}
}

// learnAsync finds the status of a transaction after a failed prewrite, as a resolver would: either
// all locks are there and the transaction is committed, or a rollback record is put where one is
// missing. It returns nil in the first case and the reason of the failure in the second.
func (c *committer) learnAsync(ctx context.Context, reason error) error {
	ctx, cancel := wait.Detached(ctx)
	defer cancel()
	var committed *mvcc.CommittedError
	if errors.As(reason, &committed) {
		c.commitTS = committed.CommitTS
		return nil
	}
	bo := wait.Backoff{Limit: wait.UnknownTime}
	for range wait.UnknownAttempts {
		st, err := c.o.Resolver.CheckLocks(ctx, c.startTS, rowsOf(c.Muts), true)
		switch {
		case err == nil && st.CommitTS != 0:
			c.commitTS = st.CommitTS
			return nil
		case err == nil:
			return kv.NotApplied(reason)
		case errors.Is(err, ErrAbandoned):
			return err
		}
		if more, _ := bo.Wait(ctx); !more {
			break
		}
	}
	if refused(reason) {
		return reason // its batch was not applied, and is not sent again
	}
	return ambiguous(reason)
}

// refused reports whether the error is a prewrite's own, so that its batch was not written.
func refused(err error) bool {
	var (
		conflict *mvcc.WriteConflictError
		exists   *mvcc.AlreadyExistsError
		locked   *mvcc.LockedError
		rolled   *mvcc.RolledBackError
	)
	return errors.As(err, &conflict) || errors.As(err, &exists) || errors.As(err, &locked) ||
		errors.As(err, &rolled) || errors.Is(err, kv.ErrNotApplied)
}
