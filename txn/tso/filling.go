package tso

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/minidb/minidb/kv"
)

// A store that is being filled with the contents of another has no oracle: its cell has the
// timestamp that the contents are of as the mark, and in the holder's place the word below, with
// whatever fills the store behind it. Every process reads this cell before it does anything else
// in a store, and takes the office with a conditional update of it. So none serves a store that
// is half full, and none begins to between a look at an empty store and its first cell.

// fillingHolder begins the holder of such a cell. That of an elected oracle begins with a 1.
const fillingHolder = "filling"

// FillingError is returned for a store that is being filled: a copy into it is under way, or was
// interrupted.
type FillingError struct{ At Timestamp }

func (e *FillingError) Error() string {
	return fmt.Sprintf("the store holds an unfinished copy of another one, or of a backup, as of "+
		"%s: run the same minidb copy again, which goes on where it was, or the same minidb copy "+
		"or minidb restore with --anew, which begins anew", e.At)
}

// ErrFilled is returned by Fill for a store that has, or had, an oracle.
var ErrFilled = errors.New("oracle: the store is in use")

func isFilling(c Cell) bool { return bytes.HasPrefix(c.Holder, []byte(fillingHolder)) }

// ReadFilling reads the cell of a store that is being filled: its mark, and what Fill has put
// behind it. ok is false where there is no cell, and it is ErrFilled where there is an oracle's.
func ReadFilling(ctx context.Context, r kv.Reader, key []byte) (at Timestamp, by []byte, ok bool,
	err error) {
	c, err := readCell(ctx, r, key)
	switch {
	case err != nil || c.Mark == 0 && c.Holder == nil:
		return 0, nil, false, err
	case !isFilling(c):
		return 0, nil, false, ErrFilled
	}
	return c.Mark, c.Holder[len(fillingHolder):], true, nil
}

// Fill makes a store one that is being filled with what another one held at a timestamp. It is
// ErrFilled if there is a cell by now.
func Fill(ctx context.Context, e kv.Engine, key []byte, at Timestamp, by []byte) error {
	value := Cell{Mark: at, Holder: append([]byte(fillingHolder), by...)}.encode()
	return e.Update(ctx, [][]byte{kv.Row(key)}, func(r kv.Reader, b *kv.Batch) error {
		old, err := r.Get(ctx, key)
		switch {
		case err != nil || bytes.Equal(old, value): // it comes a second time
			return err
		case old != nil:
			return ErrFilled
		}
		b.Set(key, value)
		return nil
	})
}

// Filled opens the store to its oracles, the first of which begins above the timestamp that Fill
// was given.
func Filled(ctx context.Context, e kv.Engine, key []byte) error {
	return e.Update(ctx, [][]byte{kv.Row(key)}, func(r kv.Reader, b *kv.Batch) error {
		c, err := readCell(ctx, r, key)
		if err != nil || !isFilling(c) {
			return err
		}
		b.Set(key, Cell{Mark: c.Mark}.encode())
		return nil
	})
}

// Empty takes the cell of a store that is being filled away.
func Empty(ctx context.Context, e kv.Engine, key []byte) error {
	return e.Update(ctx, [][]byte{kv.Row(key)}, func(r kv.Reader, b *kv.Batch) error {
		c, err := readCell(ctx, r, key)
		switch {
		case err != nil || c.Mark == 0 && c.Holder == nil:
			return err
		case !isFilling(c):
			return ErrFilled
		}
		b.Delete(key)
		return nil
	})
}
