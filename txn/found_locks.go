package txn

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/resolve"
	"github.com/minidb/minidb/txn/tso"
)

// On an exclusive engine the locks that Open finds were left by processes that are dead, so their
// status can be decided at once. While one is there, every read has to look for locks, in a
// snapshot of its own (txn: I7, I14). So the background settles them all as soon as the store is
// open, in bounded steps.

// settleFoundStep is how many locks are looked at in one snapshot.
const settleFoundStep = 1024

// settleFound settles the locks that are older than the session, and then takes them out of the
// lock holders. After a failure the rest is left to readers and to the collector.
func (s *Store) settleFound(ctx context.Context) {
	session := tso.Timestamp(s.SessionID())
	for next := []byte{}; next != nil; {
		err := s.settleAlone(ctx, func() (err error) {
			next, err = s.settleFoundFrom(ctx, next, session)
			return err
		})
		if err != nil {
			if ctx.Err() == nil && !errors.Is(err, ErrClosed) {
				s.opts.Logger.Warn("locks of earlier processes left to readers", "err", err)
			}
			return
		}
	}
	s.memory.LockHolders.Leave(session)
}

// settleFoundFrom takes one step from a key on, and returns where the next one begins: nil at the
// end.
func (s *Store) settleFoundFrom(ctx context.Context, from []byte,
	session tso.Timestamp) (next []byte, err error) {
	snap, err := s.engine.Snapshot()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	run := lockRun{s: s}
	n := 0
	err = mvcc.Locks(ctx, snap, kv.Span{Start: from}, func(key []byte, l mvcc.Lock) error {
		if n++; n > settleFoundStep {
			next = bytes.Clone(key)
			return errStopped
		}
		if l.StartTS >= session {
			return nil
		}
		return run.add(ctx, mvcc.Row(key), &l)
	})
	if err != nil && err != errStopped {
		return nil, err
	}
	return next, run.settle(ctx)
}

// lockRun gathers neighbouring locks of one dead transaction, to be settled in one update.
type lockRun struct {
	s                 *Store
	startTS, commitTS tso.Timestamp
	rows              [][]byte // of one group
}

// add adds a lock, and settles the ones before it when it is not of the same transaction.
func (r *lockRun) add(ctx context.Context, row []byte, l *mvcc.Lock) error {
	e := r.s.engine
	if len(r.rows) > 0 && l.StartTS == r.startTS && len(r.rows) < resolve.BatchRows &&
		kv.GroupOf(e, row) == kv.GroupOf(e, r.rows[0]) {
		r.rows = append(r.rows, row)
		return nil
	}
	if err := r.settle(ctx); err != nil {
		return err
	}
	if r.startTS != l.StartTS {
		commitTS, err := r.s.CommitTSOf(ctx, l)
		if err != nil {
			return err
		}
		r.startTS, r.commitTS = l.StartTS, commitTS
	}
	r.rows = append(r.rows, row)
	return nil
}

func (r *lockRun) settle(ctx context.Context) error {
	if len(r.rows) == 0 {
		return nil
	}
	rows := r.rows
	r.rows = nil
	return r.s.resolver.ResolveRows(ctx, r.startTS, r.commitTS, rows)
}

// CommitTSOf returns the commit_ts of the transaction that left a lock, or zero when it was rolled
// back, as it is here if it was undecided. Unlike a read of the locked row it looks at the primary
// alone, and settles nothing else. Requires: the engine is exclusive, and the lock is older than
// the Store.
func (s *Store) CommitTSOf(ctx context.Context, l *mvcc.Lock) (commitTS tso.Timestamp, err error) {
	st, err := s.resolver.Status(ctx, l, 0)
	if err == nil && !st.Decided() {
		err = fmt.Errorf("lock of transaction %s, whose owner is dead, is not decided", l.StartTS)
	}
	return st.CommitTS, err
}
