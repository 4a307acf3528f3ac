package buffer

import (
	"bytes"

	"github.com/minidb/minidb/txn/tso"
	"github.com/tidwall/btree"
)

// Buffer holds a transaction's writes in key order, each with the older writes of its key that
// savepoints want back.
type Buffer struct {
	tree    *btree.BTreeG[Write]
	highest []byte // no key in the tree is above it
	arena   Arena
	bytes   int
	base    tso.Timestamp // of writes to come

	savepoints savepoints
	streamed   bool // see StreamsOut

	noted pendingNotes // for the next write

	// frozen makes reads use past, the writes as they were at freeze; nil for none.
	frozen bool
	past   *btree.BTreeG[Write]
}

// writeOverhead is about what a buffered write takes beside its bytes: its node, its slices, and
// its mutation while it is committed.
const writeOverhead = 192

// Held is about how much memory the writes take, with the older ones that savepoints want back.
func (b *Buffer) Held() int {
	if b.tree == nil {
		return 0
	}
	return b.bytes + writeOverhead*b.tree.Len() + b.savepoints.held()
}

// Bytes returns the number of bytes of keys and values.
func (b *Buffer) Bytes() int { return b.bytes }

// Len returns the number of keys.
func (b *Buffer) Len() int {
	if b.tree == nil {
		return 0
	}
	return b.tree.Len()
}

// Empty reports whether there is no write.
func (b *Buffer) Empty() bool { return b.tree == nil || b.tree.Len() == 0 }

// Get returns the write of a key, if there is one.
func (b *Buffer) Get(key []byte) (Write, bool) {
	if b.tree == nil || bytes.Compare(key, b.highest) > 0 {
		return Write{}, false
	}
	return b.tree.Get(Write{Key: key})
}

// Each calls visit with the writes in the order of their keys, until it returns false.
func (b *Buffer) Each(visit func(w Write) bool) {
	if b.tree != nil {
		b.tree.Scan(visit)
	}
}

// SetBase sets the base of writes to come.
func (b *Buffer) SetBase(ts tso.Timestamp) { b.base = ts }

// Freeze makes Visible and Cursor show the writes as they are now, until Thaw.
func (b *Buffer) Freeze() {
	b.frozen, b.past = true, nil
	if b.tree != nil {
		b.past = b.tree.Copy()
	}
}

// Frozen reports whether the buffer is frozen: what is written now must stay in memory.
func (b *Buffer) Frozen() bool { return b.frozen }

// Thaw ends Freeze.
func (b *Buffer) Thaw() { b.frozen, b.past = false, nil }

// Visible is Get, of the writes as reads see them.
func (b *Buffer) Visible(key []byte) (Write, bool) {
	switch {
	case !b.frozen:
		return b.Get(key)
	case b.past == nil:
		return Write{}, false
	}
	return b.past.Get(Write{Key: key})
}

// store puts a write into the tree, in the place of another one if was is set. For a key above all
// others, as rows come that are in order, it searches nothing.
func (b *Buffer) store(w, replaced Write, was bool) {
	if b.tree == nil {
		b.tree = btree.NewBTreeGOptions(lessWrite, btree.Options{NoLocks: true})
	}
	if was {
		b.bytes -= replaced.size()
	}
	b.bytes += w.size()
	if bytes.Compare(w.Key, b.highest) <= 0 {
		b.tree.Set(w)
		return
	}
	b.highest = w.Key
	b.tree.Load(w)
}

// remove takes a write out of the tree.
func (b *Buffer) remove(w Write) {
	b.bytes -= w.size()
	b.tree.Delete(w)
}

// before returns the write of the key as the transaction sees it, and the one that is in the tree:
// they differ where a write was taken back.
func (b *Buffer) before(key []byte) (before Write, was bool, replaced Write, there bool) {
	replaced, there = b.Get(key)
	if replaced.Kind == Undone {
		return Write{Key: replaced.Key}, false, replaced, there
	}
	return replaced, there, replaced, there
}

// StreamsOut notes that some writes may be in the store from now on, so that what is undone has to
// be taken back there.
func (b *Buffer) StreamsOut() { b.streamed = true }

// StreamedOut forgets the writes, which are in the store now.
func (b *Buffer) StreamedOut() {
	b.savepoints.streamedOut(b.tree)
	b.tree = btree.NewBTreeGOptions(lessWrite, btree.Options{NoLocks: true})
	b.highest, b.arena, b.bytes = nil, nil, 0
}

// FaultIn puts a write that was streamed out, or an older one of that key, back where it can be
// changed.
func (b *Buffer) FaultIn(key []byte, w Write) {
	key = b.arena.Keep(key)
	for v := &w; v != nil; v = v.older {
		v.Key, v.Value = key, b.arena.Keep(v.Value)
	}
	b.savepoints.note(&w)
	b.store(w, Write{}, false)
}
