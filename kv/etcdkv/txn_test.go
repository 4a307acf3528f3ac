package etcdkv_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/txntest"
)

// TestDeathsLoseNoAcknowledgedCommit lets processes die on the cluster, MINIDB_CRASH_POINTS of them
// at least.
func TestDeathsLoseNoAcknowledgedCommit(t *testing.T) {
	seed, prefix := rand.Uint64(), newPrefix()
	if text := os.Getenv("MINIDB_CRASH_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	txntest.Deaths(t, seed, number(t, "MINIDB_CRASH_POINTS", 50), func() kv.Engine {
		e := openIn(t, prefix)
		t.Cleanup(func() { require.NoError(t, e.Close()) })
		return e
	})
}

// TestAFailedUpdateNeverTearsATransaction fails each update of a transfer in turn. One whose answer
// is lost is applied, is not, or lands later.
func TestAFailedUpdateNeverTearsATransaction(t *testing.T) {
	verdicts := map[string]int{}
	for _, times := range []int{1, 2, 1000} {
		for at := 1; at <= 8; at++ {
			for _, plan := range []kvtest.FaultPlan{{}, {Applied: true}, {Late: true}} {
				plan.At, plan.Times = at, times
				e := open(t)
				verdicts[txntest.FailedUpdate(t, fmt.Sprintf("%+v", plan), e, txn.Options{},
					plan)]++
				require.NoError(t, e.Close())
			}
		}
	}
	t.Logf("%v", verdicts)
	require.Len(t, verdicts, 3, "committed, failed and ambiguous")
}

// number returns a number from the environment, or the usual one.
func number(t *testing.T, name string, usual int) int {
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}
