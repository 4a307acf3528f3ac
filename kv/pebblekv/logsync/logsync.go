// Package logsync calls a function around each sync of a log file: to count syncs, or to hold them
// back.
package logsync

import (
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Wrap returns the file system that calls around instead of each sync of a log file; around calls
// sync when it is to happen.
func Wrap(fs vfs.FS, around func(sync func() error) error) vfs.FS {
	return &fileSystem{FS: fs, around: around}
}

type fileSystem struct {
	vfs.FS
	around func(sync func() error) error
}

func (fs *fileSystem) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.Create(name, c)
	return fs.wrap(name, f), err
}

func (fs *fileSystem) ReuseForWrite(oldName, name string, c vfs.DiskWriteCategory) (vfs.File,
	error) {
	f, err := fs.FS.ReuseForWrite(oldName, name, c)
	return fs.wrap(name, f), err
}

func (fs *fileSystem) Unwrap() vfs.FS { return fs.FS }

func (fs *fileSystem) wrap(name string, f vfs.File) vfs.File {
	if f == nil || !strings.HasSuffix(name, ".log") {
		return f
	}
	return &file{File: f, around: fs.around}
}

type file struct {
	vfs.File
	around func(sync func() error) error
}

func (f *file) Sync() error     { return f.around(f.File.Sync) }
func (f *file) SyncData() error { return f.around(f.File.SyncData) }
