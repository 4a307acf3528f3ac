//go:build planted

package history

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/minidb/minidb/internal/planted"
	"github.com/stretchr/testify/require"
)

// plantedBugs says of each bug in which ways of making histories it shows (any whose name is listed),
// and by which verdicts; one of them must be among those found.
var plantedBugs = []struct {
	bug      planted.Bug
	configs  []string
	verdicts []Verdict
}{
	{planted.SkippedConflictCheck, []string{"pebble, one phase", "memory, groups"}, []Verdict{LostUpdate}},
	{planted.NoRollbackRecord, []string{"memory, shared, groups, parallel"}, []Verdict{TornCommit}},
	{planted.EarlyCommitTS, []string{"pebble, two phases", "memory, shared"}, []Verdict{StaleRead}},
	{planted.IgnoredLock, []string{"pebble, two phases", "memory, shared"}, []Verdict{StaleRead}},
	{planted.LostSecondary, []string{"memory, groups", "memory, shared"}, []Verdict{TornCommit}},
	{planted.LocalClockTTL, []string{"memory, shared"}, []Verdict{Impatience}},
	{planted.UnseenOnePhase, []string{"pebble, one phase"}, []Verdict{StaleRead}},
	{planted.CollectedPastReader, []string{"pebble, one phase", "pebble, two phases"}, []Verdict{StaleRead}},
	{planted.OwnRollbackUnchecked, []string{"memory, shared, groups, parallel"}, []Verdict{TornCommit}},
	{planted.CommitAfterRollback, []string{"memory, groups", "memory, shared"}, []Verdict{LostCommit}},
	{planted.ForgetfulOracle, []string{"pebble, one phase, power failures"}, []Verdict{BrokenOrder}},
	{planted.SecondaryFirst, []string{"memory, groups", "memory, shared"}, []Verdict{TornCommit}},
	{planted.BlindInsert, []string{"memory, groups", "memory, shared"}, []Verdict{DuplicateInsert}},
	{planted.SkippedValidation, []string{"memory, shared, serializable"}, []Verdict{Cycle}},
	{planted.ForgottenReader, []string{"pebble, one phase, serializable", "memory, groups, serializable"}, []Verdict{Cycle}},
	{planted.UnseenPrepared, []string{"pebble, one phase, serializable", "pebble, two phases, serializable"}, []Verdict{Cycle}},
	{planted.UnregisteredRange, []string{"pebble, one phase, serializable", "memory, groups, serializable"}, []Verdict{Cycle}},
	{planted.UncheckedCommit, []string{"pebble, one phase, serializable", "memory, groups, serializable"}, []Verdict{Cycle}},
	{planted.UnpushedCommitTS, []string{"memory, groups", "memory, shared"}, []Verdict{StaleRead}},
	{planted.LostAnswerIsFailure, []string{"memory, one phase, lost answers"}, []Verdict{RisenAbort}},
	{planted.LocksForgottenAtOpen, []string{"pebble, two phases, power failures"}, []Verdict{StaleRead, LostUpdate, TornCommit}},
	{planted.CollectedBeforeSettled, []string{"memory, groups, parallel"}, []Verdict{TornCommit, StaleRead}},
	{planted.CollectedNewest, []string{"pebble, one phase"}, []Verdict{Leftover}},
	{planted.StaleView, []string{"pebble, one phase"}, []Verdict{StaleRead}},
	{planted.LockedAfterLook, []string{"pebble, one phase, read committed", "memory, groups, row locks"}, []Verdict{StolenLock}},
	{planted.RowLockIgnored, []string{"pebble, one phase, read committed", "memory, groups, row locks"}, []Verdict{StolenLock}},
	{planted.UnlockedBeforeCommit, []string{"pebble, two phases, read committed", "memory, groups, row locks"}, []Verdict{StolenLock}},
	{planted.SkippedSecondLook, []string{"pebble, one phase, read committed", "memory, groups, read committed"}, []Verdict{LostUpdate}},
	{planted.KeptView, []string{"pebble, one phase, read committed", "memory, shared, read committed"}, []Verdict{StaleRead}},
	{planted.LeaseByLocalClock, []string{"memory, shared"}, []Verdict{Impatience}},
	{planted.SafepointUnchecked, []string{"memory, shared"}, []Verdict{StaleRead}},
	{planted.SessionsUncounted, []string{"memory, shared"}, []Verdict{Forsaken}},
	{planted.RowRecordUnwritten, []string{"memory, shared, row locks", "memory, shared, read committed"}, []Verdict{StolenLock}},
	{planted.RowRecordOverwritten, []string{"memory, shared, row locks", "memory, shared, read committed"}, []Verdict{StolenLock}},
	{planted.UnawaitedDependency, []string{"pebble, one phase, power failures, read committed"}, []Verdict{DirtyRead}},
	{planted.UnsyncedCommitPoint, []string{"pebble, one phase, power failures"}, []Verdict{LostCommit}},
}

// plantedTries is how many histories of each way a bug may hide in. Some show once in a hundred, so
// with many fewer they would be missed by chance; a bug that is caught ends its search.
const plantedTries = 4000

// TestPlantedBugsAreCaught plants each bug and makes histories until the checker objects, with a
// verdict that the bug deserves.
func TestPlantedBugsAreCaught(t *testing.T) {
	var listed []planted.Bug
	for _, p := range plantedBugs {
		listed = append(listed, p.bug)
	}
	require.ElementsMatch(t, planted.InHistories(), listed)
	configs := map[string]Config{}
	for _, c := range Configs() {
		configs[c.Name] = c
	}
	seed := firstSeed(t)
	for _, p := range plantedBugs {
		t.Run(p.bug.String(), func(t *testing.T) {
			defer planted.Plant(p.bug)()
			others := map[Verdict]int{}
			for try := range uint64(plantedTries) {
				for _, name := range p.configs {
					c, ok := configs[name]
					require.True(t, ok, "no way %q", name)
					found := verdictsOf(t, c, seed+try)
					for _, v := range found {
						if slices.Contains(p.verdicts, v.Verdict) {
							t.Logf("history %d: %s", try+1, v)
							return
						}
						others[v.Verdict]++
					}
				}
			}
			t.Errorf("MINIDB_HISTORY_SEED=%d: not caught in %d histories; other verdicts: %v", seed, plantedTries*len(p.configs), others)
		})
	}
}

// verdictsOf makes a history with a bug, which may do anything.
func verdictsOf(t *testing.T, c Config, seed uint64) (found []Violation) {
	h, err := Run(c, seed)
	if err != nil {
		t.Logf("MINIDB_HISTORY_SEED=%d: %v", seed, err)
		return nil
	}
	return Check(h)
}

// TestNothingIsFoundWithoutABug: the verdicts come from the bugs.
func TestNothingIsFoundWithoutABug(t *testing.T) {
	seed := rand.Uint64()
	for _, c := range Configs() {
		require.Empty(t, verdictsOf(t, c, seed), fmt.Sprintf("MINIDB_HISTORY_SEED=%d, %s", seed, c.Name))
	}
}
