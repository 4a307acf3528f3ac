package kvtest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/stretchr/testify/require"
)

// numbered gives keys of rows numbered from..to-1.
func numbered(family byte, from, to int) kv.Source {
	return func(put func(key, value []byte) error) error {
		for i := from; i < to; i++ {
			row := fmt.Sprintf("%06d", i)
			if err := put(key(family, row, ""), []byte(row)); err != nil {
				return err
			}
		}
		return nil
	}
}

func testIngest(t *testing.T, e kv.Engine) {
	in := kv.IngesterOf(e)
	if in == nil {
		return
	}
	set(t, e, "000500x", "between")
	before := snapshot(t, e)
	require.NoError(t, in.Ingest(context.Background(), []kv.Source{
		numbered('x', 0, 1000), numbered('x', 1000, 3000), numbered('w', 0, 10),
		numbered('w', 10, 10), // nothing
	}))
	require.Nil(t, read(t, before, key('x', "000000", "")), "an older snapshot")
	require.NoError(t, before.Close())
	require.Len(t, Dump(t, e), 3011)
	s := snapshot(t, e)
	require.Equal(t, "002999", read(t, s, key('x', "002999", "")))
	it, err := s.NewIter(context.Background(), kv.Span{Start: key('x', "000499", "")})
	require.NoError(t, err)
	require.True(t, it.First())
	require.True(t, it.Next())
	require.Equal(t, key('x', "000500", ""), it.Key())
	require.True(t, it.Next())
	require.Equal(t, key('x', "000500x", ""), it.Key())
	require.NoError(t, errors.Join(it.Close(), s.Close()))
	require.NoError(t, in.Ingest(context.Background(), nil))
}

func testIngestFails(t *testing.T, e kv.Engine) {
	in := kv.IngesterOf(e)
	if in == nil {
		return
	}
	failed := errors.New("the source failed")
	err := in.Ingest(context.Background(), []kv.Source{numbered('w', 0, 100),
		func(put func(key, value []byte) error) error {
			return errors.Join(put(key('x', "a", ""), nil), failed)
		}})
	require.ErrorIs(t, err, failed)
	require.ErrorIs(t, err, kv.ErrNotApplied)
	require.Empty(t, Dump(t, e))
	cancelled, cancel := context.WithCancel(context.Background())
	err = in.Ingest(cancelled, []kv.Source{func(put func(key, value []byte) error) error {
		cancel()
		return numbered('x', 0, 100_000)(put)
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, Dump(t, e))
}

// testIngestThenWrite writes over ingested keys, deletes them as a span, and ingests them again.
func testIngestThenWrite(t *testing.T, e kv.Engine) {
	in := kv.IngesterOf(e)
	if in == nil {
		return
	}
	for range 3 {
		require.NoError(t,
			in.Ingest(context.Background(), []kv.Source{numbered('x', 0, 100)}))
		set(t, e, "000007", "seven")
		s := snapshot(t, e)
		require.Equal(t, "seven", read(t, s, key('x', "000007", "")))
		require.NoError(t, s.Close())
		require.Len(t, Dump(t, e), 100)
		deleteSpan(t, e, kv.Span{Start: []byte("x"), End: []byte("y")}, 0)
		require.Empty(t, Dump(t, e))
	}
}
