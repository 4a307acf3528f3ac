package commit

import (
	"context"
	"errors"
	"sync"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/lockwait"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/wait"
)

// enterLockHolders makes the transaction a lock holder. It must be called before the first
// prewrite.
func (c *committer) enterLockHolders() {
	c.lockHolder = c.o.Memory.EnterLockHolders(c.startTS, c.Muts)
	c.liveness = c.o.Memory.LivenessOf(c.lockHolder)
}

// prewriteParallel bounds in how many groups a commit prewrites at once.
const prewriteParallel = 8

// prewriteAll prewrites every batch, the primary's among them: the groups in parallel, the batches
// of one group in turn. So a commit holds the latches of one batch of a group at a time, and other
// commits come in between.
func (c *committer) prewriteAll(ctx context.Context, batches []batch) error {
	c.holds = c.tx.RowLocks.Mark() > 0
	lanes := c.lanes(batches)
	if len(lanes) == 1 || c.o.InTurn {
		return c.prewriteInTurn(ctx, batches)
	}
	c.tx.Waiter.MakeOwner() // the goroutines below would all make one
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wg    sync.WaitGroup
		once  sync.Once
		first error
		slots = make(chan struct{}, prewriteParallel)
	)
	for _, lane := range lanes {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := c.prewriteInTurn(ctx, lane); err != nil {
				once.Do(func() {
					first = err
					cancel()
				})
			}
		})
	}
	wg.Wait()
	return first
}

// prewriteInTurn prewrites one batch after the other. The first key of the first one may be the
// primary.
func (c *committer) prewriteInTurn(ctx context.Context, batches []batch) error {
	for i := range batches {
		if err := c.prewrite(ctx, &batches[i]); err != nil {
			return err
		}
		if i == 0 {
			if err := c.o.At(AfterPrewritePrimary); err != nil {
				return err
			}
		}
	}
	return nil
}

// prewrite locks the keys of a batch, settling the locks in its way or waiting for them.
func (c *committer) prewrite(ctx context.Context, b *batch) error {
	var bo lockwait.Backoff
	attempts := 0
	for {
		ttl, err := c.ttl(ctx)
		if err != nil {
			return err
		}
		owner, err := c.o.Owner(ctx)
		if err != nil {
			return err
		}
		p := mvcc.PrewriteParams{
			StartTS: c.startTS, Primary: c.primary(), TTLMillis: ttl, Overwrite: c.stream != nil,
			Owner: owner, Client: c.tx.Waiter.Client(), Statement: mvcc.CutStatement(c.Statement),
		}
		c.liveness.SetClient(p.Client, p.Statement)
		unknown, err := c.tryPrewrite(ctx, b, p)
		var locked *mvcc.LockedError
		var held *rowLockedError
		var recorded *mvcc.RowLockedError
		switch {
		case err == nil:
			return c.beat(ctx)
		case errors.Is(err, errExtend):
			if err := c.drawer.Extend(ctx); err != nil {
				return err
			}
		case b.Uncertain && (errors.As(err, &held) || errors.As(err, &recorded)):
			return c.giveUp(b)
		case errors.As(err, &held):
			if err := c.awaitRowLocks(ctx, b.Muts); err != nil {
				return err
			}
			if err := c.heartbeat(ctx); err != nil {
				return err
			}
		case errors.As(err, &recorded):
			if err := c.awaitRowRecord(ctx, b.Muts, recorded); err != nil {
				return err
			}
			if err := c.heartbeat(ctx); err != nil {
				return err
			}
		case errors.As(err, &locked):
			if commitTS, known := c.o.Memory.LockHolders.Decision(locked.Lock.StartTS); known {
				// There are many locks of that transaction; those of the batch are settled
				// together.
				err = c.o.Resolver.ResolveRows(ctx, locked.Lock.StartTS, commitTS, b.Rows)
			} else if b.Uncertain && c.async != nil {
				return c.giveUp(b)
			} else {
				err = c.waitForLock(ctx, locked, &bo, true)
			}
			if err != nil {
				return err
			}
			if err := c.heartbeat(ctx); err != nil {
				return err
			}
		case !unknown || ctx.Err() != nil:
			return err
		default:
			// A prewrite may be repeated, so an unknown result is no loss.
			b.Uncertain = true
			if attempts++; attempts == wait.UnknownAttempts {
				return err
			}
		}
	}
}

// giveUp is the error of a batch of which an earlier attempt may be applied yet, and which would
// have to wait. What it waits for may wait for that attempt (hints.Pending), where no deadlock is
// found.
func (c *committer) giveUp(b *batch) error {
	return &mvcc.WriteConflictError{Key: b.Muts[0].Key, StartTS: c.startTS, ConflictTS: c.startTS}
}

func (c *committer) tryPrewrite(ctx context.Context, b *batch, p mvcc.PrewriteParams) (unknown bool,
	err error) {
	if c.async != nil {
		return c.prewriteAsync(ctx, b, p)
	}
	step := func(r kv.Reader, kb *kv.Batch) error {
		if err := c.checkRowLocks(b.Muts); err != nil {
			return err
		}
		if err := c.o.Peers.CheckSafepoint(ctx, r, c.startTS); err != nil {
			return err // rollback and delete records that should stop the prewrite may be gone
		}
		if err := c.tx.RowLocks.Convert(ctx, r, kb, c.holds, b.Muts, modeOf); err != nil {
			return err
		}
		var room [16]uint32
		slots := c.fillHints(b, room[:0])
		if err := mvcc.Prewrite(ctx, r, kb, p, b.Muts); err != nil {
			return err
		}
		c.o.Memory.LockHolders.Count(c.startTS, slots)
		return nil
	}
	if !c.wantsAfter {
		return kv.AttemptLazy(ctx, c.o.Engine, b.Rows, step)
	}
	c.dropAfter()
	c.after, unknown, err = kv.AttemptShown(ctx, c.o.Engine, b.Rows, step)
	return unknown, err
}

// fillHints sets in the mutations what memory knows of their rows, so that a prewrite need not read
// it, and returns the rows' slots. It runs inside the step, and so does LockHolders.Count after it:
// a later prewrite of one of the rows sees the count.
func (c *committer) fillHints(b *batch, slots []uint32) []uint32 {
	for i := range b.Muts {
		m := &b.Muts[i]
		slot := c.o.Memory.Recent.SlotOf(m.Row)
		slots = append(slots, slot)
		if m.Held != mvcc.HeldUnknown && !c.knowsHeld(b, m) {
			m.Held = mvcc.HeldUnknown
		}
		m.Unlocked = c.knowsUnlocked(b, m, slot)
		m.Unchanged = c.o.Memory.Unchanged(slot, c.startTS)
	}
	return slots
}

// knowsUnlocked reports whether the row of a mutation is known not to be locked: by no other
// transaction, nor by this one, which may have locked it in an earlier attempt or, if it streams,
// with an earlier write of the key.
func (c *committer) knowsUnlocked(b *batch, m *mvcc.Mutation, slot uint32) bool {
	own := c.lockHolder
	if st := c.stream; st != nil {
		if st.keys.mayHave(m.Key) {
			return false
		}
		own = st.lockHolder
	}
	return !b.Uncertain && c.o.Memory.Unlocked(slot, m.Key, own)
}

// knowsHeld reports whether a stream's own lock is known to be as it was when it was read.
func (c *committer) knowsHeld(b *batch, m *mvcc.Mutation) bool {
	st := c.stream
	return c.o.Peers == nil && !b.Uncertain && !st.doubt && st.lockHolder.Pristine()
}
