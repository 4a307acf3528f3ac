package etcdkv

import (
	"bytes"
	"context"
	"slices"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/minidb/minidb/kv/paged"
)

// A layer above that keeps several cells of a key in families of their own walks one span in one
// family after the other: first the locks, which are few, then the records. So with the first page
// of a walk that of the walk is read which followed the last time.

// follows has, for each family, one more than the family in which the same span was walked next;
// zero: none was.
type follows [256]atomic.Int32

// walk reads the first size cells from key to below end. For the first page of a walk it reads that
// of the walk that may follow too, and what a reader is to read first.
func (r *reader) walk(ctx context.Context, key, end []byte, size int,
	first bool) (*paged.Page, error) {
	ops := []clientv3.Op{r.e.rangeOp(key, end, r.rev, size)}
	var key2, end2 []byte
	if first && len(key) > 0 {
		r.noteWalk(key)
		if next := r.e.follows[key[0]].Load() - 1; next >= 0 && len(end) > 0 && end[0] == key[0] {
			key2, end2 = inFamily(byte(next), key), inFamily(byte(next), end)
			ops = append(ops, r.e.rangeOp(key2, end2, r.rev, size))
		}
	}
	favourites, expected := r.first()
	expected = expected[:min(len(expected), r.e.o.MaxOps-len(ops)-len(favourites))]
	more := slices.Concat(favourites, expected)
	ops = append(ops, r.aheadOps(more)...)
	if len(ops) == 1 {
		cells, err := r.fetch(ctx, key, end, size, false)
		return paged.PageOf(cells, key, end, size), err
	}
	got, err := r.askAll(ctx, ops)
	if err != nil {
		return nil, err
	}
	if n := len(ops) - len(more); n < len(ops) {
		r.take(favourites, expected, r.aheadOf(more, got.Responses[n:]))
	}
	cells := func(i int) []paged.Cell {
		return r.e.cells(got.Responses[i].GetResponseRange().Kvs)
	}
	if key2 != nil {
		r.foretold = paged.PageOf(cells(1), key2, end2, size)
	}
	return paged.PageOf(cells(0), key, end, size), nil
}

// noteWalk takes in that a walk begins at a key.
func (r *reader) noteWalk(key []byte) {
	if r.foretold != nil { // another walk came than was expected
		r.e.follows[r.walked[0]].Store(0)
		r.foretold = nil
	} else if len(r.walked) > 0 && r.walked[0] != key[0] && bytes.Equal(r.walked[1:], key[1:]) {
		r.e.follows[r.walked[0]].Store(int32(key[0]) + 1)
	}
	r.walked = bytes.Clone(key)
}

// foreseen returns the page that begins at key if it was read ahead, or nil.
func (r *reader) foreseen(key []byte) *paged.Page {
	p := r.foretold
	if p == nil || !bytes.Equal(p.Lo, key) {
		return nil
	}
	r.foretold, r.walked = nil, p.Lo
	return p
}

func inFamily(f byte, key []byte) []byte {
	key = bytes.Clone(key)
	key[0] = f
	return key
}
