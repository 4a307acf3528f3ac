package resolve

import (
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// CheckLocks returns the status of an async transaction, by its locks. rows are all its rows. If
// all locks are there it is committed, at the highest of their timestamps, and stays so: a lock is
// rolled back only after another was found missing, and that one can never come again (txn: I12).
// With decide, a rollback record takes the place of a missing lock. The updates are durable, so
// that what was found survives a crash.
func (r *Resolver) CheckLocks(
	ctx context.Context, startTS tso.Timestamp, rows [][]byte, decide bool,
) (mvcc.Status, error) {
	var highest tso.Timestamp
	for len(rows) > 0 {
		group, n := kv.GroupOf(r.opts.Engine, rows[0]), 1
		for n < len(rows) && kv.GroupOf(r.opts.Engine, rows[n]) == group &&
			(r.opts.Limits.Rows == 0 || n < r.opts.Limits.Rows) {
			n++
		}
		var st mvcc.LocksStatus
		r.opts.Memory.LockHolders.Touch(startTS)
		r.opts.Memory.Recent.RollingBack(startTS, rows[:n]...)
		err := r.opts.Engine.Update(ctx, rows[:n], func(kr kv.Reader, b *kv.Batch) (err error) {
			st, err = mvcc.CheckLocks(ctx, kr, b, startTS, rows[:n], decide)
			return err
		})
		switch {
		case err != nil:
			return mvcc.Status{}, err
		case st.CommitTS != 0 || st.RolledBack:
			return mvcc.Status{CommitTS: st.CommitTS,
				RolledBack: st.RolledBack}, r.opts.At(AfterCheckLocks)
		case st.Missing:
			return mvcc.Status{}, nil
		}
		highest = max(highest, st.MinCommitTS)
		rows = rows[n:]
		if err := r.opts.At(AfterCheckLocks); err != nil {
			return mvcc.Status{}, err
		}
	}
	return mvcc.Status{CommitTS: highest}, nil
}

// recover settles the primary of an async transaction, whose lock was met, by the status that is in
// all its locks. While its owner may live nothing is written in the place of a missing lock.
func (r *Resolver) recover(ctx context.Context, l *mvcc.Lock, ownerGone bool) (mvcc.Status, error) {
	rows := make([][]byte, 0, 1+len(l.Secondaries))
	rows = append(rows, mvcc.Row(l.Primary))
	for _, k := range l.Secondaries {
		rows = append(rows, mvcc.Row(k))
	}
	st, err := r.CheckLocks(ctx, l.StartTS, rows, ownerGone)
	if err != nil || !st.Decided() {
		return mvcc.Status{Lock: *l}, err
	}
	primary := rows[:1]
	if st.CommitTS != 0 {
		r.opts.Memory.Recent.Raise(primary[0], st.CommitTS)
		err = kv.UpdateLazy(ctx, r.opts.Engine, primary, func(kr kv.Reader, b *kv.Batch) error {
			return mvcc.Resolve(ctx, kr, b, l.StartTS, st.CommitTS, primary)
		})
		return st, err
	}
	r.opts.Memory.Recent.RollingBack(l.StartTS, primary...)
	err = r.opts.Engine.Update(ctx, primary, func(kr kv.Reader, b *kv.Batch) error {
		return mvcc.Rollback(ctx, kr, b, l.StartTS, primary, true)
	})
	return st, err
}
