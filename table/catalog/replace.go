package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// Replacement is what the rows and index entries of a table are to become: every row is added, then
// Write makes it so, in a new place unless nothing changes. It holds all keys and values in memory,
// packed, and nothing else of a row.
type Replacement struct {
	old *table.Desc
	d   *table.Desc
	w   *table.Writer
	// of the rows and of each index, in the order of their keys, under the old storage ID
	lists []pairs
}

// NewReplacement begins with no rows. They will be those of d, a clone of the table's descriptor
// that is to take its place.
func NewReplacement(c *Catalog, old, d *table.Desc) *Replacement {
	d.TrimExprs()
	_ = c.prepare(d) // the writer meets the same error
	return &Replacement{old: old, d: d, w: table.NewWriter(d, c)}
}

// Add adds a row, one datum per column of the descriptor. A NULL in the hidden row ID column is
// replaced.
func (r *Replacement) Add(ctx context.Context, row []types.Datum) error {
	return r.w.Encode(ctx, row, func(list int, key, value []byte) {
		for len(r.lists) <= list {
			r.lists = append(r.lists, pairs{})
		}
		r.lists[list].add(key, value)
	})
}

// Sort comes after the last row. It fails if two rows have the same unique key.
func (r *Replacement) Sort(ctx context.Context) error {
	for i := range r.lists {
		l := &r.lists[i]
		if err := l.sort(ctx); err != nil {
			return err
		}
		// An entry that is not unique has the row key in its key.
		for n := 1; n < l.len(); n++ {
			if bytes.Equal(l.key(n-1), l.key(n)) {
				return r.duplicate(l.key(n), l.value(n))
			}
			if n%rowsPerCheck == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	r.lists = slices.DeleteFunc(r.lists, func(l pairs) bool { return l.len() == 0 })
	slices.SortFunc(r.lists, func(a, b pairs) int { return bytes.Compare(a.key(0), b.key(0)) })
	return nil
}

// duplicate is the error for a row whose entry has a key that another has too. The rows are sorted.
func (r *Replacement) duplicate(key, value []byte) error {
	k, _ := table.DecodeKey(key)
	ix := r.d.Index(k.Index)
	if k.Index != table.RowIndexID {
		rowKey, err := table.RowKeyOf(r.d, ix, key, value)
		if err != nil {
			return err
		}
		n, _ := r.lists[0].find(rowKey)
		key, value = rowKey, r.lists[0].value(n)
	}
	row, err := table.DecodeRow(r.d, key, value)
	if err != nil {
		return err
	}
	if ix == nil {
		return fmt.Errorf("table %q: two rows have one row ID: %w", r.d.Name, kv.ErrCorruption)
	}
	return notUnique(r.d, ix, row)
}

// Write puts d in the place of the table's descriptor and writes the rows and index entries, under
// a new storage ID, unless they are what is there. It makes the transaction fail when another
// writes rows of the table meanwhile: those that were added would not show it. Requires: Sort.
func (r *Replacement) Write(ctx context.Context, v *View) error {
	v.tx.Validate(r.old.Span())
	same, err := r.isThere(ctx, v.tx)
	if err != nil {
		return err
	}
	if !same {
		if err := v.Relocate(ctx, r.d); err != nil {
			return err
		}
	}
	if err := v.UpdateRelation(ctx, r.old, r.d); err != nil || same {
		return err
	}
	return r.write(ctx, v.tx)
}

// isThere reports whether the keys and values that tx sees in the old place are those of the lists.
func (r *Replacement) isThere(ctx context.Context, tx *txn.Txn) (same bool, err error) {
	it, err := tx.Scan(ctx, r.old.Span(), txn.ScanOptions{})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for _, l := range r.lists {
		for n := range l.len() {
			if !it.Next() || !bytes.Equal(it.Key(), l.key(n)) ||
				!bytes.Equal(it.Value(), l.value(n)) {
				return false, it.Err()
			}
		}
	}
	return !it.Next(), it.Err()
}

// write writes the lists under the new storage ID, where nothing was ever written.
func (r *Replacement) write(ctx context.Context, tx *txn.Txn) error {
	from, to := len(r.old.Span().Start), r.d.Span().Start
	load, err := tx.NewLoad(ctx, r.d.Span())
	if err != nil {
		return err
	}
	defer load.Abandon()
	var key []byte
	for _, l := range r.lists {
		for n := range l.len() {
			key = append(append(key[:0], to...), l.key(n)[from:]...)
			err := load.Add(ctx, key, l.value(n))
			if err == nil && n%rowsPerCheck == 0 {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
		}
	}
	return load.Finish(ctx)
}

// rowsPerCheck is how many keys are compared or written between two looks at the context.
const rowsPerCheck = 256

// pairs is a list of keys and values. A pair takes 16 bytes beside its own.
type pairs struct {
	chunks   [][]byte
	refs     []pairRef
	unsorted bool
}

// pairRef is where a pair lies in its chunk: the key at [at, at+key), the value right behind it.
type pairRef struct {
	chunk, at, key, value uint32
}

// chunkBytes is the size of a chunk, unless one pair needs more.
const chunkBytes = 1 << 20

func (p *pairs) len() int { return len(p.refs) }

func (p *pairs) key(i int) []byte {
	r := p.refs[i]
	return p.chunks[r.chunk][r.at : r.at+r.key]
}

func (p *pairs) value(i int) []byte {
	r := p.refs[i]
	return p.chunks[r.chunk][r.at+r.key : r.at+r.key+r.value]
}

func (p *pairs) add(key, value []byte) {
	last := len(p.chunks) - 1
	if size := len(key) + len(value); last < 0 || cap(p.chunks[last])-len(p.chunks[last]) < size {
		p.chunks = append(p.chunks, make([]byte, 0, max(size, chunkBytes)))
		last++
	}
	chunk := p.chunks[last]
	p.refs = append(p.refs, pairRef{
		chunk: uint32(last), at: uint32(len(chunk)), key: uint32(len(key)),
		value: uint32(len(value))})
	p.chunks[last] = append(append(chunk, key...), value...)
	if n := len(p.refs); n > 1 && !p.unsorted {
		p.unsorted = bytes.Compare(p.key(n-2), key) > 0
	}
}

func (p *pairs) compare(a, b pairRef) int {
	return bytes.Compare(p.chunks[a.chunk][a.at:a.at+a.key], p.chunks[b.chunk][b.at:b.at+b.key])
}

// sort puts the pairs in the order of their keys. Once ctx has ended all of them count as equal, so
// that the sort comes to its end soon.
func (p *pairs) sort(ctx context.Context) error {
	if !p.unsorted {
		return nil
	}
	var ended error
	compared := 0
	slices.SortFunc(p.refs, func(a, b pairRef) int {
		if compared++; compared%comparesPerCheck == 0 && ended == nil {
			ended = ctx.Err()
		}
		if ended != nil {
			return 0
		}
		return p.compare(a, b)
	})
	if ended == nil {
		p.unsorted = false
	}
	return ended
}

// comparesPerCheck is how many pairs a sort compares between two looks at the context.
const comparesPerCheck = 4096

// find returns where a key is, or would be, in a list that is sorted.
func (p *pairs) find(key []byte) (n int, found bool) {
	return slices.BinarySearchFunc(p.refs, key, func(r pairRef, key []byte) int {
		return bytes.Compare(p.chunks[r.chunk][r.at:r.at+r.key], key)
	})
}
