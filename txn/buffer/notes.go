package buffer

import (
	"bytes"
	"slices"

	"github.com/minidb/minidb/txn/mvcc"
)

// rowNotes are the notes of a buffered write. They never change. Most writes have none, so that
// they take no more than a pointer.
type rowNotes []mvcc.Note

func (n *rowNotes) all() []mvcc.Note {
	if n == nil {
		return nil
	}
	return *n
}

// pendingNotes is what the next write of a key leaves for observers.
type pendingNotes struct {
	key   []byte
	notes []mvcc.Note
	some  bool // the transaction has noted something
}

// Note makes the next write of key, which has to follow, leave a note for an observer, with a copy
// of old as the value from before, if the note has one. What was noted before for that observer is
// of a write that has failed.
func (b *Buffer) Note(key []byte, note mvcc.Note, old []byte) {
	n := &b.noted
	if !bytes.Equal(n.key, key) {
		n.key, n.notes = append(n.key[:0], key...), nil
	}
	if note.HasOld {
		note.Old = b.arena.Keep(old)
	}
	n.notes = slices.DeleteFunc(n.notes,
		func(m mvcc.Note) bool { return m.Observer == note.Observer })
	n.notes, n.some = append(n.notes, note), true
}

// Noted reports whether the transaction has noted something.
func (b *Buffer) Noted() bool { return b.noted.some }

// attach gives a write what was noted for it. The slice is new, because savepoints may have the old
// one.
func (n *pendingNotes) attach(w *Write) {
	if len(n.notes) == 0 {
		return
	}
	if bytes.Equal(n.key, w.Key) {
		had := w.notes.all()
		notes := slices.Clone(had)
		for _, note := range n.notes {
			if !slices.ContainsFunc(had,
				func(m mvcc.Note) bool { return m.Observer == note.Observer }) {
				notes = append(notes, note)
			}
		}
		w.notes = (*rowNotes)(&notes)
	}
	n.notes = nil
}
