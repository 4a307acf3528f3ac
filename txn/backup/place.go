package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Place is where backups are kept: files by name. A name has parts that are divided by slashes.
type Place interface {
	// Put makes a file of what write writes, or replaces one: as a whole, durably, and not at all
	// when it fails.
	Put(ctx context.Context, name string, write func(io.Writer) error) error
	// Get opens a file. The error for one that is not there is fs.ErrNotExist.
	Get(ctx context.Context, name string) (io.ReadCloser, error)
	// Names lists all files, in the order of their names.
	Names(ctx context.Context) ([]string, error)
	// Remove removes a file, if it is there.
	Remove(ctx context.Context, name string) error
}

// Directory is a place in a directory, which is made when the first file comes.
type Directory string

// unfinished ends the name of a file that is being written.
const unfinished = ".part"

func (d Directory) path(name string) string {
	return filepath.Join(string(d), filepath.FromSlash(name))
}

// Put implements Place: the file is synced, renamed, and its directory synced.
func (d Directory) Put(_ context.Context, name string, write func(io.Writer) error) (err error) {
	path := d.path(name)
	if err := makeDirectory(filepath.Dir(path)); err != nil {
		return err
	}
	f, err := os.OpenFile(path+unfinished, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path+unfinished))
	}
	if err := os.Rename(path+unfinished, path); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(path))
}

// makeDirectory makes a directory and those above it, and syncs each that gets an entry.
func makeDirectory(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := makeDirectory(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDirectory(parent)
}

func syncDirectory(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Get implements Place.
func (d Directory) Get(_ context.Context, name string) (io.ReadCloser, error) {
	return os.Open(d.path(name))
}

// Names implements Place. Files that are being written are not listed.
func (d Directory) Names(context.Context) (names []string, err error) {
	if _, err := os.Stat(string(d)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	err = filepath.WalkDir(string(d), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(path, unfinished) {
			return err
		}
		name, err := filepath.Rel(string(d), path)
		names = append(names, filepath.ToSlash(name))
		return err
	})
	slices.Sort(names)
	return names, err
}

// Remove implements Place, and removes a directory that becomes empty.
func (d Directory) Remove(_ context.Context, name string) error {
	path := d.path(name)
	for _, p := range []string{path, path + unfinished} {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove %s: %w", name, err)
		}
	}
	if parent := filepath.Dir(path); parent != string(d) {
		_ = os.Remove(parent) // it has other files still, as a rule
	}
	return nil
}
