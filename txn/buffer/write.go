package buffer

import (
	"bytes"

	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// Write is one buffered write. Its slices lie in the buffer's arena and never change.
type Write struct {
	Key   []byte
	Value []byte
	Kind  Kind
	// MustNotExist is set for an insert: prewrite has to find the key absent.
	MustNotExist bool
	// Fresh is set when the writer knew the key to be absent from another key that is checked
	// instead: the row, for the entries of its indexes. To delete a fresh key again leaves nothing
	// to write, and nothing to check.
	Fresh bool
	// Held is what the transaction's own lock in the store is, if it was looked at.
	Held mvcc.Held
	// Base is the read timestamp of the first write of the key, zero before any SetBase. A commit
	// of another transaction above it is a conflict.
	Base tso.Timestamp
	// seq is the number of the write, which places it between two savepoints. older is the write
	// of the key that an earlier savepoint wants back, nil for none (savepoint.go).
	seq   uint64
	older *Write
	// stored is set for a write that the transaction's lock in the store already has.
	stored bool
	// notes are what its commit leaves for observers of the key: one for each, with the value from
	// before the transaction.
	notes *rowNotes
}

// Notes are what the write's commit leaves for observers of the key. They must not be changed.
func (w *Write) Notes() []mvcc.Note { return w.notes.all() }

// Kind is what a write does to its key.
type Kind byte

// The kinds. The zero value is no write.
const (
	Put Kind = iota + 1
	Delete
	// None is an insert, or a fresh write, that the transaction itself deleted again: the key
	// reads as absent, and nothing is written; above all it must not become the primary.
	None
	// Undone takes back a write that was streamed out: the key reads as if it had never been.
	Undone
)

// size is what a write takes of the buffer's bytes.
func (w *Write) size() int {
	n := len(w.Key) + len(w.Value)
	for v := w.older; v != nil; v = v.older {
		n += len(v.Value) + olderOverhead
	}
	for _, note := range w.notes.all() {
		n += len(note.Old) + noteOverhead
	}
	return n
}

// olderOverhead is about what an older write takes beside its bytes.
const olderOverhead = 128

func lessWrite(a, b Write) bool { return bytes.Compare(a.Key, b.Key) < 0 }

// after returns the oldest write of the key that is newer than a number, or nil.
func (w *Write) after(at uint64) (v *Write) {
	for o := w; o != nil && o.seq > at; o = o.older {
		v = o
	}
	return v
}

// at returns the write of the key as it was at a number, or nil.
func (w *Write) at(at uint64) *Write {
	v := w
	for v != nil && v.seq > at {
		v = v.older
	}
	return v
}

// In returns the kind of a lock, or of a version in it, for a write.
func (k Kind) In() mvcc.Kind {
	switch k {
	case Put:
		return mvcc.KindPut
	case Delete:
		return mvcc.KindDelete
	}
	return mvcc.KindLock
}

// KindOf returns the kind of write that a lock of the transaction was written for.
func KindOf(k mvcc.Kind) Kind {
	switch k {
	case mvcc.KindPut:
		return Put
	case mvcc.KindDelete:
		return Delete
	}
	return Undone
}

// Of returns the write that a lock of the transaction was written for, with the older ones of its
// key.
func Of(l *mvcc.Lock, value []byte) Write {
	w := Write{Kind: KindOf(l.Kind), Value: value, Held: heldBy(l), seq: l.Seq, stored: true}
	v := &w
	for i := range l.Older {
		o := &l.Older[i]
		v.older = &Write{Kind: KindOf(o.Kind), Value: o.Value, seq: o.Seq}
		v = v.older
	}
	return w
}

// heldBy returns what a lock of the transaction is for the next write of its key. Of one with
// notifications the write has to know more.
func heldBy(l *mvcc.Lock) mvcc.Held {
	if l.Notified {
		return mvcc.HeldUnknown
	}
	if l.Kind == mvcc.KindPut && !l.HasShort {
		return mvcc.HeldLong
	}
	return mvcc.HeldShort
}

// AsOf returns the write of the key as it was at a savepoint, to be put over the lock that w was
// read from. Without one, that is a write which takes the lock's back.
func (w *Write) AsOf(savepoint uint64) Write {
	before := Write{Kind: Undone}
	if v := w.at(savepoint); v != nil {
		before = *v
	}
	before.Held = w.Held
	return before
}

// noteOverhead is about what a note takes in memory besides the value.
const noteOverhead = 64
