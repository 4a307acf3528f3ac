package kvtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/stretchr/testify/require"
)

// Run checks an engine against the contract. open returns an empty engine for each test; the suite
// closes it.
func Run(t *testing.T, open func(t *testing.T) kv.Engine) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, e kv.Engine)
	}{
		{"an update is seen whole by later readers", testVisible},
		{"a snapshot never changes", testSnapshot},
		{"a snapshot is given up whole", testSnapshotGone},
		{"what needs no single state goes on without a snapshot", testLatest},
		{"a step is shown one state of its rows", testStepState},
		{"the error of a step comes back and nothing is written", testStepError},
		{"updates of one row follow one another", testIsolated},
		{"a cancelled update is not applied", testCancelled},
		{"iterators seek and step both ways within their span", testIterator},
		{"prefixes are sought and skipped", testPrefix},
		{"iterators agree with a sorted list", testAgainstModel},
		{"a lazy update is visible and ordered", testLazy},
		{"a deleted span is empty, and nothing else is", testDeleteSpan},
		{"a snapshot keeps what a deletion of a span takes away", testDeleteSpanSnapshot},
		{"a deletion of a span goes in bounded steps where it must", testDeleteSpanSteps},
		{"spans are deleted beside updates of other rows", testDeleteSpanBeside},
		{"what is ingested is there as a whole, for later readers", testIngest},
		{"an ingestion that fails leaves nothing", testIngestFails},
		{"what is ingested is deleted and written like other keys", testIngestThenWrite},
		{"a batch that writes a row which was not named is refused whole", testForeignRow},
		{"an update stays in one group", testGroups},
		{"an update beyond the limits is refused whole", testLimits},
		{"many rows are updated in parts", testInParts},
		{"a closed engine returns ErrClosed", testClosed},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := open(t)
			c.run(t, e)
			if err := e.Close(); !errors.Is(err, kv.ErrClosed) {
				require.NoError(t, err)
			}
		})
	}
}

// key builds a key of a family, a row and a qualifier.
func key(family byte, row, qualifier string) []byte {
	return append([]byte{family}, row+"\x00\x01"+qualifier...)
}

func rows(names ...string) (out [][]byte) {
	for _, n := range names {
		out = append(out, []byte(n+"\x00\x01"))
	}
	return out
}

func set(t testing.TB, e kv.Engine, row, value string) {
	require.NoError(t, e.Update(context.Background(), rows(row),
		func(_ kv.Reader, b *kv.Batch) error {
			b.Set(key('x', row, ""), []byte(value))
			return nil
		}))
}

func read(t testing.TB, r kv.Reader, k []byte) any {
	v, err := r.Get(context.Background(), k)
	require.NoError(t, err)
	if v == nil {
		return nil
	}
	return string(v)
}

func snapshot(t testing.TB, e kv.Engine) kv.Snapshot {
	s, err := e.Snapshot()
	require.NoError(t, err)
	return s
}

func testVisible(t *testing.T, e kv.Engine) {
	require.NoError(t, e.Update(context.Background(), rows("a"),
		func(r kv.Reader, b *kv.Batch) error {
			require.Nil(t, read(t, r, key('x', "a", "")))
			b.Set(key('x', "a", ""), []byte("1"))
			b.Set(key('y', "a", "q"), nil)
			b.Set(key('y', "a", "r"), []byte("gone"))
			b.Delete(key('y', "a", "r"))
			require.Nil(t, read(t, r, key('x', "a", "")), "a step does not see its own batch")
			return nil
		}))
	s := snapshot(t, e)
	require.Equal(t, "1", read(t, s, key('x', "a", "")))
	require.Equal(t, "", read(t, s, key('y', "a", "q")), "an empty value is not nil")
	require.Nil(t, read(t, s, key('y', "a", "r")))
	require.Nil(t, read(t, s, key('y', "a", "")))
	require.NoError(t, s.Close())
}

func testSnapshot(t *testing.T, e kv.Engine) {
	set(t, e, "a", "1")
	s := snapshot(t, e)
	if !kv.IsExclusive(e) {
		require.Equal(t, "1", read(t, s, key('x', "a", ""))) // which pins it
	}
	set(t, e, "a", "2")
	set(t, e, "b", "1")
	require.Equal(t, "1", read(t, s, key('x', "a", "")))
	it, err := s.NewIter(context.Background(), kv.Span{})
	require.NoError(t, err)
	require.True(t, it.First())
	v, err := it.Value()
	require.NoError(t, err)
	require.Equal(t, "1", string(v))
	require.False(t, it.Next())
	require.NoError(t, it.Close())
	require.NoError(t, s.Close())
	s = snapshot(t, e)
	require.Equal(t, "2", read(t, s, key('x', "a", "")))
	require.NoError(t, s.Close())
}

func testStepError(t *testing.T, e kv.Engine) {
	mine := errors.New("mine")
	err := e.Update(context.Background(), rows("a"), func(_ kv.Reader, b *kv.Batch) error {
		b.Set(key('x', "a", ""), []byte("1"))
		return mine
	})
	require.ErrorIs(t, err, mine)
	s := snapshot(t, e)
	require.Nil(t, read(t, s, key('x', "a", "")))
	require.NoError(t, s.Close())
}

func testIsolated(t *testing.T, e kv.Engine) {
	const workers, each = 8, 50
	var wg sync.WaitGroup
	errs := make(chan error, workers)
	for w := range workers {
		// Half of them name a second row too, in another order: no deadlock.
		names := [][][]byte{rows("n"), rows("m", "n"), rows("n", "m")}[w%3]
		if kv.GroupOf(e, names[0]) != kv.GroupOf(e, names[len(names)-1]) {
			names = rows("n")
		}
		wg.Go(func() {
			for range each {
				if err := e.Update(context.Background(), names, increment); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	require.NoError(t, <-errs)
	s := snapshot(t, e)
	require.Equal(t, fmt.Sprint(workers*each), read(t, s, key('x', "n", "")))
	require.NoError(t, s.Close())
}

func increment(r kv.Reader, b *kv.Batch) error {
	k := key('x', "n", "")
	v, err := r.Get(context.Background(), k)
	if err != nil {
		return err
	}
	n := 0
	if v != nil {
		if _, err := fmt.Sscan(string(v), &n); err != nil {
			return err
		}
	}
	b.Set(k, fmt.Appendf(nil, "%d", n+1))
	return nil
}

func testCancelled(t *testing.T, e kv.Engine) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := e.Update(ctx, rows("a"), func(_ kv.Reader, b *kv.Batch) error {
		b.Set(key('x', "a", ""), []byte("1"))
		return nil
	})
	require.ErrorIs(t, err, kv.ErrNotApplied)
	require.ErrorIs(t, err, context.Canceled)
	s := snapshot(t, e)
	require.Nil(t, read(t, s, key('x', "a", "")))
	require.NoError(t, s.Close())
}

func testIterator(t *testing.T, e kv.Engine) {
	for _, row := range []string{"a", "b", "c", "d", "e"} {
		set(t, e, row, row)
	}
	s := snapshot(t, e)
	it, err := s.NewIter(context.Background(),
		kv.Span{Start: key('x', "b", ""), End: key('x', "e", "")})
	require.NoError(t, err)
	at := func(ok bool) string {
		require.Equal(t, ok, it.Valid())
		require.NoError(t, it.Err())
		if !ok {
			return ""
		}
		v, err := it.Value()
		require.NoError(t, err)
		require.Equal(t, key('x', string(v), ""), it.Key())
		return string(v)
	}
	require.Equal(t, "b", at(it.First()))
	require.Equal(t, "c", at(it.Next()))
	require.Equal(t, "b", at(it.Prev()))
	require.Equal(t, "", at(it.Prev()))
	require.Equal(t, "d", at(it.Last()))
	require.Equal(t, "", at(it.Next()))
	require.Equal(t, "b", at(it.SeekGE([]byte("a"))))
	require.Equal(t, "c", at(it.SeekGE(key('x', "bb", ""))))
	require.Equal(t, "d", at(it.Next()))
	require.Equal(t, "", at(it.SeekGE(key('x', "e", ""))))
	require.Equal(t, "b", at(it.SeekLT(key('x', "c", ""))))
	require.Equal(t, "d", at(it.SeekLT([]byte("z"))))
	require.Equal(t, "c", at(it.Prev()))
	require.Equal(t, "", at(it.SeekLT(key('x', "b", ""))))
	require.NoError(t, it.Close())
	require.NoError(t, s.Close())
}

func testPrefix(t *testing.T, e kv.Engine) {
	for _, row := range []string{"a", "aa", "b"} {
		require.NoError(t, e.Update(context.Background(), rows(row),
			func(_ kv.Reader, b *kv.Batch) error {
				for _, q := range []string{"", "1", "2", "\xff\xff"} {
					b.Set(key('x', row, q), []byte(row+q))
				}
				return nil
			}))
	}
	s := snapshot(t, e)
	it, err := s.NewIter(context.Background(), kv.Span{})
	require.NoError(t, err)
	require.True(t, it.SeekPrefixGE(key('x', "a", "11")))
	require.Equal(t, key('x', "a", "2"), it.Key())
	require.True(t, it.Next())
	require.Equal(t, key('x', "a", "\xff\xff"), it.Key())
	require.False(t, it.Next(), "stays in the prefix")
	require.False(t, it.SeekPrefixGE(key('x', "ab", "")))
	require.NoError(t, it.Err())
	require.True(t, it.SeekGE(key('x', "a", "1")))
	require.True(t, it.NextPrefix())
	require.Equal(t, key('x', "aa", ""), it.Key())
	require.True(t, it.Next())
	require.True(t, it.NextPrefix())
	require.Equal(t, key('x', "b", ""), it.Key())
	require.False(t, it.NextPrefix())
	require.NoError(t, it.Err())
	require.NoError(t, it.Close())
	require.NoError(t, s.Close())
}

// testAgainstModel moves an iterator at random over random keys, zero bytes included, and compares
// every stop with a sorted list.
func testAgainstModel(t *testing.T, e kv.Engine) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	random := func() []byte {
		k := []byte{'x'}
		for range rng.IntN(5) {
			k = append(k, []byte{0x00, 0x01, 0x02, 0xff}[rng.IntN(4)])
		}
		return k
	}
	model := map[string]bool{}
	for range 150 {
		k := random()
		model[string(k)] = true
		require.NoError(t, e.Update(context.Background(), [][]byte{kv.Row(k)},
			func(_ kv.Reader, b *kv.Batch) error {
				b.Set(k, []byte("v"))
				return nil
			}))
	}
	sorted := slices.Sorted(maps.Keys(model))
	s := snapshot(t, e)
	it, err := s.NewIter(context.Background(), kv.Span{})
	require.NoError(t, err)
	var sought []byte // is the caller's again when a move is over
	for range 2000 {
		k := string(random())
		at, found := slices.BinarySearch(sorted, k)
		var ok bool
		sought = append(sought[:0], k...)
		switch rng.IntN(7) {
		case 0:
			ok = it.SeekGE(sought)
		case 1:
			ok = it.SeekLT(sought)
			at--
		case 2:
			ok = it.SeekGE(sought) && it.Next()
			at++
		case 3:
			ok = it.SeekLT(sought) && it.Prev()
			at -= 2
		case 4:
			if ok = it.SeekGE(sought); ok {
				from := string(kv.Prefix([]byte(sorted[at])))
				ok = it.NextPrefix()
				for at < len(sorted) && string(kv.Prefix([]byte(sorted[at]))) == from {
					at++
				}
			}
		case 5:
			require.Equal(t, found, read(t, s, []byte(k)) != nil)
			continue
		case 6:
			ok = it.SeekPrefixGE(sought)
			prefix := kv.Prefix([]byte(k))
			if at < len(sorted) && !bytes.Equal(kv.Prefix([]byte(sorted[at])), prefix) {
				at = len(sorted)
			}
		}
		require.Equal(t, at >= 0 && at < len(sorted), ok)
		if ok {
			require.Equal(t, sorted[at], string(it.Key()))
		}
	}
	require.NoError(t, it.Close())
	require.NoError(t, s.Close())
}

func testLazy(t *testing.T, e kv.Engine) {
	for _, v := range []string{"1", "2"} {
		require.NoError(t, kv.UpdateLazy(context.Background(), e, rows("a"),
			func(_ kv.Reader, b *kv.Batch) error {
				b.Set(key('x', "a", ""), []byte(v))
				return nil
			}))
	}
	s := snapshot(t, e)
	require.Equal(t, "2", read(t, s, key('x', "a", "")))
	require.NoError(t, s.Close())
}

func testClosed(t *testing.T, e kv.Engine) {
	require.NoError(t, e.Close())
	_, err := e.Snapshot()
	require.ErrorIs(t, err, kv.ErrClosed)
	err = e.Update(context.Background(), rows("a"), func(kv.Reader, *kv.Batch) error { return nil })
	require.ErrorIs(t, err, kv.ErrClosed)
	require.ErrorIs(t, err, kv.ErrNotApplied)
	_, err = kv.DeleteSpan(context.Background(), e, kv.Span{}, 0)
	require.ErrorIs(t, err, kv.ErrClosed)
}

// Dump returns every pair of an engine, for comparing two.
func Dump(t testing.TB, e kv.Engine) (out []string) {
	s := snapshot(t, e)
	it, err := s.NewIter(context.Background(), kv.Span{})
	require.NoError(t, err)
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.Value()
		require.NoError(t, err)
		out = append(out, fmt.Sprintf("%x=%x", it.Key(), bytes.Clone(v)))
	}
	require.NoError(t, it.Err())
	require.NoError(t, it.Close())
	require.NoError(t, s.Close())
	return out
}
