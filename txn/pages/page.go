package pages

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// Cell is a raw key of an engine with its value.
type Cell struct{ Key, Value []byte }

// Page is some raw cells that are moved together: those of a row one after the other, the data of a
// version before its record.
type Page struct {
	Cells []Cell
	Bytes int    // of all keys and values
	Next  []byte // the raw key to go on from; nil at the end of the walk
}

// Add adds a copy of a cell.
func (p *Page) Add(key, value []byte) {
	both := make([]byte, 0, len(key)+len(value))
	both = append(append(both, key...), value...)
	p.Cells = append(p.Cells, Cell{both[:len(key):len(key)], both[len(key):]})
	p.Bytes += len(both)
}

// sources cuts a page into the columns that it has cells of, each in its order.
func (p *Page) sources() (out []kv.Source) {
	byColumn := map[byte][]Cell{}
	for _, c := range p.Cells {
		byColumn[c.Key[0]] = append(byColumn[c.Key[0]], c)
	}
	for _, cells := range byColumn {
		// Data lies by start_ts, and came in the order of commit_ts.
		slices.SortFunc(cells, func(a, b Cell) int { return bytes.Compare(a.Key, b.Key) })
		out = append(out, listed(cells))
	}
	return out
}

// listed is a source of cells in their order.
func listed(cells []Cell) kv.Source {
	return func(put func(key, value []byte) error) error {
		for _, c := range cells {
			if err := put(c.Key, c.Value); err != nil {
				return err
			}
		}
		return nil
	}
}

// Walk says which cells of a store are read.
type Walk struct {
	// Notes walks over notifications, and over versions otherwise.
	Notes bool
	// Since and At bound the timestamps of what is read: above the one, at or below the other.
	Since, At tso.Timestamp
	// Span bounds the user keys.
	Span kv.Span
}

// Raw returns where an engine has what is walked over, the data of versions aside.
func (w *Walk) Raw() kv.Span {
	if w.Notes {
		return mvcc.NotifySpan(w.Span)
	}
	return mvcc.VersionSpan(w.Span)
}

// Past begins the walk, at a raw key or, where that is empty, at the first one.
func (w *Walk) Past(ctx context.Context, r kv.Reader, from []byte) (*mvcc.Past, error) {
	span := w.Raw()
	if len(from) > 0 {
		span.Start = from
	}
	if w.Notes {
		return mvcc.NewPastNotes(ctx, r, span, w.At)
	}
	return mvcc.NewPast(ctx, r, span, w.Since, w.At)
}

// Read reads a page of about so many bytes, from a raw key on, in the newest state of the engine.
// Cells that check refuses end it with that error.
func (w *Walk) Read(ctx context.Context, e kv.Engine, from []byte, size int,
	check func(mvcc.RawCells) error) (p *Page, err error) {
	snap, err := kv.Latest(e)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	past, err := w.Past(ctx, snap, from)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, past.Close()) }()
	p = &Page{}
	for past.Next() {
		cells := past.Cells()
		if p.Bytes >= size {
			p.Next = bytes.Clone(cells.Key)
			return p, nil
		}
		if err := check(cells); err != nil {
			return nil, err
		}
		if cells.DataKey != nil {
			p.Add(cells.DataKey, cells.Data)
		}
		p.Add(cells.Key, cells.Value)
	}
	return p, past.Err()
}
