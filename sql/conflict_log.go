package sql

import (
	"maps"
	"sync"

	"github.com/minidb/minidb/sql/pgcatalog"
)

// conflictLog is a ring of the last conflicts.
type conflictLog struct {
	mu   sync.Mutex
	ring []pgcatalog.Conflict
	next int
	by   map[string]int64 // how many there were, by kind
}

func (h *conflictLog) add(c pgcatalog.Conflict) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.by == nil {
		h.by = map[string]int64{}
	}
	h.by[c.Kind]++
	if len(h.ring) < conflictsKept {
		h.ring = append(h.ring, c)
		return
	}
	h.ring[h.next] = c
	h.next = (h.next + 1) % conflictsKept
}

// ConflictCounts returns how many conflicts there were, by kind.
func (e *Engine) ConflictCounts() map[string]int64 {
	e.conflicts.mu.Lock()
	defer e.conflicts.mu.Unlock()
	return maps.Clone(e.conflicts.by)
}

// Conflicts lists the last conflicts, oldest first.
func (e *Engine) Conflicts() []pgcatalog.Conflict {
	h := &e.conflicts
	h.mu.Lock()
	defer h.mu.Unlock()
	return append(append([]pgcatalog.Conflict(nil), h.ring[h.next:]...), h.ring[:h.next]...)
}
