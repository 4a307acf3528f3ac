package memkv_test

import (
	"context"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/stretchr/testify/require"
)

func TestContract(t *testing.T) {
	kvtest.Run(t, func(*testing.T) kv.Engine { return memkv.New(memkv.Options{}) })
}

func TestContractInGroups(t *testing.T) {
	kvtest.Run(t, func(*testing.T) kv.Engine {
		return memkv.New(memkv.Options{HashGroups: 4,
			Shared: true})
	})
}

func TestContractWithLimits(t *testing.T) {
	for _, limits := range []kv.Limits{kv.LeastLimits, memkv.SmallLimits, {Rows: 16}, {Ops: 64}} {
		kvtest.Run(t, func(*testing.T) kv.Engine {
			return memkv.New(memkv.Options{Limits: limits})
		})
	}
}

func TestUpdateRefusesRowsThatWereNotNamed(t *testing.T) {
	e := memkv.New(memkv.Options{})
	err := e.Update(context.Background(), [][]byte{[]byte("a\x00\x01")},
		func(_ kv.Reader, b *kv.Batch) error {
			b.Set([]byte("xa\x00\x01"), nil)
			b.Set([]byte("xb\x00\x01"), nil)
			return nil
		})
	require.ErrorIs(t, err, kv.ErrForeignRow)
	require.Empty(t, kvtest.Dump(t, e), "kv I6: refused whole")
}

func TestUpdateRefusesRowsOfTwoGroups(t *testing.T) {
	e := memkv.New(memkv.Options{Splits: [][]byte{[]byte("m")}})
	require.Equal(t, uint64(0), e.Group([]byte("a")))
	require.Equal(t, uint64(1), e.Group([]byte("m")))
	err := e.Update(context.Background(), [][]byte{[]byte("a"), []byte("z")},
		func(kv.Reader, *kv.Batch) error { return nil })
	require.ErrorIs(t, err, kv.ErrGroups)
	require.ErrorIs(t, err, kv.ErrNotApplied)
}

func TestEqualSeedsMakeEqualGroups(t *testing.T) {
	groups := func(seed uint64) (out []uint64) {
		e := memkv.New(memkv.Options{HashGroups: 3, HashSeed: seed})
		for _, row := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			out = append(out, e.Group([]byte(row)))
		}
		return out
	}
	require.Equal(t, groups(1), groups(1))
	require.NotEqual(t, groups(1), groups(2))
	require.Subset(t, groups(1), []uint64{0, 1, 2})
}

// TestNextPrefixGoesOnWhereASnapshotIsGone, of a prefix that is longer than a snapshot lasts.
func TestNextPrefixGoesOnWhereASnapshotIsGone(t *testing.T) {
	ctx := context.Background()
	e := memkv.New(memkv.Options{Shared: true, Reads: 5})
	require.NoError(t, e.Update(ctx, [][]byte{[]byte("a\x00\x01"), []byte("b\x00\x01")},
		func(_ kv.Reader, b *kv.Batch) error {
			for i := range byte(20) {
				b.Set([]byte{'x', 'a', 0, 1, i}, nil)
			}
			b.Set([]byte("xb\x00\x01"), nil)
			return nil
		}))
	s, err := kv.Latest(e)
	require.NoError(t, err)
	it, err := s.NewIter(ctx, kv.Span{})
	require.NoError(t, err)
	require.True(t, it.First())
	require.True(t, it.NextPrefix())
	require.Equal(t, "xb\x00\x01", string(it.Key()))
	require.False(t, it.NextPrefix())
	require.NoError(t, it.Err())
	require.NoError(t, it.Close())
	require.NoError(t, s.Close())
}
