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
