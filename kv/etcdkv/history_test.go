package etcdkv_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/etcdkv"
	"github.com/minidb/minidb/tests/history"
)

// TestHistories makes histories of several processes on one store, as those in memory are made, and
// judges them.
func TestHistories(t *testing.T) {
	seed := rand.Uint64()
	for _, c := range history.Configs() {
		if !c.StorePerCoordinator {
			continue
		}
		t.Run(strings.Replace(c.Name, "memory", "etcd", 1), func(t *testing.T) {
			c.Open = func() (kv.Engine, error) {
				return etcdkv.Open(context.Background(),
					etcdkv.Options{Endpoints: members, Prefix: newPrefix()})
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
