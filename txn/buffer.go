package txn

import (
	"bytes"
	"slices"

	"github.com/minidb/minidb/internal/planted"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
	"github.com/tidwall/btree"
)

// write is one buffered write. Its slices lie in the buffer's arena and never change.
type write struct {
	key   []byte
	value []byte
	kind  writeKind
	// mustNotExist: the key was inserted, and prewrite has to find it absent.
	mustNotExist bool
	// fresh: the writer knew the key to be absent, and what stands for it (a row, for the entries of its
	// indexes) is checked instead. To delete it again leaves nothing to write, and nothing to check.
	fresh bool
	// held is what the transaction's own lock in the store is, if it was looked at.
	held mvcc.Held
	// base is the read timestamp of the first write of the key, zero before any Advance: what
	// others committed above it is a conflict.
	base tso.Timestamp
}

type writeKind byte

const (
	writePut writeKind = iota + 1
	writeDelete
	// writeNone is an insert, or a fresh write, that the transaction itself deleted again: the key reads
	// as absent, and nothing is written; above all it must not become the primary.
	writeNone
	// writeUndone takes back a write that was streamed out: the key reads as if it had never been.
	writeUndone
)

// buffer holds a transaction's writes in key order, with an undo log for savepoints.
type buffer struct {
	tree    *btree.BTreeG[write]
	highest []byte // no key in the tree is above it
	arena   []byte
	bytes   int
	base    tso.Timestamp // of writes to come

	// undo is recorded once a savepoint exists. RollbackTo plays it backwards.
	undo      []undone
	undoing   bool
	undoBytes int // keys and values in undo
	cloned    int // so many entries of undo have their bytes outside of the arena
	// streamed: some writes are in the store already, perhaps, and what is undone has to be taken back there.
	streamed bool

	// frozen: reads are answered by past, the writes as they were at freeze; nil for none.
	frozen bool
	past   *btree.BTreeG[write]
}

type undone struct {
	before write
	was    bool // there was a write of the key before
}

// Savepoint is a point in a transaction's writes to which it can return.
type Savepoint struct {
	undo    int
	locks   rowlock.Mark
	records int
}

func lessWrite(a, b write) bool { return bytes.Compare(a.key, b.key) < 0 }

// writeOverhead is about what a buffered write takes beside its bytes: its node, its slices, and its
// mutation while it is committed.
const writeOverhead = 192

// footprint is about how much memory the writes take.
func (b *buffer) footprint() int {
	if b.tree == nil {
		return 0
	}
	return b.held() + b.undoBytes + undoOverhead*len(b.undo)
}

// held is footprint without the undo log, which stays when the writes are streamed out.
func (b *buffer) held() int {
	if b.tree == nil {
		return 0
	}
	return b.bytes + writeOverhead*b.tree.Len()
}

// undoOverhead is the same of an entry of the undo log.
const undoOverhead = 96

func (b *buffer) empty() bool { return b.tree == nil || b.tree.Len() == 0 }

func (b *buffer) get(key []byte) (write, bool) {
	if b.tree == nil || bytes.Compare(key, b.highest) > 0 {
		return write{}, false
	}
	return b.tree.Get(write{key: key})
}

// freeze makes visible and cursor show the writes as they are now, until thaw.
func (b *buffer) freeze() {
	b.frozen, b.past = true, nil
	if b.tree != nil {
		b.past = b.tree.Copy()
	}
}

func (b *buffer) thaw() { b.frozen, b.past = false, nil }

// visible is get, of the writes as reads see them.
func (b *buffer) visible(key []byte) (write, bool) {
	switch {
	case !b.frozen:
		return b.get(key)
	case b.past == nil:
		return write{}, false
	}
	return b.past.Get(write{key: key})
}

// store puts a write into the tree. One above all others, as rows come that are in order, is not searched for.
func (b *buffer) store(w write) (before write, was bool) {
	if bytes.Compare(w.key, b.highest) <= 0 {
		return b.tree.Set(w)
	}
	b.highest = w.key
	return b.tree.Load(w)
}

// before returns the write that stands before another one of the same key.
func (b *buffer) before(key []byte) (write, bool) {
	w, ok := b.get(key)
	if w.kind == writeUndone {
		return write{key: w.key}, false
	}
	return w, ok
}

// streamedOut forgets the writes, which are in the store now. What the undo log needs stays.
func (b *buffer) streamedOut() {
	for i := b.cloned; i < len(b.undo); i++ {
		w := &b.undo[i].before
		w.key, w.value = bytes.Clone(w.key), bytes.Clone(w.value)
	}
	b.cloned = len(b.undo)
	b.tree = btree.NewBTreeGOptions(lessWrite, btree.Options{NoLocks: true})
	b.highest, b.arena, b.bytes = nil, nil, 0
}

// faultIn puts a write that was streamed out back where it can be changed.
func (b *buffer) faultIn(w write) {
	b.store(w)
	b.bytes += len(w.key) + len(w.value)
}

// keep copies p into the arena. Chunks double up to a megabyte, so that a one-row transaction
// allocates a few hundred bytes and a large one allocates rarely.
func (b *buffer) keep(p []byte) []byte {
	if len(b.arena)+len(p) > cap(b.arena) {
		b.arena = make([]byte, 0, max(len(p), min(max(256, 2*cap(b.arena)), 1<<20)))
	}
	at := len(b.arena)
	b.arena = append(b.arena, p...)
	return b.arena[at:len(b.arena):len(b.arena)]
}

func (b *buffer) put(w write) {
	if b.tree == nil {
		b.tree = btree.NewBTreeGOptions(lessWrite, btree.Options{NoLocks: true})
	}
	before, was := b.store(w)
	if was {
		b.bytes -= len(before.key) + len(before.value)
	}
	b.bytes += len(w.key) + len(w.value)
	if b.undoing {
		if !was {
			before.key = w.key
		}
		before.held = mvcc.HeldUnknown // until it is played back, the lock may change
		b.undo = append(b.undo, undone{before, was})
		b.undoBytes += len(before.key) + len(before.value)
	}
}

// set buffers a put. An insert that is set again still has to find the key absent.
func (b *buffer) set(key, value []byte) {
	before, was := b.before(key)
	w := write{kind: writePut, mustNotExist: before.mustNotExist, fresh: before.fresh, key: before.key, base: before.base, held: before.held}
	if !was || planted.Is(planted.MovedBase) {
		w.key, w.base = b.keep(key), b.base
	}
	w.value = b.keep(value)
	b.put(w)
}

// setNew is set of a key that is known to be absent, unless this transaction has written it already.
func (b *buffer) setNew(key, value []byte) {
	if _, was := b.before(key); was {
		b.set(key, value)
		return
	}
	b.put(write{kind: writePut, fresh: true, key: b.keep(key), value: b.keep(value), base: b.base})
}

// insert buffers a put of a key that must be absent, unless this transaction deleted it itself.
func (b *buffer) insert(key, value []byte) {
	before, was := b.before(key)
	w := write{kind: writePut, mustNotExist: !was || before.mustNotExist, fresh: before.fresh, key: before.key, base: before.base, held: before.held}
	if !was {
		w.key, w.base = b.keep(key), b.base
	}
	w.value = b.keep(value)
	b.put(w)
}

func (b *buffer) delete(key []byte) {
	before, was := b.before(key)
	w := write{kind: writeDelete, key: before.key, base: before.base, held: before.held}
	if !was {
		w.key, w.base = b.keep(key), b.base
	}
	if before.mustNotExist || before.fresh {
		w.kind, w.mustNotExist, w.fresh = writeNone, before.mustNotExist, before.fresh
	}
	b.put(w)
}

func (b *buffer) savepoint() Savepoint {
	b.undoing = true
	return Savepoint{undo: len(b.undo)}
}

// rollbackTo undoes what was written after sp, the last write first, until the buffer holds more than
// limit: then the answer is false, and it has to be called again once that was streamed out.
func (b *buffer) rollbackTo(sp Savepoint, limit int) (done bool) {
	for i := len(b.undo) - 1; i >= sp.undo; i-- {
		if b.held() > limit {
			return false
		}
		u := b.undo[i]
		b.undo[i] = undone{}
		b.undo = b.undo[:i]
		b.cloned = min(b.cloned, i)
		b.undoBytes -= len(u.before.key) + len(u.before.value)
		now, _ := b.tree.Get(u.before)
		b.bytes -= len(now.key) + len(now.value)
		if !u.was && b.streamed {
			u.before = write{key: u.before.key, kind: writeUndone}
		} else if !u.was {
			b.tree.Delete(u.before)
			continue
		}
		b.bytes += len(u.before.key) + len(u.before.value)
		b.store(u.before)
	}
	if cap(b.undo) > keptUndo && len(b.undo) < cap(b.undo)/4 {
		b.undo = slices.Clone(b.undo)
	}
	return true
}

// drop forgets how to undo what was written after sp.
func (b *buffer) drop(sp Savepoint) {
	for _, u := range b.undo[sp.undo:] {
		b.undoBytes -= len(u.before.key) + len(u.before.value)
	}
	clear(b.undo[sp.undo:])
	b.undo, b.cloned = b.undo[:sp.undo], min(b.cloned, sp.undo)
}

// keptUndo bounds the memory that a short undo log keeps for the next statement.
const keptUndo = 1024

// forgetSavepoints drops the undo log, and keeps none until the next savepoint.
func (b *buffer) forgetSavepoints() {
	b.undo, b.undoing, b.undoBytes, b.cloned = nil, false, 0, 0
}

// cursor walks the writes of a span as they were when it was opened.
type cursor struct {
	it      btree.IterG[write]
	span    kv.Span
	reverse bool
	ok      bool
}

// cursor returns nil when no write lies in the span now, as reads see the writes. The tree is copied on
// write, so later writes do not disturb the cursor.
func (b *buffer) cursor(span kv.Span, reverse bool) *cursor {
	tree := b.tree
	if b.frozen {
		tree = b.past
	}
	if tree == nil || tree.Len() == 0 {
		return nil
	}
	c := &cursor{span: span, reverse: reverse}
	probe := tree.Iter()
	if !c.first(&probe) {
		return nil
	}
	c.it = tree.Copy().Iter()
	c.ok = c.first(&c.it)
	return c
}

func (c *cursor) first(it *btree.IterG[write]) bool {
	var ok bool
	switch {
	case !c.reverse:
		ok = it.Seek(write{key: c.span.Start})
	case c.span.End == nil:
		ok = it.Last()
	case it.Seek(write{key: c.span.End}):
		ok = it.Prev()
	default:
		ok = it.Last()
	}
	return ok && c.span.Contains(it.Item().key)
}

func (c *cursor) next() {
	if c.reverse {
		c.ok = c.it.Prev()
	} else {
		c.ok = c.it.Next()
	}
	c.ok = c.ok && c.span.Contains(c.it.Item().key)
}
