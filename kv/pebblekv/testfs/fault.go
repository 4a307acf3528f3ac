package testfs

import (
	"strings"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// Fault says which writes to a FaultFS fail, and how. Writes are all operations that change
// something: creating, writing, syncing, renaming, removing. They are counted from one.
type Fault struct {
	// At is the first that fails; 0 is none.
	At int
	// Times is how many fail from there on; 0 is all.
	Times int
	// DiskFull fails with ENOSPC what needs room, and lets the rest pass. Otherwise everything
	// fails with EIO.
	DiskFull bool
}

// FaultFS is a crashable file system of which chosen writes fail.
type FaultFS struct {
	vfs.FS
	mu struct {
		sync.Mutex
		fault  Fault
		before func(write int)
		n, hit int
	}
}

// NewFaultFS wraps a crashable file system; nothing fails until Plan is called.
func NewFaultFS(fs *CrashFS) *FaultFS {
	f := &FaultFS{}
	f.FS = errorfs.Wrap(fs, errorfs.InjectorFunc(f.check))
	return f
}

// ReuseForWrite wraps the file too, which errorfs does not.
func (f *FaultFS) ReuseForWrite(oldName, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.ReuseForWrite(oldName, name, c)
	if err != nil {
		return nil, err
	}
	return errorfs.WrapFile(file, errorfs.InjectorFunc(f.check)), nil
}

// Plan sets the fault and starts counting anew.
func (f *FaultFS) Plan(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.fault, f.mu.n, f.mu.hit = fault, 0, 0
}

// Before calls the function before each write, with its number. It must not use the file system,
// but may let the CrashFS below crash.
func (f *FaultFS) Before(call func(write int)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.before = call
}

// Writes returns how many writes there were since the plan was set, and how many of them failed.
func (f *FaultFS) Writes() (n, failed int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.n, f.mu.hit
}

func (f *FaultFS) check(op errorfs.Op) error {
	if op.Kind.ReadOrWrite() != errorfs.OpIsWrite || op.Kind == errorfs.OpFileClose ||
		op.Kind == errorfs.OpLock ||
		strings.HasSuffix(op.Path, "LOCK") {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.n++
	if f.mu.before != nil {
		f.mu.before(f.mu.n)
	}
	p := f.mu.fault
	if p.At == 0 || f.mu.n < p.At || p.Times > 0 && f.mu.n >= p.At+p.Times {
		return nil
	}
	if !p.DiskFull {
		f.mu.hit++
		return syscall.EIO
	}
	switch op.Kind {
	case errorfs.OpRemove, errorfs.OpRemoveAll, errorfs.OpFileSync, errorfs.OpFileSyncData,
		errorfs.OpFileSyncTo,
		errorfs.OpFileFlush, errorfs.OpFilePreallocate:
		return nil
	}
	f.mu.hit++
	return syscall.ENOSPC
}
