package rowlock

import (
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

// Holder is one who holds a key.
type Holder struct {
	Owner       int64
	Transaction uint64
	Mode        Mode
	Session     bool // beyond the transaction
	Fast        bool // kept by the owner (LockRelation)
}

// Waiter is one who waits for a key.
type Waiter struct {
	Owner       int64
	Transaction uint64
	Mode        Mode
	Since       time.Time
	Blockers    []int64 // owners for whom it waits, holders first
}

// States lists all keys that are held or waited for, in their order. A table whose lock owners keep
// for themselves comes once for each of them.
func (t *Table) States() []State {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]State, 0, len(t.entries))
	for _, e := range t.entries {
		out = append(out, e.state())
	}
	for o := range t.owners {
		for i := range o.fast {
			if v := o.fast[i].Load(); v != 0 && v&slotMoved == 0 {
				out = append(out, State{Key: RelationKey(uint32(v >> slotShift)), Holders: []Holder{
					{Owner: o.id, Transaction: o.transaction.Load(), Mode: slotMode(v), Fast: true}}})
			}
		}
	}
	slices.SortFunc(out, func(a, b State) int { return slices.Compare(a.Key, b.Key) })
	return out
}

// Waits lists the keys that somebody waits for.
func (t *Table) Waits() []State {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []State
	for _, e := range t.entries {
		if len(e.queue) > 0 {
			out = append(out, e.state())
		}
	}
	slices.SortFunc(out, func(a, b State) int { return slices.Compare(a.Key, b.Key) })
	return out
}

func (e *entry) state() State {
	s := State{Key: []byte(e.key)}
	for _, h := range e.holders {
		held := h.held
		if m := held.strongest(); m.ofRow() {
			held = m.bit()
		}
		for m := KeyShare; m < modeCount; m++ {
			if held.has(m) {
				s.Holders = append(s.Holders, Holder{Owner: h.owner.id, Transaction: h.owner.transaction.Load(),
					Mode: m, Session: h.keeps()})
			}
		}
	}
	slices.SortFunc(s.Holders, func(a, b Holder) int { return cmp.Compare(a.Owner, b.Owner) })
	for i, w := range e.queue {
		x := Waiter{Owner: w.owner.id, Transaction: w.owner.transaction.Load(), Mode: w.req.Mode, Since: w.since}
		for o := range e.blockers(w, i) {
			if !slices.Contains(x.Blockers, o.id) {
				x.Blockers = append(x.Blockers, o.id)
			}
		}
		s.Waiters = append(s.Waiters, x)
	}
	return s
}

// Blockers lists the owners for whom the owner with that ID waits.
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
