package catalog

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// Replacement is what the rows and index entries of a table are to become: every row is added, then
// Write makes it so. It holds all keys and values in memory, packed, and nothing else of a row.
type Replacement struct {
	d     *table.Desc
	w     *table.Writer
	lists []pairs // of the rows and of each index, in the order of their keys
}

// NewReplacement begins with no rows. They will be those of d, which takes the place of the table's descriptor.
func NewReplacement(c *Catalog, d *table.Desc) *Replacement {
	return &Replacement{d: d, w: table.NewWriter(d, c)}
}

// Add adds a row, one datum per column of the descriptor. A NULL in the hidden row ID column is replaced.
func (r *Replacement) Add(ctx context.Context, row []types.Datum) error {
	return r.w.Encode(ctx, row, func(list int, key, value []byte) {
		for len(r.lists) <= list {
			r.lists = append(r.lists, pairs{})
		}
		r.lists[list].add(key, value)
	})
}

// Sort comes after the last row. It fails if two rows have the same unique key.
func (r *Replacement) Sort() error {
	for i := range r.lists {
		l := &r.lists[i]
		l.sort()
		// An entry that is not unique has the row key in its key.
		for n := 1; n < l.len(); n++ {
			if bytes.Equal(l.key(n-1), l.key(n)) {
				return r.duplicate(l.key(n), l.value(n))
			}
		}
	}
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

// Write replaces what tx sees under the table's prefix, and makes the transaction fail when another
// writes there meanwhile. What stays as it was is not written. Requires: Sort.
func (r *Replacement) Write(ctx context.Context, tx *txn.Txn) (err error) {
	span := table.TableSpan(r.d.ID)
	tx.Validate(span)
	it, err := tx.Scan(ctx, span, txn.ScanOptions{})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := it.Close(); err == nil {
			err = cerr
		}
	}()
	more := it.Next()
	for _, l := range r.lists {
		for n := range l.len() {
			key, value := l.key(n), l.value(n)
			for ; more && bytes.Compare(it.Key(), key) < 0; more = it.Next() {
				if err := tx.Delete(it.Key()); err != nil {
					return err
				}
			}
			if it.Err() != nil {
				return it.Err()
			}
			if !more || !bytes.Equal(it.Key(), key) {
				// The span is validated, so to look for the key again would find nothing.
				err = tx.SetNew(key, value)
			} else {
				if !bytes.Equal(it.Value(), value) {
					err = tx.Set(key, value)
				}
				more = it.Next()
			}
			if err == nil && n%rowsPerCheck == 0 {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
		}
	}
	for ; more; more = it.Next() {
		if err := tx.Delete(it.Key()); err != nil {
			return err
		}
	}
	return it.Err()
}

// rowsPerCheck is how many keys are written between two looks at the context.
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
		chunk: uint32(last), at: uint32(len(chunk)), key: uint32(len(key)), value: uint32(len(value))})
	p.chunks[last] = append(append(chunk, key...), value...)
	if n := len(p.refs); n > 1 && !p.unsorted {
		p.unsorted = bytes.Compare(p.key(n-2), key) > 0
	}
}

func (p *pairs) compare(a, b pairRef) int {
	return bytes.Compare(p.chunks[a.chunk][a.at:a.at+a.key], p.chunks[b.chunk][b.at:b.at+b.key])
}

func (p *pairs) sort() {
	if p.unsorted {
		slices.SortFunc(p.refs, p.compare)
		p.unsorted = false
	}
}

// find returns where a key is, or would be, in a list that is sorted.
func (p *pairs) find(key []byte) (n int, found bool) {
	return slices.BinarySearchFunc(p.refs, key, func(r pairRef, key []byte) int {
		return bytes.Compare(p.chunks[r.chunk][r.at:r.at+r.key], key)
	})
}
