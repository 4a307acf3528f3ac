package rowlock_test

import (
	"context"
	"runtime"
	"slices"
	"testing"

	"github.com/minidb/minidb/txn/rowlock"
	"github.com/stretchr/testify/require"
)

// TestEdgesLeadToAllThatWait: of a queue each edge names those before it that wait themselves, but
// for those that another one leads to; holders that wait for nothing are no part of a cycle.
func TestEdgesLeadToAllThatWait(t *testing.T) {
	var tb rowlock.Table
	owner := func(n uint64) *rowlock.Owner {
		o := tb.NewOwner(int64(n))
		o.SetTransaction(n)
		return o
	}
	ctx, cancel := context.WithCancel(context.Background())
	key := []byte("k")
	waiting := 0
	ended := make(chan struct{})
	wait := func(n uint64, mode rowlock.Mode) {
		o := owner(n)
		waiting++
		go func() {
			_, _ = tb.Lock(ctx, o, key, rowlock.Request{Mode: mode})
			o.ReleaseTo(0)
			ended <- struct{}{}
		}()
		for ws := tb.Waits(); len(ws) == 0 || len(ws[0].Waiters) < waiting; ws = tb.Waits() {
			runtime.Gosched()
		}
	}
	for n, mode := range []rowlock.Mode{rowlock.KeyShare, rowlock.Share, rowlock.KeyShare} {
		_, err := tb.Lock(ctx, owner(uint64(1+n)), key, rowlock.Request{Mode: mode})
		require.NoError(t, err)
	}
	wait(10, rowlock.NoKeyUpdate)
	wait(11, rowlock.NoKeyUpdate)
	wait(12, rowlock.Update)
	wait(13, rowlock.Update)
	got := map[uint64][]uint64{}
	for _, e := range tb.Edges(
		func(transaction uint64) bool { return transaction <= 3 && transaction != 1 }) {
		slices.Sort(e.Blockers)
		got[e.Transaction] = e.Blockers
	}
	cancel()
	for range waiting {
		<-ended
	}
	require.Equal(t, map[uint64][]uint64{
		10: {2},  // of the holders, the one that waits elsewhere
		11: {10}, // through which it waits for 2
		12: {3, 11},
		13: {12},
	}, got)
}
