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
	kvtest.Run(t, func(*testing.T) kv.Engine { return memkv.New(memkv.Options{HashGroups: 4, Shared: true}) })
}

func TestUpdateRefusesRowsThatWereNotNamed(t *testing.T) {
	e := memkv.New(memkv.Options{})
	err := e.Update(context.Background(), [][]byte{[]byte("a\x00\x01")}, func(_ kv.Reader, b *kv.Batch) error {
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
	err := e.Update(context.Background(), [][]byte{[]byte("a"), []byte("z")}, func(kv.Reader, *kv.Batch) error { return nil })
	require.ErrorIs(t, err, kv.ErrGroups)
	require.ErrorIs(t, err, kv.ErrNotApplied)
}
