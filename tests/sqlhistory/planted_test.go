//go:build planted

package sqlhistory

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/planted"
	"github.com/minidb/minidb/tests/history"
)

// plantedBugs says of each bug in which ways of making histories it shows (any whose name is listed),
// in which workload ("": any), and by which verdicts; one of them must be among those found. All bugs
// above the transaction layer are here, and some of those below, which tests/history catches too.
var plantedBugs = []struct {
	bug      planted.Bug
	configs  []string
	verdicts []history.Verdict
	workload string
}{
	{planted.OldEntryKept, []string{"repeatable read"}, []history.Verdict{Disagreement, WrongRange}, ""},
	{planted.EntryLost, []string{"repeatable read"}, []history.Verdict{Disagreement, WrongRange}, ""},
	{planted.WritesKept, []string{"read committed"}, []history.Verdict{WrongEffect, Disagreement}, ""},
	{planted.SavepointForgotten, []string{"repeatable read", "read committed"}, []history.Verdict{history.WrongWrite, history.DirtyRead}, ""},
	{planted.UnlockedRead, []string{"read committed"}, []history.Verdict{WrongEffect}, ""},
	{planted.UntestedSecondLook, []string{"read committed"}, []history.Verdict{WrongEffect}, ""},
	{planted.UnheldParent, []string{"read committed", "repeatable read"}, []history.Verdict{Disagreement}, "family"},
	{planted.UnseenChildren, []string{"repeatable read"}, []history.Verdict{Disagreement}, "family"},
	{planted.SkippedSecondLook, []string{"read committed"}, []history.Verdict{WrongEffect}, ""},
	{planted.LockedAfterLook, []string{"repeatable read", "read committed"}, []history.Verdict{history.StolenLock}, ""},
	{planted.RowLockIgnored, []string{"repeatable read", "read committed"}, []history.Verdict{history.StolenLock}, ""},
	{planted.KeptView, []string{"read committed"}, []history.Verdict{history.StaleRead}, ""},
	{planted.SkippedConflictCheck, []string{"repeatable read"}, []history.Verdict{WrongEffect}, ""},
	{planted.ForgottenReader, []string{"serializable"}, []history.Verdict{history.Cycle}, ""},
	{planted.UnregisteredRange, []string{"serializable"}, []history.Verdict{history.Cycle}, ""},
	{planted.UncheckedCommit, []string{"serializable"}, []history.Verdict{history.Cycle}, ""},
	{planted.UnsyncedCommitPoint, []string{"read committed, power failures"}, []history.Verdict{history.LostCommit}, ""},
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
	require.Subset(t, listed, planted.OfSQL())
	configs := map[string]Config{}
	for _, c := range Configs() {
		configs[c.Name] = c
	}
	seed := fromEnv(t, "MINIDB_HISTORY_SEED", rand.Uint64())
	for _, p := range plantedBugs {
		t.Run(p.bug.String(), func(t *testing.T) {
			defer planted.Plant(p.bug)()
			others := map[history.Verdict]int{}
			for try := range uint64(plantedTries) {
				for _, name := range p.configs {
					c, ok := configs[name]
					require.True(t, ok, "no way %q", name)
					c.Workload = p.workload
					h, err := Run(c, seed+try)
					if err != nil {
						t.Logf("MINIDB_HISTORY_SEED=%d: %v", seed+try, err)
						continue // a bug may do anything
					}
					for _, v := range history.Check(h) {
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
