package sql

import "time"

// ViewStats counts what the maintainer of a group of incremental views has done in this process.
type ViewStats struct {
	Advances            int64 // that changed something
	Changes             int64 // rows of tables in them
	Rebuilt             int64 // views that were computed anew
	Conflicts, Failures int64
	LastError           string
	LastFailed          time.Time
	Last                time.Duration // of the last advance
}
