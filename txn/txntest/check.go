package txntest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/mvcc/mvcctest"
	"github.com/stretchr/testify/require"
)

// CheckStore holds a store without running transactions to mvcc's invariants, and to having no
// locks.
func CheckStore(t testing.TB, e kv.Engine, what string) {
	ctx := context.Background()
	snap, err := kv.Latest(e)
	require.NoError(t, err)
	require.NoError(t, mvcctest.Check(ctx, snap,
		func(problem string) { t.Errorf("%s: %s", what, problem) }))
	require.NoError(t, mvcc.Locks(ctx, snap, kv.Span{}, func(key []byte, l mvcc.Lock) error {
		return fmt.Errorf("%s: lock on %q of %s", what, key, l.StartTS)
	}))
	require.NoError(t, snap.Close())
}

// CheckBank holds what the store shows to what its transfers make, and to the acknowledged ones
// being there.
func CheckBank(t testing.TB, s *txn.Store, acked []string, what string) {
	tx := begin(t, s)
	want := make([]int, bankAccounts)
	for i := range want {
		want[i] = bankStart
	}
	found := map[string]bool{}
	moved := make([][]string, bankAccounts) // what has written each account
	it, err := tx.Scan(context.Background(), transfers, txn.ScanOptions{})
	require.NoError(t, err)
	for it.Next() {
		found[string(it.Key())] = true
		var from, to, amount int
		_, err := fmt.Sscan(string(it.Value()), &from, &to, &amount)
		require.NoError(t, err)
		want[from] -= amount
		want[to] += amount
		moved[from] = append(moved[from], string(it.Key()))
		moved[to] = append(moved[to], string(it.Key()))
	}
	require.NoError(t, it.Err(), what)
	require.NoError(t, it.Close())
	for _, key := range acked {
		if !found[key] {
			t.Errorf("%s: acknowledged transfer %s is lost", what, key)
		}
	}
	for i := range want {
		v, err := tx.Get(context.Background(), account(i))
		require.NoError(t, err)
		if got := balanceOf(v); got != want[i] {
			t.Errorf("%s: account %d has %d, its transfers make %d", what, i, got, want[i])
		}
		checkNotified(t, tx, i, v, moved[i], what)
	}
	require.NoError(t, tx.Rollback(context.Background()))
}

// bankObserver is notified of each transfer, and acknowledges none.
const bankObserver = 7

// checkNotified holds that each transfer of an account has left one notification, with the balance
// before it, in the order of the commits. v is the balance now.
func checkNotified(t testing.TB, tx *txn.Txn, i int, v []byte, moved []string, what string) {
	all, settled, err := tx.NotificationsOf(context.Background(), account(i), bankObserver)
	require.NoError(t, err, what)
	require.True(t, settled, what)
	slices.SortFunc(all, func(a, b txn.Notification) int {
		return cmp.Compare(a.CommitTS, b.CommitTS)
	})
	var seen []string
	for k, n := range all {
		require.Equal(t, k > 0, n.HasOld, "%s: account %d: only the first had no value", what, i)
		if n.HasOld {
			_, transfer, _ := strings.Cut(string(n.Old), " ")
			seen = append(seen, transfer)
		}
	}
	if _, last, written := strings.Cut(string(v), " "); written {
		seen = append(seen, last)
	}
	slices.Sort(seen)
	slices.Sort(moved)
	require.Equal(t, moved, seen, "%s: account %d", what, i)
}
