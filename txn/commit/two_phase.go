package commit

import (
	"context"
	"errors"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/gc"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/lockwait"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/secondaries"
	"github.com/minidb/minidb/txn/tso"
	"github.com/minidb/minidb/txn/wait"
)

// twoPhase is Percolator's commit (§2.2, figure 6): prewrite the primary and the others, draw
// commit_ts, commit the primary (the commit point), then the others. Prewrites are lazy: the sync
// of the commit point takes them to disk with it, for it is later in the same log.
func (c *committer) twoPhase(ctx context.Context) error {
	batches := c.batches()
	if err := c.o.At(BeforePrewrite); err != nil {
		return err
	}
	c.enterLockHolders()
	// To a process that is alone what follows the commit point costs no request and no sync.
	c.whole = len(batches) == 1 && c.o.Peers != nil
	// What a serializable transaction has read is validated later than that.
	c.wantsAfter = len(batches) == 1 && len(c.validate) > 0 && c.reads == nil
	defer c.dropAfter()
	err := c.prewriteAll(ctx, batches)
	var committed *mvcc.CommittedError
	if errors.As(err, &committed) {
		// An earlier attempt has committed, and its result was lost.
		c.commitTS, c.lockHolder, err = committed.CommitTS, nil, nil
	} else if err == nil {
		if err = c.o.At(AfterPrewrite); err == nil {
			err = c.decide(ctx)
		}
	}
	switch {
	case errors.Is(err, ErrAbandoned), errors.Is(err, ErrAmbiguous):
		return err
	case err != nil:
		c.rollback(ctx, batches)
		return c.finalError(err)
	}
	if err := c.o.At(AfterCommitPoint); err != nil {
		return err
	}
	if c.whole {
		c.finishAll(ctx, nil)
	} else {
		c.finishSecondaries(ctx, batches)
	}
	return nil
}

// atPoint returns what the commit point commits: the primary, or all.
func (c *committer) atPoint() []mvcc.Mutation {
	if c.whole {
		return c.Muts
	}
	return c.first()
}

// decide validates what has to be as it was read, and commits the primary. A serializable
// transaction draws commit_ts first: what others write below it is locked or committed by then, and
// the validation sees it, so nothing that was read has changed below commit_ts (txn: I10). If a
// reader of the primary has pushed commit_ts meanwhile, all begins anew, and the second time
// readers wait until it is over.
func (c *committer) decide(ctx context.Context) error {
	var bo lockwait.Backoff
	for {
		if c.reads != nil {
			var err error
			if c.drawn, err = c.o.Source.Next(ctx); err != nil {
				return err
			}
		}
		err := c.validateLocked(ctx, &bo)
		if err == nil {
			err = c.commitPrimary(ctx)
		}
		var early *mvcc.CommitTooEarlyError
		if err != errRedraw && (c.drawn == 0 || !errors.As(err, &early)) {
			return err
		}
		if err := c.decides(ctx, true); err != nil {
			return err
		}
	}
}

// commitPrimary is the commit point. commit_ts is drawn after every prewrite has succeeded, or a
// snapshot could miss an earlier commit. The caller's context can end the first attempt, for the
// engine then says that nothing was applied; how long an attempt takes is the engine's to bound.
// Once a result was lost, only time ends the attempts to learn it.
func (c *committer) commitPrimary(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	bo := wait.Backoff{Limit: wait.UnknownTime}
	var lost error
	for attempts := 0; ; {
		unknown, err := c.tryCommitPrimary(ctx, attempts > 0)
		var early *mvcc.CommitTooEarlyError
		var rolled *mvcc.RolledBackError
		var forgotten *gc.SafepointError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &early) && c.drawn == 0:
			continue // a reader pushed commit_ts: draw again, now above it
		case errors.As(err, &early):
			return err
		case errors.Is(err, ErrAbandoned):
			return err
		case lost != nil && errors.As(err, &forgotten):
			return ambiguous(errors.Join(lost, err))
		case errors.As(err, &rolled), lost == nil && !unknown:
			return err
		}
		// The result was lost. The step may be repeated: it finds its own record, or a rollback.
		lost = errors.Join(lost, err)
		if attempts++; attempts == wait.UnknownAttempts {
			return ambiguous(lost)
		}
		if attempts == 1 {
			var cancel context.CancelFunc
			ctx, cancel = wait.Detached(ctx)
			defer cancel()
		}
		if more, _ := bo.Wait(ctx); !more {
			return ambiguous(lost)
		}
	}
}

// tryCommitPrimary is one attempt. repeated reports that an earlier one may have succeeded.
func (c *committer) tryCommitPrimary(ctx context.Context, repeated bool) (unknown bool, err error) {
	// The primary's record is visible before it is durable, so its readers wait, as for one phase.
	muts := c.atPoint()
	p := c.o.Memory.InFlight.EnterPrimary(muts)
	defer c.o.Memory.InFlight.Leave(p)
	commitTS := c.drawn
	if commitTS == 0 {
		if commitTS, err = c.o.Source.Next(ctx); err != nil {
			return false, err
		}
	}
	p.CommitTS.Store(uint64(commitTS))
	if err := c.tx.RowLocks.Check(commitTS, c.writes); err != nil {
		return false, err
	}
	if err := c.tx.RowLocks.CheckClient(commitTS); err != nil {
		return false, err
	}
	if err := c.o.At(AfterCommitTS); err != nil {
		return false, err
	}
	for i := range muts {
		c.o.Memory.Recent.Raise(muts[i].Row, commitTS)
	}
	var already *mvcc.Status
	unknown, err = kv.Attempt(ctx, c.o.Engine, rowsOf(muts),
		func(r kv.Reader, b *kv.Batch) (err error) {
			already = nil
			if err := c.liveness.Apply(p, commitTS); err != nil {
				return err
			}
			if !repeated && c.lockHolder.Pristine() {
				mvcc.CommitKnown(b, c.startTS, commitTS, muts)
				return nil
			}
			already, err = c.commitLocked(ctx, r, b, commitTS, rowsOf(muts))
			return err
		})
	if err == nil && already != nil {
		commitTS = already.CommitTS
	}
	c.liveness.Applied(commitTS, unknown, err)
	if err == nil {
		c.commitTS = commitTS
	}
	return unknown, err
}

// commitLocked is the step of a commit point that looks for its locks. It returns the status when
// an earlier attempt has committed: its record has the timestamp.
func (c *committer) commitLocked(ctx context.Context, r kv.Reader, b *kv.Batch,
	commitTS tso.Timestamp, rows [][]byte) (already *mvcc.Status, err error) {
	err = mvcc.Commit(ctx, r, b, c.startTS, commitTS, rows[:1])
	var rolled *mvcc.RolledBackError
	switch {
	case errors.As(err, &rolled):
		// Below the safepoint the record of an earlier attempt may have been collected.
		return nil, errors.Join(c.o.Peers.CheckSafepoint(ctx, r, c.startTS), err)
	case err != nil:
		return nil, err
	case b.Empty():
		st, err := mvcc.CheckStatus(ctx, r, b, mvcc.StatusParams{
			Primary: c.primary(), StartTS: c.startTS, Now: commitTS,
		})
		return &st, err
	}
	// As long as the primary is locked, the others that were locked still are.
	return nil, mvcc.Commit(ctx, r, b, c.startTS, commitTS, rows[1:])
}

// finishSecondaries hands the rest of a committed transaction to the background. A transaction that
// meets one of the locks before that rolls it forward.
func (c *committer) finishSecondaries(ctx context.Context, batches []batch) {
	c.finishAll(ctx, withoutPrimary(batches))
}

// finishAll does so with all rows of the batches.
func (c *committer) finishAll(ctx context.Context, batches []batch) {
	work := secondaries.Work{StartTS: c.startTS, CommitTS: c.commitTS, Batches: batches,
		LockHolder: c.lockHolder}
	if len(c.Muts) > hints.LockHolderRows {
		c.o.Memory.LockHolders.Decide(c.startTS, c.commitTS)
	}
	c.o.Secondaries.Add(ctx, work)
}

// rollback removes what a failed commit may have prewritten: the primary first, because it decides,
// then the others. Those of a commit that is larger than a batch are left to the background, so
// that a client that has cancelled the commit does not wait for them. What cannot be removed is
// left to the transactions that meet it.
func (c *committer) rollback(ctx context.Context, batches []batch) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if !c.rollbackPrimary(ctx) {
		return
	}
	w := secondaries.Work{StartTS: c.startTS, Undo: true, Batches: withoutPrimary(batches)}
	if len(c.Muts) > hints.LockHolderRows {
		c.o.Memory.LockHolders.Decide(c.startTS, 0)
		c.o.Secondaries.Add(ctx, w)
		return
	}
	for i := range w.Batches {
		if c.o.Secondaries.UndoBatch(ctx, &w, &w.Batches[i]) != nil {
			return
		}
	}
	c.o.Memory.LockHolders.Leave(c.startTS)
}

// rollbackPrimary removes the primary's lock and leaves a record that stops a late prewrite. It
// reports whether the others are to follow.
func (c *committer) rollbackPrimary(ctx context.Context) bool {
	c.liveness.End()
	if c.o.At(BeforeRollback) != nil {
		return false
	}
	primary := [][]byte{c.first()[0].Row}
	c.o.Memory.Recent.RollingBack(c.startTS, primary...)
	err := kv.UpdateLazy(ctx, c.o.Engine, primary, func(r kv.Reader, b *kv.Batch) error {
		return mvcc.Rollback(ctx, r, b, c.startTS, primary, true)
	})
	return err == nil && c.o.At(AfterRollbackPrimary) == nil
}

// withoutPrimary returns the batches without the first row of the first.
func withoutPrimary(batches []batch) []batch {
	batches[0].Rows, batches[0].Muts = batches[0].Rows[1:], batches[0].Muts[1:]
	if len(batches[0].Rows) == 0 {
		return batches[1:]
	}
	return batches
}
