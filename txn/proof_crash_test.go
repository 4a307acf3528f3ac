package txn_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/txntest"
	"github.com/stretchr/testify/require"
)

// TestCrashesWhileRecovering takes crashes at the writes of Open, of the settling of locks, of a
// collection and of Close, on what an earlier crash left. It takes three tenths of
// MINIDB_CRASH_POINTS.
func TestCrashesWhileRecovering(t *testing.T) {
	rng := rand.New(rand.NewPCG(crashSeed(t), 0))
	taken := map[string]int{}
	missing := func() string {
		return firstMissing(taken, []string{"opening", "settling locks", "collecting", "closing"})
	}
	for left := crashPoints(t) * 3 / 10; left > 0 || missing() != "" && left > -crashesMore; {
		b := &bank{t: t, rng: rng, opts: txntest.BankOptions(rng)}
		if b.opts.Protocol <= txn.OnePhase && rng.IntN(2) == 0 {
			b.opts.Protocol = txn.TwoPhase // which leaves locks
		}
		first := b.run(testfs.NewCrashFS(), 1)[0]
		crashes := recoverAndCrash(t, first, rng, taken)
		for _, c := range crashes {
			verifyBank(t, c, false)
		}
		left -= max(1, len(crashes))
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("crashes while %v", taken)
	require.Empty(t, missing(), "no crash was taken while")
}

// recoverAndCrash recovers from a crash and takes others while it does.
func recoverAndCrash(t *testing.T, first crash, rng *rand.Rand,
	taken map[string]int) (out []crash) {
	ctx := context.Background()
	fs := testfs.NewFaultFS(first.fs)
	var doing atomic.Value
	doing.Store("opening")
	fs.Before(func(write int) {
		if rng.IntN(4) > 0 {
			return
		}
		taken[doing.Load().(string)]++
		percent := []int{0, 0, 20, 50, 80, 100}[rng.IntN(6)]
		out = append(out, crash{
			fs: first.fs.Crash(percent, rng), acked: first.acked,
			what: fmt.Sprintf("%s; again at write %d of recovery, %s, %d%% kept", first.what, write,
				doing.Load(), percent),
		})
	})
	atOnce := rng.IntN(2) == 0 // drawn before the engine's goroutines call the function above
	e, err := pebblekv.Open("db",
		pebblekv.Options{FS: fs, MemTableBytes: 64 << 10, CacheBytes: 1 << 20})
	require.NoError(t, err, first.what)
	s, err := openTxn(ctx, e, txn.Options{LeaveFoundLocks: !atOnce})
	require.NoError(t, err, first.what)
	doing.Store("settling locks")
	if atOnce {
		s.AwaitSecondaries()
	} else {
		_, err = s.SettleLocks(ctx)
	}
	require.NoError(t, err, first.what)
	require.NoError(t, e.Flush(), first.what) // what was settled is not synced by itself
	doing.Store("collecting")
	_, err = s.CollectGarbage(ctx)
	require.NoError(t, err, first.what)
	require.NoError(t, e.Flush(), first.what)
	commit(t, s, "recovered", "1")
	doing.Store("closing")
	require.NoError(t, s.Close(), first.what)
	require.NoError(t, e.Close(), first.what)
	return out
}
