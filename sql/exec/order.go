package exec

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"

	"github.com/minidb/minidb/table/types"
)

// orderKey is a column to sort by.
type orderKey struct {
	col        *types.Vec
	desc       bool
	nullsFirst bool
}

// compareKey orders entry i of a against entry j of b as k says.
func (k *orderKey) compareKey(a *types.Vec, i int, b *types.Vec, j int) int {
	an, bn := a.HasNull && a.Nulls[i], b.HasNull && b.Nulls[j]
	if an || bn {
		switch {
		case an && bn:
			return 0
		case an == k.nullsFirst:
			return -1
		}
		return 1
	}
	c := types.CompareEntries(a, i, b, j)
	if k.desc {
		return -c
	}
	return c
}

// compareRows orders two rows of the same columns.
func compareRows(keys []orderKey, i, j int) int {
	for n := range keys {
		k := &keys[n]
		if c := k.compareKey(k.col, i, k.col, j); c != 0 {
			return c
		}
	}
	return 0
}

// sortEntry is a row number with the beginning of its first key, packed into a number so that most
// comparisons need nothing else.
type sortEntry struct {
	head uint64
	row  int32
}

// sortEntryBytes is the size of a sortEntry.
const sortEntryBytes = 16

// sortRows returns the row numbers 0 … n-1 in order. Equal rows come in the order in which
// PostgreSQL's sort leaves them (quicksort.go).
func sortRows(ctx context.Context, keys []orderKey, n int) ([]sortEntry, error) {
	entries := make([]sortEntry, n)
	for i := range entries {
		entries[i].row = int32(i)
	}
	if len(keys) == 0 {
		return entries, nil
	}
	exact := packHeads(&keys[0], entries)
	rest := keys
	if exact {
		rest = keys[1:]
	}
	quicksort(entries, func(a, b sortEntry) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		return compareRows(rest, int(a.row), int(b.row))
	}, func() bool { return ctx.Err() != nil })
	return entries, ctx.Err()
}

// packHeads fills the heads from the first key. Heads are ordered as their keys are, or equal;
// exact reports whether equal heads mean equal keys.
func packHeads(k *orderKey, entries []sortEntry) (exact bool) {
	c := k.col
	exact = !c.HasNull
	var pack func(i int32) uint64
	switch c.Type.Family.Order() {
	case types.I64:
		pack = func(i int32) uint64 { return uint64(c.I[i]) ^ 1<<63 }
	case types.F64:
		pack = func(i int32) uint64 { return packFloat(c.F[i]) }
	case types.Str:
		exact = false
		pack = func(i int32) uint64 { return packString(c.S[i]) }
	default:
		return false
	}
	null := uint64(math.MaxUint64)
	if k.nullsFirst {
		null = 0
	}
	for n := range entries {
		e := &entries[n]
		switch {
		case c.HasNull && c.Nulls[e.row]:
			e.head = null
		case k.desc:
			e.head = ^pack(e.row)
		default:
			e.head = pack(e.row)
		}
	}
	return exact
}

func packFloat(f float64) uint64 {
	switch {
	case f != f:
		return math.MaxUint64
	case f == 0:
		return 1 << 63
	}
	b := math.Float64bits(f)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// packString takes the first eight bytes.
func packString(s string) uint64 {
	if len(s) >= 8 {
		return binary.BigEndian.Uint64([]byte(s[:8]))
	}
	var b [8]byte
	copy(b[:], s)
	return binary.BigEndian.Uint64(b[:])
}
