package sql

import "github.com/minidb/minidb/txn"

// pessimisticAfter is how many attempts an implicit transaction makes without locks. Later attempts
// lock what they write and wait for their turn, so that conflicts on a busy row cannot go on for
// ever.
const pessimisticAfter = 1

// pessimisticKept is how many implicit transactions of a session lock what they write after one had
// conflicts: the next statements likely write the same busy row.
const pessimisticKept = 16

// optimistic reports whether a statement of an implicit transaction in READ COMMITTED may leave its
// writes unlocked: a conflict is then found at the commit, and the transaction is repeated before
// the client has seen anything of it.
//
// The statement must be all of its transaction: a second statement would have a newer snapshot,
// which would show what others did to a row written by the first. And none of its rows may be sent
// before the commit. COPY FROM cannot be repeated, and reports a conflict as a duplicate key.
// Schema changes exclude others by their table locks.
func (s *transactor) optimistic(k *kind) bool {
	if s.tx.state != inImplicit || s.tx.pessimistic {
		return false
	}
	switch k.unlocked {
	case unlockedIfCountOnly:
		return s.single && s.tx.statements == 1 && k.countsOnly()
	case unlockedIfSingle:
		return s.single
	}
	return k.unlocked == unlockedAlways
}

// setLocking sets how the store's transaction locks rows from now on.
func (s *transactor) setLocking(early bool) {
	d := s.settings.Derived()
	s.locks.SetPatience(d.DeadlockTimeout)
	s.watchLocks(d.Log.LockWaits)
	s.tx.tx.SetLocking(txn.Locking{
		Owner: s.locks, Timeout: d.LockTimeout,
		// In READ COMMITTED each statement has a newer snapshot, which shows what others have
		// committed. An unlocked write of the transaction would not be based on that: so READ
		// COMMITTED locks.
		Writes: s.tx.pessimistic || s.tx.perStatement() && !s.tx.optimistic ||
			s.tx.state != inImplicit && d.WriteLocks,
		Rereads: s.tx.reruns(), Early: early && s.tx.reruns(),
	})
}

// releaseFailed releases what a failed block holds, except for what ROLLBACK TO may need.
func (s *transactor) releaseFailed() {
	if n := len(s.tx.savepoints); n > 0 {
		s.tx.tx.RollbackTo(s.tx.savepoints[n-1].at)
		return
	}
	if s.tx.tx != nil {
		s.tx.tx.Abort()
		s.tx.tx.Unlock()
	}
	s.releaseLocks(0)
	s.freed(s.tx.taken)
}

// lockWrites makes the transaction lock what it writes from now on, whatever its settings. Foreign
// keys rely on it (package ri, I1). A statement with a lasting effect needs it too: after a
// conflict at commit it would have to run again as a whole, where PostgreSQL rechecks one row.
func (s *transactor) lockWrites() {
	if !s.tx.pessimistic {
		s.tx.pessimistic = true
		s.setLocking(false)
	}
}

// beginsPessimistic reports whether an implicit transaction that begins now should lock what it
// writes.
func (s *transactor) beginsPessimistic() bool {
	switch {
	case s.retries >= pessimisticAfter:
		s.pessimisticLeft = pessimisticKept
	case s.pessimisticLeft > 0:
		s.pessimisticLeft--
	default:
		return false
	}
	return true
}
