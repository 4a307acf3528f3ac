package txn

import (
	"context"
	"errors"

	"github.com/minidb/minidb/internal/planted"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// errExtend leaves a step whose timestamp would need a write to the engine.
var errExtend = errors.New("the oracle's range is used up")

// onePhase commits in one update: under the rows' latches it makes the checks of a prewrite, enters
// the table of commits in flight, draws commit_ts and writes the records. No lock is ever visible,
// so the table is what keeps readers from missing the commit (txn: I2).
func (c *committer) onePhase(ctx context.Context) error {
	rows := c.validatedRows(rowsOf(c.muts))
	var bo backoff
	for {
		if err := c.s.at(BeforeOnePhase); err != nil {
			return err
		}
		unknown, err := c.tryOnePhase(ctx, rows)
		var locked *LockedError
		var committed *mvcc.CommittedError
		var held *rowLockedError
		switch {
		case err == nil:
			return c.s.at(AfterOnePhase)
		case unknown:
			return c.learnOnePhase(ctx, rows, err)
		case errors.Is(err, errExtend):
			err = c.s.tryer().Extend(ctx)
		case errors.As(err, &locked):
			err = c.waitForLock(ctx, locked, &bo, false)
		case errors.As(err, &held):
			err = c.awaitRowLocks(ctx)
		case errors.As(err, &committed):
			c.commitTS = committed.CommitTS // by an update whose answer was lost
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (c *committer) tryOnePhase(ctx context.Context, rows [][]byte) (unknown bool, err error) {
	var p *pending
	defer func() {
		if p != nil {
			c.s.inflight.leave(p)
		}
	}()
	source := c.s.tryer()
	step := func(r kv.Reader, b *kv.Batch) error {
		for i := range c.muts {
			m := &c.muts[i]
			m.Unchanged = c.s.recent.unchangedSince(m.Row, max(m.BaseTS, c.startTS))
		}
		err := mvcc.CheckOnePhase(ctx, r, c.startTS, c.muts, c.s.lockers.none())
		if err != nil {
			return err
		}
		if err := c.validateIn(ctx, r); err != nil {
			return err
		}
		if p == nil {
			p = c.s.inflight.enter(c.muts)
		} else {
			p.commitTS.Store(0) // the engine runs the step again
		}
		if err := c.checkRowLocks(c.muts); err != nil {
			return err
		}
		commitTS, ok := source.TryNext()
		if !ok {
			return errExtend
		}
		p.commitTS.Store(uint64(commitTS))
		for i := range c.muts {
			c.s.recent.raise(c.muts[i].Row, commitTS)
		}
		mvcc.WriteOnePhase(b, c.startTS, commitTS, c.muts)
		c.commitTS = commitTS
		return nil
	}
	return c.s.updateEarly(ctx, rows, step, func() { c.shown(p) })
}

// learnOnePhase finds out what became of an update whose answer was lost: its record is there, or a
// rollback record is put in its way, after which it cannot land any more.
func (c *committer) learnOnePhase(ctx context.Context, rows [][]byte, lost error) error {
	ctx, cancel := detached(ctx)
	defer cancel()
	bo := backoff{limit: unknownTime}
	for range unknownAttempts {
		var st mvcc.Status
		c.s.recent.rollingBack(c.startTS, rows[0])
		err := c.s.engine.Update(ctx, rows[:1], func(r kv.Reader, b *kv.Batch) error {
			var err error
			st, err = mvcc.CheckStatus(ctx, r, b, mvcc.StatusParams{
				Primary: c.muts[0].Key, StartTS: c.startTS, Now: tso.Max, RollBackMissing: !planted.Is(planted.UnbarredOnePhase),
			})
			return err
		})
		switch {
		case err == nil && st.CommitTS != 0:
			c.commitTS = st.CommitTS
			return nil
		case err == nil:
			return kv.NotApplied(lost)
		}
		if more, _ := bo.wait(ctx); !more {
			break
		}
	}
	return ambiguous(lost)
}
