package txn

import (
	"context"
	"time"

	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/shared"
	"github.com/minidb/minidb/txn/wait"
)

// No deadlock lasts (txn: I17).
//
//   - Latches are taken in one order, around check and write (package kv).
//   - Cycles of row locks are found by the lock table before a wait begins (package rowlock).
//   - A cycle through a lock in the store is found by the transaction in it that waits for a row
//     lock: it searches once a second (awaitHolder).
//   - A commit that has locks in the store waits for younger transactions only (waitForLock).
//   - On a store that several processes share, every waiter searches (package shared).

// LockWaits lists the transactions that wait for locks in the store, in no order.
func (s *Store) LockWaits() []LockWait {
	return append(s.waits.list(), s.peers.Waits()...)
}

// backoff paces the attempts of one reader, commit or request for a row lock.
type backoff struct {
	wait.Backoff
	since time.Time    // of the first wait for a lock: to be shown, not to be judged by
	peer  *shared.Wait // the wait in the wait-for graph of all processes; nil: this one is alone
}

// awaitLock waits before another attempt to get past the lock, and is visible while it waits
// (LockWaits). On a store that several processes share the error may be *rowlock.DeadlockError.
func (t *Txn) awaitLock(ctx context.Context, locked *LockedError, bo *backoff) (more bool,
	err error) {
	bo.Closing = t.s.closing.ch
	if t.s.peers != nil {
		if bo.peer == nil {
			bo.peer = t.s.peers.NewWait(t.waiter(), rowlock.None)
		}
		return bo.peer.Await(ctx, locked, &bo.Backoff)
	}
	if bo.since.IsZero() {
		bo.since = time.Now()
	}
	w := &LockWait{Client: t.client(), StartTS: t.reg.startTS, Key: locked.Key, Lock: locked.Lock,
		Since: bo.since}
	t.s.waits.enter(w)
	defer t.s.waits.leave(w)
	return bo.Wait(ctx)
}

// waiter is the transaction as the other processes see it.
func (t *Txn) waiter() shared.Waiter {
	return shared.Waiter{
		StartTS: t.reg.startTS, Client: t.client(), Statement: t.statement,
		Owner: t.locking.Owner, Timeout: t.locking.Timeout,
	}
}

// holderWait is a wait of a request for a row lock, for a transaction that has the key locked in
// the store.
type holderWait struct {
	backoff
	before time.Duration // waited in earlier rounds, and for the row lock in memory
	lets   bool          // the row lock in memory can be given back meanwhile (streamedAwayError)
}

// cycleSearch is the time between two searches of one transaction.
const cycleSearch = time.Second

// awaitHolder is awaitLock for a request for a row lock: it waits as long as for a row lock, which
// is until Locking.Timeout. The lock table does not know waits for locks in the store, so this
// searches for a deadlock cycle through one every second. Where a cycle cannot be found, because
// the holder of the lock is another process or has no number, the wait ends after Options.LockWait.
func (t *Txn) awaitHolder(ctx context.Context, locked *LockedError, mode rowlock.Mode,
	w *holderWait) error {
	bound := t.locking.Timeout
	w.Limit = min(t.s.opts.LockWait, cycleSearch)
	if bound > 0 {
		w.Limit = min(w.Limit, bound-w.before)
	}
	more, err := t.awaitLock(ctx, locked, &w.backoff)
	if err != nil || more {
		return err
	}
	w.before, w.Spent = w.before+w.Spent, 0
	me := t.waitFor(locked, mode)
	if bound > 0 && w.before >= bound {
		return &rowlock.TimeoutError{Wait: me}
	}
	if t.s.peers != nil || me.Owner == 0 || me.Blocker == 0 {
		if w.before < t.s.opts.LockWait {
			return nil
		}
		return locked
	}
	if cycle := t.s.cycle(me); cycle != nil {
		return &rowlock.DeadlockError{Cycle: cycle}
	}
	return nil
}

func (t *Txn) waitFor(locked *LockedError, mode rowlock.Mode) rowlock.Wait {
	return rowlock.Wait{
		Key: locked.Key, Mode: mode, Owner: int64(t.client()), Blocker: int64(locked.Lock.Client),
		OwnerTransaction: uint64(t.reg.startTS), BlockerTransaction: uint64(locked.Lock.StartTS),
	}
}

// cycle returns the waits, for row locks and for locks in the store, of a deadlock cycle that a
// wait closes, or nil.
func (s *Store) cycle(first rowlock.Wait) []rowlock.Wait {
	next := map[int64][]rowlock.Wait{}
	for _, key := range s.rowLocks.Waits() {
		for _, w := range key.Waiters {
			for _, b := range w.Blockers {
				next[w.Owner] = append(next[w.Owner], rowlock.Wait{
					Key: key.Key, Mode: w.Mode, Owner: w.Owner, Blocker: b,
					OwnerTransaction: w.Transaction})
			}
		}
	}
	for _, w := range s.LockWaits() {
		o := int64(w.Client)
		next[o] = append(next[o], rowlock.Wait{
			Key: w.Key, Mode: rowlock.NoKeyUpdate, Owner: o, Blocker: int64(w.Lock.Client),
			OwnerTransaction: uint64(w.StartTS)})
	}
	seen := map[int64]bool{first.Owner: true}
	var search func(path []rowlock.Wait) []rowlock.Wait
	search = func(path []rowlock.Wait) []rowlock.Wait {
		at := path[len(path)-1].Blocker
		if at == first.Owner {
			return path
		}
		if seen[at] {
			return nil
		}
		seen[at] = true
		for _, w := range next[at] {
			if found := search(append(path, w)); found != nil {
				return found
			}
		}
		return nil
	}
	cycle := search([]rowlock.Wait{first})
	for i := range cycle {
		cycle[i].BlockerTransaction = cycle[(i+1)%len(cycle)].OwnerTransaction
	}
	return cycle
}
