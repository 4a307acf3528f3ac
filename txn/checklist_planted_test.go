//go:build planted

package txn_test

import (
	"testing"

	"github.com/minidb/minidb/internal/planted"
	"github.com/stretchr/testify/require"
)

// TestPlantedClausesAreMissed takes each clause away and expects its check to notice.
func TestPlantedClausesAreMissed(t *testing.T) {
	caught := map[planted.Bug]bool{}
	for _, c := range checklist() {
		t.Run(c.line+" "+c.bug.String(), func(t *testing.T) {
			remove := planted.Plant(c.bug)
			err := prove(c.check)
			remove()
			require.Error(t, err, "%s: not noticed without it", c.says)
			t.Log(err)
			require.NoError(t, prove(c.check), "without the bug")
			caught[c.bug] = true
		})
	}
	for _, b := range planted.OfClauses() {
		if !caught[b] && b != planted.UnsortedLatches && b != planted.CheckBeforeLatch { // package pebblekv's
			t.Errorf("no check for %q", b)
		}
	}
}
