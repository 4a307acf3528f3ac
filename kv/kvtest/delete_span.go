package kvtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/stretchr/testify/require"
)

// deleteSpan deletes a span to its end, in steps of so many keys.
func deleteSpan(t testing.TB, e kv.Engine, span kv.Span, limit int) {
	for done := false; !done; {
		var err error
		done, err = kv.DeleteSpan(context.Background(), e, span, limit)
		require.NoError(t, err)
	}
}

// testDeleteSpan deletes spans of every shape, between rows, within a row, to the end of all keys,
// and none, and compares with what is left of a list.
func testDeleteSpan(t *testing.T, e kv.Engine) {
	model := map[string]bool{}
	fill := func() {
		for _, row := range []string{"a", "b", "c", "d"} {
			require.NoError(t,
				e.Update(context.Background(), rows(row), func(_ kv.Reader, b *kv.Batch) error {
					for _, family := range []byte("xy") {
						for _, q := range []string{"", "1", "\xff"} {
							k := key(family, row, q)
							b.Set(k, []byte("v"))
							model[string(k)] = true
						}
					}
					return nil
				}))
		}
	}
	for _, span := range []kv.Span{
		{Start: key('x', "b", ""), End: key('x', "d", "")},
		{Start: key('x', "b", ""), End: key('x', "b", "1")},
		{Start: key('x', "b", "1"), End: key('y', "c", "1")},
		{Start: key('x', "b", ""), End: key('x', "b", "")},
		{Start: key('x', "d", ""), End: key('x', "b", "")},
		{Start: []byte("p"), End: []byte("q")},
		{Start: key('y', "d", "1")},
		{},
		{},
	} {
		fill()
		deleteSpan(t, e, span, 0)
		for k := range model {
			if span.Contains([]byte(k)) {
				delete(model, k)
			}
		}
		require.Len(t, Dump(t, e), len(model), "%q to %q", span.Start, span.End)
		s := snapshot(t, e)
		for k := range model {
			require.Equal(t, "v", read(t, s, []byte(k)))
		}
		require.NoError(t, s.Close())
	}
	set(t, e, "a", "again")
	require.Len(t, Dump(t, e), 1, "what is set afterwards stays")
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := kv.DeleteSpan(cancelled, e, kv.Span{}, 0)
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, Dump(t, e), 1)
}

func testDeleteSpanSnapshot(t *testing.T, e kv.Engine) {
	for _, row := range []string{"a", "b", "c"} {
		set(t, e, row, row)
	}
	before := Dump(t, e)
	s := snapshot(t, e)
	it, err := s.NewIter(context.Background(), kv.Span{})
	require.NoError(t, err)
	require.True(t, it.First())
	deleteSpan(t, e, kv.Span{}, 0)
	n := 1
	for it.Next() {
		n++
	}
	require.NoError(t, it.Err())
	require.Equal(t, len(before), n)
	require.NoError(t, it.Close())
	require.Equal(t, "b", read(t, s, key('x', "b", "")))
	require.NoError(t, s.Close())
	require.Empty(t, Dump(t, e))
}

// testDeleteSpanSteps: an engine that can delete a range does so at once, any other deletes no more
// than so many keys at a call.
func testDeleteSpanSteps(t *testing.T, e kv.Engine) {
	for i := range 10 {
		set(t, e, fmt.Sprint(i), "v")
	}
	_, atOnce := e.(kv.RangeDeleter)
	for left := 10; left > 0; left -= 3 {
		done, err := kv.DeleteSpan(context.Background(), e, kv.Span{}, 3)
		require.NoError(t, err)
		if atOnce {
			require.True(t, done)
			break
		}
		if kv.GroupOf(e, rows("0")[0]) == kv.GroupOf(e, rows("9")[0]) {
			require.Len(t, Dump(t, e), max(0, left-3))
		}
	}
	deleteSpan(t, e, kv.Span{}, 3)
	require.Empty(t, Dump(t, e))
}

// testDeleteSpanBeside deletes one half of the keys again and again while others are written.
func testDeleteSpanBeside(t *testing.T, e kv.Engine) {
	const workers, each = 4, 40
	var wg sync.WaitGroup
	errs := make([]error, workers+1)
	for w := range workers {
		wg.Go(func() {
			for range each {
				errs[w] = errors.Join(errs[w], e.Update(context.Background(), rows("n"), increment))
			}
		})
	}
	wg.Go(func() {
		for i := range each {
			row := rows(fmt.Sprintf("d%d", i))
			errs[workers] = errors.Join(errs[workers],
				e.Update(context.Background(), row, func(_ kv.Reader, b *kv.Batch) error {
					b.Set(append([]byte{'x'}, row[0]...), nil)
					return nil
				}))
			_, err := kv.DeleteSpan(context.Background(), e,
				kv.Span{Start: []byte("xd"), End: []byte("xe")}, 0)
			errs[workers] = errors.Join(errs[workers], err)
		}
	})
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	s := snapshot(t, e)
	require.Equal(t, fmt.Sprint(workers*each), read(t, s, key('x', "n", "")))
	require.NoError(t, s.Close())
	require.Len(t, Dump(t, e), 1)
}
