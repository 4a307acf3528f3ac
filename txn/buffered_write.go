package txn

import (
	"bytes"

	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// write is one buffered write. Its slices lie in the buffer's arena and never change.
type write struct {
	key   []byte
	value []byte
	kind  writeKind
	// mustNotExist is set for an insert: prewrite has to find the key absent.
	mustNotExist bool
	// fresh is set when the writer knew the key to be absent from another key that is checked
	// instead: the row, for the entries of its indexes. To delete a fresh key again leaves nothing
	// to write, and nothing to check.
	fresh bool
	// held is what the transaction's own lock in the store is, if it was looked at.
	held mvcc.Held
	// base is the read timestamp of the first write of the key, zero before any Advance. A commit
	// of another transaction above it is a conflict.
	base tso.Timestamp
	// seq is the number of the write, which places it between two savepoints. older is the write
	// of the key that an earlier savepoint wants back, nil for none (savepoint.go).
	seq   uint64
	older *write
	// stored is set for a write that the transaction's lock in the store already has.
	stored bool
	// notes are what its commit leaves for observers of the key: one for each, with the value from
	// before the transaction.
	notes *rowNotes
}

type writeKind byte

const (
	writePut writeKind = iota + 1
	writeDelete
	// writeNone is an insert, or a fresh write, that the transaction itself deleted again: the key
	// reads as absent, and nothing is written; above all it must not become the primary.
	writeNone
	// writeUndone takes back a write that was streamed out: the key reads as if it had never been.
	writeUndone
)

// size is what a write takes of the buffer's bytes.
func (w *write) size() int {
	n := len(w.key) + len(w.value)
	for v := w.older; v != nil; v = v.older {
		n += len(v.value) + olderOverhead
	}
	for _, note := range w.notes.all() {
		n += len(note.Old) + noteOverhead
	}
	return n
}

// olderOverhead is about what an older write takes beside its bytes.
const olderOverhead = 128

func lessWrite(a, b write) bool { return bytes.Compare(a.key, b.key) < 0 }

// after returns the oldest write of the key that is newer than a number, or nil.
func (w *write) after(at uint64) (v *write) {
	for o := w; o != nil && o.seq > at; o = o.older {
		v = o
	}
	return v
}

// at returns the write of the key as it was at a number, or nil.
func (w *write) at(at uint64) *write {
	v := w
	for v != nil && v.seq > at {
		v = v.older
	}
	return v
}

// kindIn returns the kind of a lock, or of a version in it, for a write.
func kindIn(k writeKind) mvcc.Kind {
	switch k {
	case writePut:
		return mvcc.KindPut
	case writeDelete:
		return mvcc.KindDelete
	}
	return mvcc.KindLock
}

// kindOf returns the kind of write that a lock of the transaction was written for.
func kindOf(k mvcc.Kind) writeKind {
	switch k {
	case mvcc.KindPut:
		return writePut
	case mvcc.KindDelete:
		return writeDelete
	}
	return writeUndone
}

// writeOf returns the write that a lock of the transaction was written for, with the older ones of
// its key.
func writeOf(l *mvcc.Lock, value []byte) write {
	w := write{kind: kindOf(l.Kind), value: value, seq: l.Seq, stored: true}
	v := &w
	for i := range l.Older {
		o := &l.Older[i]
		v.older = &write{kind: kindOf(o.Kind), value: o.Value, seq: o.Seq}
		v = v.older
	}
	return w
}

// noteOverhead is about what a note takes in memory besides the value.
const noteOverhead = 64
