package pebblekv

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// failStopFS ends the engine when the log, the manifest, a marker or the directory of an open store
// cannot be written. What the memtable shows would not be what the disk holds, and an
// acknowledgement could not be kept. Pebble itself panics there, in goroutines where no caller can
// recover from it, and the program around an embedded store must not end with it. So the write
// returns success to Pebble, every call on the engine returns its failure, and nothing that Pebble
// does afterwards reaches the disk: writes are dropped, files that it removes stay, files that it
// makes live in memory. The store is opened again from what was synced.
//
// Tables are another matter: Pebble writes those again, and again: after tableAttempts failures
// without a success in between the engine ends too, for no update can be written once the memtables
// are full. Where only space is lacking, each attempt waits a while instead (space.go).
//
// While the store is being opened, all this makes Open fail: Pebble would try again for ever.
type failStopFS struct {
	vfs.FS
	fail  *failure
	space *space
	armed atomic.Bool

	after         *vfs.MemFS   // the files made after the failure
	tableFailures atomic.Int64 // since a table was last synced
}

func newFailStopFS(fs vfs.FS, fail *failure, space *space) *failStopFS {
	return &failStopFS{FS: fs, fail: fail, space: space, after: vfs.NewMem()}
}

// tableAttempts is how many failed writes of tables are borne.
const tableAttempts = 50

// table counts the failures and successes of table writes.
func (fs *failStopFS) table(name string, synced bool, err error) error {
	switch {
	case err == nil && synced:
		fs.tableFailures.Store(0)
	case err == nil || fs.failed():
	case errors.Is(err, syscall.ENOSPC) && fs.armed.Load() &&
		(fs.space.failedWrite() || fs.space.await()):
		// Pebble tries again, and new data is refused meanwhile.
	case fs.tableFailures.Add(1) >= tableAttempts:
		fs.fail.set(fmt.Errorf("write table %s: %w", name, err))
	}
	return err
}

// failed reports whether the disk must not be touched any more.
func (fs *failStopFS) failed() bool { return fs.fail.happened.Load() }

// vital runs a write without which the store cannot go on. It pretends success where the write
// fails, and does not even try once one has failed.
func (fs *failStopFS) vital(what, name string, write func() error) error {
	if fs.failed() {
		return nil
	}
	err := write()
	if errors.Is(err, syscall.ENOSPC) && fs.space.failedWrite() {
		err = write()
	}
	if err == nil || errors.Is(err, os.ErrNotExist) {
		return err
	}
	fs.fail.set(fmt.Errorf("%s %s: %w", what, name, err))
	return nil
}

// isVital reports, by a file's name, whether the store depends on each write of it.
func (fs *failStopFS) isVital(name string) bool {
	base := fs.PathBase(name)
	return strings.HasSuffix(base, ".log") || strings.HasPrefix(base, "MANIFEST") ||
		strings.HasPrefix(base, "marker.")
}

func (fs *failStopFS) Unwrap() vfs.FS { return fs.FS }

func (fs *failStopFS) Create(name string, c vfs.DiskWriteCategory) (f vfs.File, err error) {
	if fs.failed() {
		return fs.createAfter(name, c)
	}
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
		err = fs.vital("sync", fs.PathDir(name),
			func() error { return syncDir(fs.FS, fs.PathDir(name)) })
		if err != nil {
			return nil, err
		}
	}
	return fs.vitalFile(name, c, fs.vital("create", name, func() error {
		f, err = fs.FS.Create(name, c)
		return missing(err)
	}), &f)
}

func (fs *failStopFS) ReuseForWrite(oldName, name string, c vfs.DiskWriteCategory) (f vfs.File,
	err error) {
	return fs.vitalFile(name, c, fs.vital("reuse", name, func() error {
		f, err = fs.FS.ReuseForWrite(oldName, name, c)
		return missing(err)
	}), &f)
}

// missing makes a failure of it that a file or the directory is not there, which vital passes on
// else: Pebble panics where it cannot make a file.
func missing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("files of the store are missing: %v", err)
	}
	return err
}

// vitalFile wraps a file that was just made, or makes one in memory where that has failed.
func (fs *failStopFS) vitalFile(name string, c vfs.DiskWriteCategory, err error,
	f *vfs.File) (vfs.File, error) {
	switch {
	case err != nil:
		return nil, err
	case *f == nil:
		return fs.createAfter(name, c)
	}
	return &vitalFile{File: *f, fs: fs, name: name}, nil
}

// createAfter makes a file that only Pebble sees.
func (fs *failStopFS) createAfter(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := fs.after.MkdirAll(fs.PathDir(name), 0o700); err != nil {
		return nil, err
	}
	return fs.after.Create(name, c)
}

// madeAfter reports whether a file exists in memory only.
func (fs *failStopFS) madeAfter(name string) bool {
	if !fs.failed() {
		return false
	}
	_, err := fs.after.Stat(name)
	return err == nil
}

func (fs *failStopFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if fs.madeAfter(name) {
		return fs.after.Open(name, opts...)
	}
	return fs.FS.Open(name, opts...)
}

func (fs *failStopFS) Stat(name string) (vfs.FileInfo, error) {
	if fs.madeAfter(name) {
		return fs.after.Stat(name)
	}
	return fs.FS.Stat(name)
}

// Remove keeps every file once the engine has failed: what Pebble thinks replaced it is not on
// disk.
func (fs *failStopFS) Remove(name string) error {
	if fs.failed() {
		return nil
	}
	return fs.FS.Remove(name)
}

func (fs *failStopFS) Rename(oldName, newName string) error {
	switch {
	case fs.madeAfter(oldName):
		return fs.after.Rename(oldName, newName)
	case fs.failed():
		return nil
	case !fs.isVital(newName):
		return fs.FS.Rename(oldName, newName)
	}
	return fs.vital("rename", newName, func() error { return fs.FS.Rename(oldName, newName) })
}

func (fs *failStopFS) OpenDir(name string) (vfs.File, error) {
	f, err := fs.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &vitalFile{File: f, fs: fs, name: name}, nil
}

// vitalFile is a file, or the directory, each write of which is vital.
type vitalFile struct {
	vfs.File
	fs   *failStopFS
	name string
}

func (f *vitalFile) Write(p []byte) (n int, err error) {
	err = f.fs.vital("write", f.name, func() error {
		written, err := f.File.Write(p[n:]) // what is left, where it is tried again
		n += written
		return err
	})
	if err == nil {
		n = len(p)
	}
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
	fs   *failStopFS
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
