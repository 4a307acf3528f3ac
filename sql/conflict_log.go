package sql

import (
	"sync"

	"github.com/minidb/minidb/sql/pgcatalog"
)

// conflictLog is a ring of the last conflicts.
type conflictLog struct {
	mu   sync.Mutex
	ring []pgcatalog.Conflict
	next int
}

func (h *conflictLog) add(c pgcatalog.Conflict) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.ring) < conflictsKept {
		h.ring = append(h.ring, c)
		return
	}
	h.ring[h.next] = c
	h.next = (h.next + 1) % conflictsKept
}

// Conflicts lists the last conflicts, oldest first.
func (e *Engine) Conflicts() []pgcatalog.Conflict {
	h := &e.conflicts
	h.mu.Lock()
	defer h.mu.Unlock()
	return append(append([]pgcatalog.Conflict(nil), h.ring[h.next:]...), h.ring[:h.next]...)
}
