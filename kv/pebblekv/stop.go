package pebblekv

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// stoppingFS ends the process when the log, the manifest, a marker or the directory of an open store
// cannot be written. What the memtable shows would not be what the disk holds, an acknowledgement
// could not be kept, and Pebble itself panics there, in places where nobody can catch it. The store
// is opened again from what was synced. Tables are another matter: Pebble writes those again, and
// again: after tableAttempts failures without a success in between the process ends too, for nobody
// can write any more once the memtables are full.
//
// Before Open is through, errors are Open's to return.
type stoppingFS struct {
	vfs.FS
	log   *logger
	armed atomic.Bool

	tableFailures atomic.Int64 // since a table was last synced
}

// tableAttempts is how many failed writes of tables are borne.
const tableAttempts = 50

// table counts the failures and successes of table writes.
func (fs *stoppingFS) table(name string, synced bool, err error) error {
	switch {
	case err == nil && synced:
		fs.tableFailures.Store(0)
	case err != nil && fs.tableFailures.Add(1) >= tableAttempts && fs.armed.Load():
		fs.tableFailures.Store(0)
		fs.log.Fatalf("store stops: table %s: %v", name, err)
	}
	return err
}

// vital runs a write without which the store cannot go on. Where the option Fatal returns, as it
// may in a test, the write is tried again.
func (fs *stoppingFS) vital(what, name string, write func() error) error {
	for {
		err := write()
		if err == nil || !fs.armed.Load() || errors.Is(err, os.ErrNotExist) {
			return err
		}
		fs.log.Fatalf("store stops: %s %s: %v", what, name, err)
	}
}

// isVital tells by a file's name whether the store depends on each write of it.
func (fs *stoppingFS) isVital(name string) bool {
	base := fs.PathBase(name)
	return strings.HasSuffix(base, ".log") || strings.HasPrefix(base, "MANIFEST") || strings.HasPrefix(base, "marker.")
}

func (fs *stoppingFS) Unwrap() vfs.FS { return fs.FS }

func (fs *stoppingFS) Create(name string, c vfs.DiskWriteCategory) (f vfs.File, err error) {
	if !fs.isVital(name) {
		f, err = fs.FS.Create(name, c)
		if fs.table(name, false, err) != nil {
			return f, err
		}
		return &tableFile{File: f, fs: fs, name: name}, nil
	}
	if strings.HasPrefix(fs.PathBase(name), "marker.") {
		// What a marker points at must not be younger than the marker: a crash may keep the one
		// directory entry and lose the other. Pebble syncs the directory only once, after both.
		err = fs.vital("sync", fs.PathDir(name), func() error { return syncDir(fs.FS, fs.PathDir(name)) })
		if err != nil {
			return nil, err
		}
	}
	err = fs.vital("create", name, func() error {
		f, err = fs.FS.Create(name, c)
		return err
	})
	return fs.wrap(name, f), err
}

func (fs *stoppingFS) ReuseForWrite(oldName, name string, c vfs.DiskWriteCategory) (f vfs.File, err error) {
	err = fs.vital("reuse", name, func() error {
		f, err = fs.FS.ReuseForWrite(oldName, name, c)
		return err
	})
	return fs.wrap(name, f), err
}

func (fs *stoppingFS) Rename(oldName, newName string) error {
	if !fs.isVital(newName) {
		return fs.FS.Rename(oldName, newName)
	}
	return fs.vital("rename", newName, func() error { return fs.FS.Rename(oldName, newName) })
}

func (fs *stoppingFS) OpenDir(name string) (vfs.File, error) {
	f, err := fs.FS.OpenDir(name)
	return fs.wrap(name, f), err
}

func (fs *stoppingFS) wrap(name string, f vfs.File) vfs.File {
	if f == nil {
		return nil
	}
	return &vitalFile{File: f, fs: fs, name: name}
}

// vitalFile is a file, or the directory, each write of which is vital.
type vitalFile struct {
	vfs.File
	fs   *stoppingFS
	name string
}

func (f *vitalFile) Write(p []byte) (n int, err error) {
	err = f.fs.vital("write", f.name, func() error {
		var m int
		m, err = f.File.Write(p[n:])
		n += m
		return err
	})
	return n, err
}

func (f *vitalFile) Sync() error { return f.fs.vital("sync", f.name, f.File.Sync) }

func (f *vitalFile) SyncData() error { return f.fs.vital("sync", f.name, f.File.SyncData) }

func (f *vitalFile) SyncTo(length int64) (full bool, err error) {
	err = f.fs.vital("sync", f.name, func() error {
		full, err = f.File.SyncTo(length)
		return err
	})
	return full, err
}

// tableFile is a file that Pebble writes again when a write fails.
type tableFile struct {
	vfs.File
	fs   *stoppingFS
	name string
}

func (f *tableFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, f.fs.table(f.name, false, err)
}

func (f *tableFile) Sync() error { return f.fs.table(f.name, true, f.File.Sync()) }

func (f *tableFile) SyncData() error { return f.fs.table(f.name, true, f.File.SyncData()) }

// recovered makes an error of what Pebble panicked with while it opened a store.
func recovered(p any) error {
	if err, ok := p.(error); ok {
		return err
	}
	return fmt.Errorf("pebble: %v", p)
}
