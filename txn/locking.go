package txn

import (
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/wait"
)

// LockWait is a transaction of this Store that waits for a lock in the store.
type LockWait = wait.LockWait

// LockWaits lists the transactions that wait for locks in the store, in no order.
func (s *Store) LockWaits() []LockWait { return s.waits.List() }

// SetLocking chooses how the transaction locks from now on.
func (t *Txn) SetLocking(l Locking) {
	t.waiter.Timeout, t.locksWrites, t.rereads, t.early = l.Timeout, l.Writes, l.Rereads, l.Early
	if l.Owner != nil {
		t.waiter.SetOwner(l.Owner)
	}
}

// LocksWrites reports whether keys are to be locked before they are written.
func (t *Txn) LocksWrites() bool { return t.locksWrites }

// LocksBind reports whether row locks bind every writer of the store for as long as the transaction
// lasts. Where other processes write too they do so no longer than the lease of the owner's
// session. There Commit fails if a row lock of a key that it does not write, or one that it
// requires (RequireLock), did not last. What must stay as it is otherwise has to be validated.
func (t *Txn) LocksBind() bool { return t.s.alone }

// RequireLock reports whether the transaction has the row lock of a key in Update mode. Then no
// other transaction has one, nor takes one, until the commit is visible: on a store that several
// processes share Commit fails otherwise, though the transaction writes the key. So what others
// write under a lock of the key alone stays as the transaction finds it from now on.
func (t *Txn) RequireLock(key []byte) bool {
	if t.aside(key) {
		return true // no other session writes it
	}
	if t.waiter.Owner == nil || t.waiter.Owner.Holds(key) != rowlock.Update {
		return false
	}
	t.shared.Require()
	return true
}

// Rereads reports whether a key that was written since the read timestamp is no conflict
// (Locking.Rereads).
func (t *Txn) Rereads() bool { return t.rereads }
