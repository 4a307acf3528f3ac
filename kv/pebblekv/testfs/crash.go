// Package testfs has file systems for tests: one that crashes, one whose writes fail, one that is
// full. Open an engine on them with pebblekv.Options.FS, a database with minidb.OnEngine.
package testfs

import (
	"math/rand/v2"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/minidb/minidb/kv/pebblekv/logsync"
)

// CrashFS is a file system in memory that records which of its bytes were synced. Tests open an
// engine on it, hold its syncs, and take its state as a power failure would leave it.
type CrashFS struct {
	vfs.FS
	mem  *vfs.MemFS
	hold sync.RWMutex // read-locked by every sync of a log
}

// NewCrashFS returns an empty crashable file system.
func NewCrashFS() *CrashFS { return newCrashFS(vfs.NewCrashableMem()) }

func newCrashFS(mem *vfs.MemFS) *CrashFS {
	fs := &CrashFS{mem: mem}
	fs.FS = logsync.Wrap(mem, func(sync func() error) error {
		fs.hold.RLock()
		defer fs.hold.RUnlock()
		return sync()
	})
	return fs
}

// Crash returns what a crash at this moment leaves: all that was synced, and each block and
// directory entry that was not with the given probability in percent. The original stays usable,
// so that the engine on it can be closed.
func (fs *CrashFS) Crash(unsyncedPercent int, rng *rand.Rand) *CrashFS {
	return newCrashFS(fs.mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsyncedPercent,
		RNG: rng}))
}

// HoldSyncs makes every sync of a log wait until release is called, so that a test can look at the
// time between applying a batch and its becoming durable.
func (fs *CrashFS) HoldSyncs() (release func()) {
	fs.hold.Lock()
	return fs.hold.Unlock
}
