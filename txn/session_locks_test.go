package txn_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
)

// TestALateUnlockTakesNoSessionLock: a lock is given back by an update whose answer is lost, taken
// again, and then the update arrives.
func TestALateUnlockTakesNoSessionLock(t *testing.T) {
	ctx := context.Background()
	for _, late := range []bool{false, true} {
		e := kvtest.NewFault(memkv.New(memkv.Options{Shared: true}))
		s := openStore(t, e, txn.Options{LeaseRenewal: -1, Clock: still})
		clients := make([]*txn.SessionLocks, 2)
		for i := range clients {
			var err error
			clients[i], err = s.NewSessionLocks(ctx, s.RowLocks().NewOwner(int64(i)))
			require.NoError(t, err)
		}
		held := rowlock.Update
		holds := func(string) rowlock.Mode { return held }
		r := txn.SessionRequest{Key: []byte("k"), Mode: rowlock.Update, NoWait: true}
		require.NoError(t, clients[0].Lock(ctx, r))
		require.ErrorIs(t, clients[1].Lock(ctx, r), rowlock.ErrNotAvailable)

		e.Plan(kvtest.FaultPlan{At: 1, Late: late, Applied: !late})
		held = rowlock.None
		clients[0].Keep(holds)
		require.Equal(t, 1, e.Hits())
		held = rowlock.Update
		require.NoError(t, clients[0].Lock(ctx, r))
		require.NoError(t, e.Land())
		require.ErrorIs(t, clients[1].Lock(ctx, r), rowlock.ErrNotAvailable, "late: %t", late)

		held = rowlock.None
		clients[0].Keep(holds)
		require.NoError(t, clients[1].Lock(ctx, r))
		clients[1].Close()
		require.NoError(t, clients[0].Lock(ctx, r))
		clients[0].Close()
	}
}

// TestSessionLocksOfAClientThatIsGone are given back by the renewal of the lease when the store did
// not answer before.
func TestSessionLocksOfAClientThatIsGone(t *testing.T) {
	ctx := context.Background()
	e := kvtest.NewFault(memkv.New(memkv.Options{Shared: true}))
	s := openStore(t, e, txn.Options{LeaseRenewal: -1, Clock: still})
	r := txn.SessionRequest{Key: []byte("k"), Mode: rowlock.Share, NoWait: true}
	gone, err := s.NewSessionLocks(ctx, s.RowLocks().NewOwner(1))
	require.NoError(t, err)
	require.NoError(t, gone.Lock(ctx, r))
	e.Plan(kvtest.FaultPlan{At: 1})
	gone.Close()
	other, err := s.NewSessionLocks(ctx, s.RowLocks().NewOwner(2))
	require.NoError(t, err)
	r.Mode = rowlock.Update
	require.ErrorIs(t, other.Lock(ctx, r), rowlock.ErrNotAvailable)
	require.NoError(t, s.RenewLease(ctx))
	require.NoError(t, other.Lock(ctx, r))
	other.Close()
}
