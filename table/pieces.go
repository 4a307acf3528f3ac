package table

import (
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// Pieces are parts of a table's rows, by equal sections of the integers that its first key column
// goes through. Where these are not spread evenly, pieces differ in their rows.
type Pieces struct {
	n           int
	l           *layout
	first       int64
	length, odd uint64 // of the sections, of which so many are longer by one
}

// RowPieces cuts a table into n pieces; there are none where its first key column is no integer, or
// goes through too few.
func RowPieces(ctx context.Context, tx *txn.Txn, d *Desc, n int) (Pieces, error) {
	l, err := layoutOf(d, nil)
	if err != nil || n < 1 || len(l.key) == 0 || l.key[0].typ.Family != types.Int {
		return Pieces{}, err
	}
	first, found, err := l.firstInt(ctx, tx, false)
	if err != nil || !found {
		return Pieces{}, err
	}
	last, found, err := l.firstInt(ctx, tx, true)
	if err != nil || !found {
		return Pieces{}, err
	}
	if last < first { // in descending order
		return Pieces{}, nil
	}
	width := uint64(last) - uint64(first)
	if width < uint64(n) {
		return Pieces{}, nil
	}
	return Pieces{n: n, l: l, first: first, length: width / uint64(n), odd: width % uint64(n)}, nil
}

// firstInt returns the first key column of the first row, or with last of the last one.
func (l *layout) firstInt(ctx context.Context, tx *txn.Txn, last bool) (v int64, found bool,
	err error) {
	it, err := tx.Scan(ctx, PrefixSpan(l.prefix), txn.ScanOptions{Reverse: last, KeysOnly: true})
	if err != nil {
		return 0, false, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	if !it.Next() {
		return 0, false, it.Err()
	}
	d, _, err := l.key[0].read(it.Key()[len(l.prefix):])
	return d.I, err == nil && !d.Null, err
}

// Len is the number of pieces.
func (p *Pieces) Len() int { return p.n }

// Span returns piece i. The pieces in their order are the whole table.
func (p *Pieces) Span(i int) (s kv.Span, err error) {
	s = PrefixSpan(p.l.prefix)
	if i > 0 {
		if s.Start, err = p.bound(i); err != nil {
			return s, err
		}
	}
	if i < p.n-1 {
		s.End, err = p.bound(i + 1)
	}
	return s, err
}

func (p *Pieces) bound(i int) ([]byte, error) {
	at := p.first + int64(p.length*uint64(i)+min(uint64(i), p.odd))
	return p.l.key[0].append(p.l.prefix[:len(p.l.prefix):len(p.l.prefix)], types.NewInt(at))
}
