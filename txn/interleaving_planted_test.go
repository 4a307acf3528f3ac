//go:build planted

package txn_test

import (
	"testing"

	"github.com/minidb/minidb/internal/planted"
	"github.com/stretchr/testify/require"
)

// TestPlantedOrderBugsAreFound plants bugs that show only in some orders, and looks at all orders with
// one preemption until one is wrong.
func TestPlantedOrderBugsAreFound(t *testing.T) {
	for _, c := range []struct {
		bug   planted.Bug
		way   string
		hasty bool
	}{
		{planted.SkippedConflictCheck, "two phases, shared", false},
		{planted.EarlyCommitTS, "two phases, shared", false},
		{planted.IgnoredLock, "two phases, shared", false},
		{planted.LostSecondary, "two phases, shared", false},
		{planted.UnpushedCommitTS, "two phases, shared", false},
		{planted.IgnoredOthersLock, "two phases, shared", false},
		{planted.CommitAfterRollback, "two phases, shared", true},
		{planted.SecondaryFirst, "two phases, shared", true},
		{planted.NoRollbackRecord, "async", true},
		{planted.OwnRollbackUnchecked, "async", true},
		{planted.UnbarredLock, "async", true},
		{planted.TrustedPrimary, "async", true},
		{planted.MissingIsCommitted, "async in groups", true},
		{planted.CommitBelowReaders, "async", false},
	} {
		t.Run(c.bug.String(), func(t *testing.T) {
			defer planted.Plant(c.bug)()
			_, err := interleavings[c.way].explore(1, c.hasty)
			require.Error(t, err)
			t.Log(err)
		})
	}
}
