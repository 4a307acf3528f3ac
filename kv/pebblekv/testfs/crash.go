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
	mem  *cloneable
	hold sync.RWMutex // read-locked by every sync of a log
}

// cloneable keeps a clone from beginning within Link and ReuseForWrite: MemFS read-locks there
// twice what CrashClone locks, and waits for ever if that comes in between.
type cloneable struct {
	*vfs.MemFS
	within sync.RWMutex
}

func (c *cloneable) Link(oldName, newName string) error {
	c.within.RLock()
	defer c.within.RUnlock()
	return c.MemFS.Link(oldName, newName)
}

func (c *cloneable) ReuseForWrite(oldName, newName string,
	category vfs.DiskWriteCategory) (vfs.File, error) {
	c.within.RLock()
	defer c.within.RUnlock()
	return c.MemFS.ReuseForWrite(oldName, newName, category)
}

func (c *cloneable) CrashClone(cfg vfs.CrashCloneCfg) *vfs.MemFS {
	c.within.Lock()
	defer c.within.Unlock()
	return c.MemFS.CrashClone(cfg)
}

// NewCrashFS returns an empty crashable file system.
func NewCrashFS() *CrashFS { return newCrashFS(vfs.NewCrashableMem()) }

func newCrashFS(mem *vfs.MemFS) *CrashFS {
	fs := &CrashFS{mem: &cloneable{MemFS: mem}}
	fs.FS = logsync.Wrap(fs.mem, func(sync func() error) error {
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
