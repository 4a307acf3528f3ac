package table

import (
	"encoding/binary"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// ViewState is how far an incremental view has followed its tables. It lies under a key of its own
// ([ViewStateKey]), which every transaction writes that changes the view's rows. A view that was
// never filled has none.
type ViewState struct {
	// Frontier is the timestamp of the tables that the view shows: its rows are those that its
	// query gives there.
	Frontier tso.Timestamp
	// Stale: the frontier is not exact, and the view is to be computed anew.
	Stale bool
	// Broken says why the view does not follow its tables any more; "": it does. Its rows are still
	// those at the frontier.
	Broken string
	// BrokenAt is the timestamp of the tables at which that happened.
	BrokenAt tso.Timestamp
	// Sources are the relations that the view uses, as they were at the frontier.
	Sources []ViewSource
}

// ViewSource is a relation with the place of its rows: one with another place has been rewritten.
type ViewSource struct {
	Relation ID
	Storage  StorageID
}

// Source returns the storage ID of a relation at the frontier, zero if the view did not use it.
func (s *ViewState) Source(id ID) StorageID {
	for _, u := range s.Sources {
		if u.Relation == id {
			return u.Storage
		}
	}
	return 0
}

// ViewStateKey is the key of a view's state.
func ViewStateKey(id ID) []byte { return AppendID([]byte{PrefixView}, id) }

// ViewOfStateKey returns the view of whose state key is; ok is false for other keys.
func ViewOfStateKey(key []byte) (id ID, ok bool) {
	if len(key) == 0 || key[0] != PrefixView {
		return 0, false
	}
	id, rest, ok := ReadID(key[1:])
	return id, ok && len(rest) == 0
}

const (
	viewStateFormat byte = 1

	viewStale  byte = 1 << 0
	viewBroken byte = 1 << 1
)

// Encode returns: format, flags, frontier (8 bytes), number of sources (uvarint), of each its ID
// and storage ID (uvarints), and of a broken view the timestamp (8 bytes) and the reason.
func (s *ViewState) Encode() []byte {
	var flags byte
	if s.Stale {
		flags |= viewStale
	}
	if s.Broken != "" {
		flags |= viewBroken
	}
	b := binary.BigEndian.AppendUint64([]byte{viewStateFormat, flags}, uint64(s.Frontier))
	b = binary.AppendUvarint(b, uint64(len(s.Sources)))
	for _, u := range s.Sources {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(u.Relation)), uint64(u.Storage))
	}
	if s.Broken != "" {
		b = append(binary.BigEndian.AppendUint64(b, uint64(s.BrokenAt)), s.Broken...)
	}
	return b
}

// DecodeViewState reads what Encode wrote; anything else is kv.ErrCorruption.
func DecodeViewState(b []byte) (*ViewState, error) {
	bad := fmt.Errorf("table: bad state of a view %x: %w", b, kv.ErrCorruption)
	if len(b) < 10 || b[0] != viewStateFormat || b[1]&^(viewStale|viewBroken) != 0 {
		return nil, bad
	}
	s := &ViewState{Frontier: tso.Timestamp(binary.BigEndian.Uint64(b[2:])),
		Stale: b[1]&viewStale != 0}
	broken, rest := b[1]&viewBroken != 0, b[10:]
	number := func() (n uint64) {
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > 1<<32-1 {
			rest = nil
			return 1 << 40 // no number of anything
		}
		rest = rest[size:]
		return n
	}
	n := number()
	if n > uint64(len(rest)) {
		return nil, bad
	}
	for range n {
		id, storage := number(), number()
		if id > 1<<32-1 || storage > 1<<32-1 {
			return nil, bad
		}
		s.Sources = append(s.Sources, ViewSource{Relation: ID(id), Storage: StorageID(storage)})
	}
	if !broken {
		if len(rest) > 0 {
			return nil, bad
		}
		return s, nil
	}
	if len(rest) <= 8 {
		return nil, bad
	}
	s.BrokenAt = tso.Timestamp(binary.BigEndian.Uint64(rest))
	s.Broken = string(rest[8:])
	return s, nil
}
