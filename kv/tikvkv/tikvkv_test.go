package tikvkv

import (
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
)

func TestContract(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kv.Engine {
		return newCluster(t).open(t, Options{Prefix: "test\x00"}, nil)
	})
}
