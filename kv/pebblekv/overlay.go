package pebblekv

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// overlayFS shows the files of one directory, and keeps in memory what is made, renamed and removed
// there: the directory itself is never changed.
type overlayFS struct {
	*vfs.MemFS
	base vfs.FS

	mu   sync.Mutex
	gone map[string]bool // names that are hidden below
}

// newOverlayFS makes the overlay of a directory. Files in directories below it stay out of reach.
func newOverlayFS(base vfs.FS, dir string) (*overlayFS, error) {
	fs := &overlayFS{MemFS: vfs.NewMem(), base: base, gone: map[string]bool{}}
	return fs, fs.MemFS.MkdirAll(dir, privateDir)
}

// overlayOfStore makes the overlay of a directory that must hold a store.
func overlayOfStore(dir string, opts Options) (*overlayFS, error) {
	base := opts.FS
	if base == nil {
		base = vfs.Default
	}
	if err := mustHold(base, dir); err != nil {
		return nil, fmt.Errorf("open store %q: %w", dir, err)
	}
	overlay, err := newOverlayFS(base, dir)
	if err != nil {
		return nil, fmt.Errorf("open store %q: %w", dir, err)
	}
	return overlay, nil
}

// OpenUnchanged opens a store for reading only. What the engine writes, its recovery from the log
// included, stays in memory and is gone when it closes. The directory's files stay as they are.
func OpenUnchanged(dir string, opts Options) (*Engine, error) {
	overlay, err := overlayOfStore(dir, opts)
	if err != nil {
		return nil, err
	}
	opts.FS, opts.MustExist, opts.readOnce = overlay, true, true
	return Open(dir, opts)
}

// below reports whether a name means the file of the directory itself.
func (fs *overlayFS) below(name string) bool {
	fs.mu.Lock()
	hidden := fs.gone[name]
	fs.mu.Unlock()
	if hidden {
		return false
	}
	_, err := fs.MemFS.Stat(name)
	return err != nil
}

func (fs *overlayFS) hide(name string) {
	fs.mu.Lock()
	fs.gone[name] = true
	fs.mu.Unlock()
}

func (fs *overlayFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	fs.hide(name)
	return fs.MemFS.Create(name, c)
}

func (fs *overlayFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if fs.below(name) {
		return fs.base.Open(name, opts...)
	}
	return fs.MemFS.Open(name, opts...)
}

// take copies a file of the directory into memory, so that it can be changed there.
func (fs *overlayFS) take(name string) error {
	if !fs.below(name) {
		return nil
	}
	from, err := fs.base.Open(name)
	if err != nil {
		return err
	}
	content, err := io.ReadAll(from)
	if closed := from.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return fs.put(name, content)
}

// put makes a file in memory.
func (fs *overlayFS) put(name string, content []byte) error {
	to, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = to.Write(content)
	if closed := to.Close(); err == nil {
		err = closed
	}
	return err
}

func (fs *overlayFS) OpenReadWrite(name string, c vfs.DiskWriteCategory,
	opts ...vfs.OpenOption) (vfs.File, error) {
	if err := fs.take(name); err != nil {
		return nil, err
	}
	return fs.MemFS.OpenReadWrite(name, c, opts...)
}

func (fs *overlayFS) Remove(name string) error {
	if fs.below(name) {
		fs.hide(name)
		return nil
	}
	return fs.MemFS.Remove(name)
}

func (fs *overlayFS) Rename(oldName, newName string) error {
	if err := fs.take(oldName); err != nil {
		return err
	}
	fs.hide(newName)
	return fs.MemFS.Rename(oldName, newName)
}

func (fs *overlayFS) Link(oldName, newName string) error {
	if err := fs.take(oldName); err != nil {
		return err
	}
	return fs.MemFS.Link(oldName, newName)
}

func (fs *overlayFS) ReuseForWrite(oldName, newName string, c vfs.DiskWriteCategory) (vfs.File,
	error) {
	if err := fs.Rename(oldName, newName); err != nil {
		return nil, err
	}
	return fs.MemFS.OpenReadWrite(newName, c)
}

// Lock locks the directory itself: a process that has it open may be changing it.
func (fs *overlayFS) Lock(name string) (io.Closer, error) { return fs.base.Lock(name) }

func (fs *overlayFS) List(dir string) ([]string, error) {
	names, err := fs.base.List(dir)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !fs.below(fs.PathJoin(dir, n)) })
	made, err := fs.MemFS.List(dir)
	return append(names, made...), err
}

func (fs *overlayFS) Stat(name string) (vfs.FileInfo, error) {
	if fs.below(name) {
		return fs.base.Stat(name)
	}
	return fs.MemFS.Stat(name)
}

func (fs *overlayFS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{}, vfs.ErrUnsupported
}

// RemoveAll implements vfs.FS; a store removes its files one by one.
func (fs *overlayFS) RemoveAll(string) error { return os.ErrPermission }

// Unwrap implements vfs.FS.
func (fs *overlayFS) Unwrap() vfs.FS { return nil }
