package txn

import (
	"time"

	"github.com/minidb/minidb/kv"
)

// tightRetention is how long old versions are kept while the disk is nearly full.
const tightRetention = time.Second

// Tighten shortens the retention of old versions while the disk is nearly full, and has them
// collected at once. It does not use the engine and does not wait.
func (s *Store) Tighten(on bool) {
	if s.tight.on.Swap(on) == on || s.opts.Retention <= tightRetention {
		return
	}
	if !on {
		s.opts.Logger.Info("the disk has space again: old versions are kept as before", "retention",
			s.opts.Retention)
		return
	}
	s.opts.Logger.Warn("the disk is nearly full: old versions are collected early",
		"retention", tightRetention, "instead of", s.opts.Retention)
	select {
	case s.tight.rung <- struct{}{}:
	default:
	}
}

// retention returns how long old versions are kept now.
func (s *Store) retention() time.Duration {
	if s.tight.on.Load() {
		return min(s.opts.Retention, tightRetention)
	}
	return s.opts.Retention
}

// Room returns nil when the engine has room for new data, or an error of kv.ErrDiskFull. frees is
// set for a statement that makes room in the end, for which the engine keeps some space back.
func (s *Store) Room(frees bool) error { return kv.RoomOf(s.engine, frees) }

// FreesSpace marks a transaction that makes room in the end, as deleting does: its writes may use
// the space that the engine keeps back when the disk is full.
func (t *Txn) FreesSpace() {
	t.frees = true
	if t.companion != nil {
		t.companion.frees = true
	}
}
