package mvcc

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
)

// TestLocksThatHaveComeBack puts locks into rows beside the records of their transactions, as files
// that a store had replaced may do. Timestamps: 10 committed at 11, then 20 at 21.
func TestLocksThatHaveComeBack(t *testing.T) {
	ctx := context.Background()
	e := memkv.New(memkv.Options{})
	key := []byte("k")
	row := Row(key)
	returned := Lock{Kind: KindPut, StartTS: 10, Primary: key, HasShort: true, Short: []byte("old")}
	left := Lock{Kind: KindPut, StartTS: 30, Primary: key, HasShort: true, Short: []byte("new"),
		MinCommitTS: 35}
	update := func(step kv.Step) {
		require.NoError(t,
			e.Update(ctx, [][]byte{kv.Row(appendLockKey(nil, row))}, step))
	}
	write := func(l Lock) {
		update(func(r kv.Reader, b *kv.Batch) (err error) {
			s := newStep(r, b)
			defer s.close(&err)
			s.setWrite(row, 11,
				&Write{Kind: KindPut, StartTS: 10, HasShort: true, Short: []byte("old")})
			s.setWrite(row, 21,
				&Write{Kind: KindPut, StartTS: 20, HasShort: true, Short: []byte("young")})
			s.setLock(row, &l)
			return nil
		})
	}
	locks := func() (n int) {
		snap, err := e.Snapshot()
		require.NoError(t, err)
		require.NoError(t, Locks(ctx, snap, kv.Span{},
			func([]byte, Lock) error { n++; return nil }))
		require.NoError(t, snap.Close())
		return n
	}
	for _, c := range []struct {
		lock  Lock
		left  int
		value string // of the lock, had its transaction been committed at start_ts + 1
	}{{returned, 0, "young"}, {left, 1, "new"}} {
		write(c.lock)
		snap, err := e.Snapshot()
		require.NoError(t, err)
		value, err := LockedValue(ctx, snap, key, &c.lock, c.lock.StartTS+1)
		require.NoError(t, err)
		require.Equal(t, c.value, string(value))
		newest, err := NewestTimestamp(ctx, snap)
		require.NoError(t, err)
		require.Equal(t, max(21, c.lock.MinCommitTS), newest)
		require.NoError(t, snap.Close())
		update(func(r kv.Reader, b *kv.Batch) error { return DropReturnedLock(ctx, r, b, key) })
		require.Equal(t, c.left, locks())
	}
	require.NoError(t, e.Close())
}
