package pebblekv_test

import (
	"math/rand/v2"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
	"github.com/stretchr/testify/require"
)

// crashable is an engine on a file system that knows what was synced.
type crashable struct {
	*pebblekv.Engine
	fs *testfs.CrashFS
}

func (c crashable) Crash(t *testing.T, unsyncedPercent int, dice *rand.Rand) kv.Engine {
	after := c.fs.Crash(unsyncedPercent, dice)
	require.NoError(t, c.Close())
	return open(t, "db", pebblekv.Options{FS: after})
}

func TestContractOfCrashes(t *testing.T) {
	kvtest.RunCrashes(t, func(t *testing.T) kvtest.Crashable {
		fs := testfs.NewCrashFS()
		return crashable{open(t, "db", pebblekv.Options{FS: fs}), fs}
	})
}
