package commit

import (
	"context"
	"errors"
	"sort"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/lockwait"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/minidb/minidb/txn/wait"
)

// onePhase commits in one update: under the rows' latches it makes the checks of a prewrite, enters
// the table of commits in flight, draws commit_ts and writes the records. No lock is ever visible,
// so the table is what keeps readers from missing the commit (txn: I2).
func (c *committer) onePhase(ctx context.Context) error {
	rows := c.validatedRows(rowsOf(c.Muts))
	var bo lockwait.Backoff
	for {
		if err := c.o.At(BeforeOnePhase); err != nil {
			return err
		}
		doubtful, unknown, err := c.tryOnePhase(ctx, rows)
		var locked *mvcc.LockedError
		var committed *mvcc.CommittedError
		var held *rowLockedError
		switch {
		case err == nil:
			return c.o.At(AfterOnePhase)
		case unknown:
			return c.learnOnePhase(ctx, doubtful, rows[:1], err)
		case errors.Is(err, errExtend):
			err = c.drawer.Extend(ctx)
		case errors.As(err, &locked):
			err = c.waitForLock(ctx, locked, &bo, false)
		case errors.As(err, &held):
			err = c.awaitRowLocks(ctx, c.Muts)
		case errors.As(err, &committed):
			c.commitTS = committed.CommitTS // by an update whose result was lost
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// tryOnePhase is one attempt. When its result is unknown it returns what is still in the table in
// flight, which is nil if the step did not run.
func (c *committer) tryOnePhase(ctx context.Context, rows [][]byte) (doubtful *hints.Pending,
	unknown bool, err error) {
	var p *hints.Pending
	defer func() {
		if p != nil && doubtful == nil {
			c.o.Memory.InFlight.Leave(p)
		}
	}()
	source := c.drawer
	step := func(r kv.Reader, b *kv.Batch) error {
		for i := range c.Muts {
			m := &c.Muts[i]
			m.Unchanged = c.o.Memory.Recent.UnchangedSince(m.Row, max(m.BaseTS, c.startTS))
			m.Unlocked = c.o.Memory.LockHolders.NoneBut(nil,
				func(s kv.Span) bool { return s.Contains(m.Key) })
		}
		err := mvcc.CheckOnePhase(ctx, r, c.startTS, c.Muts)
		if err != nil {
			return err
		}
		if err := c.validateIn(ctx, r); err != nil {
			return err
		}
		if p == nil {
			p = c.o.Memory.InFlight.Enter(c.Muts)
		} else {
			p.CommitTS.Store(0) // the engine runs the step again
		}
		if err := c.checkRowLocks(c.Muts); err != nil {
			return err
		}
		commitTS, ok := source.TryNext()
		if !ok {
			return errExtend
		}
		p.CommitTS.Store(uint64(commitTS))
		for i := range c.Muts {
			c.o.Memory.Recent.Raise(c.Muts[i].Row, commitTS)
		}
		mvcc.WriteOnePhase(b, c.startTS, commitTS, c.Muts)
		c.commitTS = commitTS
		return nil
	}
	unknown, err = kv.AttemptEarly(ctx, c.o.Engine, rows, step, func() { c.shown(p) })
	if unknown {
		doubtful = p
	}
	return doubtful, unknown, err
}

// shown is called when the engine shows the batch of a one-phase commit.
func (c *committer) shown(p *hints.Pending) {
	p.Visible.Store(true)
	o := c.tx.Waiter.Owner
	if o == nil {
		return
	}
	o.ReleaseKeys(func(key string) bool {
		i := sort.Search(len(c.Muts), func(i int) bool { return string(c.Muts[i].Key) >= key })
		return i < len(c.Muts) && string(c.Muts[i].Key) == key
	})
}

// learnOnePhase finds the status of a commit whose result was lost.
func (c *committer) learnOnePhase(ctx context.Context, p *hints.Pending, primary [][]byte,
	lost error) error {
	ctx, cancel := wait.Detached(ctx)
	defer cancel()
	bo := wait.Backoff{Limit: wait.UnknownTime}
	var failed error
	for range wait.UnknownAttempts {
		commitTS, err := c.statusOfOnePhase(ctx, primary)
		if err == nil {
			if p != nil {
				c.o.Memory.InFlight.Leave(p)
			}
			if commitTS == 0 {
				return kv.NotApplied(lost)
			}
			c.commitTS = commitTS
			return nil
		}
		failed = err
		if more, _ := bo.Wait(ctx); !more {
			break
		}
	}
	if p != nil {
		c.leaveLater([]*hints.Pending{p}, func(ctx context.Context) error {
			_, err := c.statusOfOnePhase(ctx, primary)
			return err
		})
	}
	return ambiguous(errors.Join(lost, failed))
}

// statusOfOnePhase finds the record of an update of one phase, or writes a rollback record, after
// which the update cannot be applied any more. It returns zero for the latter.
func (c *committer) statusOfOnePhase(ctx context.Context,
	primary [][]byte) (commitTS tso.Timestamp, err error) {
	c.o.Memory.Recent.RollingBack(c.startTS, primary[0])
	err = c.o.Engine.Update(ctx, primary, func(r kv.Reader, b *kv.Batch) error {
		st, err := mvcc.CheckStatus(ctx, r, b, mvcc.StatusParams{
			Primary: c.primary(), StartTS: c.startTS, Now: tso.Max, RollBackMissing: true,
		})
		commitTS = st.CommitTS
		return err
	})
	return commitTS, err
}
