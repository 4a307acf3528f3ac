package txn_test

import (
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn/txntest"
)

// TestDeathsLoseNoAcknowledgedCommit is the crash test of a store that several processes share: the
// processes die, and the store does not. It takes a tenth of MINIDB_CRASH_POINTS.
func TestDeathsLoseNoAcknowledgedCommit(t *testing.T) {
	for _, opts := range []memkv.Options{{Shared: true}, {Shared: true, HashGroups: 3, Lost: 5}} {
		e := memkv.New(opts)
		txntest.Deaths(t, crashSeed(t), crashPoints(t)/20, func() kv.Engine { return e })
	}
}
