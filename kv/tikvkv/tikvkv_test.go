package tikvkv

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tikv/client-go/v2/tikv"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
)

const prefix = "_minidb/test\x00"

func TestContract(t *testing.T) {
	t.Parallel()
	kvtest.Run(t, func(t *testing.T) kv.Engine {
		return newCluster(t).open(t, Options{Prefix: prefix}, nil)
	})
}

// TestContractOverRegions: cells and guards of one update lie in several regions, those of a row
// too.
func TestContractOverRegions(t *testing.T) {
	t.Parallel()
	kvtest.Run(t, func(t *testing.T) kv.Engine {
		c := newCluster(t)
		for _, at := range []string{"c", "cx", "cxb", "cxm\x00\x01", "cxr000100", "cy",
			"cya\x00\x01q", "g", "gb", "gn", "gr000100", "h"} {
			c.splitAt([]byte(prefix + at))
		}
		return c.open(t, Options{Prefix: prefix}, nil)
	})
}

// TestContractWhileTheClusterChanges: regions are split and move, requests and answers get lost.
func TestContractWhileTheClusterChanges(t *testing.T) {
	t.Parallel()
	all, next := map[string]int{}, 0
	kvtest.Run(t, func(t *testing.T) kv.Engine {
		c := newCluster(t)
		return c.open(t, Options{Prefix: prefix}, func(below tikv.Client) tikv.Client {
			n := newNetwork(t, c, below, 80)
			n.hits, n.next = all, next
			t.Cleanup(func() { next = n.next })
			return n
		})
	})
	for _, event := range events {
		require.Positive(t, all[event.name], event.name)
	}
	t.Log(all)
}
