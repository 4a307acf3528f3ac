package tikvkv

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/tests/history"
)

// TestHistories makes histories of several processes on one store, as those in memory are made, and
// judges them. The cluster has a region for each column of the layer above, and one for the guards.
func TestHistories(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	for _, c := range history.Configs() {
		if !c.StorePerCoordinator {
			continue
		}
		t.Run(strings.Replace(c.Name, "memory", "tikv", 1), func(t *testing.T) {
			c.Open = func() (kv.Engine, error) {
				cluster := newCluster(t)
				for _, column := range []string{"cl", "cm", "cr", "cw", "g"} {
					cluster.splitAt([]byte(prefix + column))
				}
				return cluster.open(t, Options{Prefix: prefix}, nil), nil
			}
			h, err := history.Run(c, seed)
			require.NoError(t, err, "seed %d", seed)
			for _, v := range history.Check(h) {
				t.Errorf("seed %d: %s", seed, v)
			}
			var sum history.Tally
			sum.Add(h)
			t.Logf("%s", sum)
		})
	}
}
