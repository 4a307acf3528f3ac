package txn

import (
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// checkLocks asks the locks of an async transaction for its status. rows are all its rows. If all
// locks are down it is committed, at the highest of their timestamps, and no one can take that
// back: a lock is rolled back only after another was found missing, and that one can never come
// again (txn: I12). The updates are durable ones, so that what was found survives a crash.
func (r *resolver) checkLocks(
	ctx context.Context, startTS tso.Timestamp, rows [][]byte, decide bool,
) (mvcc.Status, error) {
	var highest tso.Timestamp
	for len(rows) > 0 {
		group, n := kv.GroupOf(r.s.engine, rows[0]), 1
		for n < len(rows) && kv.GroupOf(r.s.engine, rows[n]) == group {
			n++
		}
		var st mvcc.LocksStatus
		r.s.memory.LockHolders.Touch(startTS)
		r.s.memory.Recent.RollingBack(startTS, rows[:n]...)
		err := r.s.engine.Update(ctx, rows[:n], func(kr kv.Reader, b *kv.Batch) (err error) {
			st, err = mvcc.CheckLocks(ctx, kr, b, startTS, rows[:n], decide)
			return err
		})
		switch {
		case err != nil:
			return mvcc.Status{}, err
		case st.CommitTS != 0 || st.RolledBack:
			return mvcc.Status{CommitTS: st.CommitTS,
				RolledBack: st.RolledBack}, r.s.at(AfterCheckLocks)
		case st.Missing:
			return mvcc.Status{}, nil
		}
		highest = max(highest, st.MinCommitTS)
		rows = rows[n:]
		if err := r.s.at(AfterCheckLocks); err != nil {
			return mvcc.Status{}, err
		}
	}
	return mvcc.Status{CommitTS: highest}, nil
}

// recover settles the primary of an async transaction, whose lock was met, by the status that all
// its locks tell. While its owner may live nothing is written in the place of a missing lock.
func (r *resolver) recover(ctx context.Context, l *mvcc.Lock, ownerGone bool) (mvcc.Status, error) {
	rows := make([][]byte, 0, 1+len(l.Secondaries))
	rows = append(rows, mvcc.Row(l.Primary))
	for _, k := range l.Secondaries {
		rows = append(rows, mvcc.Row(k))
	}
	st, err := r.checkLocks(ctx, l.StartTS, rows, ownerGone)
	if err != nil || !st.Decided() {
		return mvcc.Status{Lock: *l}, err
	}
	primary := rows[:1]
	if st.CommitTS != 0 {
		r.s.memory.Recent.Raise(primary[0], st.CommitTS)
		err = kv.UpdateLazy(ctx, r.s.engine, primary, func(kr kv.Reader, b *kv.Batch) error {
			return mvcc.Resolve(ctx, kr, b, l.StartTS, st.CommitTS, primary)
		})
		return st, err
	}
	r.s.memory.Recent.RollingBack(l.StartTS, primary...)
	err = r.s.engine.Update(ctx, primary, func(kr kv.Reader, b *kv.Batch) error {
		return mvcc.Rollback(ctx, kr, b, l.StartTS, primary, true)
	})
	return st, err
}
