package exec

import (
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/exec/spill"
	"github.com/minidb/minidb/table/types"
)

// Operators that keep rows write them to disk when they hold more than their share of memory
// (budget.full): docs/adr/0019-spilling.md.
//
//	sort, window, ordered aggregates   sorted runs that are merged (row_sorter.go, run_merger.go)
//	hash join, INTERSECT, EXCEPT       both sides divided by their keys (partitions.go)
//	aggregate, DISTINCT                rows of new groups, divided by their keys
//	WITH, cursors, results, window     rows as they come (row_log.go)

// share is what an operator may hold in memory, in bytes; 0: without bound. Two operators fit the
// bound of the statement.
func (e *Env) share() int64 {
	if e.Spill == nil {
		return 0
	}
	if e.MemoryLimit > 0 && (e.WorkMemory <= 0 || e.WorkMemory > e.MemoryLimit/2) {
		return e.MemoryLimit / 2
	}
	return e.WorkMemory
}

// newStream makes a stream in the statement's temporary file.
func (r *run) newStream(ts []*types.Type) *spill.Stream {
	if r.file == nil {
		r.file = r.env.Spill.NewFile(uint32(r.env.Database), &r.mem, r.env.TempLimit, r.mem.share)
	}
	return r.file.NewStream(ts)
}

// spilled counts what an operator wrote to disk.
type spilled struct {
	bytes  int64
	pieces int64 // runs or partitions
}

func (s *spilled) add(o spilled) {
	s.bytes += o.bytes
	s.pieces += o.pieces
}

// noteSpill lets EXPLAIN ANALYZE show what the operator of n writes.
func (r *run) noteSpill(n physical.Node, s *spilled) {
	if r.stats == nil {
		return
	}
	if r.spills == nil {
		r.spills = map[physical.Node]*spilled{}
	}
	r.spills[n] = s
}

// freeStreams frees streams, of which some may be nil.
func freeStreams(ss []*spill.Stream) {
	for _, s := range ss {
		if s != nil {
			s.Free()
		}
	}
}
