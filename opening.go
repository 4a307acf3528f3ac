package minidb

import (
	"time"

	"github.com/minidb/minidb/table/catalog"
)

// Opening is what Open has found.
type Opening struct {
	// Format is the number of the layout of keys and values.
	Format int
	// Replayed is how many updates were read from the log of a directory: none where it was closed
	// in an orderly way and flushed.
	Replayed int
	// EngineTook is how long the engine of a directory took to open, the log included; Took is
	// Open's time as a whole.
	EngineTook, Took time.Duration
}

// Opening returns what Open has found.
func (db *DB) Opening() Opening {
	o := db.opening
	o.Format = catalog.Format
	return o
}
