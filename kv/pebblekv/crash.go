package pebblekv

import (
	"math/rand/v2"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// CrashFS is a file system in memory that knows which of its bytes were synced. Tests open an
// engine on it (Options.FS) and take its state as a power failure would leave it.
type CrashFS struct {
	vfs.FS
	mem *vfs.MemFS
}

// NewCrashFS returns an empty crashable file system.
func NewCrashFS() *CrashFS {
	mem := vfs.NewCrashableMem()
	return &CrashFS{FS: mem, mem: mem}
}

// Crash returns what a crash at this moment leaves: all that was synced, and each block and
// directory entry that was not with the given probability in percent. The original stays usable,
// so that the engine on it can be closed.
func (fs *CrashFS) Crash(unsyncedPercent int, rng *rand.Rand) *CrashFS {
	mem := fs.mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsyncedPercent, RNG: rng})
	return &CrashFS{FS: mem, mem: mem}
}
