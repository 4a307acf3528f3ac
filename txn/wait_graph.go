package txn

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/minidb/minidb/internal/planted"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/session"
	"github.com/minidb/minidb/txn/tso"
)

// Circles of waits through several processes. The lock table finds those of its own process before a
// wait begins; a circle that leaves the process does so where a transaction waits for a lock in the store: a
// row lock, or that of a commit. Who has waited there for as long as its patience (deadlock_timeout) publishes all waits of its
// process beside the session's lease, reads those of the others, and looks for a way back to itself. Of
// those of a circle who look, the youngest gives in.
//
// The waits of different processes are published at different times, so a circle that was found may
// never have been one. It is believed when it is found twice again, each of its waits being the same one
// and having looked once more each time: what was published after the first sighting shows waits that
// went on then, and the look after that found the blockers still in the way. So all stood at that sighting.

// storeWait is a transaction that waits in the store, for a row lock or for the lock of a commit.
type storeWait struct {
	LockWait
	t *Txn

	// Guarded by lockWaits.mu, for they are published.
	id, looks uint64
	blockers  []tso.Timestamp
	searches  bool

	statement string
	asked     time.Time // when what is waited for was asked for, which may have been waited for in memory first

	circle []session.Wait // that was found at the last search
	again  int            // how often it was found once more
	search time.Time      // when to search next
}

const (
	// searchPause lies between two searches of one transaction, and two publications of a process.
	searchPause = 100 * time.Millisecond
	// patienceDefault is the patience of an owner that was told nothing.
	patienceDefault = 100 * time.Millisecond
)

// newStoreWait prepares a wait that may not come about. mode is what is wanted of a row, if anything.
func (t *Txn) newStoreWait(mode rowlock.Mode) *storeWait {
	return &storeWait{t: t, LockWait: LockWait{StartTS: t.reg.startTS, Mode: mode}}
}

// holderOf shows the lock of a commit as that of a holder.
func holderOf(l *mvcc.Lock) mvcc.RowHolder {
	return mvcc.RowHolder{StartTS: l.StartTS, Owner: l.Owner, Client: l.Client, Statement: l.Statement}
}

// look comes after every look at the store that found others in the way, and before the wait for the next.
// From then on the wait can be seen. The answer is *rowlock.DeadlockError when it is part of a circle and gives
// in.
func (w *storeWait) look(ctx context.Context, key []byte, holders []mvcc.RowHolder) error {
	w.enter(key, holders)
	if time.Now().Before(w.search) || w.Mode == rowlock.None && planted.Is(planted.WaitsUnsearched) {
		return nil
	}
	if err := w.searchCircle(ctx); err != nil {
		return err
	}
	w.search = time.Now().Add(searchPause)
	return nil
}

// wait waits before another look at the row, and can be seen to wait for the holders. At the end of
// what the backoff allows the answer is limit, or without one *rowlock.TimeoutError.
func (w *storeWait) wait(ctx context.Context, key []byte, holders []mvcc.RowHolder, bo *backoff, limit error) error {
	if err := w.look(ctx, key, holders); err != nil {
		return err
	}
	bo.closing = w.t.s.closing.ch
	more, err := bo.wait(ctx)
	switch {
	case err != nil || more:
		return err
	case limit != nil:
		return limit
	}
	return &rowlock.TimeoutError{Wait: rowlock.Wait{
		Key: w.Key, Mode: w.Mode, Owner: int64(w.Client), Blocker: int64(w.Lock.Client),
		OwnerTransaction: uint64(w.StartTS), BlockerTransaction: uint64(w.Lock.StartTS), Since: w.Since,
		BlockerElsewhere: w.Lock.Owner != w.t.s.SessionID(), Statement: w.statement, BlockerStatement: w.Lock.Statement,
	}}
}

// enter notes for whom is waited.
func (w *storeWait) enter(key []byte, holders []mvcc.RowHolder) {
	waits := &w.t.s.waits
	waits.mu.Lock()
	defer waits.mu.Unlock()
	waits.last++
	w.looks = waits.last
	if w.id == 0 {
		w.id = waits.last
		w.Client, w.Since, w.statement = w.t.client(), time.Now(), cutStatement(w.t.statement)
		patience := patienceDefault
		if o := w.t.locking.Owner; o != nil && o.Patience() != 0 {
			patience = o.Patience()
		}
		if w.asked.IsZero() {
			w.asked = w.Since
		}
		w.search = w.asked.Add(patience)
	}
	if waits.shared == nil {
		waits.shared = map[*storeWait]struct{}{}
	}
	if _, there := waits.shared[w]; !there {
		waits.shared[w] = struct{}{}
		if w.searches {
			waits.searching++
		}
	}
	w.Key, w.Lock, w.Held, w.Queues = key, holders[0].AsLock(), holders[0].Mode, holders[0].Queues()
	w.blockers = w.blockers[:0]
	for i := range holders {
		w.blockers = append(w.blockers, holders[i].StartTS)
	}
}

// leave is called when nothing is waited for any more, or not for now. What was published of the wait goes
// with the next publication: its number of looks stands still, so nobody believes it.
func (w *storeWait) leave() {
	if w.id == 0 {
		return
	}
	waits := &w.t.s.waits
	waits.mu.Lock()
	defer waits.mu.Unlock()
	if _, there := waits.shared[w]; !there {
		return
	}
	delete(waits.shared, w)
	if w.searches {
		waits.searching--
	}
}

// waitEdges lists who waits for whom in this process, while anybody looks for circles.
func (s *Store) waitEdges() []session.Wait {
	out, look := s.storeEdges()
	if look == 0 {
		return nil
	}
	for _, e := range s.rowLocks.Edges() {
		if e.OwnerTransaction != 0 && e.BlockerTransaction != 0 {
			out = append(out, session.Wait{
				Waiter: tso.Timestamp(e.OwnerTransaction), Blocker: tso.Timestamp(e.BlockerTransaction),
				ID: uint64(e.Since.UnixNano()), Looks: look, Key: e.Key, Mode: uint8(e.Mode), Client: uint64(e.Owner),
			})
		}
	}
	return out
}

// storeEdges are those of them that wait for locks in the store, and the number of a look that is taken
// at the others now: zero while nobody looks for circles.
func (s *Store) storeEdges() (out []session.Wait, look uint64) {
	s.waits.mu.Lock()
	defer s.waits.mu.Unlock()
	if s.waits.searching == 0 {
		return nil, 0
	}
	s.waits.last++
	look = s.waits.last
	for w := range s.waits.shared {
		for _, b := range w.blockers {
			out = append(out, session.Wait{
				Waiter: w.StartTS, Blocker: b, ID: w.id, Looks: w.looks, Searches: w.searches,
				Key: w.Key, Mode: uint8(cmp.Or(w.Mode, rowlock.Update)), Client: w.Client, Statement: w.statement,
			})
		}
	}
	return out, look
}

// publishWaits puts the process's waits into the store, unless that was done just now.
func (w *storeWait) publishWaits(ctx context.Context) error {
	s := w.t.s
	s.waits.mu.Lock()
	now := time.Now()
	fresh := w.searches && now.Sub(s.waits.published) < searchPause
	if !w.searches {
		w.searches = true
		s.waits.searching++
	}
	if !fresh {
		s.waits.published = now
	}
	s.waits.mu.Unlock()
	if fresh {
		return nil
	}
	return s.RenewLease(ctx)
}

// searchCircle answers *rowlock.DeadlockError when the transaction is part of a circle and gives in.
func (w *storeWait) searchCircle(ctx context.Context) error {
	if planted.Is(planted.UndetectedDeadlock) {
		return nil
	}
	if err := w.publishWaits(ctx); err != nil {
		return err
	}
	snap, err := w.t.s.engine.Snapshot()
	if err != nil {
		return err
	}
	all, err := session.All(ctx, snap)
	if err := errors.Join(err, snap.Close()); err != nil {
		return err
	}
	found := circleThrough(w.StartTS, all)
	switch {
	case !sameCircle(w.circle, found):
		w.circle, w.again = found, 0
		return nil
	case !looksAgain(w.circle, found):
		return nil
	}
	w.circle = found
	if w.again++; w.again < 2 {
		return nil
	}
	victim := tso.Timestamp(0)
	for i := range found {
		if found[i].Searches {
			victim = max(victim, found[i].Waiter)
		}
	}
	if victim != w.StartTS {
		return nil
	}
	return w.deadlock(found, all)
}

// circleThrough returns the waits of a shortest circle, that of the transaction first, or nothing.
func circleThrough(startTS tso.Timestamp, all []session.Record) []session.Wait {
	edges := map[tso.Timestamp][]session.Wait{}
	for i := range all {
		for _, e := range all[i].Waits {
			edges[e.Waiter] = append(edges[e.Waiter], e)
		}
	}
	reached := map[tso.Timestamp]session.Wait{} // by the wait for it that was found first
	for at := []tso.Timestamp{startTS}; len(at) > 0; at = at[1:] {
		next := edges[at[0]]
		slices.SortFunc(next, func(a, b session.Wait) int {
			return cmp.Or(cmp.Compare(a.Blocker, b.Blocker), bytes.Compare(a.Key, b.Key))
		})
		for _, e := range next {
			if e.Blocker == startTS {
				circle := []session.Wait{e}
				for circle[0].Waiter != startTS {
					circle = slices.Insert(circle, 0, reached[circle[0].Waiter])
				}
				return circle
			}
			if _, seen := reached[e.Blocker]; !seen {
				reached[e.Blocker], at = e, append(at, e.Blocker)
			}
		}
	}
	return nil
}

// sameCircle says whether two circles are made of the same waits.
func sameCircle(a, b []session.Wait) bool {
	return len(a) > 0 && slices.EqualFunc(a, b, func(a, b session.Wait) bool {
		return a.Waiter == b.Waiter && a.Blocker == b.Blocker && a.ID == b.ID
	})
}

// looksAgain says whether each wait has found its blocker in the way once more.
func looksAgain(before, now []session.Wait) bool {
	for i := range now {
		if now[i].Looks <= before[i].Looks {
			return false
		}
	}
	return true
}

// deadlock tells of a circle in the words of the lock table.
func (w *storeWait) deadlock(circle []session.Wait, all []session.Record) error {
	own := w.t.s.SessionID()
	here := map[tso.Timestamp]bool{}
	for i := range all {
		for _, e := range all[i].Waits {
			here[e.Waiter] = here[e.Waiter] || all[i].ID == own
		}
	}
	e := &rowlock.DeadlockError{}
	for i := range circle {
		x, next := &circle[i], &circle[(i+1)%len(circle)]
		e.Cycle = append(e.Cycle, rowlock.Wait{
			Key: x.Key, Mode: rowlock.Mode(x.Mode), Owner: int64(x.Client), Blocker: int64(next.Client),
			OwnerTransaction: uint64(x.Waiter), BlockerTransaction: uint64(x.Blocker),
			Elsewhere: !here[x.Waiter], BlockerElsewhere: !here[next.Waiter],
			Statement: x.Statement, BlockerStatement: next.Statement,
		})
	}
	return e
}
