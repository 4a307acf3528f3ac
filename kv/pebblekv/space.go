package pebblekv

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/minidb/minidb/kv"
)

// space watches the room that is left on the store's file system, so that new data is refused
// before the log can fail: below lowWater, until there is a quarter more. What the memtables hold
// still has to fit.
//
// A reserve file keeps space that no other program on the file system can use. It is given up when
// something that frees space needs to write below the mark, or when a write fails all the same, and
// is made again once there is room for it. A file system that does not report its free space is not
// watched.
type space struct {
	fs       vfs.FS // below Pebble's, so that it is not counted among its files
	dir      string
	log      *slog.Logger
	notify   func(tight bool)
	now      func() time.Time
	lowWater uint64
	reserve  uint64
	closing  chan struct{} // closed when the engine is closed
	close    sync.Once

	mu struct {
		sync.Mutex
		watched  bool
		reserved bool
		full     bool
		tight    bool
		free     uint64
		lookedAt time.Time
	}
}

const (
	reserveName = "RESERVE"
	// lookEvery is how old the knowledge of the room left may be.
	lookEvery = 50 * time.Millisecond
	// waitForSpace is the pause between attempts to write a table on a full file system.
	waitForSpace = 100 * time.Millisecond
	// Space in memtables: their contents are written out, and compacted, below the mark; and
	// operations that free space need some as well.
	lowWaterMemTables = 8
	reserveMemTables  = 2
	// smallDisk is the size of a file system below which a memtable is a smallDiskShare of it.
	smallDisk      = 2 << 30
	smallDiskShare = 64
)

// memTableBytes returns the size of a memtable that suits a file system.
func memTableBytes(fs vfs.FS, dir string) int {
	const usual = 32 << 20
	if u, err := fs.GetDiskUsage(dir); err == nil && u.TotalBytes > 0 && u.TotalBytes < smallDisk {
		return int(max(u.TotalBytes/smallDiskShare, 256<<10))
	}
	return usual
}

// init looks at the file system for the first time, and makes the reserve.
func (s *space) init(fs vfs.FS, dir string, opts Options) {
	s.fs, s.dir, s.log, s.notify = fs, dir, opts.logger(), opts.OnTight
	s.now, s.closing = time.Now, make(chan struct{})
	s.lowWater = uint64(lowWaterMemTables * opts.MemTableBytes)
	if !opts.Volatile { // the reserve of the store beside it serves both
		s.reserve = uint64(reserveMemTables * opts.MemTableBytes)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u, err := fs.GetDiskUsage(dir)
	s.mu.watched = err == nil && u.TotalBytes > 0 && !opts.ReadOnly && !opts.InMemory
	if !s.mu.watched {
		return
	}
	_, err = fs.Stat(s.path())
	s.mu.reserved = err == nil
	s.look()
}

func (s *space) path() string { return s.fs.PathJoin(s.dir, reserveName) }

// look asks the file system, and makes the reserve anew once there is room for it. Requires: mu is
// held.
func (s *space) look() {
	s.measure()
	if !s.mu.reserved && s.mu.free >= s.resumeAt() {
		s.mu.reserved = s.makeReserve() == nil
	}
}

// lookAgain is look, where the last one is not of this moment. Requires: mu is held.
func (s *space) lookAgain() {
	if s.now().Sub(s.mu.lookedAt) >= lookEvery {
		s.look()
	}
}

// measure asks the file system for its free space, and reports when space became tight or ceased to
// be. Requires: mu is held.
func (s *space) measure() {
	u, err := s.fs.GetDiskUsage(s.dir)
	s.mu.lookedAt = s.now()
	if err != nil {
		return // as before
	}
	s.mu.free = u.AvailBytes
	switch {
	case s.mu.free < s.lowWater && !s.mu.full:
		s.mu.full = true
		s.log.Warn("the disk is nearly full: new data is refused until there is space", "free",
			s.mu.free, "needed", s.lowWater)
	case s.mu.free >= s.resumeAt() && s.mu.full:
		s.mu.full = false
		s.log.Warn("the disk has space again: new data is taken", "free", s.mu.free)
	}
	mark := 2 * s.lowWater
	if s.mu.tight {
		mark += s.lowWater / 2 // not to and fro
	}
	if tight := s.mu.full || s.mu.free < mark; tight != s.mu.tight {
		s.mu.tight = tight
		if s.notify != nil {
			s.notify(tight)
		}
	}
}

// resumeAt is the room at which new data is taken again: without the reserve, it is made first.
// Requires: mu is held.
func (s *space) resumeAt() uint64 {
	at := s.lowWater + s.lowWater/4
	if !s.mu.reserved {
		at += s.reserve
	}
	return at
}

func (s *space) makeReserve() error {
	f, err := s.fs.Create(s.path(), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if err = errors.Join(f.Preallocate(0, int64(s.reserve)), f.Close()); err != nil {
		return errors.Join(err, s.fs.Remove(s.path()))
	}
	return nil
}

// release gives the reserve up and reports whether there was one. Requires: mu is held.
func (s *space) release() bool {
	if !s.mu.reserved {
		return false
	}
	s.mu.reserved = false
	if err := s.fs.Remove(s.path()); err != nil {
		s.log.Error("the reserve of a full disk cannot be removed", "err", err)
		return false
	}
	s.log.Warn("the disk is full: the reserve was given up", "bytes", s.reserve)
	s.measure()
	return true
}

// room implements Engine.Room.
func (s *space) room(frees bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.mu.watched {
		return nil
	}
	s.lookAgain()
	if !s.mu.full {
		return nil
	}
	if frees {
		s.release()
		if s.mu.free >= s.lowWater/lowWaterMemTables {
			return nil
		}
	}
	return fmt.Errorf("%w: %d MiB are free, writes need %d MiB", kv.ErrDiskFull, s.mu.free>>20,
		s.lowWater>>20)
}

// failedWrite is called after a write failed for lack of space. It reports whether trying again at
// once may help.
func (s *space) failedWrite() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.watched && s.release()
}

// await pauses a write that must be repeated until there is room, and reports whether it makes
// sense: not on a file system that is not watched, and not once the engine is being closed.
func (s *space) await() bool {
	s.mu.Lock()
	watched := s.mu.watched
	if watched {
		s.look()
	}
	s.mu.Unlock()
	if !watched {
		return false
	}
	timer := time.NewTimer(waitForSpace)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.closing:
		return false
	}
}

// Room implements kv.Roomy.
func (e *Engine) Room(frees bool) error { return e.space.room(frees) }

// Free is how many bytes the file system has for files, as far as is known.
func (e *Engine) Free() (bytes uint64, known bool) {
	e.space.mu.Lock()
	defer e.space.mu.Unlock()
	return e.space.mu.free, e.space.mu.watched
}

// Tight reports whether there is less than twice the space below which Room refuses.
func (e *Engine) Tight() bool {
	e.space.mu.Lock()
	defer e.space.mu.Unlock()
	return e.space.mu.tight
}
