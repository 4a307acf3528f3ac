package pebblekv

import "time"

// LookAgain makes the engine ask for the room on its disk when it is next needed.
func LookAgain(e *Engine) {
	e.space.mu.Lock()
	defer e.space.mu.Unlock()
	e.space.mu.lookedAt = time.Time{}
}
