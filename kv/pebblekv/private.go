package pebblekv

import (
	"errors"
	"io"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// privateFS is the operating system's files, made for their owner alone. Pebble leaves that to the
// umask.
type privateFS struct{ vfs.FS }

const (
	privateDir  os.FileMode = 0o700
	privateFile os.FileMode = 0o600
)

func (fs privateFS) private(name string, f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(name, privateFile); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (fs privateFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.Create(name, c)
	return fs.private(name, f, err)
}

func (fs privateFS) OpenReadWrite(name string, c vfs.DiskWriteCategory,
	opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := fs.FS.OpenReadWrite(name, c, opts...)
	return fs.private(name, f, err)
}

func (fs privateFS) ReuseForWrite(oldName, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.ReuseForWrite(oldName, name, c)
	return fs.private(name, f, err)
}

func (fs privateFS) MkdirAll(dir string, _ os.FileMode) error {
	return fs.FS.MkdirAll(dir, privateDir)
}

func (fs privateFS) Lock(name string) (io.Closer, error) {
	l, err := fs.FS.Lock(name)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(name, privateFile); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Unwrap implements vfs.FS.
func (fs privateFS) Unwrap() vfs.FS { return fs.FS }

// closeDirectory removes the permissions of other users from a store's directory, if they may read
// it: one that was made before it became a store, or by an older program.
func (fs privateFS) closeDirectory(dir string) error {
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm()&0o027 == 0 { // a group that may read was let in on purpose
		return err
	}
	return os.Chmod(dir, privateDir)
}
