package txn

import (
	"bytes"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
	"github.com/tidwall/btree"
)

// buffer holds a transaction's writes in key order, each with the older writes of its key that
// savepoints want back.
type buffer struct {
	tree    *btree.BTreeG[write]
	highest []byte // no key in the tree is above it
	arena   []byte
	bytes   int
	base    tso.Timestamp // of writes to come

	savepoints savepoints
	// streamed is set when some writes may be in the store already, so that what is undone has to
	// be taken back there.
	streamed bool

	noted pendingNotes // for the next write

	// frozen makes reads use past, the writes as they were at freeze; nil for none.
	frozen bool
	past   *btree.BTreeG[write]
}

// Savepoint is a point in a transaction's writes to which it can return.
type Savepoint struct {
	at      uint64
	locks   rowlock.Mark
	records int
}

// writeOverhead is about what a buffered write takes beside its bytes: its node, its slices, and
// its mutation while it is committed.
const writeOverhead = 192

// held is about how much memory the writes take, with the older ones that savepoints want back.
func (b *buffer) held() int {
	if b.tree == nil {
		return 0
	}
	return b.bytes + writeOverhead*b.tree.Len() + b.savepoints.held()
}

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

// store puts a write into the tree, in the place of another one if was is set. For a key above all
// others, as rows come that are in order, it searches nothing.
func (b *buffer) store(w, replaced write, was bool) {
	if b.tree == nil {
		b.tree = btree.NewBTreeGOptions(lessWrite, btree.Options{NoLocks: true})
	}
	if was {
		b.bytes -= replaced.size()
	}
	b.bytes += w.size()
	if bytes.Compare(w.key, b.highest) <= 0 {
		b.tree.Set(w)
		return
	}
	b.highest = w.key
	b.tree.Load(w)
}

// remove takes a write out of the tree.
func (b *buffer) remove(w write) {
	b.bytes -= w.size()
	b.tree.Delete(w)
}

// before returns the write of the key as the transaction sees it, and the one that is in the tree:
// they differ where a write was taken back.
func (b *buffer) before(key []byte) (before write, was bool, replaced write, there bool) {
	replaced, there = b.get(key)
	if replaced.kind == writeUndone {
		return write{key: replaced.key}, false, replaced, there
	}
	return replaced, there, replaced, there
}

// streamedOut forgets the writes, which are in the store now.
func (b *buffer) streamedOut() {
	b.savepoints.streamedOut(b.tree)
	b.tree = btree.NewBTreeGOptions(lessWrite, btree.Options{NoLocks: true})
	b.highest, b.arena, b.bytes = nil, nil, 0
}

// faultIn puts a write that was streamed out, or an older one of that key, back where it can be
// changed.
func (b *buffer) faultIn(key []byte, w write) {
	key = b.keep(key)
	for v := &w; v != nil; v = v.older {
		v.key, v.value = key, b.keep(v.value)
	}
	b.savepoints.note(&w)
	b.store(w, write{}, false)
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

// put buffers a write over the one that get returned. That one is kept if a savepoint wants it
// back.
func (b *buffer) put(w, replaced write, was bool) {
	b.noted.attach(&w)
	b.savepoints.stamp(&w, replaced, was)
	b.store(w, replaced, was)
}

// set buffers a put. An insert that is set again still has to find the key absent.
func (b *buffer) set(key, value []byte) {
	before, was, replaced, there := b.before(key)
	w := write{kind: writePut, mustNotExist: before.mustNotExist, fresh: before.fresh,
		key: before.key, base: before.base, held: before.held, notes: before.notes}
	if !was {
		w.key, w.base = b.keep(key), b.base
	}
	w.value = b.keep(value)
	b.put(w, replaced, there)
}

// setAfter is set with a base of its own.
func (b *buffer) setAfter(base tso.Timestamp, key, value []byte) {
	b.set(key, value)
	w, _ := b.get(key)
	w.base = max(w.base, base)
	b.tree.Set(w)
}

// setNew is set of a key that is known to be absent, unless this transaction has written it
// already.
func (b *buffer) setNew(key, value []byte) {
	_, was, replaced, there := b.before(key)
	if was {
		b.set(key, value)
		return
	}
	b.put(write{kind: writePut, fresh: true, key: b.keep(key), value: b.keep(value), base: b.base},
		replaced, there)
}

// insert buffers a put of a key that must be absent, unless this transaction deleted it itself.
func (b *buffer) insert(key, value []byte) {
	before, was, replaced, there := b.before(key)
	w := write{kind: writePut, mustNotExist: !was || before.mustNotExist, fresh: before.fresh,
		key: before.key, base: before.base, held: before.held, notes: before.notes}
	if !was {
		w.key, w.base = b.keep(key), b.base
	}
	w.value = b.keep(value)
	b.put(w, replaced, there)
}

func (b *buffer) delete(key []byte) {
	before, was, replaced, there := b.before(key)
	w := write{kind: writeDelete, key: before.key, base: before.base, held: before.held,
		notes: before.notes}
	if !was {
		w.key, w.base = b.keep(key), b.base
	}
	if before.mustNotExist || before.fresh {
		w.kind, w.mustNotExist, w.fresh = writeNone, before.mustNotExist, before.fresh
	}
	b.put(w, replaced, there)
}

// rollbackTo forgets what was written in the buffer after sp. It returns the span of the keys
// streamed out since: these are to be taken back in the store, unless the buffer has a write of
// them now. doubt is set when some of the buffer may be in the store, so that it is not known what
// is stored there.
func (b *buffer) rollbackTo(sp Savepoint, doubt bool) (streamed kv.Span) {
	keys, streamed := b.savepoints.cutTo(sp.at)
	for _, key := range keys {
		w, ok := b.get(key)
		if !ok || w.seq <= sp.at {
			continue
		}
		switch v := w.at(sp.at); {
		case v != nil && (!v.stored || doubt):
			before := *v
			before.held, before.stored = mvcc.HeldUnknown, false // the lock may have changed since
			b.store(before, w, true)
		case v == nil && b.streamed:
			b.store(write{key: w.key, kind: writeUndone}, w, true)
		default:
			b.remove(w)
		}
	}
	return streamed
}

// cursor walks the writes of a span as they were when it was opened.
type cursor struct {
	it      btree.IterG[write]
	span    kv.Span
	reverse bool
	ok      bool
}

// cursor returns nil when the span has no write now, as reads see the writes. The tree is copied on
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

// forgetAfter forgets the savepoints after the first n. What was written after one counts as
// written after the one before it.
func (s *savepoints) forgetAfter(n int, b *buffer) {
	if n == 0 {
		s.all, s.keys = nil, 0
		return
	}
	for i := len(s.all) - 1; i >= n; i-- {
		last, into := &s.all[i], &s.all[i-1]
		for _, key := range last.keys {
			if w, ok := b.get(key); ok && s.merge(b, w, last.at, into.at) {
				into.keys = append(into.keys, key)
				continue
			}
			s.keys--
		}
		into.streamed = union(into.streamed, last.streamed)
		s.all[i] = savepoint{}
		s.all = s.all[:i]
	}
}

// merge drops the write of a key that only the savepoint at a number wanted back. It reports
// whether the savepoint before that one now has a write of the key after it, which it had not
// before.
func (s *savepoints) merge(b *buffer, w write, at, before uint64) (fresh bool) {
	v := w.after(at)
	if v == nil {
		return false
	}
	between := v.older
	if between == nil || between.seq <= before {
		return true
	}
	b.bytes -= len(between.value) + olderOverhead
	v.older = between.older
	b.tree.Set(w)
	return false
}
