package session_test

import (
	"context"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/session"
	"github.com/stretchr/testify/require"
)

var ctx = context.Background()

func update(t *testing.T, e kv.Engine, key []byte, f func(b *kv.Batch)) {
	require.NoError(t, e.Update(ctx, [][]byte{kv.Row(key)}, func(_ kv.Reader, b *kv.Batch) error {
		f(b)
		return nil
	}))
}

func TestSessionsAreListedByAge(t *testing.T) {
	e := memkv.New(memkv.Options{})
	want := []session.Record{{ID: 9, LeaseEnd: 20, Oldest: 3}, {ID: 0x10, LeaseEnd: 21, Oldest: 4}, {ID: 1 << 62, LeaseEnd: 22, Oldest: 5}}
	for _, i := range []int{2, 0, 1} {
		update(t, e, session.Key(want[i].ID), func(b *kv.Batch) { session.Start(b, want[i]) })
	}
	update(t, e, mvcc.MetaKey("session"), func(b *kv.Batch) { b.Set(mvcc.MetaKey("session"), []byte("no session")) })
	update(t, e, mvcc.MetaKey("sessions"), func(b *kv.Batch) { b.Set(mvcc.MetaKey("sessions"), []byte("nor this")) })
	snap, err := e.Snapshot()
	require.NoError(t, err)
	defer func() { _ = snap.Close() }()
	all, err := session.All(ctx, snap)
	require.NoError(t, err)
	require.Equal(t, want, all)
	_, found, err := session.Get(ctx, snap, 8)
	require.NoError(t, err)
	require.False(t, found)
}

func TestABadRecordIsCorruption(t *testing.T) {
	for _, key := range []string{"session/0000000000000007", "session/x"} {
		e := memkv.New(memkv.Options{})
		update(t, e, mvcc.MetaKey(key), func(b *kv.Batch) { b.Set(mvcc.MetaKey(key), []byte("short")) })
		snap, err := e.Snapshot()
		require.NoError(t, err)
		_, err = session.All(ctx, snap)
		require.ErrorIs(t, err, kv.ErrCorruption)
		require.NoError(t, snap.Close())
	}
}
