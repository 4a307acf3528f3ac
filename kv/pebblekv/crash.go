package pebblekv

import (
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// CrashFS is a file system in memory that records which of its bytes were synced. Tests open an
// engine on it (Options.FS), hold its syncs, and take its state as a power failure would leave it.
type CrashFS struct {
	vfs.FS
	mem  *vfs.MemFS
	hold sync.RWMutex // read-locked by every sync of a log
}

// NewCrashFS returns an empty crashable file system.
func NewCrashFS() *CrashFS { return newCrashFS(vfs.NewCrashableMem()) }

func newCrashFS(mem *vfs.MemFS) *CrashFS {
	fs := &CrashFS{mem: mem}
	fs.FS = &heldFS{FS: mem, hold: &fs.hold}
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

// heldFS makes syncs of log files wait for hold.
type heldFS struct {
	vfs.FS
	hold *sync.RWMutex
}

func (fs *heldFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.Create(name, c)
	return fs.wrap(name, f), err
}

func (fs *heldFS) ReuseForWrite(oldName, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.ReuseForWrite(oldName, name, c)
	return fs.wrap(name, f), err
}

func (fs *heldFS) Unwrap() vfs.FS { return fs.FS }

func (fs *heldFS) wrap(name string, f vfs.File) vfs.File {
	if f == nil || !strings.HasSuffix(name, ".log") {
		return f
	}
	return &heldFile{File: f, hold: fs.hold}
}

type heldFile struct {
	vfs.File
	hold *sync.RWMutex
}

func (f *heldFile) Sync() error {
	f.hold.RLock()
	defer f.hold.RUnlock()
	return f.File.Sync()
}

func (f *heldFile) SyncData() error {
	f.hold.RLock()
	defer f.hold.RUnlock()
	return f.File.SyncData()
}
