package pebblekv

import (
	"github.com/cockroachdb/pebble/v2/vfs"
)

// A volatile store (Options.Volatile) has no log, and no file of it is ever synced: the system
// writes its tables out when it sees fit. Nothing of it outlives the process, because Open begins
// with an empty directory. An update that is acknowledged is in the memtable.

// volatileFS is a file system whose syncs do nothing.
type volatileFS struct{ vfs.FS }

// emptyVolatile removes what an earlier process has left in the directory of a volatile store.
func emptyVolatile(fs vfs.FS, dir string) error { return fs.RemoveAll(dir) }

func (fs volatileFS) file(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return volatileFile{f}, nil
}

func (fs volatileFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.file(fs.FS.Create(name, c))
}

func (fs volatileFS) OpenReadWrite(name string, c vfs.DiskWriteCategory,
	opts ...vfs.OpenOption) (vfs.File, error) {
	return fs.file(fs.FS.OpenReadWrite(name, c, opts...))
}

func (fs volatileFS) ReuseForWrite(oldName, name string,
	c vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.file(fs.FS.ReuseForWrite(oldName, name, c))
}

func (fs volatileFS) OpenDir(name string) (vfs.File, error) {
	return fs.file(fs.FS.OpenDir(name))
}

// Unwrap implements vfs.FS.
func (fs volatileFS) Unwrap() vfs.FS { return fs.FS }

type volatileFile struct{ vfs.File }

func (volatileFile) Sync() error                { return nil }
func (volatileFile) SyncData() error            { return nil }
func (volatileFile) SyncTo(int64) (bool, error) { return false, nil }
