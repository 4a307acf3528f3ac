package txn

import (
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/shared"
)

// SetLocking chooses how the transaction locks from now on.
func (t *Txn) SetLocking(l Locking) {
	if l.Owner == nil {
		l.Owner = t.locking.Owner
	}
	t.locking = l
	if l.Owner != nil {
		l.Owner.SetTransaction(uint64(t.reg.startTS))
		l.Owner.SetStatement(t.statement)
	}
}

// LocksWrites reports whether keys are to be locked before they are written.
func (t *Txn) LocksWrites() bool { return t.locking.Writes }

// LocksBind reports whether row locks bind every writer of the store for as long as the transaction
// lasts. Where other processes write too they do so no longer than the lease of the owner's
// session, and what must stay as it is has to be validated as well.
func (t *Txn) LocksBind() bool { return t.s.alone }

// Rereads reports whether a key that was written since the read timestamp is no conflict
// (Locking.Rereads).
func (t *Txn) Rereads() bool { return t.locking.Rereads }

func (t *Txn) owner() *rowlock.Owner {
	if t.locking.Owner == nil {
		t.locking.Owner = t.s.rowLocks.NewOwner(0)
		t.locking.Owner.SetTransaction(uint64(t.reg.startTS))
		t.locking.Owner.SetStatement(t.statement)
	}
	return t.locking.Owner
}

func (t *Txn) sharedRequest(key []byte, mode rowlock.Mode) *shared.Request {
	t.owner()
	return &shared.Request{Waiter: t.waiter(), Key: key, Mode: mode, ReadTS: t.readTS}
}
