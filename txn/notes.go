package txn

import (
	"bytes"
	"slices"

	"github.com/minidb/minidb/txn/mvcc"
)

// pendingNotes is what the next write of a key leaves for observers.
type pendingNotes struct {
	key   []byte
	notes []mvcc.Note
	some  bool // the transaction has noted something
}

// attach gives a write what was noted for it. The slice is made anew: savepoints may have the old
// one.
func (n *pendingNotes) attach(w *write) {
	if len(n.notes) == 0 {
		return
	}
	if bytes.Equal(n.key, w.key) {
		w.notes = slices.Clip(w.notes)
		for _, note := range n.notes {
			if !slices.ContainsFunc(w.notes,
				func(m mvcc.Note) bool { return m.Observer == note.Observer }) {
				w.notes = append(w.notes, note)
			}
		}
	}
	n.notes = nil
}
