//go:build planted

package pebblekv

import (
	"testing"

	"github.com/minidb/minidb/internal/planted"
	"github.com/stretchr/testify/require"
)

// TestPlantedLatchBugsAreNoticed takes each clause away and expects its check to notice.
func TestPlantedLatchBugsAreNoticed(t *testing.T) {
	for _, c := range latchClauses {
		remove := planted.Plant(c.bug)
		err := c.check()
		remove()
		require.Error(t, err, c.says)
		require.NoError(t, c.check(), c.says)
	}
}
