package table

import (
	"context"

	"github.com/minidb/minidb/table/gin"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// KeyScanSpec describes what a KeyScan reads.
type KeyScanSpec struct {
	Desc *Desc
	// Index is one of those whose entries are read, for errors.
	Index *Index
	// Query has the keys as KeyQuery makes them, of one GIN index of the table or several.
	Query *gin.Query
	// Out are ordinals of Desc.Columns: the columns of the batches.
	Out []int
	// BatchRows hints how many rows are wanted at once; 0 is types.BatchSize.
	BatchRows int
	// Grow counts bytes that the scan is about to hold, Shrink those that it gives back.
	Grow   func(int64) error
	Shrink func(int64)
}

// KeyScan reads the rows that a query over the entries of GIN indexes includes, each once, in the
// order of their keys. It belongs to its transaction's goroutine. The caller tests the condition on
// each row.
type KeyScan struct {
	spec  KeyScanSpec
	b     postingsBuilder
	list  postings
	fetch *fetcher
	index *layout
	want  int
	from  []byte
	ended bool
}

// KeyQuery returns the query for the rows for which `column operator arg` may be true, with the
// keys of entries of column number i of a GIN index. Requires: the column serves the operator
// ([gin.Column.Serves]). limit is the value of its setting ([gin.Column.Setting]).
func KeyQuery(d *Desc, ix *Index, i int, operator string, arg types.Datum,
	limit float64) (*gin.Query, error) {
	l, err := layoutOf(d, ix)
	if err != nil {
		return nil, err
	}
	q, err := l.gin[i].Query(operator, arg, limit)
	if err != nil {
		return nil, err
	}
	return q.Behind(l.prefix), nil
}

// OpenKeyScan begins a scan; nothing is read before Next.
func OpenKeyScan(tx *txn.Txn, spec KeyScanSpec) (*KeyScan, error) {
	rows, err := layoutOf(spec.Desc, nil)
	if err != nil {
		return nil, err
	}
	index, err := layoutOf(spec.Desc, spec.Index)
	if err != nil {
		return nil, err
	}
	s := &KeyScan{spec: spec, want: spec.BatchRows, index: index,
		fetch: &fetcher{tx: tx, rows: rows, dec: newDecoder(rows, spec.Out)},
		b:     postingsBuilder{tx: tx, rows: rows, grow: spec.Grow, shrink: spec.Shrink}}
	if s.want <= 0 || s.want > types.BatchSize {
		s.want = types.BatchSize
	}
	return s, nil
}

// Next empties b and fills it with the next rows; false at the end.
func (s *KeyScan) Next(ctx context.Context, b *types.Batch) (bool, error) {
	b.Reset()
	defer trim(b)
	for b.Len == 0 && !s.ended {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if err := s.fill(ctx); err != nil {
			return false, err
		}
		if err := s.fetch.flush(ctx, s.index, b, nil); err != nil {
			return false, err
		}
	}
	return b.Len > 0, nil
}

// fill collects the row keys of the next batch.
func (s *KeyScan) fill(ctx context.Context) error {
	if s.list == nil {
		var err error
		if s.list, err = s.b.build(ctx, s.spec.Query, maxLists); err != nil {
			return err
		}
	}
	for range s.want {
		k, err := s.list.seek(ctx, s.from)
		if err != nil {
			return err
		}
		if k == nil {
			s.ended = true
			return nil
		}
		s.fetch.add(k)
		s.from = append(append(s.from[:0], k...), 0)
	}
	return nil
}

// Close ends the scan.
func (s *KeyScan) Close() error {
	s.ended = true
	if s.list == nil {
		return nil
	}
	err := s.list.close()
	s.list = nil
	return err
}
