package sql

import (
	"github.com/minidb/minidb/sql/statistics"
	"github.com/minidb/minidb/table"
)

// scans counts for a session how it reads tables, for pg_stat_user_tables and
// pg_stat_user_indexes. It implements exec.Scans, and belongs to the session's goroutine.
type scans struct {
	registry *statistics.Registry
	known    map[scanned]*statistics.Scans
}

// scanned is a table and one of its indexes, 0 for none.
type scanned struct {
	table table.ID
	index table.IndexID
}

// knownScans bounds the memory of a session that reads very many tables.
const knownScans = 1000

// Scanned implements exec.Scans.
func (s *scans) Scanned(d *table.Desc, index table.IndexID, scans, read, fetched int64) {
	of := scanned{d.ID, index}
	n := s.known[of]
	if n == nil {
		if s.known == nil || len(s.known) >= knownScans {
			s.known = map[scanned]*statistics.Scans{}
		}
		n = s.registry.Scans(d.ID, index)
		s.known[of] = n
	}
	n.Add(scans, read, fetched)
}
