package observer

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
)

// Move is a table-level change: what replaces all rows of a table at once writes the new ones to
// another place and reads and deletes none of the old ones.
type Move struct {
	// Number is greater than that of every earlier one of the observer.
	Number uint32
	// From and To are the spans of the rows. Nothing is written in From after the change.
	From, To kv.Span
	// Keep: a row in From is the one in To that has the same rest of its key. Otherwise all rows in
	// From are gone, and those in To are new. Requires: without a notification only such rows are
	// written to To that have one in From, or without Keep any.
	Keep bool
	// Shape is how the caller reads rows in From that are encoded in another way than those in To.
	// It is there without Keep; nil: the encoding is the same.
	Shape []byte
	// Dropped is where the dropped span starts that holds From (txn.Txn.DropSpan).
	Dropped []byte
}

// Former is how to read the old image of a row from before a table-level change.
type Former struct {
	Key   []byte // of the row then
	Shape []byte // of the place in which Key lies
}

// Move notes a table-level change in the transaction that makes it: one notification, and the place
// that is to be walked (Carry). It costs the same for any number of rows, and conflicts with
// nothing that the workers do.
func (o *Target) Move(t *txn.Txn, m *Move) error {
	key := o.placeKey(m.Number)
	t.Notify(key, o.ID, nil)
	return errors.Join(t.Set(key, m.encode()),
		t.Set(o.numbered(stateWalk, m.Number), m.From.Start),
		t.HoldDropped(m.Dropped, o.State))
}

// Forget takes back, in a transaction that drops all keys of the observer, what keeps old places.
func (o *Target) Forget(ctx context.Context, t *txn.Txn) error {
	walks, err := o.walks(ctx, t)
	for i := 0; err == nil && i < len(walks); i++ {
		var m *Move
		if m, err = o.move(ctx, t, walks[i].number); err == nil {
			err = t.ReleaseDropped(m.Dropped, o.State)
		}
	}
	return err
}

// Moved lists the places that the rows have left and that the observer may still know rows by.
func (o *Target) Moved(ctx context.Context, t *txn.Txn) (from []kv.Span, err error) {
	moves, err := o.moves(ctx, t)
	for _, m := range moves {
		from = append(from, m.From)
	}
	return from, err
}

func (o *Target) numbered(kind byte, n uint32) []byte {
	return binary.BigEndian.AppendUint32(o.stateKey(kind, nil), n)
}

func (o *Target) placeKey(n uint32) []byte { return o.numbered(statePlace, n) }

// IsPlace reports whether a key with a notification is of a table-level change, and not of a row.
func (o *Target) IsPlace(key []byte) bool { return o.stateSpan(statePlace).Contains(key) }

// Limbo returns the row key of an old place that is the rest of a key for a row which is gone with
// that place; ok is false for other keys.
func (o *Target) Limbo(key []byte) (rowKey []byte, ok bool) {
	return bytes.CutPrefix(key, o.stateKey(stateLimbo, nil))
}

// Spans are where the observer's notifications are, in the order in which they are to be found.
func (o *Target) Spans() []kv.Span {
	return []kv.Span{o.stateSpan(statePlace), o.Rows, o.stateSpan(stateLimbo),
		o.stateSpan(stateWeak)}
}

const (
	moveFormat byte = 1
	moveKeep   byte = 1 << 0
)

// encode returns: format, flags, From, To and Dropped, each as uvarint length and bytes, the shape.
func (m *Move) encode() []byte {
	flags := byte(0)
	if m.Keep {
		flags |= moveKeep
	}
	out := []byte{moveFormat, flags}
	for _, b := range [][]byte{m.From.Start, m.From.End, m.To.Start, m.To.End, m.Dropped} {
		out = append(binary.AppendUvarint(out, uint64(len(b))), b...)
	}
	return append(out, m.Shape...)
}

func decodeMove(n uint32, b []byte) (*Move, error) {
	bad := fmt.Errorf("observer: bad table-level change %d: %x: %w", n, b, kv.ErrCorruption)
	if len(b) < 2 || b[0] != moveFormat || b[1]&^moveKeep != 0 {
		return nil, bad
	}
	m := &Move{Number: n, Keep: b[1]&moveKeep != 0}
	b = bytes.Clone(b[2:])
	for _, to := range []*[]byte{&m.From.Start, &m.From.End, &m.To.Start, &m.To.End, &m.Dropped} {
		size, used := binary.Uvarint(b)
		if used <= 0 || size > uint64(len(b)-used) {
			return nil, bad
		}
		*to, b = b[used:used+int(size)], b[used+int(size):]
	}
	if m.Shape = b; len(b) == 0 {
		m.Shape = nil
	}
	return m, nil
}

// to returns the key in the new place, or in limbo, of a row in the old one.
func (o *Target) to(m *Move, key []byte) []byte {
	if !m.Keep {
		return o.stateKey(stateLimbo, key)
	}
	return append(bytes.Clone(m.To.Start), key[len(m.From.Start):]...)
}

// walk is an old place that is not worked off: rows from position on are where they were.
type walk struct {
	number   uint32
	position []byte
}

// walks lists the old places that are not worked off, the oldest first.
func (o *Target) walks(ctx context.Context, t *txn.Txn) (all []walk, err error) {
	err = o.eachNumber(ctx, t, stateWalk, func(n uint32, value []byte) error {
		all = append(all, walk{n, bytes.Clone(value)})
		return nil
	})
	return all, err
}

// moves lists the table-level changes that something may refer to, the oldest first.
func (o *Target) moves(ctx context.Context, t *txn.Txn) (all []*Move, err error) {
	err = o.eachNumber(ctx, t, statePlace, func(n uint32, value []byte) error {
		m, err := decodeMove(n, value)
		all = append(all, m)
		return err
	})
	return all, err
}

func (o *Target) eachNumber(ctx context.Context, t *txn.Txn, kind byte,
	visit func(n uint32, value []byte) error) (err error) {
	it, err := t.Scan(ctx, o.stateSpan(kind), txn.ScanOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for it.Next() {
		rest := it.Key()[len(o.State)+1:]
		if len(rest) != 4 {
			return fmt.Errorf("observer: bad key %x: %w", it.Key(), kv.ErrCorruption)
		}
		if err := visit(binary.BigEndian.Uint32(rest), it.Value()); err != nil {
			return err
		}
	}
	return it.Err()
}

func (o *Target) move(ctx context.Context, t *txn.Txn, n uint32) (*Move, error) {
	value, err := t.Get(ctx, o.placeKey(n))
	if err != nil {
		return nil, err
	}
	return decodeMove(n, value)
}

// awaited reports whether something may still be carried to a key: no run on it sees all of its
// changes before.
func (o *Target) awaited(ctx context.Context, t *txn.Txn, key []byte) (bool, error) {
	walks, err := o.walks(ctx, t)
	if err != nil || len(walks) == 0 {
		return false, err
	}
	moves, err := o.moves(ctx, t)
	if err != nil {
		return false, err
	}
	if row, ok := o.Limbo(key); ok {
		key = row
	}
	// Back through the places in which the row has been.
	for i := len(moves) - 1; i >= 0; i-- {
		m := moves[i]
		if m.Keep && m.To.Contains(key) {
			key = append(bytes.Clone(m.From.Start), key[len(m.To.Start):]...)
		}
		if !m.From.Contains(key) {
			continue
		}
		for _, w := range walks {
			if w.number == m.Number && bytes.Compare(w.position, key) <= 0 {
				return true, nil
			}
		}
	}
	return false, nil
}

// renewed reports whether a table-level change after which all rows are new is not worked off: the
// backfill that it leads to has not begun.
func (o *Target) renewed(ctx context.Context, t *txn.Txn) (bool, error) {
	walks, err := o.walks(ctx, t)
	for i := 0; err == nil && i < len(walks); i++ {
		var m *Move
		if m, err = o.move(ctx, t, walks[i].number); err == nil && !m.Keep {
			return true, nil
		}
	}
	return false, err
}

// former finds out how to read an image of a row that was carried away from a place; nil: as if it
// were of the key itself.
func (o *Target) former(ctx context.Context, t *txn.Txn, key []byte, place uint32) (*Former,
	error) {
	moves, err := o.moves(ctx, t)
	if err != nil {
		return nil, err
	}
	var rest []byte
	if row, ok := o.Limbo(key); ok {
		for _, m := range moves {
			if m.From.Contains(row) {
				rest = row[len(m.From.Start):]
			}
		}
	} else {
		rest = key[len(o.Rows.Start):]
	}
	for _, m := range moves {
		if m.Number >= place && m.Shape != nil {
			return &Former{Key: append(bytes.Clone(m.From.Start), rest...), Shape: m.Shape}, nil
		}
	}
	return nil, nil
}
