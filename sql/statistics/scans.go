package statistics

import (
	"sync/atomic"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/stats"
)

// Scans counts how a table is read by one of its indexes, or without one. Sessions keep it, so that
// a point read finds it without a lock.
type Scans struct {
	scans, read, fetched atomic.Int64
}

// Add counts scans that have read so many rows or entries, and fetched the rows of so many entries.
func (s *Scans) Add(scans, read, fetched int64) {
	s.scans.Add(scans)
	if read > 0 {
		s.read.Add(read)
	}
	if fetched > 0 {
		s.fetched.Add(fetched)
	}
}

// Scans returns the counter of a table's index; 0 is the table without one.
func (r *Registry) Scans(id table.ID, index table.IndexID) *Scans {
	c := r.counter(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.scans[index]
	if s == nil {
		if c.scans == nil {
			c.scans = map[table.IndexID]*Scans{}
		}
		s = &Scans{}
		c.scans[index] = s
	}
	return s
}

// foldScans moves what was read since into base. Requires: c.mu.
func (c *counter) foldScans() {
	for id, s := range c.scans {
		n := s.scans.Swap(0)
		if n == 0 {
			continue
		}
		c.base.AddScans(stats.Scans{Index: id, Scans: n, Read: s.read.Swap(0),
			Fetched: s.fetched.Swap(0)})
		c.scanned = true
	}
}

// ofIndexes are the scans of indexes that a table has.
func ofIndexes(d *table.Desc, all []stats.Scans) (have []stats.Scans) {
	for _, s := range all {
		if s.Index == 0 || s.Index == table.RowIndexID || d.Index(s.Index) != nil {
			have = append(have, s)
		}
	}
	return have
}
