package spill

import (
	"errors"
	"syscall"

	"github.com/minidb/minidb/internal/scratch"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/colfmt"
)

// Account counts the memory of buffers, in bytes. Grow counts them even when it returns an error.
type Account interface {
	Grow(n int64) error
	Shrink(n int64)
}

// File holds the streams of one statement. It belongs to one goroutine at a time.
type File struct {
	dir    *Dir
	mem    Account
	counts *Counts // of the owner
	limit  int64   // bytes; 0: no limit
	block  int     // bytes after which an extent is written
	disk   *scratch.File
	types  colfmt.Types
}

// The sizes of extents, in bytes.
const (
	blockMost  = 64 << 10
	blockShare = 64 // streams of an operator that fit its share of memory
)

// NewFile returns a File of an owner, whose buffers mem counts. limit bounds its size in bytes; 0:
// no bound. share is what an operator may hold in memory: the buffers of its streams take a part
// of it.
func (d *Dir) NewFile(owner uint32, mem Account, limit, share int64) *File {
	f := &File{dir: d, mem: mem, limit: limit, counts: d.counts(owner),
		block: int(min(max(share/blockShare, scratch.Page), blockMost))}
	f.disk = scratch.New(scratch.Options{Limit: limit, Room: d.opts.Room, Create: f.create})
	return f
}

func (f *File) create() (scratch.Handle, error) {
	h, err := f.dir.create()
	if err == nil {
		f.counts.files.Add(1)
		f.dir.open.Add(1)
	}
	return h, err
}

// Close gives the file up with all its streams.
func (f *File) Close() error {
	if f.disk.Written() {
		f.dir.open.Add(-1)
	}
	return f.disk.Close()
}

// extent is a part of a stream on disk.
type extent struct {
	scratch.Extent
	first int64 // number of its first row in the stream
}

// write writes an extent, whose first four bytes it sets to the checksum of the others.
func (f *File) write(b []byte) (scratch.Extent, error) {
	e, err := f.disk.Write(b)
	if err != nil {
		return e, f.coded(err)
	}
	f.counts.bytes.Add(int64(len(b)))
	return e, nil
}

// read fills b with an extent and returns its frames.
func (f *File) read(e extent, b []byte) ([]byte, error) {
	frames, err := f.disk.Read(e.Extent, b)
	return frames, f.coded(err)
}

// coded returns an error with PostgreSQL's SQLSTATE for it.
func (f *File) coded(err error) error {
	var op *scratch.OpError
	switch {
	case errors.Is(err, scratch.ErrLimit):
		return sqlerr.New(sqlerr.ConfigurationLimitExceeded,
			"temporary file size exceeds temp_file_limit (%dkB)", f.limit/1024)
	case errors.Is(err, scratch.ErrDamaged):
		return damaged(err.Error())
	case !errors.As(err, &op):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return sqlerr.New(sqlerr.DiskFull, "%v", err)
	}
	return sqlerr.New(sqlerr.IOError, "%v", err)
}

func damaged(what string) error {
	return sqlerr.New(sqlerr.DataCorrupted, "a temporary file is damaged").WithDetail("%s", what)
}
