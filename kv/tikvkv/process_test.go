package tikvkv

import (
	"bytes"
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// cellOf is the only cell of a row in these tests.
func cellOf(row string) []byte { return []byte("x" + row + "\x00\x01") }

func rowsOf(names ...string) (out [][]byte) {
	for _, n := range names {
		out = append(out, kv.Row(cellOf(n)))
	}
	return out
}

// put sets the cell of a row.
func put(e kv.Engine, row, value string) error {
	return e.Update(context.Background(), rowsOf(row), func(_ kv.Reader, b *kv.Batch) error {
		b.Set(cellOf(row), []byte(value))
		return nil
	})
}

// get returns the cell of a row in a new snapshot, "" for none.
func get(t *testing.T, e kv.Engine, row string) string {
	s, err := e.Snapshot()
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	v, err := s.Get(context.Background(), cellOf(row))
	require.NoError(t, err)
	return string(v)
}

// TestProcessesUpdateOneRow: of two handles on a store each sees what the other has done.
func TestProcessesUpdateOneRow(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	c := newCluster(t)
	c.splitAt([]byte(prefix + "d"))
	const each = 25
	var wg sync.WaitGroup
	var engines []*Engine
	for range 3 {
		e := c.open(t, Options{Prefix: prefix}, nil)
		engines = append(engines, e)
		wg.Go(func() {
			for range each {
				if err := e.Update(ctx, rowsOf("k"), func(r kv.Reader, b *kv.Batch) error {
					v, err := r.Get(ctx, cellOf("k"))
					if err != nil {
						return err
					}
					b.Set(cellOf("k"), append(bytes.Clone(v), '.'))
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, e := range engines {
		require.Len(t, get(t, e, "k"), 3*each)
		require.NoError(t, e.Close())
	}
}

// TestARowThatIsOnlyReadDoesNotChange: another process writes a row between the step that reads it
// and the commit, which writes another row. The step runs again.
func TestARowThatIsOnlyReadDoesNotChange(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	c := newCluster(t)
	c.splitAt([]byte(prefix + "gb"))
	e, other := c.open(t, Options{Prefix: prefix}, nil), c.open(t, Options{Prefix: prefix}, nil)
	runs := 0
	require.NoError(t, e.Update(ctx, rowsOf("a", "b"), func(r kv.Reader, batch *kv.Batch) error {
		v, err := r.Get(ctx, cellOf("b"))
		if err != nil {
			return err
		}
		if runs++; runs == 1 {
			require.Nil(t, v)
			require.NoError(t, put(other, "b", "1"))
			// Of a row that is not named a step learns as a snapshot does.
			require.NoError(t, put(other, "c", "1"))
		}
		batch.Set(cellOf("a"), append([]byte("b is "), v...))
		return nil
	}))
	require.Equal(t, 2, runs)
	require.Equal(t, "b is 1", get(t, other, "a"))

	// Two that only read one row, and write others, follow one another too, whichever wins.
	runs = 0
	require.NoError(t, e.Update(ctx, rowsOf("a", "b"), func(_ kv.Reader, batch *kv.Batch) error {
		if runs++; runs == 1 {
			require.NoError(t, other.Update(ctx, rowsOf("b", "c"),
				func(_ kv.Reader, batch *kv.Batch) error {
					batch.Set(cellOf("c"), []byte("2"))
					return nil
				}))
		}
		batch.Set(cellOf("a"), []byte("2"))
		return nil
	}))
	require.Equal(t, "2", get(t, other, "a"))
	require.Equal(t, "2", get(t, e, "c"))
	require.NoError(t, e.Close())
	require.NoError(t, other.Close())
}

// TestStoresOfOneClusterDoNotMeet: the end of one store is not the beginning of the next.
func TestStoresOfOneClusterDoNotMeet(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	a, b := c.open(t, Options{Prefix: "a\x00"}, nil), c.open(t, Options{Prefix: "b\x00"}, nil)
	require.NoError(t, put(a, "k", "of a"))
	require.NoError(t, put(b, "k", "of b"))
	for e, want := range map[*Engine]string{a: "of a", b: "of b"} {
		require.Equal(t, want, get(t, e, "k"))
		s, err := e.Snapshot()
		require.NoError(t, err)
		it, err := s.NewIter(context.Background(), kv.Span{})
		require.NoError(t, err)
		require.True(t, it.First())
		require.False(t, it.Prev())
		require.True(t, it.Last())
		require.False(t, it.Next())
		require.NoError(t, it.Err())
		require.NoError(t, it.Close())
		require.NoError(t, s.Close())
		require.NoError(t, e.Close())
	}
}

// TestTheOracleIsTheClustersOwn: its timestamps go up over all processes, carry the time, and lie
// above the commits that returned before.
func TestTheOracleIsTheClustersOwn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	c := newCluster(t)
	a, b := c.open(t, Options{Prefix: prefix}, nil), c.open(t, Options{Prefix: prefix}, nil)
	var last tso.Timestamp
	for i := range 20 {
		e := []*Engine{a, b}[i%2]
		ts, err := tso.OracleOf(e).Next(ctx)
		require.NoError(t, err)
		require.Greater(t, ts, last)
		last = ts
		require.GreaterOrEqual(t, e.oracle.Now(), ts)
		require.NoError(t, put(e, "k", ts.String()))
		r := &reader{e: []*Engine{b, a}[i%2]}
		v, err := r.Get(ctx, cellOf("k"))
		require.NoError(t, err)
		require.Equal(t, ts.String(), string(v))
		require.Greater(t, tso.Timestamp(r.ts), ts)
	}
	c.pd.ahead.Add(expiry)
	ts, err := a.oracle.Next(ctx)
	require.NoError(t, err)
	require.GreaterOrEqual(t, ts.Physical(), last.Physical()+expiry)
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
}
