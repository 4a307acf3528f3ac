package shared

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/lease"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
	"github.com/minidb/minidb/txn/wait"
)

// Deadlock cycles through several processes (txn: I17). The lock table finds cycles of its own
// process before a wait begins. A cycle that leaves the process does so where a transaction waits
// for a lock in the store: a row lock, or that of a commit. A transaction that has waited there for
// deadlock_timeout publishes the waits of its process (publication.go), follows the waits of its
// blockers, and searches for a way back to itself. Among the members of a cycle that run the
// search, the youngest transaction is the victim.
//
// The waits of different processes are published at different times, so a cycle that was found may
// never have existed. It is confirmed when two later searches find the same waits, and each wait
// has checked its blockers once more in between. What was published after the first search shows
// waits that went on then, and the check after that found the blockers still in the way; so all of
// them waited at the first search.

// Waiter is a transaction that waits, or asks for a row lock.
type Waiter struct {
	StartTS   tso.Timestamp
	Client    uint64
	Statement string
	Owner     *rowlock.Owner // of its row locks in memory; may be nil, but to ask for one
	Timeout   time.Duration  // bounds each wait for a row lock; 0 is no bound
}

// Wait is a transaction's wait in the store, for a row lock or for the lock of a commit.
type Wait struct {
	wait.LockWait
	p  *Peers
	by Waiter

	// Guarded by waits.mu, for they are published.
	id, looks uint64
	seen      uint64 // looks, as of the last publication
	from      uint64 // the first publication since which it has checked its blockers each time
	searches  bool
	place     tso.Timestamp // in the queue of the row

	asked time.Time // when the lock was asked for: it may have been waited for in memory first

	cycle  []waitEdge // that was found at the last search
	again  int        // how often it was found once more
	search time.Time  // when to search next
}

// waits are the transactions of this process that wait in the store.
type waits struct {
	mu        sync.Mutex
	all       map[*Wait]struct{}
	last      uint64    // number that was given to a wait or a look
	published time.Time // when the waits were last published
	searching int       // how many search for cycles
	clients   map[*SessionLocks]struct{}
}

const (
	// searchPause lies between two searches of one transaction, and two publications of a process.
	searchPause = 100 * time.Millisecond
	// patienceDefault is the patience of an owner for which none was set.
	patienceDefault = 100 * time.Millisecond
)

// Waits lists the transactions of this process that wait in the store, in no order.
func (p *Peers) Waits() (out []wait.LockWait) {
	if p == nil {
		return nil
	}
	p.waits.mu.Lock()
	defer p.waits.mu.Unlock()
	for w := range p.waits.all {
		out = append(out, w.LockWait)
	}
	return out
}

// NewWait prepares a wait that may not come about. mode is the wanted mode of a row, or
// rowlock.None.
func (p *Peers) NewWait(by Waiter, mode rowlock.Mode) *Wait {
	return &Wait{p: p, by: by, LockWait: wait.LockWait{StartTS: by.StartTS, Mode: mode}}
}

// holderOf shows the lock of a commit as that of a holder.
func holderOf(l *mvcc.Lock) mvcc.RowHolder {
	return mvcc.RowHolder{StartTS: l.StartTS, Owner: l.Owner, Client: l.Client,
		Statement: l.Statement}
}

// Await waits before another attempt to get past the lock of a commit, and is visible while it
// waits. The error may be *rowlock.DeadlockError.
func (w *Wait) Await(ctx context.Context, locked *mvcc.LockedError, bo *wait.Backoff) (more bool,
	err error) {
	defer w.leave()
	if err := w.look(ctx, locked.Key, []mvcc.RowHolder{holderOf(&locked.Lock)}); err != nil {
		return false, err
	}
	return bo.Wait(ctx)
}

// look must be called after every attempt that found others in the way, and before the wait for the
// next. From then on the wait is visible. The error is *rowlock.DeadlockError when the transaction
// is the victim of a cycle.
func (w *Wait) look(ctx context.Context, key []byte, holders []mvcc.RowHolder) error {
	w.enter(key, holders)
	if time.Now().Before(w.search) {
		return nil
	}
	if err := w.searchCycle(ctx); err != nil {
		return err
	}
	w.search = time.Now().Add(searchPause)
	return nil
}

// wait waits before another attempt at the row, and is visible while it waits for the holders. When
// the time that the backoff allows is over, the error is limit, or without one
// *rowlock.TimeoutError.
func (w *Wait) wait(ctx context.Context, key []byte, holders []mvcc.RowHolder, bo *wait.Backoff,
	limit error) error {
	if err := w.look(ctx, key, holders); err != nil {
		return err
	}
	bo.Closing = w.p.o.Closing
	more, err := bo.Wait(ctx)
	switch {
	case err != nil || more:
		return err
	case limit != nil:
		return limit
	}
	return &rowlock.TimeoutError{Wait: rowlock.Wait{
		Key: w.Key, Mode: w.Mode, Owner: int64(w.Client), Blocker: int64(w.Lock.Client),
		OwnerTransaction: uint64(w.StartTS), BlockerTransaction: uint64(w.Lock.StartTS),
		Since:            w.Since,
		BlockerElsewhere: w.Lock.Owner != w.p.SessionID(),
		Statement:        mvcc.CutStatement(w.by.Statement), BlockerStatement: w.Lock.Statement,
	}}
}

// enter notes the transactions that this one waits for. It copies the key: what lists or publishes
// the waits may still read it when this one has ended, and its caller uses the key's memory again.
func (w *Wait) enter(key []byte, holders []mvcc.RowHolder) {
	waits := &w.p.waits
	waits.mu.Lock()
	defer waits.mu.Unlock()
	waits.last++
	w.looks = waits.last
	if w.id == 0 {
		w.id = waits.last
		w.Client, w.Since = w.by.Client, time.Now()
		patience := patienceDefault
		if o := w.by.Owner; o != nil && o.Patience() != 0 {
			patience = o.Patience()
		}
		if w.asked.IsZero() {
			w.asked = w.Since
		}
		w.search = w.asked.Add(patience)
	}
	if waits.all == nil {
		waits.all = map[*Wait]struct{}{}
	}
	if _, there := waits.all[w]; !there {
		waits.all[w] = struct{}{}
		if w.searches {
			waits.searching++
		}
	}
	if !bytes.Equal(w.Key, key) {
		w.Key = bytes.Clone(key)
	}
	w.Lock, w.Held, w.Queues = holders[0].AsLock(), holders[0].Mode, holders[0].Queues()
}

// queues notes the place that the transaction has in the queue of the row.
func (w *Wait) queues(place tso.Timestamp) {
	waits := &w.p.waits
	waits.mu.Lock()
	defer waits.mu.Unlock()
	w.place = place
}

// leave is called when the transaction waits for nothing any more, or not for now. What was
// published of the wait is removed by the next publication. Its number of checks stays as it is, so
// it confirms no search.
func (w *Wait) leave() {
	if w.id == 0 {
		return
	}
	waits := &w.p.waits
	waits.mu.Lock()
	defer waits.mu.Unlock()
	if _, there := waits.all[w]; !there {
		return
	}
	delete(waits.all, w)
	if w.searches {
		waits.searching--
	}
}

// publish puts the process's waits into the store, unless that was done just now.
func (w *Wait) publish(ctx context.Context) error {
	waits := &w.p.waits
	waits.mu.Lock()
	now := time.Now()
	fresh := w.searches && now.Sub(waits.published) < searchPause
	if !w.searches {
		w.searches = true
		waits.searching++
	}
	if !fresh {
		waits.published = now
	}
	waits.mu.Unlock()
	if fresh {
		return nil
	}
	return w.p.RenewLease(ctx)
}

// searchCycle returns *rowlock.DeadlockError when the transaction is the victim of a confirmed
// cycle.
func (w *Wait) searchCycle(ctx context.Context) error {
	if err := w.publish(ctx); err != nil {
		return err
	}
	found, err := w.p.cycleThrough(ctx, w.StartTS)
	if err != nil {
		return err
	}
	switch {
	case !sameCycle(w.cycle, found):
		w.cycle, w.again = found, 0
		return nil
	case !looksAgain(w.cycle, found):
		return nil
	}
	w.cycle = found
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
	lease.Wait
	blocker tso.Timestamp
	looks   uint64 // grows with each publication that found the blocker still in the way
}

// waitGraph is the wait-for graph of all processes that share a store, in one state of it. A search
// reads what it comes to, and no more.
type waitGraph struct {
	r        kv.Reader
	waits    *lease.Waits
	sessions map[uint64]*lease.Record // nil: it has ended
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

func (g *waitGraph) session(ctx context.Context, id uint64) (*lease.Record, error) {
	rec, known := g.sessions[id]
	if known {
		return rec, nil
	}
	read, found, err := lease.Get(ctx, g.r, id)
	if found {
		rec = &read
	}
	g.sessions[id] = rec
	return rec, err
}

// cycleThrough returns the waits of a shortest cycle, that of the transaction first, or nothing.
func (p *Peers) cycleThrough(
	ctx context.Context, startTS tso.Timestamp,
) (cycle []waitEdge, err error) {
	// Waits of several moments could make a cycle that never was.
	err = kv.Repeat(ctx, p.o.Engine, func(r kv.Reader) (err error) {
		cycle, err = cycleIn(ctx, r, startTS)
		return err
	})
	return cycle, err
}

// cycleIn is cycleThrough of one state.
func cycleIn(ctx context.Context, r kv.Reader, startTS tso.Timestamp) (cycle []waitEdge,
	err error) {
	waits, err := lease.NewWaits(ctx, r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, waits.Close()) }()
	g := waitGraph{r: r, waits: waits, sessions: map[uint64]*lease.Record{}}
	reached := map[tso.Timestamp]waitEdge{} // by the wait for it that was found first
	for at := []tso.Timestamp{startTS}; len(at) > 0; at = at[1:] {
		next, err := g.edges(ctx, at[0])
		if err != nil {
			return nil, err
		}
		for _, e := range next {
			if e.blocker == startTS {
				cycle := []waitEdge{e}
				for cycle[0].Waiter != startTS {
					cycle = slices.Insert(cycle, 0, reached[cycle[0].Waiter])
				}
				return cycle, nil
			}
			if _, seen := reached[e.blocker]; !seen {
				reached[e.blocker], at = e, append(at, e.blocker)
			}
		}
	}
	return nil, nil
}

// sameCycle reports whether two cycles are made of the same waits.
func sameCycle(a, b []waitEdge) bool {
	return len(a) > 0 && slices.EqualFunc(a, b, func(a, b waitEdge) bool {
		return a.Waiter == b.Waiter && a.blocker == b.blocker && a.ID == b.ID
	})
}

// looksAgain reports whether each wait has found its blocker in the way once more.
func looksAgain(before, now []waitEdge) bool {
	for i := range now {
		if now[i].looks <= before[i].looks {
			return false
		}
	}
	return true
}

// deadlock describes a cycle as the lock table does.
func (w *Wait) deadlock(cycle []waitEdge) error {
	own := w.p.SessionID()
	e := &rowlock.DeadlockError{}
	cycle = slices.DeleteFunc(slices.Clone(cycle),
		func(e waitEdge) bool { return len(e.Key) == 0 }) // a client and itself (clientEdges)
	for i := range cycle {
		x, next := &cycle[i], &cycle[(i+1)%len(cycle)]
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
