package buffer

import (
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
)

// Savepoint makes a savepoint and returns its number.
func (b *Buffer) Savepoint() (at uint64) { return b.savepoints.add() }

// Seq returns the number of the next write: a return to a savepoint with a lower number undoes it.
func (b *Buffer) Seq() uint64 { return b.savepoints.seq }

// HasSavepoints reports whether a savepoint is still wanted.
func (b *Buffer) HasSavepoints() bool { return b.savepoints.any() }

// ForgetSavepoints frees the memory of all savepoints.
func (b *Buffer) ForgetSavepoints() { b.savepoints.forgetAfter(0, b) }

// ForgetSavepointsAfter frees the memory of those that were made after one. Requires: that one has
// not been forgotten.
func (b *Buffer) ForgetSavepointsAfter(at uint64) {
	b.savepoints.forgetAfter(b.savepoints.first(at)+1, b)
}

// RollbackTo forgets what was written in the buffer after a savepoint. It returns the span of the
// keys streamed out since: these are to be taken back in the store, unless the buffer has a write
// of them now. doubt is set when some of the buffer may be in the store, so that it is not known
// what is stored there.
func (b *Buffer) RollbackTo(at uint64, doubt bool) (streamed kv.Span) {
	keys, streamed := b.savepoints.cutTo(at)
	for _, key := range keys {
		w, ok := b.Get(key)
		if !ok || w.seq <= at {
			continue
		}
		switch v := w.at(at); {
		case v != nil && (!v.stored || doubt):
			before := *v
			before.Held, before.stored = mvcc.HeldUnknown, false // the lock may have changed since
			b.store(before, w, true)
		case v == nil && b.streamed:
			b.store(Write{Key: w.Key, Kind: Undone}, w, true)
		default:
			b.remove(w)
		}
	}
	return streamed
}

// forgetAfter forgets the savepoints after the first n. What was written after one counts as
// written after the one before it.
func (s *savepoints) forgetAfter(n int, b *Buffer) {
	if n == 0 {
		s.all, s.keys = nil, 0
		return
	}
	for i := len(s.all) - 1; i >= n; i-- {
		last, into := &s.all[i], &s.all[i-1]
		for _, key := range last.keys {
			if w, ok := b.Get(key); ok && s.merge(b, w, last.at, into.at) {
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
func (s *savepoints) merge(b *Buffer, w Write, at, before uint64) (fresh bool) {
	v := w.after(at)
	if v == nil {
		return false
	}
	between := v.older
	if between == nil || between.seq <= before {
		return true
	}
	b.bytes -= len(between.Value) + olderOverhead
	v.older = between.older
	b.tree.Set(w)
	return false
}
