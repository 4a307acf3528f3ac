package rowlock

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Table is a lock table. The zero value is empty and ready.
type Table struct {
	n       atomic.Int64             // entries of keys other than tables
	strong  [partitions]atomic.Int32 // strong locks of tables, held or wanted (relation.go)
	mu      sync.Mutex
	entries map[object]*entry
	claims  map[string]map[*Owner]map[*entry]uint64 // by group (claim.go)
	claimed uint64                                  // how many there were
	// owners are those with locks of tables that are not in entries (relation.go).
	owners map[*Owner]struct{}
	ended  error // the reason given to EndWaits; nil before

	waits WaitCounter // those that have ended
}

// object is what can be locked: a key, or a table, whose key is its RelationKey. A flag
// distinguishes the two, for the keys of rows are the caller's and may look like a RelationKey.
type object struct {
	key      string
	relation bool
}

// entry is an object that owners hold or wait for.
type entry struct {
	object
	holders []*holder
	queue   []*waiter
	group   string // of a key that was claimed
}

// holder is one owner's hold of one key.
type holder struct {
	owner   *Owner
	held    modes              // all of those below
	txn     modes              // until the transaction's end
	session *[modeCount]uint32 // until unlocked so many times; nil: none
	// statement is the one that made the hold as strong as it is. It is nil when that is not
	// known: for locks of tables that the owner kept in its slots, and after a part was given
	// back.
	statement *string
}

// waiter is a request in a queue.
type waiter struct {
	owner *Owner
	entry *entry
	req   Request
	since time.Time
	// upgrade: the owner holds the key in a weaker mode.
	upgrade   bool
	statement *string    // that asks
	done      chan error // gets the end of the wait
}

// Request is what an owner wants of a key.
type Request struct {
	Mode Mode
	// NoWait makes a request that would have to wait return ErrNotAvailable.
	NoWait bool
	// Timeout bounds the wait; 0 is no bound.
	Timeout time.Duration
	// Session keeps the lock beyond the transaction; it counts how often it was taken.
	Session bool
}

// count keeps n, in which tables do not count: a transaction that writes rows has locked their
// table already.
func (t *Table) count(e *entry, by int64) {
	if !e.relation {
		t.n.Add(by)
	}
}

// Empty reports whether no key but tables is held or waited for. It is one atomic load.
func (t *Table) Empty() bool { return t.n.Load() == 0 }

// Outcome is how a lock was granted.
type Outcome uint8

// The outcomes.
const (
	Granted Outcome = iota // at once
	Waited                 // after a wait
	Held                   // the transaction had it before
)

// Lock takes the key for the owner, waiting its turn. The errors are ErrNotAvailable,
// *TimeoutError, *DeadlockError, the context's and that of EndWaits.
func (t *Table) Lock(ctx context.Context, o *Owner, key []byte, req Request) (Outcome, error) {
	return t.lock(ctx, o, key, false, req)
}

// lock is Lock of a key, or of a table by its RelationKey.
func (t *Table) lock(ctx context.Context, o *Owner, key []byte, relation bool,
	req Request) (Outcome, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	w, out, err := t.request(o, key, relation, req)
	if w == nil || err != nil {
		return out, err
	}
	return Waited, t.wait(ctx, w)
}

// request grants at once, refuses, or queues, and then returns the waiter.
func (t *Table) request(o *Owner, key []byte, relation bool, req Request) (*waiter, Outcome,
	error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ask(o, key, relation, req)
}

// ask is request, with mu held.
func (t *Table) ask(o *Owner, key []byte, relation bool, req Request) (*waiter, Outcome, error) {
	e := t.entry(key, relation)
	h := e.holder(o)
	if h != nil && !req.Session && h.txn.covers(req.Mode) {
		return nil, Held, nil
	}
	w := &waiter{owner: o, entry: e, req: req, upgrade: h != nil && req.Mode.ofRow(),
		statement: o.running()}
	at := e.place(w, h)
	if h != nil && h.held.covers(req.Mode) || e.grantable(w, e.ahead(w, at)) {
		e.grant(w)
		return nil, Granted, nil
	}
	if req.NoWait {
		return nil, 0, ErrNotAvailable
	}
	if t.ended != nil {
		return nil, 0, t.ended
	}
	w.since, w.done = time.Now(), make(chan error, 1)
	e.queue = slices.Insert(e.queue, at, w)
	o.waiting = w
	if cycle := t.cycle(w); cycle != nil && !t.reorder(w, cycle, reorderings) {
		victim := leastPatient(w, cycle)
		t.leave(victim)
		err := newDeadlock(victim, cycle)
		if victim == w {
			return nil, 0, err
		}
		victim.done <- err
	}
	return w, Waited, nil
}

// entry returns the object's entry, made if it is missing.
func (t *Table) entry(key []byte, relation bool) *entry {
	e := t.entries[object{string(key), relation}]
	if e == nil {
		if t.entries == nil {
			t.entries = map[object]*entry{}
		}
		e = &entry{object: object{string(key), relation}}
		t.entries[e.object] = e
		t.count(e, 1)
	}
	return e
}

// EndWaits ends every wait with the error, and makes each later request that would have to wait
// return it. What is free is granted as before.
func (t *Table) EndWaits(reason error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = reason
	var all []*waiter
	for _, e := range t.entries {
		all = append(all, e.queue...)
	}
	for _, w := range all {
		if w.owner.waiting == w { // and was not granted when another left
			t.leave(w)
			w.done <- reason
		}
	}
}

// leave takes a waiter out of its queue, which may let others in.
func (t *Table) leave(w *waiter) {
	e := w.entry
	e.queue = slices.DeleteFunc(e.queue, func(x *waiter) bool { return x == w })
	w.owner.waiting = nil
	t.promote(e)
}

// settle recomputes a hold after a part of it was given back.
func (t *Table) settle(e *entry, h *holder) {
	before := h.held
	h.held = h.txn
	if h.session != nil {
		for m, n := range h.session {
			if n > 0 {
				h.held |= Mode(m).bit()
			}
		}
	}
	if h.held != before {
		h.statement = nil
	}
	t.weaken(e, before&^h.held)
	if h.held == 0 {
		e.holders = slices.DeleteFunc(e.holders, func(x *holder) bool { return x == h })
		t.unclaim(e, h.owner)
	}
	t.promote(e)
}

// promote grants what has become grantable, in the order of the queue, and drops an empty entry.
func (t *Table) promote(e *entry) {
	for i := 0; i < len(e.queue); {
		w := e.queue[i]
		if !e.grantable(w, i) {
			i++
			continue
		}
		e.queue = slices.Delete(e.queue, i, i+1)
		w.owner.waiting = nil
		e.grant(w)
		w.done <- nil
	}
	if len(e.holders) == 0 && len(e.queue) == 0 && t.entries[e.object] == e {
		delete(t.entries, e.object)
		t.count(e, -1)
	}
}

func (e *entry) holder(o *Owner) *holder {
	for _, h := range e.holders {
		if h.owner == o {
			return h
		}
	}
	return nil
}

func (h *holder) keeps() bool { return h.session != nil && *h.session != [modeCount]uint32{} }

// grantable reports whether a request at position at of the queue has to wait for no holder and no
// earlier request.
func (e *entry) grantable(w *waiter, at int) bool {
	for range e.blockers(w, at) {
		return false
	}
	return true
}

// blockers yields the owners for which a request at position at of the queue waits.
func (e *entry) blockers(w *waiter, at int) func(yield func(*Owner) bool) {
	return func(yield func(*Owner) bool) {
		for _, h := range e.holders {
			if h.owner != w.owner && h.held.excludes(w.req.Mode) && !yield(h.owner) {
				return
			}
		}
		for _, x := range e.queue[:at] {
			if x.owner != w.owner && (x.upgrade || !w.upgrade) &&
				x.req.Mode.Conflicts(w.req.Mode) && !yield(x.owner) {
				return
			}
		}
	}
}

// place returns where a request enters the queue. For rows, upgrades come before the others, each
// in the order of arrival. For tables, a request enters at the end, but before the first one that
// waits for its own owner.
func (e *entry) place(w *waiter, h *holder) int {
	at := len(e.queue)
	switch {
	case w.upgrade:
		at = 0
		for at < len(e.queue) && e.queue[at].upgrade {
			at++
		}
	case h != nil:
		if i := slices.IndexFunc(e.queue,
			func(x *waiter) bool { return h.held.excludes(x.req.Mode) }); i >= 0 {
			at = i
		}
	}
	return at
}

// ahead returns how many requests of the queue a new one at position at must let pass before it may
// be granted at once: none for a row that is held in modes compatible with it. PostgreSQL does so
// for rows.
func (e *entry) ahead(w *waiter, at int) int {
	if w.req.Mode.ofRow() && len(e.holders) > 0 {
		return 0
	}
	return at
}

// grant makes the owner a holder.
func (e *entry) grant(w *waiter) {
	o := w.owner
	h := e.holder(o)
	if h == nil {
		h = &holder{owner: o}
		e.holders = append(e.holders, h)
	}
	if !h.held.covers(w.req.Mode) {
		h.statement = w.statement
	}
	h.held |= w.req.Mode.bit()
	if w.req.Session {
		if h.session == nil {
			h.session = new([modeCount]uint32)
		}
		h.session[w.req.Mode]++
		if o.session == nil {
			o.session = map[*entry]struct{}{}
		}
		o.session[e] = struct{}{}
		return
	}
	o.log = append(o.log, grant{entry: e, added: w.req.Mode.bit() &^ h.txn, at: o.granted})
	o.granted++
	h.txn |= w.req.Mode.bit()
}

// Contested reports whether another owner than o, which may be nil, holds the key in a mode that
// conflicts with the given one.
func (t *Table) Contested(o *Owner, key []byte, mode Mode) bool {
	if t.Empty() {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[object{key: string(key)}]
	if e == nil {
		return false
	}
	for _, h := range e.holders {
		if h.owner != o && h.held.excludes(mode) {
			return true
		}
	}
	return false
}
