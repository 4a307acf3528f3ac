package txn

import (
	"sync/atomic"

	"github.com/minidb/minidb/txn/commit"
	"github.com/minidb/minidb/txn/gc"
	"github.com/minidb/minidb/txn/rowlock"
)

// collected counts what collections of old versions did. A pass in steps counts at its end.
type collected struct {
	passes, failures, rows, versions, locks atomic.Int64
}

func (c *collected) count(s *gc.Stats) {
	c.passes.Add(1)
	c.rows.Add(int64(s.Passed))
	c.versions.Add(int64(s.Versions))
	c.locks.Add(int64(s.Locks))
}

// Counts are what a store has done since it was opened.
type Counts struct {
	Commits     commit.Counts // those that wrote
	Collections Collections
	// RowLocks are waits for locks in memory: of rows, tables and advisory ones. Locks are waits
	// for those in the store.
	RowLocks, Locks rowlock.Waits
}

// Collections are those of old versions.
type Collections struct {
	Passes   int64 // that came to their end
	Failures int64 // steps in the background that failed, and were taken again
	Rows     int64 // that were passed
	Versions int64 // that were dropped
	Locks    int64 // that were left by transactions, and settled
	// Places is in how many parts of the store a pass may find something now. It is 0 on a store
	// that several processes share, where each pass goes through all of it.
	Places int
}

// Counts returns what was counted.
func (s *Store) Counts() (c Counts) {
	c.Commits = s.coordinator.Counts()
	n := &s.collected
	c.Collections = Collections{Passes: n.passes.Load(), Failures: n.failures.Load(),
		Rows: n.rows.Load(), Versions: n.versions.Load(), Locks: n.locks.Load()}
	if s.alone {
		c.Collections.Places = s.memory.Garbage.Places()
	}
	c.RowLocks, c.Locks = s.rowLocks.Ended(), s.waits.Counted()
	return c
}
