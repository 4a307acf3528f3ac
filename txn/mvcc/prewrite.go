package mvcc

import (
	"bytes"
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// Mutation is one buffered write of a transaction.
type Mutation struct {
	Key   []byte // the user key
	Row   []byte // its row
	Kind  Kind   // put, delete or lock
	Value []byte // of a put
	// MustNotExist makes a live value of the key an error (unique keys).
	MustNotExist bool
	// Unchanged is set when the caller knows of no write newer than start_ts, and for a prewrite
	// of no rollback record of its own transaction either. The step does not look for them then.
	Unchanged bool
	// Unlocked is set when the caller knows that the key is not locked. The step does not look
	// then.
	Unlocked bool
	// Held is what the caller knows of the lock that the same transaction has on the key, when no
	// other one has touched it. An overwriting prewrite does not look then.
	Held Held
	// OwnOnly is set for a mutation that takes an earlier prewrite of the same transaction back,
	// if there is one, and does nothing otherwise.
	OwnOnly bool
	// BaseTS, if not zero, is the timestamp on which the write is based, at or above start_ts: a
	// statement of READ COMMITTED reads later than its transaction began. Only newer writes
	// conflict.
	BaseTS tso.Timestamp
	// Seq and Older go into the lock.
	Seq   uint64
	Older []OlderWrite
	// Notes go into the notify column, one for each observer of the key.
	Notes []Note
}

// Held is what a transaction knows of its own lock on a key.
type Held byte

const (
	// HeldUnknown: perhaps there is none.
	HeldUnknown Held = iota
	// HeldShort is a lock without a value in the data column, HeldLong one with.
	HeldShort
	HeldLong
)

// base returns the timestamp above which another's write is a conflict.
func (m *Mutation) base(startTS tso.Timestamp) tso.Timestamp { return max(m.BaseTS, startTS) }

// short returns the value if it is to be inlined in the lock, and then in the write record.
func (m *Mutation) short() (value []byte, ok bool) {
	if m.Kind != KindPut || len(m.Value) > ShortValueMax {
		return nil, false
	}
	return m.Value, true
}

// PrewriteParams are what the mutations of one transaction have in common.
type PrewriteParams struct {
	StartTS     tso.Timestamp
	Primary     []byte // user key
	TTLMillis   uint64
	MinCommitTS tso.Timestamp
	// Async and Owner go into the locks, Secondaries into an async primary's (see Lock).
	Async       bool
	Secondaries [][]byte
	// Overwrite lets a mutation replace what the same transaction prewrote before. The caller sends
	// one such prewrite of a key after the other.
	Overwrite bool
	Owner     uint64
	// Client and Statement go into the primary's lock alone.
	Client    uint64
	Statement string
}

// Prewrite locks every key and stores its data, or fails as a whole (§2.2, figure 6): with
// *LockedError on another transaction's lock, *WriteConflictError on a newer write,
// *AlreadyExistsError, *RolledBackError on its own rollback record, *CommittedError when the
// transaction has committed already. Keys that it has locked before are left alone, so it may be
// repeated (txn: I3).
func Prewrite(ctx context.Context, r kv.Reader, b *kv.Batch, p PrewriteParams,
	muts []Mutation) (err error) {
	s := newStep(r, b)
	defer s.close(&err)
	for i := range muts {
		if err := s.passed.pass(ctx); err != nil {
			return err
		}
		m := &muts[i]
		if m.Held != HeldUnknown && p.Overwrite {
			if err := s.checkOverwrite(ctx, m); err != nil {
				return err
			}
			s.replaceData(m, m.Held == HeldLong, p.StartTS)
			s.setNotes(m.Row, p.StartTS, 0, m.Notes)
			s.prewrite(m, p, false)
			continue
		}
		l, locked, err := s.lockUnlessKnown(ctx, m)
		if err != nil {
			return err
		}
		if locked && l.StartTS == p.StartTS {
			if p.Overwrite {
				l = l.clone()
				if err := s.checkOverwrite(ctx, m); err != nil {
					return err
				}
				if err := s.overwrite(ctx, m, &l, p); err != nil {
					return err
				}
			}
			continue
		}
		if m.OwnOnly {
			continue
		}
		if locked {
			return &LockedError{Key: bytes.Clone(m.Key), Lock: l.clone()}
		}
		if err := s.checkPrewrite(ctx, m, p.StartTS); err != nil {
			return err
		}
		s.setNotes(m.Row, p.StartTS, 0, m.Notes)
		s.prewrite(m, p, false)
	}
	return nil
}

// checkOverwrite looks for a live value under the transaction's own lock, where there must be none:
// perhaps the earlier prewrite was no insert, and was taken back. No other transaction has written
// the key since that prewrite.
func (s *step) checkOverwrite(ctx context.Context, m *Mutation) error {
	if !m.MustNotExist {
		return nil
	}
	live := false
	err := s.history(ctx, m.Row, tso.Max, func(_ tso.Timestamp, w Write) bool {
		live = w.Kind == KindPut
		return w.Kind == KindLock || w.Kind == KindRollback
	})
	if err == nil && live {
		err = &AlreadyExistsError{Key: bytes.Clone(m.Key)}
	}
	return err
}

func (s *step) lockUnlessKnown(ctx context.Context, m *Mutation) (Lock, bool, error) {
	if m.Unlocked {
		return Lock{}, false, nil
	}
	return s.lock(ctx, m.Row)
}

// checkPrewrite is checkConflict, unless the caller knows that there is nothing to be found.
func (s *step) checkPrewrite(ctx context.Context, m *Mutation, startTS tso.Timestamp) error {
	if m.Unchanged && !m.MustNotExist {
		return nil
	}
	return s.checkConflict(ctx, m, startTS)
}

// overwrite replaces an earlier prewrite of the same transaction. What heartbeats have put into the
// lock since stays. A reader's push need not: commit_ts is drawn after every prewrite, and so above
// that reader. Its notifications stay too, also when the write is taken back: the observer then
// finds the row as it was.
func (s *step) overwrite(ctx context.Context, m *Mutation, old *Lock, p PrewriteParams) error {
	s.replaceData(m, old.Kind == KindPut && !old.HasShort, p.StartTS)
	p.TTLMillis = max(old.TTLMillis, p.TTLMillis)
	s.prewrite(m, p, old.Notified)
	if !old.Notified {
		s.setNotes(m.Row, p.StartTS, 0, m.Notes)
		return nil
	}
	return s.addNotes(ctx, m.Row, p.StartTS, m.Notes)
}

// replaceData drops the value that an earlier prewrite has put into the data column, if the next
// one puts none.
func (s *step) replaceData(m *Mutation, long bool, startTS tso.Timestamp) {
	if long && (m.Kind != KindPut || len(m.Value) <= ShortValueMax) {
		s.dropData(m.Row, startTS)
	}
}

// prewrite writes data and lock. notified reports whether the transaction has notifications on the
// row besides those of the mutation.
func (s *step) prewrite(m *Mutation, p PrewriteParams, notified bool) {
	l := Lock{
		Kind: m.Kind, StartTS: p.StartTS, Primary: p.Primary,
		TTLMillis: p.TTLMillis, MinCommitTS: p.MinCommitTS,
		Async: p.Async, Owner: p.Owner, Seq: m.Seq, Older: m.Older,
		Notified: notified || len(m.Notes) > 0,
	}
	if bytes.Equal(m.Key, p.Primary) {
		l.Client, l.Statement = p.Client, p.Statement
		if p.Async {
			l.Secondaries = p.Secondaries
		}
	}
	if m.Kind == KindPut {
		if l.Short, l.HasShort = m.short(); !l.HasShort {
			s.setData(m.Row, p.StartTS, m.Value)
		}
	}
	s.setLock(m.Row, &l)
}

// checkConflict refuses a key that was written after startTS, a transaction that is decided
// already, and a live value where there must be none. The check for a value looks through records
// of kinds lock and rollback.
func (s *step) checkConflict(ctx context.Context, m *Mutation, startTS tso.Timestamp) error {
	var refused error
	base, absent := m.base(startTS), !m.MustNotExist
	err := s.history(ctx, m.Row, tso.Max, func(commitTS tso.Timestamp, w Write) bool {
		switch {
		case w.StartTS == startTS && w.Kind == KindRollback:
			if refused == nil {
				refused = &RolledBackError{Key: bytes.Clone(m.Key), StartTS: startTS}
			}
		case w.StartTS == startTS:
			refused = &CommittedError{StartTS: startTS, CommitTS: commitTS}
		case commitTS > base && w.Kind == KindRollback:
			return true // a resolver that never wrote
		case commitTS > base:
			if refused == nil {
				refused = &WriteConflictError{Key: bytes.Clone(m.Key), StartTS: startTS,
					ConflictTS: commitTS,
					Deleted:    w.Kind == KindDelete}
			}
			return true // below it may lie its own record: then it had committed before
		case refused != nil:
			return commitTS > startTS
		case !absent && w.Kind == KindPut:
			refused = &AlreadyExistsError{Key: bytes.Clone(m.Key)}
		default:
			absent = absent || w.Kind == KindDelete
			return commitTS > startTS || !absent // down to where its own record would be
		}
		return false
	})
	if err != nil {
		return err
	}
	return refused
}
