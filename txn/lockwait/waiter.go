package lockwait

import (
	"context"
	"time"

	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/shared"
	"github.com/minidb/minidb/txn/tso"
	"github.com/minidb/minidb/txn/wait"
)

// Waiter is a transaction as one that waits for locks. Only one goroutine at a time may change it.
type Waiter struct {
	Waits   *Waits
	StartTS tso.Timestamp
	// Owner holds the transaction's row locks; it is nil until one is asked for (MakeOwner).
	Owner   *rowlock.Owner
	Timeout time.Duration // bounds each wait for a row lock; 0 is no bound
	// Statement is what the transaction runs.
	Statement string
}

// MakeOwner returns the owner of the row locks, making one that lives as long as the transaction if
// there is none.
func (w *Waiter) MakeOwner() *rowlock.Owner {
	if w.Owner == nil {
		w.SetOwner(w.Waits.o.RowLocks.NewOwner(0))
	}
	return w.Owner
}

// SetOwner makes o the owner of the row locks that the transaction takes from now on.
func (w *Waiter) SetOwner(o *rowlock.Owner) {
	w.Owner = o
	o.SetTransaction(uint64(w.StartTS))
	o.SetStatement(w.Statement)
}

// Client is the number that the layers above gave to the session that runs the transaction; zero
// means that there is none.
func (w *Waiter) Client() uint64 {
	if w.Owner == nil {
		return 0
	}
	return uint64(w.Owner.ID())
}

// Shared is the transaction as the other processes see it.
func (w *Waiter) Shared() shared.Waiter {
	return shared.Waiter{StartTS: w.StartTS, Client: w.Client(), Statement: w.Statement,
		Owner: w.Owner, Timeout: w.Timeout}
}

// Request asks for the row lock of a key, in the store too. What is written to the key after readTS
// is returned with the lock.
func (w *Waiter) Request(key []byte, mode rowlock.Mode, readTS tso.Timestamp) *shared.Request {
	w.MakeOwner()
	return &shared.Request{Waiter: w.Shared(), Key: key, Mode: mode, ReadTS: readTS}
}

// For returns the wait for a lock in the store as the lock table shows its own.
func (w *Waiter) For(locked *mvcc.LockedError, mode rowlock.Mode) rowlock.Wait {
	return rowlock.Wait{
		Key: locked.Key, Mode: mode, Owner: int64(w.Client()), Blocker: int64(locked.Lock.Client),
		OwnerTransaction: uint64(w.StartTS), BlockerTransaction: uint64(locked.Lock.StartTS),
	}
}

// Backoff paces the attempts of one reader, commit or request for a row lock.
type Backoff struct {
	wait.Backoff
	since time.Time    // of the first wait for a lock: to be shown, not to be judged by
	peer  *shared.Wait // the wait in the wait-for graph of all processes; nil: this one is alone
}

// Await waits before another attempt to get past the lock, and is visible while it waits
// (Waits.List). It reports whether another attempt is worthwhile. On a store that several processes
// share the error may be *rowlock.DeadlockError.
func (w *Waiter) Await(ctx context.Context, locked *mvcc.LockedError, bo *Backoff) (more bool,
	err error) {
	bo.Closing = w.Waits.o.Closing
	began, first := time.Now(), bo.since.IsZero()
	if first {
		bo.since = began
	}
	defer func() { w.count(time.Since(began), first) }()
	if peers := w.Waits.o.Peers; peers != nil {
		if bo.peer == nil {
			bo.peer = peers.NewWait(w.Shared(), rowlock.None)
		}
		return bo.peer.Await(ctx, locked, &bo.Backoff)
	}
	shown := &wait.LockWait{Client: w.Client(), StartTS: w.StartTS, Key: locked.Key,
		Lock: locked.Lock, Since: bo.since}
	w.Waits.enter(shown)
	defer w.Waits.leave(shown)
	return bo.Wait(ctx)
}

// count counts a part of a wait for the store and for the owner, if there is one.
func (w *Waiter) count(d time.Duration, first bool) {
	w.Waits.counter.Add(d, first)
	if w.Owner != nil {
		w.Owner.CountWait(d, first)
	}
}
