package lockwait

import (
	"context"
	"time"

	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
)

// HolderWait is a wait of a request for a row lock, for a transaction that has the key locked in
// the store.
type HolderWait struct {
	Backoff
	// Before was waited in earlier rounds, and for the row lock in memory.
	Before time.Duration
}

// cycleSearch is the time between two searches of one transaction.
const cycleSearch = time.Second

// AwaitHolder is Await for a request for a row lock: it waits as long as for a row lock, which is
// until Timeout. The lock table does not know waits for locks in the store, so this searches for a
// deadlock cycle through one every second. Where a cycle cannot be found, because the holder of the
// lock is another process or has no number, the wait ends after Options.LockWait. Without an error
// another attempt is worthwhile.
func (w *Waiter) AwaitHolder(ctx context.Context, locked *mvcc.LockedError, mode rowlock.Mode,
	h *HolderWait) error {
	o := &w.Waits.o
	h.Limit = min(o.LockWait, cycleSearch)
	if w.Timeout > 0 {
		h.Limit = min(h.Limit, w.Timeout-h.Before)
	}
	more, err := w.Await(ctx, locked, &h.Backoff)
	if err != nil || more {
		return err
	}
	h.Before, h.Spent = h.Before+h.Spent, 0
	me := w.For(locked, mode)
	if w.Timeout > 0 && h.Before >= w.Timeout {
		return &rowlock.TimeoutError{Wait: me}
	}
	if o.Peers != nil || me.Owner == 0 || me.Blocker == 0 {
		if h.Before < o.LockWait {
			return nil
		}
		return locked
	}
	if cycle := w.Waits.cycle(me); cycle != nil {
		return &rowlock.DeadlockError{Cycle: cycle}
	}
	return nil
}

// cycle returns the waits, for row locks and for locks in the store, of a deadlock cycle that a
// wait closes, or nil.
func (s *Waits) cycle(first rowlock.Wait) []rowlock.Wait {
	next := map[int64][]rowlock.Wait{}
	for _, key := range s.o.RowLocks.Waits() {
		for _, w := range key.Waiters {
			for _, b := range w.Blockers {
				next[w.Owner] = append(next[w.Owner], rowlock.Wait{
					Key: key.Key, Mode: w.Mode, Owner: w.Owner, Blocker: b,
					OwnerTransaction: w.Transaction})
			}
		}
	}
	for _, w := range s.List() {
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
