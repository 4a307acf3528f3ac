package mvcc_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// cut is a reader whose iterators fail when they go back beyond a number of keys.
type cut struct {
	kv.Reader
	back int
}

type cutIter struct {
	kv.Iterator
	back int
	err  error
}

func (c cut) NewIter(ctx context.Context, span kv.Span) (kv.Iterator, error) {
	it, err := c.Reader.NewIter(ctx, span)
	return &cutIter{Iterator: it, back: c.back}, err
}

func (i *cutIter) Prev() bool {
	if i.back--; i.back < 0 {
		i.err = kv.ErrCorruption
		return false
	}
	return i.Iterator.Prev()
}

func (i *cutIter) Valid() bool { return i.err == nil && i.Iterator.Valid() }

func (i *cutIter) Err() error { return i.err }

// TestABackwardScanThatIsCutShortShowsNoOlderVersion damages a store between two versions of a key.
func TestABackwardScanThatIsCutShortShowsNoOlderVersion(t *testing.T) {
	ctx := context.Background()
	e := memkv.New(memkv.Options{})
	for ts, value := range map[uint64]string{1: "old", 5: "new"} {
		require.NoError(t, e.Update(ctx, [][]byte{mvcc.Row([]byte("k"))},
			func(_ kv.Reader, b *kv.Batch) error {
				mvcc.WriteOnePhase(b, tso.Timestamp(ts), tso.Timestamp(ts+1),
					[]mvcc.Mutation{{Row: mvcc.Row([]byte("k")), Kind: mvcc.KindPut,
						Value: []byte(value)}})
				return nil
			}))
	}
	snap, err := e.Snapshot()
	require.NoError(t, err)
	for back, want := range []string{"", "new"} {
		var got string
		err = mvcc.Committed(cut{snap, 2 * back}, false)(ctx, kv.Span{}, true,
			func(_, value []byte) error {
				got = string(value)
				return nil
			})
		require.Equal(t, want, got)
		require.Equal(t, back == 0, err != nil)
	}
	require.NoError(t, snap.Close())
	require.NoError(t, e.Close())
}
