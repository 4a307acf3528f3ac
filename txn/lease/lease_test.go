package lease_test

import (
	"context"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn/lease"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
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
	want := []lease.Record{{ID: 9, LeaseEnd: 20, Oldest: 3}, {ID: 0x10, LeaseEnd: 21, Oldest: 4},
		{ID: 1 << 62, LeaseEnd: 22, Oldest: 5}}
	for _, i := range []int{2, 0, 1} {
		update(t, e, lease.Key(want[i].ID), func(b *kv.Batch) { lease.Start(b, want[i]) })
	}
	update(t, e, mvcc.MetaKey("session"),
		func(b *kv.Batch) { b.Set(mvcc.MetaKey("session"), []byte("no session")) })
	update(t, e, mvcc.MetaKey("sessions"),
		func(b *kv.Batch) { b.Set(mvcc.MetaKey("sessions"), []byte("nor this")) })
	snap, err := e.Snapshot()
	require.NoError(t, err)
	defer func() { _ = snap.Close() }()
	all, err := lease.All(ctx, snap)
	require.NoError(t, err)
	require.Equal(t, want, all)
	_, found, err := lease.Get(ctx, snap, 8)
	require.NoError(t, err)
	require.False(t, found)
}

func TestABadRecordIsCorruption(t *testing.T) {
	for _, key := range []string{"session/0000000000000007", "session/x"} {
		e := memkv.New(memkv.Options{})
		update(t, e, mvcc.MetaKey(key),
			func(b *kv.Batch) { b.Set(mvcc.MetaKey(key), []byte("short")) })
		snap, err := e.Snapshot()
		require.NoError(t, err)
		_, err = lease.All(ctx, snap)
		require.ErrorIs(t, err, kv.ErrCorruption)
		require.NoError(t, snap.Close())
	}
}

func TestWaitsAreFoundByTheirTransactions(t *testing.T) {
	e := memkv.New(memkv.Options{})
	want := []lease.Wait{
		{Waiter: 5, ID: 1, Owner: 9, Mode: 4, Key: []byte("k"), Client: 3, Statement: "UPDATE",
			Stored: true, Place: 8, From: 2},
		{Waiter: 5, ID: 2, Owner: 9, Searches: true, Key: []byte{},
			Blockers: []tso.Timestamp{1, 7}},
		{Waiter: 1 << 62, ID: 1, Owner: 10, Key: []byte("l"), Blockers: []tso.Timestamp{5}},
	}
	for i := range want {
		update(t, e, want[i].CellKey(),
			func(b *kv.Batch) { b.Set(want[i].CellKey(), want[i].Cell()) })
	}
	snap, err := e.Snapshot()
	require.NoError(t, err)
	defer func() { _ = snap.Close() }()
	waits, err := lease.NewWaits(ctx, snap)
	require.NoError(t, err)
	defer func() { _ = waits.Close() }()
	of := func(waiter tso.Timestamp) []lease.Wait {
		got, err := waits.Of(waiter)
		require.NoError(t, err)
		return got
	}
	for range 2 { // backwards, too
		require.Empty(t, of(4))
		require.Equal(t, want[:2], of(5))
		require.Equal(t, want[:2], of(5))
		require.Empty(t, of(6))
		require.Equal(t, want[2:], of(1<<62))
		require.Empty(t, of(1<<63))
	}
	var all []lease.Wait
	require.NoError(t, waits.All(func(w lease.Wait) error {
		all = append(all, w)
		return nil
	}))
	require.Equal(t, want, all)
}

func TestABadWaitIsCorruption(t *testing.T) {
	w := lease.Wait{Waiter: 5, ID: 1, Owner: 9, Key: []byte("k"), Blockers: []tso.Timestamp{1}}
	for n := range len(w.Cell()) {
		if n == len(w.Cell())-8 {
			continue // it has no blockers
		}
		e := memkv.New(memkv.Options{})
		update(t, e, w.CellKey(), func(b *kv.Batch) { b.Set(w.CellKey(), w.Cell()[:n]) })
		snap, err := e.Snapshot()
		require.NoError(t, err)
		waits, err := lease.NewWaits(ctx, snap)
		require.NoError(t, err)
		_, err = waits.Of(5)
		require.ErrorIs(t, err, kv.ErrCorruption, "%d bytes", n)
		require.NoError(t, waits.Close())
		require.NoError(t, snap.Close())
	}
}
