// Package scratch keeps bytes on disk that only the running process reads: rows of statements that
// do not fit memory, columns that scans keep. A File has no name, so whatever ends the process
// frees them.
//
//	File    |extent|extent|free|extent| …
//	extent  CRC-32C (4 bytes) | bytes, to a multiple of 4 KiB
package scratch

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"sync"
)

// Page is what extents begin at multiples of, in bytes.
const Page = 4 << 10

// Handle is an open file of the operating system.
type Handle interface {
	ReadAt(p []byte, offset int64) (int, error)
	WriteAt(p []byte, offset int64) (int, error)
	Close() error
}

// CreateIn makes a file in a directory, and takes its name away; "": in the system's directory for
// temporary files. The directory is made where there is none. What a crash between the two steps
// leaves there has a name that begins with "minidb-".
func CreateIn(dir string) (Handle, error) {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	f, err := os.CreateTemp(dir, "minidb-spill-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Errors of a File, besides those of the operating system.
var (
	// ErrLimit says that the file may not grow.
	ErrLimit = errors.New("the file has reached its limit")
	// ErrDamaged says that what was read is not what was written.
	ErrDamaged = errors.New("the checksum is wrong")
)

// OpError is an error of the operating system.
type OpError struct {
	Op  string // "create", "write to" or "read from"
	Err error
}

func (e *OpError) Error() string {
	return "could not " + e.Op + " temporary file: " + e.Err.Error()
}

// Unwrap returns the error of the operating system.
func (e *OpError) Unwrap() error { return e.Err }

// Options of a File.
type Options struct {
	// Create makes the file of the operating system when something is written for the first time.
	Create func() (Handle, error)
	// Limit bounds the size of the file, in bytes; 0: no bound.
	Limit int64
	// Room, unless nil, returns an error while the disk has no room for the file to grow.
	Room func() error
}

// File is a temporary file. It is safe for concurrent use.
type File struct {
	opts Options

	mu     sync.Mutex
	h      Handle // nil: nothing was written yet
	closed bool
	size   int64
	live   int64             // bytes of extents in use
	free   map[int32][]int64 // offsets of extents by their pages
}

// Extent is a part of a File.
type Extent struct {
	offset int64
	bytes  int32 // checksum included
	pages  int32
}

// New returns a File that holds nothing.
func New(opts Options) *File { return &File{opts: opts, free: map[int32][]int64{}} }

// Bytes is the size of what was written, the checksum included.
func (e Extent) Bytes() int { return int(e.bytes) }

// Write writes an extent, whose first four bytes it sets to the checksum of the others.
func (f *File) Write(b []byte) (Extent, error) {
	e, h, err := f.place(len(b))
	if err != nil {
		return e, err
	}
	binary.LittleEndian.PutUint32(b, crc32.Checksum(b[4:], castagnoli))
	if _, err := h.WriteAt(b, e.offset); err != nil {
		f.Release(e)
		return e, &OpError{"write to", err}
	}
	return e, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// place finds room for an extent of n bytes: that of one that was released, of the same size or up
// to twice as large, or else at the end.
func (f *File) place(n int) (e Extent, h Handle, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.h == nil {
		if f.closed {
			return e, nil, &OpError{"write to", os.ErrClosed}
		}
		if f.h, err = f.opts.Create(); err != nil {
			return e, nil, &OpError{"create", err}
		}
	}
	e = Extent{bytes: int32(n), pages: int32((n + Page - 1) / Page)}
	if pages := f.fits(e.pages); pages > 0 {
		at := f.free[pages]
		e.offset, e.pages = at[len(at)-1], pages
		if f.free[pages] = at[:len(at)-1]; len(at) == 1 {
			delete(f.free, pages)
		}
	} else if e.offset, err = f.grow(e.onDisk()); err != nil {
		return e, nil, err
	}
	f.live += e.onDisk()
	return e, f.h, nil
}

// fits returns the pages of the smallest free extent that is not too large, or 0.
func (f *File) fits(pages int32) (best int32) {
	if f.free[pages] != nil {
		return pages
	}
	for have := range f.free {
		if have > pages && have <= 2*pages && (best == 0 || have < best) {
			best = have
		}
	}
	return best
}

func (f *File) grow(n int64) (offset int64, err error) {
	if f.opts.Limit > 0 && f.size+n > f.opts.Limit {
		return 0, ErrLimit
	}
	if f.opts.Room != nil {
		if err := f.opts.Room(); err != nil {
			return 0, err
		}
	}
	offset = f.size
	f.size += n
	return offset, nil
}

// Release lets others use the room of an extent. Free extents are not joined: the file begins anew
// once all are free.
func (f *File) Release(e Extent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.free[e.pages] = append(f.free[e.pages], e.offset)
	if f.live -= e.onDisk(); f.live == 0 {
		f.size = 0
		clear(f.free)
	}
}

func (e Extent) onDisk() int64 { return int64(e.pages) * Page }

// Read fills b with an extent and returns what is behind the checksum. b has its Bytes at least.
func (f *File) Read(e Extent, b []byte) ([]byte, error) {
	f.mu.Lock()
	h := f.h
	f.mu.Unlock()
	if h == nil {
		return nil, &OpError{"read from", os.ErrClosed}
	}
	b = b[:e.bytes]
	if _, err := h.ReadAt(b, e.offset); err != nil {
		return nil, &OpError{"read from", err}
	}
	if binary.LittleEndian.Uint32(b) != crc32.Checksum(b[4:], castagnoli) {
		return nil, ErrDamaged
	}
	return b[4:], nil
}

// Live is how many bytes the extents in use take.
func (f *File) Live() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.live
}

// Size is how many bytes the extents span, in use or free.
func (f *File) Size() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.size
}

// Written reports whether there is a file of the operating system.
func (f *File) Written() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.h != nil
}

// Close gives the file up with all that is in it. Nothing is written or read from then on.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.h
	f.h, f.closed = nil, true
	if h == nil {
		return nil
	}
	return h.Close()
}
