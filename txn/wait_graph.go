package txn

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/session"
	"github.com/minidb/minidb/txn/tso"
)

// Circles of waits through several processes. The lock table finds those of its own process before
// a wait begins; a circle that leaves the process does so where a transaction waits for a lock in
// the store: a row lock, or that of a commit. Who has waited there for as long as its patience
// (deadlock_timeout) publishes all waits of its process (wait_publication.go), follows the waits of
// those in its way, and looks for a way back to itself. Of those of a circle who look, the youngest
// gives in.
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
	seen      uint64 // looks at the last publication
	from      uint64 // the publication after the last before which it did not look
	searches  bool
	place     tso.Timestamp // in the queue of the row

	statement string
	asked     time.Time // when what is waited for was asked for, which may have been waited for in memory first

	circle []waitEdge // that was found at the last search
	again  int        // how often it was found once more
	search time.Time  // when to search next
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
	if time.Now().Before(w.search) {
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
}

// queues notes the place that the transaction has in the queue of the row.
func (w *storeWait) queues(place tso.Timestamp) {
	waits := &w.t.s.waits
	waits.mu.Lock()
	defer waits.mu.Unlock()
	w.place = place
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

// publish puts the process's waits into the store, unless that was done just now.
func (w *storeWait) publish(ctx context.Context) error {
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
	if err := w.publish(ctx); err != nil {
		return err
	}
	found, err := w.t.s.circleThrough(ctx, w.StartTS)
	if err != nil {
		return err
	}
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
	return w.deadlock(found)
}

// waitEdge is a wait for one of its blockers.
type waitEdge struct {
	session.Wait
	blocker tso.Timestamp
	looks   uint64 // grows with each publication that found the blocker still in the way
}

// waitGraph is the wait-for graph of all who share a store, in one state of it. A search reads what
// it comes to, and no more.
type waitGraph struct {
	r        kv.Reader
	waits    *session.Waits
	sessions map[uint64]*session.Record // nil: it has ended
}

// edges returns the waits of a transaction, for each blocker.
func (g *waitGraph) edges(ctx context.Context, waiter tso.Timestamp) (out []waitEdge, err error) {
	waits, err := g.waits.Of(waiter)
	if err != nil {
		return nil, err
	}
	for _, w := range waits {
		rec, err := g.session(ctx, w.Owner)
		if err != nil {
			return nil, err
		}
		if rec == nil {
			continue
		}
		e := waitEdge{Wait: w}
		if rec.Published >= w.From {
			e.looks = rec.Published
		}
		if w.Stored {
			h := mvcc.RowHolder{StartTS: waiter, Mode: rowlock.Mode(w.Mode), Place: w.Place}
			if w.Blockers, err = mvcc.Blockers(ctx, g.r, w.Key, h); err != nil {
				return nil, err
			}
		}
		for _, b := range w.Blockers {
			e.blocker = b
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b waitEdge) int {
		return cmp.Or(cmp.Compare(a.blocker, b.blocker), bytes.Compare(a.Key, b.Key))
	})
	return out, nil
}

func (g *waitGraph) session(ctx context.Context, id uint64) (*session.Record, error) {
	rec, known := g.sessions[id]
	if known {
		return rec, nil
	}
	read, found, err := session.Get(ctx, g.r, id)
	if found {
		rec = &read
	}
	g.sessions[id] = rec
	return rec, err
}

// circleThrough returns the waits of a shortest circle, that of the transaction first, or nothing.
func (s *Store) circleThrough(
	ctx context.Context, startTS tso.Timestamp,
) (circle []waitEdge, err error) {
	snap, err := s.engine.Snapshot()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	waits, err := session.NewWaits(ctx, snap)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, waits.Close()) }()
	g := waitGraph{r: snap, waits: waits, sessions: map[uint64]*session.Record{}}
	reached := map[tso.Timestamp]waitEdge{} // by the wait for it that was found first
	for at := []tso.Timestamp{startTS}; len(at) > 0; at = at[1:] {
		next, err := g.edges(ctx, at[0])
		if err != nil {
			return nil, err
		}
		for _, e := range next {
			if e.blocker == startTS {
				circle := []waitEdge{e}
				for circle[0].Waiter != startTS {
					circle = slices.Insert(circle, 0, reached[circle[0].Waiter])
				}
				return circle, nil
			}
			if _, seen := reached[e.blocker]; !seen {
				reached[e.blocker], at = e, append(at, e.blocker)
			}
		}
	}
	return nil, nil
}

// sameCircle says whether two circles are made of the same waits.
func sameCircle(a, b []waitEdge) bool {
	return len(a) > 0 && slices.EqualFunc(a, b, func(a, b waitEdge) bool {
		return a.Waiter == b.Waiter && a.blocker == b.blocker && a.ID == b.ID
	})
}

// looksAgain says whether each wait has found its blocker in the way once more.
func looksAgain(before, now []waitEdge) bool {
	for i := range now {
		if now[i].looks <= before[i].looks {
			return false
		}
	}
	return true
}

// deadlock tells of a circle in the words of the lock table.
func (w *storeWait) deadlock(circle []waitEdge) error {
	own := w.t.s.SessionID()
	e := &rowlock.DeadlockError{}
	for i := range circle {
		x, next := &circle[i], &circle[(i+1)%len(circle)]
		e.Cycle = append(e.Cycle, rowlock.Wait{
			Key: x.Key, Mode: cmp.Or(rowlock.Mode(x.Mode), rowlock.Update),
			Owner: int64(x.Client), Blocker: int64(next.Client),
			OwnerTransaction: uint64(x.Waiter), BlockerTransaction: uint64(x.blocker),
			Elsewhere: x.Owner != own, BlockerElsewhere: next.Owner != own,
			Statement: x.Statement, BlockerStatement: next.Statement,
		})
	}
	return e
}
