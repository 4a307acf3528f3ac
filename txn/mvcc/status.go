package mvcc

import (
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// StatusParams ask for the status of the transaction that started at StartTS.
type StatusParams struct {
	Primary []byte // user key
	StartTS tso.Timestamp
	// Now is the oracle's time; it judges the TTL.
	Now tso.Timestamp
	// Owner is the session that the lock which led here names, and OwnerDead says that it has
	// ended. Then a primary's lock with the same owner is rolled back whatever its TTL, and so is a
	// primary that is missing.
	Owner     uint64
	OwnerDead bool
	// ReaderTS, if not zero, is the start_ts of a reader that pushes the commit timestamp of a
	// living owner above itself instead of waiting for it.
	ReaderTS tso.Timestamp
	// RollBackMissing makes a primary with neither lock nor record rolled back. Set it only when
	// the lock that led here has expired: the primary's prewrite may still be on its way.
	RollBackMissing bool
}

// Status is the status of a transaction.
type Status struct {
	// CommitTS is set when it is committed.
	CommitTS tso.Timestamp
	// RolledBack is set when it is, or has just been, rolled back.
	RolledBack bool
	// Pushed is set when it is alive and can only commit above ReaderTS.
	Pushed bool
	// Lock is the primary's lock when it is alive and its prewrite has arrived.
	Lock Lock
	// OtherOwner is set when that lock names another owner than StatusParams does: nothing was
	// done.
	OtherOwner bool
	// OwnerDead is StatusParams', of a lock that is async.
	OwnerDead bool
}

// Decided reports whether the transaction is committed or rolled back.
func (s Status) Decided() bool { return s.CommitTS != 0 || s.RolledBack }

// CheckStatus finds out the status of a transaction at its primary, and decides it when its owner
// is dead or expired (§2.2, end). It races the owner's commit for the primary's lock in one atomic
// update, so exactly one of them wins (txn: I3).
func CheckStatus(ctx context.Context, r kv.Reader, b *kv.Batch, p StatusParams) (st Status,
	err error) {
	s := newStep(r, b)
	defer s.close(&err)
	row := Row(p.Primary)
	l, locked, err := s.lock(ctx, row)
	if err != nil {
		return Status{}, err
	}
	if locked && l.StartTS == p.StartTS && l.Owner != p.Owner {
		return Status{Lock: l.clone(), OtherOwner: true}, nil
	}
	if locked && l.StartTS == p.StartTS && l.Async {
		// Neither pushed nor rolled back here: all its locks together are its status (CheckLocks).
		pushed := p.ReaderTS != 0 && l.MinCommitTS > p.ReaderTS
		return Status{Lock: l.clone(), Pushed: pushed, OwnerDead: p.OwnerDead}, nil
	}
	if locked && l.StartTS == p.StartTS {
		if p.OwnerDead || l.Expired(p.Now) {
			return Status{RolledBack: true}, s.rollBack(ctx, row, p.StartTS, true)
		}
		st = Status{Lock: l.clone()}
		if l.Deciding && l.MinCommitTS <= p.ReaderTS {
			return st, nil
		}
		if p.ReaderTS != 0 && st.Lock.MinCommitTS <= p.ReaderTS {
			st.Lock.MinCommitTS = p.ReaderTS + 1
			s.setLock(row, &st.Lock)
		}
		st.Pushed = p.ReaderTS != 0
		return st, nil
	}
	f, err := s.recordOf(ctx, row, p.StartTS)
	switch {
	case err != nil:
		return Status{}, err
	case f.known:
		return Status{CommitTS: f.commitTS, RolledBack: f.commitTS == 0}, nil
	case p.RollBackMissing || p.OwnerDead:
		return Status{RolledBack: true}, s.recordRollback(ctx, row, p.StartTS, true)
	}
	return Status{}, nil
}

// Decide says in the primary's lock that the owner decides, or with false that it does not yet. The
// errors are those of Heartbeat.
func Decide(ctx context.Context, r kv.Reader, b *kv.Batch, primary []byte, startTS tso.Timestamp,
	yes bool) error {
	return updatePrimary(ctx, r, b, primary, startTS, func(l *Lock) bool {
		changed := l.Deciding != yes
		l.Deciding = yes
		return changed
	})
}

// Heartbeat extends the TTL of the primary's lock, and puts the owner's present session into it. A
// lock that is gone makes it fail with *RolledBackError, or *CommittedError when it was its commit
// that removed it. Of the parameters it takes primary, start_ts, TTL and owner.
func Heartbeat(ctx context.Context, r kv.Reader, b *kv.Batch, p PrewriteParams) error {
	return updatePrimary(ctx, r, b, p.Primary, p.StartTS, func(l *Lock) bool {
		changed := l.TTLMillis < p.TTLMillis || l.Owner != p.Owner
		l.TTLMillis, l.Owner = max(l.TTLMillis, p.TTLMillis), p.Owner
		return changed
	})
}

// updatePrimary writes the primary's lock anew when the function has changed it.
func updatePrimary(
	ctx context.Context, r kv.Reader, b *kv.Batch, primary []byte, startTS tso.Timestamp,
	change func(l *Lock) bool,
) (err error) {
	s := newStep(r, b)
	defer s.close(&err)
	row := Row(primary)
	l, locked, err := s.lock(ctx, row)
	if err != nil {
		return err
	}
	if locked && l.StartTS == startTS {
		if l = l.clone(); change(&l) {
			s.setLock(row, &l)
		}
		return nil
	}
	f, err := s.recordOf(ctx, row, startTS)
	switch {
	case err != nil:
		return err
	case f.commitTS != 0:
		return &CommittedError{StartTS: startTS, CommitTS: f.commitTS}
	}
	return &RolledBackError{Key: primary, StartTS: startTS}
}
