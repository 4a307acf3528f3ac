package rowlock

import (
	"context"
	"encoding/binary"
)

// Locks of tables. Every statement takes one of the weak modes on each table that it names, and
// strong modes are rare. So weak locks stay with their owner, in its fast slots, as long as no
// owner holds or wants a strong lock of a table of the same partition: PostgreSQL's fast path. It
// costs a store and a load, and a swap at the end, in memory that no other session writes.
//
// The order makes it safe. A request in a weak mode fills its slot and then looks at the count of
// strong locks. A request in a strong mode raises the count and then moves what it finds in the
// slots into the table. So at least one of the two sees the other. A slot changes hands by compare
// and swap.

const (
	partitions = 1 << 10
	fastLocks  = 15 // slots of an owner; further locks go to the table
)

// A slot holds a table's number, the mode, and whether the lock was moved to the table; 0 is free.
const (
	slotMoved = 1
	slotShift = 8
)

func slotOf(id uint32, m Mode) uint64 { return uint64(id)<<slotShift | uint64(m)<<1 }

func slotMode(v uint64) Mode { return Mode(v >> 1 & (1<<(slotShift-1) - 1)) }

// relationPrefix begins the keys by which locks of tables are shown. The lock table itself
// distinguishes tables and keys (object); views of it rely on no key of a row beginning so.
const relationPrefix = 'l'

// RelationKey is the key by which a table's lock is shown (State, Wait).
func RelationKey(id uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{relationPrefix}, id)
}

// DecodeRelationKey takes a RelationKey apart.
func DecodeRelationKey(key []byte) (id uint32, ok bool) {
	if len(key) != 5 || key[0] != relationPrefix {
		return 0, false
	}
	return binary.BigEndian.Uint32(key[1:]), true
}

// LockRelation is Lock of a table by its number, in one of the modes of tables, until the
// transaction's end.
func (t *Table) LockRelation(ctx context.Context, o *Owner, id uint32, req Request) (Outcome,
	error) {
	strong := &t.strong[id%partitions]
	if req.Mode.weak() {
		if out, ok := t.lockFast(o, id, req.Mode); ok {
			return out, nil
		}
		o.slow = true
		return t.lock(ctx, o, RelationKey(id), true, req)
	}
	if !req.Mode.strong() {
		return t.lock(ctx, o, RelationKey(id), true, req)
	}
	strong.Add(1)
	t.gather(id)
	out, err := t.lock(ctx, o, RelationKey(id), true, req)
	if err != nil || out == Held {
		strong.Add(-1) // otherwise weaken does, when the lock is given back
	}
	return out, err
}

// lockFast takes a weak lock without the table; ok is false where that cannot be.
func (t *Table) lockFast(o *Owner, id uint32, m Mode) (out Outcome, ok bool) {
	want := slotOf(id, m)
	for i := range o.fastUsed {
		if o.fast[i].Load()&^slotMoved == want {
			return Held, true
		}
	}
	if o.slow || o.fastUsed == fastLocks {
		return 0, false
	}
	if o.fastUsed == 0 && !o.known {
		t.meet(o)
	}
	slot := &o.fast[o.fastUsed]
	slot.Store(want)
	if t.strong[id%partitions].Load() != 0 && slot.CompareAndSwap(want, 0) {
		return 0, false
	}
	o.fastUsed++ // no strong lock, or its request has moved this lock to the table, where it holds
	return Granted, true
}

// meet registers the owner's slots for requests in strong modes.
func (t *Table) meet(o *Owner) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.owners == nil {
		t.owners = map[*Owner]struct{}{}
	}
	t.owners[o] = struct{}{}
	o.known = true
}

// gather moves the weak locks of a table from the owners' slots into the table.
func (t *Table) gather(id uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var e *entry
	for o := range t.owners {
		for i := range o.fast {
			v := o.fast[i].Load()
			if v>>slotShift != uint64(id) || v == 0 || v&slotMoved != 0 ||
				!o.fast[i].CompareAndSwap(v, v|slotMoved) {
				continue
			}
			if e == nil {
				e = t.entry(RelationKey(id), true)
			}
			h := e.holder(o)
			if h == nil {
				h = &holder{owner: o}
				e.holders = append(e.holders, h)
			}
			h.txn |= slotMode(v).bit()
			h.held |= h.txn
		}
	}
}

// releaseFast frees the slots from number from on, and returns those whose locks are in the table.
func (o *Owner) releaseFast(from int) (moved []uint64) {
	for i := o.fastUsed - 1; i >= from; i-- {
		if v := o.fast[i].Swap(0); v&slotMoved != 0 {
			moved = append(moved, v)
		}
	}
	o.fastUsed = min(o.fastUsed, from)
	return moved
}

// releaseMoved gives back locks that were moved to the table.
func (t *Table) releaseMoved(o *Owner, moved []uint64) {
	for _, v := range moved {
		e := t.entries[object{string(RelationKey(uint32(v >> slotShift))), true}]
		if e == nil {
			continue
		}
		if h := e.holder(o); h != nil {
			h.txn &^= slotMode(v).bit()
			t.settle(e, h)
		}
	}
}

// weaken counts the strong locks of a table that are gone.
func (t *Table) weaken(e *entry, gone modes) {
	if !e.relation {
		return
	}
	id, _ := DecodeRelationKey([]byte(e.key))
	for m := TableShare; m < modeCount; m++ {
		if gone.has(m) {
			t.strong[id%partitions].Add(-1)
		}
	}
}
