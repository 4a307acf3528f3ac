package buffer

import "github.com/minidb/minidb/txn/tso"

// put buffers a write over the one that Get returned. That one is kept if a savepoint wants it
// back.
func (b *Buffer) put(w, replaced Write, was bool) {
	b.noted.attach(&w)
	b.savepoints.stamp(&w, replaced, was)
	b.store(w, replaced, was)
}

// Set buffers a put of a key. An insert that is set again still has to find the key absent.
func (b *Buffer) Set(key, value []byte) {
	before, was, replaced, there := b.before(key)
	w := Write{Kind: Put, MustNotExist: before.MustNotExist, Fresh: before.Fresh,
		Key: before.Key, Base: before.Base, Held: before.Held, notes: before.notes}
	if !was {
		w.Key, w.Base = b.arena.Keep(key), b.base
	}
	w.Value = b.arena.Keep(value)
	b.put(w, replaced, there)
}

// SetAfter is Set with a base of its own.
func (b *Buffer) SetAfter(base tso.Timestamp, key, value []byte) {
	b.Set(key, value)
	w, _ := b.Get(key)
	w.Base = max(w.Base, base)
	b.tree.Set(w)
}

// SetNew is Set of a key that is known to be absent, unless this transaction has written it
// already.
func (b *Buffer) SetNew(key, value []byte) {
	_, was, replaced, there := b.before(key)
	if was {
		b.Set(key, value)
		return
	}
	b.put(Write{Kind: Put, Fresh: true, Key: b.arena.Keep(key), Value: b.arena.Keep(value),
		Base: b.base}, replaced, there)
}

// Insert buffers a put of a key that must be absent, unless this transaction deleted it itself.
func (b *Buffer) Insert(key, value []byte) {
	before, was, replaced, there := b.before(key)
	w := Write{Kind: Put, MustNotExist: !was || before.MustNotExist, Fresh: before.Fresh,
		Key: before.Key, Base: before.Base, Held: before.Held, notes: before.notes}
	if !was {
		w.Key, w.Base = b.arena.Keep(key), b.base
	}
	w.Value = b.arena.Keep(value)
	b.put(w, replaced, there)
}

// InsertAfter is Insert of a key that was found removed at a timestamp: no write of others up to it
// is a conflict.
func (b *Buffer) InsertAfter(removed tso.Timestamp, key, value []byte) {
	base := b.base
	b.base = max(base, removed)
	b.Insert(key, value)
	b.base = base
}

// Delete buffers the removal of a key.
func (b *Buffer) Delete(key []byte) {
	before, was, replaced, there := b.before(key)
	w := Write{Kind: Delete, Key: before.Key, Base: before.Base, Held: before.Held,
		notes: before.notes}
	if !was {
		w.Key, w.Base = b.arena.Keep(key), b.base
	}
	if before.MustNotExist || before.Fresh {
		w.Kind, w.MustNotExist, w.Fresh = None, before.MustNotExist, before.Fresh
	}
	b.put(w, replaced, there)
}
