package sql

import "github.com/minidb/minidb/txn"

// cautiousAfter is how many attempts an implicit transaction makes in the hope of no conflict.
// Later ones lock what they write and wait their turn, so that a busy row cannot keep it out for
// ever.
const cautiousAfter = 1

// cautionKept is for how many implicit transactions a session remembers that one had a conflict:
// the next statements will likely want the same busy row, and lock it at once.
const cautionKept = 16

// optimistic reports whether a statement of an implicit transaction in READ COMMITTED may leave its
// writes unlocked: a conflict is then found at the commit, and the transaction is repeated unseen.
// That needs a statement that is all of its transaction, for a second one has a newer snapshot,
// which would show what others did to a row written by the first; and one whose rows have not left
// before the commit. COPY FROM cannot be repeated, and answers a conflict as a duplicate key.
// Schema changes exclude others by their locks of tables.
func (s *transactor) optimistic(k *kind) bool {
	if s.tx.state != inImplicit || s.tx.cautious {
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

// setLocking sets how the store's transaction locks from now on.
func (s *transactor) setLocking(early bool) {
	d := s.settings.Derived()
	s.locks.SetPatience(d.DeadlockTimeout)
	s.tx.tx.SetLocking(txn.Locking{
		Owner: s.locks, Timeout: d.LockTimeout,
		// A snapshot for each statement moves past what others commit, which an unlocked write of
		// the transaction's own would not follow: READ COMMITTED locks.
		Writes: s.tx.cautious || s.tx.perStatement() && !s.tx.optimistic ||
			s.tx.state != inImplicit && d.WriteLocks,
		Rereads: s.tx.reruns(), Early: early && s.tx.reruns(),
	})
}

// releaseFailed gives back what a block that has failed holds, as far as ROLLBACK TO cannot want
// it.
func (s *transactor) releaseFailed() {
	if n := len(s.tx.savepoints); n > 0 {
		s.tx.tx.RollbackTo(s.tx.savepoints[n-1].at)
		return
	}
	if s.tx.tx != nil {
		s.tx.tx.Abort()
		s.tx.tx.Unlock()
	}
	s.locks.ReleaseTo(0)
}

// lockWrites makes the transaction lock what it writes from now on, whatever its settings: foreign
// keys rest on it (package ri, I1), and a statement with a lasting effect needs it, for a conflict
// at commit could only be mended by running it all again, where PostgreSQL looks again at the one
// row.
func (s *transactor) lockWrites() {
	if !s.tx.cautious {
		s.tx.cautious = true
		s.setLocking(false)
	}
}

// becomeCautious reports whether an implicit transaction that begins now should lock what it
// writes.
func (s *transactor) becomeCautious() bool {
	switch {
	case s.retries >= cautiousAfter:
		s.caution = cautionKept
	case s.caution > 0:
		s.caution--
	default:
		return false
	}
	return true
}
