package spill

import (
	"os"
	"sync"
	"sync/atomic"

	"github.com/minidb/minidb/internal/scratch"
)

// Dir is where the statements of one database keep their files. It is safe for concurrent use.
type Dir struct {
	path string // "": the system's directory for temporary files
	opts Options
	open atomic.Int64

	mu struct {
		sync.Mutex
		counts map[uint32]*Counts // by owner
	}
}

// Counts are what the statements of one owner have written: how many files, and their bytes.
type Counts struct{ files, bytes atomic.Int64 }

// Options of a Dir. The zero value is good.
type Options struct {
	// Room returns an error while the disk has no room for files of statements.
	Room func() error
	// Create makes a file, which Close removes; nil: one of the operating system's.
	Create func() (scratch.Handle, error)
}

// NewDir returns the Dir at path, and removes what another process left there. The directory is
// made when a statement spills. With path "" files are in the system's temporary directory.
func NewDir(path string, opts Options) (*Dir, error) {
	if path != "" {
		if err := os.RemoveAll(path); err != nil {
			return nil, err
		}
	}
	d := &Dir{path: path, opts: opts}
	d.mu.counts = map[uint32]*Counts{}
	return d, nil
}

// Stats are the number of files that an owner's statements made, and the bytes written to them.
func (d *Dir) Stats(owner uint32) (files, bytes int64) {
	c := d.counts(owner)
	return c.files.Load(), c.bytes.Load()
}

// ResetStats begins the counts of an owner anew.
func (d *Dir) ResetStats(owner uint32) {
	c := d.counts(owner)
	c.files.Store(0)
	c.bytes.Store(0)
}

func (d *Dir) counts(owner uint32) *Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.mu.counts[owner]
	if c == nil {
		c = &Counts{}
		d.mu.counts[owner] = c
	}
	return c
}

// Open is the number of files that are open.
func (d *Dir) Open() int64 { return d.open.Load() }

// create makes a file without a name.
func (d *Dir) create() (scratch.Handle, error) {
	if d.opts.Create != nil {
		return d.opts.Create()
	}
	return scratch.CreateIn(d.path)
}
