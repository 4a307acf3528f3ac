package rowlock

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

// State is what the table knows of one key.
type State struct {
	Key     []byte
	Holders []Holder
	Waiters []Waiter // in the order of the queue
}

// Holder is an owner's hold of a key.
type Holder struct {
	Owner       int64
	Transaction uint64
	Mode        Mode
	Session     bool // beyond the transaction
	Fast        bool // kept by the owner (LockRelation)
	// Statement is the one that made the hold as strong as it is, "" where that is not known; its
	// first 1024 bytes.
	Statement string
}

// Waiter is an owner's wait for a key.
type Waiter struct {
	Owner       int64
	Transaction uint64
	Mode        Mode
	Since       time.Time
	Blockers    []int64 // owners for which it waits, holders first
}

// States lists all keys that are held or waited for, in their order. A table whose lock owners keep
// for themselves comes once for each of them. Only the copying stops lockers; the ordering does
// not.
func (t *Table) States() []State {
	t.mu.Lock()
	c := newCopier(len(t.entries) + len(t.owners))
	for _, e := range t.entries {
		c.add(e)
	}
	for o := range t.owners {
		for i := range o.fast {
			if v := o.fast[i].Load(); v != 0 && v&slotMoved == 0 {
				c.addFast(o, v)
			}
		}
	}
	t.mu.Unlock()
	return c.sorted()
}

// Waits lists the keys that are waited for.
func (t *Table) Waits() []State {
	t.mu.Lock()
	c := newCopier(0)
	for _, e := range t.entries {
		if len(e.queue) > 0 {
			c.add(e)
		}
	}
	t.mu.Unlock()
	return c.sorted()
}

// copier copies what the table knows of keys, under the table's mutex: as little as possible, and
// in few pieces of memory, for there may be millions. sorted does the rest without it.
type copier struct {
	keys    []string
	states  []State  // without their keys
	holders []Holder // of all states, which hold parts of it
}

func newCopier(size int) *copier {
	return &copier{keys: make([]string, 0, size), states: make([]State, 0, size),
		holders: make([]Holder, 0, size)}
}

func (c *copier) add(e *entry) {
	var s State
	at := len(c.holders)
	for _, h := range e.holders {
		statement := ""
		if h.statement != nil {
			statement = *h.statement
		}
		held := h.held
		if m := held.strongest(); m.ofRow() {
			held = m.bit()
		}
		for m := KeyShare; m < modeCount; m++ {
			if held.has(m) {
				c.holders = append(c.holders,
					Holder{Owner: h.owner.id, Transaction: h.owner.transaction.Load(),
						Mode: m, Session: h.keeps(), Statement: statement})
			}
		}
	}
	s.Holders = c.holders[at:len(c.holders):len(c.holders)]
	for i, w := range e.queue {
		x := Waiter{Owner: w.owner.id, Transaction: w.owner.transaction.Load(), Mode: w.req.Mode,
			Since: w.since}
		for o := range e.blockers(w, i) {
			if !slices.Contains(x.Blockers, o.id) {
				x.Blockers = append(x.Blockers, o.id)
			}
		}
		s.Waiters = append(s.Waiters, x)
	}
	c.keys, c.states = append(c.keys, e.key), append(c.states, s)
}

// addFast adds a table's lock that is in a slot of its owner.
func (c *copier) addFast(o *Owner, slot uint64) {
	c.keys = append(c.keys, string(RelationKey(uint32(slot>>slotShift))))
	c.states = append(c.states, State{Holders: []Holder{
		{Owner: o.id, Transaction: o.transaction.Load(), Mode: slotMode(slot), Fast: true}}})
}

// sorted returns the states, by their keys, with their holders by owner.
func (c *copier) sorted() []State {
	for i := range c.states {
		s := &c.states[i]
		s.Key = []byte(c.keys[i])
		slices.SortFunc(s.Holders, func(a, b Holder) int { return cmp.Compare(a.Owner, b.Owner) })
	}
	slices.SortFunc(c.states, func(a, b State) int { return bytes.Compare(a.Key, b.Key) })
	return c.states
}

// Blockers lists the owners for which the owner with that ID waits.
func (t *Table) Blockers(id int64) []int64 {
	for _, s := range t.Waits() {
		for _, w := range s.Waiters {
			if w.Owner == id {
				return w.Blockers
			}
		}
	}
	return nil
}

// Edge is a waiter of the table, with the transactions for which it waits and which wait
// themselves. A deadlock cycle through several processes is made of such edges.
type Edge struct {
	Key         []byte
	Mode        Mode
	Owner       int64
	Transaction uint64
	Since       time.Time
	Blockers    []uint64
}

// Edges lists the edges of the wait-for graph that are in this table, for a search that also knows
// waits elsewhere: elsewhere reports whether a transaction waits for something that is not in the
// table.
//
// An edge to a transaction that waits for nothing is left out, because no cycle goes on from there.
// An edge is left out, too, when another blocker of the same queue leads to its end: a queue of n
// writers gives n edges and not n².
func (t *Table) Edges(elsewhere func(transaction uint64) bool) (out []Edge) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.entries {
		for i, w := range e.queue {
			x := Edge{Key: []byte(e.key), Mode: w.req.Mode, Owner: w.owner.id, Since: w.since}
			x.Transaction, x.Blockers = w.owner.transaction.Load(), e.waitingBlockers(w, i,
				elsewhere)
			if x.Transaction != 0 && len(x.Blockers) > 0 {
				out = append(out, x)
			}
		}
	}
	return out
}

// waitingBlockers returns the blockers of the waiter at a place of the queue which wait themselves,
// but for those that another one of them waits for.
func (e *entry) waitingBlockers(w *waiter, at int,
	elsewhere func(transaction uint64) bool) (out []uint64) {
	// An owner that came before and holds or wants one of these modes is waited for by a
	// transaction in out.
	var led modes
	for i := at - 1; i >= 0; i-- {
		x := e.queue[i]
		passed := x.owner == w.owner || !x.upgrade && w.upgrade || !x.req.Mode.Conflicts(w.req.Mode)
		if passed || led.has(x.req.Mode) {
			continue
		}
		if n := x.owner.transaction.Load(); n != 0 {
			out = append(out, n)
			if !x.upgrade { // an upgrade does not wait for all that came before
				led |= conflicts[x.req.Mode]
			}
		}
	}
	for _, h := range e.holders {
		if h.owner == w.owner || !h.held.excludes(w.req.Mode) || h.held&led != 0 {
			continue
		}
		if n := h.owner.transaction.Load(); n != 0 && (h.owner.waiting != nil || elsewhere(n)) {
			out = append(out, n)
		}
	}
	return out
}
