package etcdkv

import (
	"bytes"
	"context"
	"math/big"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/paged"
)

// lastBelow returns some of the last cells below hi, at most most of them, and from where on they
// are all; all of them are at or above lo. A nil hi is the end of all keys.
//
// etcd reads and sorts the whole range of a request that goes backwards, however small its limit
// is. It counts a range in memory, so the part at the end that holds few cells is found by halving.
func (r *reader) lastBelow(ctx context.Context, lo, hi []byte, most int) (cells []paged.Cell,
	from []byte, err error) {
	first, n, err := r.firstOf(ctx, lo, hi)
	if err == nil && n > int64(most) {
		hi, err = r.lowered(ctx, first, hi)
	}
	for err == nil && n > int64(most) { // cells in [lo, hi)
		mid := between(lo, hi)
		var above int64
		if first, above, err = r.firstOf(ctx, mid, hi); above > 0 {
			lo, n = first, above
		} else {
			hi = mid
		}
	}
	if err != nil {
		return nil, nil, err
	}
	cells, err = r.fetch(ctx, lo, hi, int(n), true)
	slices.Reverse(cells)
	return cells, slices.Clone(lo), err
}

// lowered returns a lower end of a range whose first key is given, and in which keys have much in
// common: that of the keys with the longest beginning of the first one that all of them share.
func (r *reader) lowered(ctx context.Context, first, hi []byte) ([]byte, error) {
	shared, longer := 0, len(first)+1 // all have the first; none above
	for longer-shared > 1 {
		n := (shared + longer) / 2
		end := kv.PrefixEnd(first[:n])
		if end == nil || hi != nil && bytes.Compare(end, hi) >= 0 {
			shared = n
			continue
		}
		above, err := r.count(ctx, end, hi)
		if err != nil {
			return nil, err
		}
		if above == 0 {
			shared = n
		} else {
			longer = n
		}
	}
	if end := kv.PrefixEnd(first[:shared]); end != nil &&
		(hi == nil || bytes.Compare(end, hi) < 0) {
		return end, nil
	}
	return hi, nil
}

// firstOf returns the first key of a range and how many there are.
func (r *reader) firstOf(ctx context.Context, lo, hi []byte) (key []byte, n int64, err error) {
	got, err := r.e.get(ctx, r.e.names.cell(lo), clientv3.WithRange(r.e.names.end(hi)),
		clientv3.WithRev(r.rev), clientv3.WithLimit(1), clientv3.WithKeysOnly())
	if err != nil {
		return nil, 0, err
	}
	r.pin(got.Header)
	if len(got.Kvs) == 0 {
		return nil, 0, nil
	}
	return r.e.names.key(got.Kvs[0].Key), got.Count, nil
}

// between returns a key about half way between two, of which the first is the lower and there are
// others in between.
func between(lo, hi []byte) []byte {
	n := max(len(lo), len(hi)) + 1
	digits := func(key []byte) *big.Int {
		return new(big.Int).SetBytes(append(slices.Clone(key), make([]byte, n-len(key))...))
	}
	top := new(big.Int).Lsh(big.NewInt(1), uint(8*n))
	if hi != nil {
		top = digits(hi)
	}
	sum := top.Add(top, digits(lo))
	return sum.Rsh(sum, 1).FillBytes(make([]byte, n))
}
