package txn

import "github.com/minidb/minidb/txn/wait"

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
// session, and what must stay as it is has to be validated as well.
func (t *Txn) LocksBind() bool { return t.s.alone }

// Rereads reports whether a key that was written since the read timestamp is no conflict
// (Locking.Rereads).
func (t *Txn) Rereads() bool { return t.rereads }
