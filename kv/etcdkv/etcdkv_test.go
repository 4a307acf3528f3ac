package etcdkv_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/etcdkv"
	"github.com/minidb/minidb/kv/kvtest"
)

var stores atomic.Int64

func newPrefix() string { return fmt.Sprintf("t%d/", stores.Add(1)) }

// open opens an empty store.
func open(t *testing.T) *etcdkv.Engine { return openIn(t, newPrefix()) }

func openIn(t *testing.T, prefix string) *etcdkv.Engine {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	e, err := etcdkv.Open(ctx, etcdkv.Options{Endpoints: members, Prefix: prefix})
	require.NoError(t, err)
	return e
}

func TestContract(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kv.Engine { return open(t) })
}

// TestACompactedRevisionIsGone: a snapshot fails, and what needs no single state goes on.
func TestACompactedRevisionIsGone(t *testing.T) {
	ctx := context.Background()
	e := open(t)
	defer func() { require.NoError(t, e.Close()) }()
	row := func(i int) []byte { return fmt.Appendf(nil, "r%03d\x00\x01", i) }
	put := func(i int) {
		require.NoError(t, e.Update(ctx, [][]byte{row(i)}, func(_ kv.Reader, b *kv.Batch) error {
			b.Set(append([]byte{'x'}, row(i)...), []byte("v"))
			return nil
		}))
	}
	const n = 40
	for i := range n {
		put(i)
	}
	compact := func() {
		put(n)
		got, err := e.Client().Get(ctx, "any")
		require.NoError(t, err)
		_, err = e.Client().Compact(ctx, got.Header.Revision)
		require.NoError(t, err)
	}
	s, err := e.Snapshot()
	require.NoError(t, err)
	_, err = s.Get(ctx, []byte("x"))
	require.NoError(t, err)
	all, err := kv.Latest(e)
	require.NoError(t, err)
	it, err := all.NewIter(ctx, kv.Span{Start: []byte{'x'}, End: []byte{'y'}})
	require.NoError(t, err)
	require.True(t, it.First())
	compact()
	_, err = s.Get(ctx, []byte("x"))
	require.ErrorIs(t, err, kv.ErrSnapshotGone)
	require.NoError(t, s.Close())
	passed := 1
	for it.Next() {
		passed++
	}
	require.NoError(t, it.Err())
	require.Equal(t, n+1, passed)
	require.NoError(t, it.Close())
	require.NoError(t, all.Close())
}

// TestProcessesUpdateOneRow: of two handles on a store each sees what the other has done.
func TestProcessesUpdateOneRow(t *testing.T) {
	ctx := context.Background()
	prefix := newPrefix()
	row := []byte("k\x00\x01")
	key := append([]byte{'x'}, row...)
	const each = 50
	var wg sync.WaitGroup
	for range 3 {
		e := openIn(t, prefix)
		defer func() { require.NoError(t, e.Close()) }()
		wg.Go(func() {
			for range each {
				if err := e.Update(ctx, [][]byte{row}, func(r kv.Reader, b *kv.Batch) error {
					v, err := r.Get(ctx, key)
					if err != nil {
						return err
					}
					b.Set(key, append(bytes.Clone(v), '.'))
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	e := openIn(t, prefix)
	defer func() { require.NoError(t, e.Close()) }()
	s, err := e.Snapshot()
	require.NoError(t, err)
	v, err := s.Get(ctx, key)
	require.NoError(t, err)
	require.Len(t, v, 3*each)
	require.NoError(t, s.Close())
}

// TestReadingBackwardsAsksForLittle: the end of a large span is found without reading it all.
func TestReadingBackwardsAsksForLittle(t *testing.T) {
	ctx := context.Background()
	e := open(t)
	defer func() { require.NoError(t, e.Close()) }()
	const n = 1000
	var rows [][]byte
	for i := range n {
		rows = append(rows, fmt.Appendf(nil, "table %08x\x00\x01", i))
	}
	require.NoError(t, kv.InParts(e.Limits(), rows, func(part [][]byte) error {
		return e.Update(ctx, part, func(_ kv.Reader, b *kv.Batch) error {
			for _, row := range part {
				b.Set(append([]byte{'x'}, row...), []byte("v"))
			}
			return nil
		})
	}))
	s, err := e.Snapshot()
	require.NoError(t, err)
	it, err := s.NewIter(ctx, kv.Span{Start: []byte{'x'}, End: []byte{'y'}})
	require.NoError(t, err)
	before, _ := e.Requests()
	require.True(t, it.Last())
	after, _ := e.Requests()
	require.Equal(t, append([]byte{'x'}, rows[n-1]...), it.Key())
	require.Less(t, after-before, int64(40))
	passed := 1
	for it.Prev() {
		passed++
	}
	require.Equal(t, n, passed)
	require.NoError(t, it.Close())
	require.NoError(t, s.Close())
}

func TestBetween(t *testing.T) {
	for _, c := range []struct{ lo, hi string }{
		{"", "a"}, {"a", "b"}, {"a", "a\x00\x01"}, {"a\xff\xff", "b"}, {"aaaaaaaaaa", "aaaaaaaaab"},
		{"table 1", "u"}, {"\xff", "\xff\xff"},
	} {
		mid := string(etcdkv.Between([]byte(c.lo), []byte(c.hi)))
		require.Less(t, c.lo, mid)
		require.Less(t, mid, c.hi)
	}
	require.Less(t, "\xff\xff", string(etcdkv.Between([]byte("\xff\xff"), nil)))
}
