package expr

import (
	"time"

	"github.com/minidb/minidb/table/types"
)

// Counters is an optional interface of a Session: what the server has counted of tables.
type Counters interface {
	// ResetTableCounters sets the counters of a table of this database to zero, if there is one.
	ResetTableCounters(id types.OID) error
	// ResetCounters does so for all tables of this database.
	ResetCounters() error
	// CountersReset returns when counters of a database were last reset by this process; false:
	// never.
	CountersReset(database types.OID) (time.Time, bool)
	// TemporaryFiles returns how many temporary files statements in a database have made, and how
	// many bytes they wrote to them.
	TemporaryFiles(database types.OID) (files, bytes int64)
	// SessionsIn returns how many sessions a database has; false: it is not known.
	SessionsIn(database types.OID) (n int64, known bool)
}
