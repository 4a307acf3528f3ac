package tso

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/minidb/minidb/kv"
)

// ErrDeposed is returned by an oracle in whose place another one serves.
var ErrDeposed = errors.New("oracle: another process serves timestamps now")

// ErrUnavailable is returned by a Source when no oracle has answered for some time.
var ErrUnavailable = errors.New("the timestamp oracle does not answer")

// Cell is what an oracle keeps in the store:
//
//	m oracle   high-water mark (8 bytes), then the holder of the office
//
// Every extension of the range raises the mark. So a cell that does not change for as long as a
// term lasts belongs to an oracle that has stopped.
type Cell struct {
	Mark   Timestamp
	Holder []byte // nil: none, or the only process that has the store open
}

func (c Cell) encode() []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(c.Mark)), c.Holder...)
}

// Equal reports whether nothing has changed between two readings of the cell.
func (c Cell) Equal(o Cell) bool { return c.Mark == o.Mark && bytes.Equal(c.Holder, o.Holder) }

// ReadCell reads the cell under key; the zero Cell when there is none. It is *FillingError in a
// store that is being filled.
func ReadCell(ctx context.Context, r kv.Reader, key []byte) (Cell, error) {
	c, err := readCell(ctx, r, key)
	if err == nil && isFilling(c) {
		err = &FillingError{At: c.Mark}
	}
	return c, err
}

func readCell(ctx context.Context, r kv.Reader, key []byte) (Cell, error) {
	value, err := r.Get(ctx, key)
	if err != nil || value == nil {
		return Cell{}, err
	}
	if len(value) < 8 {
		return Cell{}, fmt.Errorf("oracle: high-water mark of %d bytes: %w", len(value),
			kv.ErrCorruption)
	}
	c := Cell{Mark: Timestamp(binary.BigEndian.Uint64(value))}
	if len(value) > 8 {
		c.Holder = bytes.Clone(value[8:])
	}
	return c, nil
}

// Take gives the office to holder, if the cell still is as it was seen: from then on the oracle of
// the holder before cannot extend its range. Otherwise it returns ErrDeposed. As with every update,
// after another error the office may have been taken all the same; the cell shows it.
func Take(ctx context.Context, engine kv.Engine, key []byte, seen Cell, holder []byte) error {
	return engine.Update(ctx, [][]byte{kv.Row(key)}, func(r kv.Reader, b *kv.Batch) error {
		now, err := ReadCell(ctx, r, key)
		switch {
		case err != nil:
			return err
		case !now.Equal(seen):
			return ErrDeposed
		}
		b.Set(key, Cell{Mark: seen.Mark, Holder: holder}.encode())
		return nil
	})
}
