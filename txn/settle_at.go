package txn

import (
	"context"

	"github.com/minidb/minidb/txn/gc"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/resolve"
	"github.com/minidb/minidb/txn/wait"
)

// SettleAt makes records of everything that the transaction reads: when it returns, each commit at
// or below the read timestamp has its write record on each of its keys, with its notifications
// stamped, and no further one will be there. It waits for none that runs: that is pushed above the
// timestamp.
//
// The timestamp was drawn before. A transaction that commits at or below it has drawn its
// commit_ts earlier still, with all its locks down. So the walk over the lock column meets each of
// them, unless a record has taken its place. One-phase commits have no locks: those of this process
// that are under way are waited for, and on a store that others write to there are none.
func (t *Txn) SettleAt(ctx context.Context) error {
	if t.done {
		return ErrTxnDone
	}
	s := t.s
	if err := s.enter(); err != nil {
		return err
	}
	defer s.gate.RUnlock()
	t.inspect()
	_, err := t.awaitPending(ctx, func(*hints.Pending) bool { return true })
	t.dropSnapshot()
	if err != nil {
		return err
	}
	return s.settleAlone(ctx, func() error {
		_, err := gc.SettleEach(ctx, s.engine, pusher{t},
			func(l mvcc.Lock) bool { return l.StartTS <= t.readTS })
		return err
	})
}

// pusher settles locks as a reader does: those of transactions that run are pushed above it.
type pusher struct{ t *Txn }

// Settle implements gc.Settler.
func (p pusher) Settle(ctx context.Context, key []byte, l mvcc.Lock) (through []byte, n int,
	err error) {
	s := p.t.s
	bo := wait.Backoff{Limit: s.opts.LockWait + s.opts.LockTTL, Closing: s.closing.ch}
	locked := &mvcc.LockedError{Key: key, Lock: l}
	for {
		out, run, err := s.resolver.SettleRun(ctx, locked, p.t.readTS, false)
		switch {
		case err != nil || out == resolve.Settled:
			return run.Through, run.Locks, err
		case out == resolve.Pushed:
			return key, 0, nil
		}
		more, err := bo.Wait(ctx)
		if err != nil {
			return nil, 0, err
		}
		if !more {
			return nil, 0, locked
		}
	}
}
