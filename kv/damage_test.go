package kv_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/stretchr/testify/require"
)

// damaged fails to read the keys of some spans, and counts the attempts.
type damaged struct {
	kv.Reader
	spans  []kv.Span
	failed int
}

func (d *damaged) NewIter(ctx context.Context, span kv.Span) (kv.Iterator, error) {
	it, err := d.Reader.NewIter(ctx, span)
	return &damagedIter{Iterator: it, d: d}, err
}

type damagedIter struct {
	kv.Iterator
	d   *damaged
	err error
}

func (i *damagedIter) ok(valid bool) bool {
	if valid && slices.ContainsFunc(i.d.spans,
		func(s kv.Span) bool { return s.Contains(i.Key()) }) {
		i.d.failed++
		i.err = &kv.CorruptionError{File: "a file"}
	}
	return valid && i.err == nil
}

func (i *damagedIter) First() bool { return i.ok(i.Iterator.First()) }
func (i *damagedIter) Next() bool  { return i.ok(i.Iterator.Next()) }
func (i *damagedIter) Last() bool  { return i.ok(i.Iterator.Last()) }
func (i *damagedIter) Prev() bool  { return i.ok(i.Iterator.Prev()) }
func (i *damagedIter) Err() error  { return i.err }

func TestReadableLeavesOutWhatIsDamaged(t *testing.T) {
	ctx := context.Background()
	e := memkv.New(memkv.Options{})
	row := func(i int) []byte { return fmt.Appendf(nil, "t%06d", i) }
	for i := range 1000 {
		require.NoError(t, e.Update(ctx, [][]byte{kv.Row(row(i))},
			func(_ kv.Reader, b *kv.Batch) error {
				b.Set(row(i), []byte("v"))
				return nil
			}))
	}
	snap, err := e.Snapshot()
	require.NoError(t, err)
	for _, c := range []struct{ damage [][2]int }{
		{nil}, {[][2]int{{500, 510}}}, {[][2]int{{0, 10}}}, {[][2]int{{990, 1000}}},
		{[][2]int{{0, 1000}}},
		{[][2]int{{100, 120}, {700, 720}}}, {[][2]int{{3, 4}, {400, 600}}},
	} {
		d := &damaged{Reader: snap}
		lost := 0
		for _, s := range c.damage {
			d.spans = append(d.spans, kv.Span{Start: row(s[0]), End: row(s[1])})
			lost += s[1] - s[0]
		}
		var got [][]byte
		spans, err := kv.Readable(ctx, d, kv.Span{Start: []byte("t"), End: []byte("u")},
			func(key, _ []byte) error {
				got = append(got, bytes.Clone(key))
				return nil
			})
		require.NoError(t, err)
		require.Len(t, got, 1000-lost, "%v", c.damage)
		require.True(t, slices.IsSortedFunc(got, bytes.Compare))
		require.Len(t, spans, len(c.damage))
		for i := range 1000 {
			in := slices.ContainsFunc(spans, func(s kv.Span) bool { return s.Contains(row(i)) })
			have := slices.ContainsFunc(got, func(k []byte) bool { return bytes.Equal(k, row(i)) })
			require.NotEqual(t, in, have, "%v: row %d", c.damage, i)
		}
		require.LessOrEqual(t, d.failed, 10*len(c.damage), "attempts at damaged keys")
	}
	require.NoError(t, snap.Close())
	require.NoError(t, e.Close())
}
