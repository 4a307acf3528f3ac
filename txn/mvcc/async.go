package mvcc

import (
	"bytes"
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// PrewriteAsync is Prewrite of a transaction that is committed once all its locks are down. After
// the checks, and before anything is written, it calls draw for the lowest commit timestamp of the
// new locks: a timestamp above every read of the keys that did not see the locks. It returns the
// highest one of the mutations; locks that were down already keep theirs, for a resolver may have
// counted it.
func PrewriteAsync(
	ctx context.Context, r kv.Reader, b *kv.Batch, p PrewriteParams, muts []Mutation,
	draw func() (tso.Timestamp, error),
) (highest tso.Timestamp, err error) {
	s := newStep(r, b)
	defer s.close(&err)
	down := make([]bool, len(muts))
	all := true
	for i := range muts {
		if err := s.passed.pass(ctx); err != nil {
			return 0, err
		}
		m := &muts[i]
		l, locked, err := s.lockUnlessKnown(ctx, m)
		switch {
		case err != nil:
			return 0, err
		case locked && l.StartTS == p.StartTS:
			down[i] = true
			highest = max(highest, l.MinCommitTS)
			continue
		case locked:
			return 0, &LockedError{Key: bytes.Clone(m.Key), Lock: l.clone()}
		}
		if err := s.checkPrewrite(ctx, m, p.StartTS); err != nil {
			return 0, err
		}
		all = false
	}
	if all {
		return highest, nil
	}
	if p.MinCommitTS, err = draw(); err != nil {
		return 0, err
	}
	p.Async = true
	for i := range muts {
		if !down[i] {
			s.setNotes(muts[i].Row, p.StartTS, 0, muts[i].Notes)
			s.prewrite(&muts[i], p, false)
		}
	}
	return max(highest, p.MinCommitTS), nil
}

// LocksStatus is what the locks of an async transaction on some of its keys show of its status.
type LocksStatus struct {
	// CommitTS is set when one of them has become a write record.
	CommitTS tso.Timestamp
	// RolledBack is set when there is a rollback record, or has just been written.
	RolledBack bool
	// Missing is set when a key has neither lock nor record, and none was to be written.
	Missing bool
	// MinCommitTS is the highest of the locks that are down.
	MinCommitTS tso.Timestamp
}

// CheckLocks looks at the rows of an async transaction. If a lock is missing and decide is set, it
// writes a protected rollback record in its place: from then on not all locks can ever be there. It
// stops at the first row that shows the status.
func CheckLocks(
	ctx context.Context, r kv.Reader, b *kv.Batch, startTS tso.Timestamp, rows [][]byte,
	decide bool,
) (st LocksStatus, err error) {
	s := newStep(r, b)
	defer s.close(&err)
	for _, row := range rows {
		l, locked, err := s.lock(ctx, row)
		if err != nil {
			return LocksStatus{}, err
		}
		if locked && l.StartTS == startTS {
			st.MinCommitTS = max(st.MinCommitTS, l.MinCommitTS)
			continue
		}
		f, err := s.recordOf(ctx, row, startTS)
		switch {
		case err != nil:
			return LocksStatus{}, err
		case f.commitTS != 0:
			return LocksStatus{CommitTS: f.commitTS}, nil
		case f.known:
			return LocksStatus{RolledBack: true}, nil
		case decide:
			return LocksStatus{RolledBack: true}, s.recordRollback(ctx, row, startTS, true)
		}
		st.Missing = true
	}
	return st, nil
}
