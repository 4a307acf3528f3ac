package table

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/observer"
)

// What an observer keeps lies under keys of its own, which begin with 'o' and four bytes of its ID,
// and go as a whole with it. Package txn/observer owns what follows.

// ObserverKind is what a key of an observer holds: the byte behind the ID.
type ObserverKind byte

// The kinds of keys of an observer, as package txn/observer writes them.
const (
	ObserverAcknowledgement ObserverKind = iota + 1
	ObserverDeadLetter
	ObserverBackfill // of no row
	ObserverGone
	ObserverPlace // of a table-level change
	ObserverWalk  // of a table-level change
	// ObserverLimbo keys are those of rows that are gone with the place in which they were. They
	// have notifications, and keys of the other kinds, but no values.
	ObserverLimbo
	ObserverImage
	ObserverWeak // of a weak notification: the row's key without its place, and 8 bytes
)

func (k ObserverKind) String() string {
	switch k {
	case ObserverAcknowledgement:
		return "acknowledgement"
	case ObserverDeadLetter:
		return "dead letter"
	case ObserverBackfill:
		return "backfill"
	case ObserverGone:
		return "gone"
	case ObserverPlace:
		return "table change"
	case ObserverWalk:
		return "walk"
	case ObserverLimbo:
		return "gone with its place"
	case ObserverImage:
		return "image"
	case ObserverWeak:
		return "weak notification"
	}
	return fmt.Sprintf("kind %d", byte(k))
}

// Target is what an observer of the table is to its workers.
func (d *Desc) Target(o *Observer) observer.Target {
	return observer.Target{ID: uint32(o.ID), Rows: d.IndexSpan(RowIndexID),
		State: observerPrefix(o.ID)}
}

func observerPrefix(id ID) []byte {
	return binary.BigEndian.AppendUint32([]byte{PrefixObserver}, uint32(id))
}

// ObserverSpan holds all keys of an observer.
func ObserverSpan(id ID) kv.Span { return PrefixSpan(observerPrefix(id)) }

// ObserverOfSpan returns the observer of which a span holds all keys; ok is false for other spans.
func ObserverOfSpan(span kv.Span) (id ID, ok bool) {
	if len(span.Start) != 5 || span.Start[0] != PrefixObserver {
		return 0, false
	}
	return ID(binary.BigEndian.Uint32(span.Start[1:])), true
}

// ObserverKey is the key of an observer of a kind, for a row.
func ObserverKey(id ID, kind ObserverKind, row []byte) []byte {
	return append(append(observerPrefix(id), byte(kind)), row...)
}

// DecodeObserverKey takes a key of an observer apart; ok is false for keys of other owners. rowKey
// is the whole key of a row, or of one that is gone with its place, or the number of a table-level
// change, 4 bytes, or of a weak notification what follows its place. It aliases key.
func DecodeObserverKey(key []byte) (id ID, kind ObserverKind, rowKey []byte, ok bool) {
	if len(key) < 6 || key[0] != PrefixObserver {
		return 0, 0, nil, false
	}
	id, kind, rowKey = ID(binary.BigEndian.Uint32(key[1:])), ObserverKind(key[5]), key[6:]
	switch kind {
	case ObserverAcknowledgement, ObserverDeadLetter, ObserverGone, ObserverLimbo, ObserverImage:
		return id, kind, rowKey, true
	case ObserverWeak:
		return id, kind, rowKey, len(rowKey) > 8
	case ObserverPlace, ObserverWalk:
		return id, kind, rowKey, len(rowKey) == 4
	case ObserverBackfill:
		return id, kind, rowKey, len(rowKey) == 0
	}
	return 0, 0, nil, false
}

// FormerRowKey returns the key that a row had which is gone with its place, by the key that an
// observer has for it. Other keys it returns as they are.
func FormerRowKey(key []byte) []byte {
	if _, kind, row, ok := DecodeObserverKey(key); ok && kind == ObserverLimbo {
		return row
	}
	return key
}

// restOf returns the key columns of a whole key of the layout.
func (l *layout) restOf(key []byte) ([]byte, error) {
	rest, ok := bytes.CutPrefix(key, l.prefix)
	if !ok {
		return nil, fmt.Errorf("table %q: %x is no key of its rows: %w", l.desc.Name, key,
			kv.ErrCorruption)
	}
	return rest, nil
}
