package txn_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
)

// What a large transaction keeps of its savepoints.
var savepointClauses = []clause{
	{"I26", "what a savepoint wants back is streamed out with what replaces it",
		olderWriteComesBack},
}

func olderWriteComesBack(sc *scene) {
	s := sc.open(single(), txn.Options{StreamBytes: 300})
	tx := sc.writer(s, "a", "1", "b", "1")
	sp := tx.Savepoint()
	sc.set(tx, "a", "2", "b", "2", "c", "2", "d", "2")
	tx.RollbackTo(sp)
	sc.must(tx.Commit(sc.ctx), "commit")
	sc.want("after the commit", sc.read(s, "a", "b", "c", "d"), "a=1 b=1 c=- d=- ")
}

// TestSavepointsAreCopies compares transactions, which stream out or do not, with maps of which
// each savepoint is a copy.
func TestSavepointsAreCopies(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at a time: the race detector, which runs short tests, sees nothing")
	}
	for range 150 {
		seed := rand.Uint64()
		for _, streamBytes := range []int{0, 1, 700, 2000} {
			savepointsOf(t, seed, txn.Options{StreamBytes: streamBytes, BatchKeys: 3})
		}
	}
}

// saved is a savepoint, and its copy.
type saved struct {
	at   txn.Savepoint
	copy map[string]string
}

func savepointsOf(t *testing.T, seed uint64, opts txn.Options) {
	ctx := context.Background()
	dice := rand.New(rand.NewPCG(seed, 1))
	e := memkv.New(memkv.Options{})
	s, err := openTxn(ctx, e, opts)
	require.NoError(t, err)
	commit(t, s, "k0", "0", "k3", "0")
	now := map[string]string{"k0": "0", "k3": "0"}
	tx := begin(t, s)
	var all []saved
	for n := range 120 {
		key := fmt.Sprintf("k%d", dice.IntN(6))
		switch i := dice.IntN(max(1, len(all))); dice.IntN(12) {
		case 0, 1:
			require.NoError(t, tx.Delete([]byte(key)))
			delete(now, key)
		case 2, 3:
			all = append(all, saved{tx.Savepoint(), maps.Clone(now)})
		case 4, 5:
			if len(all) > 0 {
				tx.RollbackTo(all[i].at)
				now, all = maps.Clone(all[i].copy), all[:i+1]
			}
		case 6:
			if len(all) > 0 {
				tx.ForgetSavepointsAfter(all[i].at)
				all = all[:i+1]
			}
		default:
			value := strings.Repeat("v", []int{0, 1, mvcc.ShortValueMax + 1}[dice.IntN(3)]) +
				fmt.Sprint(n)
			require.NoError(t, tx.Set([]byte(key), []byte(value)))
			now[key] = value
		}
		for i := range 6 {
			key := fmt.Sprintf("k%d", i)
			var want any
			if v, ok := now[key]; ok {
				want = v
			}
			require.Equal(t, want, get(t, tx, key), "seed %d, step %d, %s", seed, n, key)
		}
	}
	require.NoError(t, tx.Commit(ctx))
	require.Len(t, scan(t, begin(t, s), kv.Span{}, txn.ScanOptions{}), len(now))
	_, err = s.SettleLocks(ctx)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	checkStore(t, e, fmt.Sprintf("seed %d", seed))
}
