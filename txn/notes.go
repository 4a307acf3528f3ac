package txn

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

// attach gives a write what was noted for it. The slice is new, because savepoints may have the old
// one.
func (n *pendingNotes) attach(w *write) {
	if len(n.notes) == 0 {
		return
	}
	if bytes.Equal(n.key, w.key) {
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
