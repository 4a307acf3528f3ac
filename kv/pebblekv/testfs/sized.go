package testfs

import (
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// SizedFS is a file system of which a test says how much room it has. It takes every write all the
// same.
type SizedFS struct {
	vfs.FS
	free atomic.Uint64
}

// NewSizedFS wraps a file system and lets it have so many bytes free.
func NewSizedFS(fs vfs.FS, free uint64) *SizedFS {
	s := &SizedFS{FS: fs}
	s.SetFree(free)
	return s
}

// SetFree changes how many bytes are free.
func (s *SizedFS) SetFree(bytes uint64) { s.free.Store(bytes) }

// GetDiskUsage implements vfs.FS.
func (s *SizedFS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: s.free.Load(), TotalBytes: 1 << 40}, nil
}

// Unwrap implements vfs.FS.
func (s *SizedFS) Unwrap() vfs.FS { return s.FS }
