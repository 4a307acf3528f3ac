package mvcc

import (
	"bytes"
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
)

// Keys calls visit with every user key of the span that has a cell in any column, in order, and
// with its cells: data, lock, row locks, write. The slices are valid during the call.
func Keys(ctx context.Context, r kv.Reader, span kv.Span,
	visit func(key []byte, cells []Cell) error) (err error) {
	families := []byte{familyData, familyLock, familyNotify, familyRowLock, familyWrite}
	its := make([]kv.Iterator, len(families))
	defer func() {
		for _, it := range its {
			if it != nil {
				err = errors.Join(err, it.Close())
			}
		}
	}()
	for i, f := range families {
		it, err := r.NewIter(ctx, familySpan(f, span))
		if err != nil {
			return err
		}
		its[i] = it
		it.First()
	}
	var cells []Cell
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var row []byte
		for _, it := range its {
			if it.Valid() {
				if r := kv.Row(it.Key()); row == nil || bytes.Compare(r, row) < 0 {
					row = r
				}
			} else if err := it.Err(); err != nil {
				return err
			}
		}
		if row == nil {
			return nil
		}
		row = bytes.Clone(row)
		if cells, err = cellsOf(its, row, cells[:0]); err != nil {
			return err
		}
		if err := visit(cells[0].Key, cells); err != nil {
			return err
		}
	}
}

// cellsOf decodes the cells of a row and moves the iterators past it.
func cellsOf(its []kv.Iterator, row []byte, cells []Cell) ([]Cell, error) {
	for _, it := range its {
		for it.Valid() && bytes.Equal(kv.Row(it.Key()), row) {
			value, err := it.Value()
			if err != nil {
				return nil, err
			}
			c, err := Decode(it.Key(), value)
			if err != nil {
				return nil, err
			}
			cells = append(cells, c)
			it.Next()
		}
	}
	return cells, nil
}
