package kvtest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/stretchr/testify/require"
)

// manyUpdates are more than after which a reference engine gives a snapshot up.
const manyUpdates = 66

// testSnapshotGone reads a snapshot during many updates: it shows what it has shown first, or is
// gone for good.
func testSnapshotGone(t *testing.T, e kv.Engine) {
	ctx := context.Background()
	set(t, e, "a", "1")
	s := snapshot(t, e)
	require.Equal(t, "1", read(t, s, key('x', "a", "")))
	it, err := s.NewIter(ctx, kv.Span{})
	require.NoError(t, err)
	gone := false
	for i := range manyUpdates {
		set(t, e, "a", strconv.Itoa(i))
		set(t, e, fmt.Sprint("b", i), "")
		v, err := s.Get(ctx, key('x', "a", ""))
		if err != nil {
			require.ErrorIs(t, err, kv.ErrSnapshotGone)
			gone = true
			continue
		}
		require.False(t, gone, "it came back")
		require.Equal(t, "1", string(v))
		if it.First() {
			require.Equal(t, key('x', "a", ""), it.Key())
			v, err := it.Value()
			require.NoError(t, err)
			require.Equal(t, "1", string(v))
			require.False(t, it.Next())
		}
		if it.Err() != nil {
			require.ErrorIs(t, it.Err(), kv.ErrSnapshotGone)
			require.False(t, it.Valid())
		}
	}
	require.False(t, gone && kv.IsExclusive(e))
	if gone {
		_, err := s.NewIter(ctx, kv.Span{})
		require.ErrorIs(t, err, kv.ErrSnapshotGone)
		require.False(t, it.SeekGE(key('x', "a", "")))
		require.ErrorIs(t, it.Err(), kv.ErrSnapshotGone)
	}
	require.NoError(t, it.Close())
	require.NoError(t, s.Close())
}

// forgets reports whether an engine gives a snapshot up while it is busy.
func forgets(t *testing.T, e kv.Engine, busy func()) bool {
	s := snapshot(t, e)
	require.NotNil(t, read(t, s, key('y', "busy", "")))
	busy()
	_, err := s.Get(context.Background(), key('y', "busy", ""))
	if err != nil {
		require.ErrorIs(t, err, kv.ErrSnapshotGone)
	}
	require.NoError(t, s.Close())
	return err != nil
}

// testLatest walks keys in each way that an iterator can, while so many updates take place that a
// snapshot may be given up between any two moves.
func testLatest(t *testing.T, e kv.Engine) {
	ctx := context.Background()
	const n = 12
	name := func(i int) string { return fmt.Sprintf("k%03d", i) }
	for i := range n {
		require.NoError(t, e.Update(ctx, rows(name(i)), func(_ kv.Reader, b *kv.Batch) error {
			b.Set(key('x', name(i), "1"), []byte{byte(i)})
			b.Set(key('x', name(i), "2"), []byte{byte(i)})
			return nil
		}))
	}
	for i, row := range []string{"k", "ka"} {
		require.NoError(t, e.Update(ctx, [][]byte{[]byte(row)},
			func(_ kv.Reader, b *kv.Batch) error {
				b.Set([]byte("w"+row), []byte{byte(1 + i)})
				return nil
			}))
	}
	busy := func() {
		for i := range manyUpdates {
			require.NoError(t, e.Update(ctx, rows("busy"), func(_ kv.Reader, b *kv.Batch) error {
				b.Set(key('y', "busy", ""), []byte{byte(i)})
				return nil
			}))
		}
	}
	busy()
	if !forgets(t, e, busy) {
		busy = func() {}
	}
	s, err := kv.Latest(e)
	require.NoError(t, err)
	it, err := s.NewIter(ctx, kv.Span{Start: []byte{'x'}, End: []byte{'y'}})
	require.NoError(t, err)
	whole, err := s.NewIter(ctx, kv.Span{Start: []byte{'w'}, End: []byte{'x'}})
	require.NoError(t, err)
	walkOf := func(it kv.Iterator, ok bool, next func() bool) (keys []string) {
		for ; ok; ok = next() {
			v, err := it.Value()
			require.NoError(t, err)
			keys = append(keys, fmt.Sprintf("%s=%d", it.Key(), v[0]))
			busy()
		}
		require.NoError(t, it.Err())
		require.False(t, it.Valid())
		return keys
	}
	walk := func(ok bool, next func() bool) []string { return walkOf(it, ok, next) }
	var all, firsts, backwards []string
	for i := range n {
		pair := []string{fmt.Sprintf("%s=%d", key('x', name(i), "1"), i),
			fmt.Sprintf("%s=%d", key('x', name(i), "2"), i)}
		all, firsts = append(all, pair...), append(firsts, pair[0])
		backwards = append([]string{pair[1], pair[0]}, backwards...)
	}
	require.Equal(t, all, walk(it.First(), it.Next))
	require.Equal(t, backwards, walk(it.Last(), it.Prev))
	require.Equal(t, firsts, walk(it.First(), it.NextPrefix))
	require.Equal(t, all[6:8], walk(it.SeekPrefixGE(key('x', name(3), "")), it.Next))
	require.Equal(t, all[6:], walk(it.SeekGE(key('x', name(3), "")), it.Next))
	require.Equal(t, backwards[18:], walk(it.SeekLT(key('x', name(3), "")), it.Prev))
	// Keys that are rows of their own, one the beginning of the next.
	require.Equal(t, []string{"wk=1", "wka=2"}, walkOf(whole, whole.First(), whole.NextPrefix))
	require.NoError(t, whole.Close())
	require.NotNil(t, read(t, s, key('y', "busy", "")))
	busy()
	require.Equal(t, string([]byte{n - 1}), read(t, s, key('x', name(n-1), "2")))
	require.NoError(t, it.Close())
	require.NoError(t, s.Close())

	require.NoError(t, kv.Repeat(ctx, e, func(r kv.Reader) error {
		require.NotNil(t, read(t, r, key('y', "busy", "")))
		return nil
	}))
	runs := 0
	mine := errors.New("mine")
	require.ErrorIs(t, kv.Repeat(ctx, e, func(kv.Reader) error {
		if runs++; runs < 3 {
			return fmt.Errorf("at a key: %w", kv.ErrSnapshotGone)
		}
		return mine
	}), mine)
	require.Equal(t, 3, runs)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, kv.Repeat(ended, e, func(kv.Reader) error { return kv.ErrSnapshotGone }),
		context.Canceled)
}

// testStepState changes two rows together, in several goroutines, and lets no step see them differ.
func testStepState(t *testing.T, e kv.Engine) {
	ctx := context.Background()
	const writers, each = 4, 50
	both := func(r kv.Reader) (a, b string) {
		get := func(row string) string {
			v, err := r.Get(ctx, key('x', row, ""))
			if err != nil {
				t.Error(err)
			}
			return string(v)
		}
		return get("a"), get("b")
	}
	named := rows("a", "b")
	if kv.GroupOf(e, named[0]) != kv.GroupOf(e, named[1]) {
		return // they cannot be named together
	}
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				if err := e.Update(ctx, named, func(r kv.Reader, batch *kv.Batch) error {
					a, b := both(r)
					if a != b {
						t.Errorf("a step is shown %q and %q", a, b)
					}
					n, _ := strconv.Atoi(a)
					for _, row := range []string{"a", "b"} {
						batch.Set(key('x', row, ""), []byte(strconv.Itoa(n+1)))
					}
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	s := snapshot(t, e)
	require.Equal(t, strconv.Itoa(writers*each), read(t, s, key('x', "a", "")))
	require.NoError(t, s.Close())
}
