package exec

import (
	"context"

	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/sql/exec/spill"
	"github.com/minidb/minidb/table/types"
)

// rowSorter sorts rows by some of their columns. It keeps them in memory; when it holds more than
// its share it writes them to disk in order, as a run, and begins anew. The runs are merged when
// the rows are read: an external merge sort (Knuth, The Art of Computer Programming 3, 5.4).
type rowSorter struct {
	run   *run
	types []*types.Type
	keys  []opt.SortKey // Expr is not used
	from  []int         // by key: its column
	store *rowStore
	order []orderKey // keys over the columns of store
	// sorted is the order of the rows in store; rows that were added since are not in it.
	sorted []sortEntry
	runs   []*spill.Stream
	spilled
	merge *runMerger
	at    int
	rows  []int32
	out   *types.Batch
}

func newRowSorter(r *run, ts []*types.Type, keys []opt.SortKey, from []int) *rowSorter {
	return &rowSorter{run: r, types: ts, keys: keys, from: from, store: newRowStore(&r.mem, ts)}
}

// reset forgets the rows.
func (s *rowSorter) reset() {
	s.dropRuns()
	s.store.reset()
}

// free gives the memory up.
func (s *rowSorter) free() {
	s.dropRuns()
	s.store.free()
}

func (s *rowSorter) dropRuns() {
	if s.merge != nil {
		s.merge.close()
		s.merge = nil
	}
	freeStreams(s.runs)
	s.runs, s.sorted, s.at = nil, nil, 0
}

// orderKeys are the sort keys over the columns of the store.
func (s *rowSorter) orderKeys() []orderKey {
	if s.order == nil {
		s.order = make([]orderKey, len(s.keys))
	}
	for i, k := range s.keys {
		s.order[i] = orderKey{col: s.store.cols[s.from[i]], desc: k.Desc, nullsFirst: k.NullsFirst}
	}
	return s.order
}

// add takes rows sel of cols.
func (s *rowSorter) add(ctx context.Context, cols []*types.Vec, sel []int32) error {
	entries := int64(len(sel)) * sortEntryBytes
	if s.run.mem.full(s.store.bytes, s.store.need(cols, sel)+entries) {
		if err := s.writeRun(ctx); err != nil {
			return err
		}
	}
	if err := s.store.add(cols, sel); err != nil {
		return err
	}
	return s.store.charge(entries)
}

// writeRun writes the rows in memory to disk in order.
func (s *rowSorter) writeRun(ctx context.Context) (err error) {
	if s.sorted, err = sortRows(ctx, s.orderKeys(), s.store.len); err != nil {
		return err
	}
	out := s.run.newStream(s.types)
	s.runs = append(s.runs, out)
	for s.at = 0; s.at < len(s.sorted); {
		if err := out.Add(s.store.cols, s.nextRows()); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	s.sorted, s.at = nil, 0
	s.store.free()
	s.pieces++
	if err := out.Flush(); err != nil {
		return err
	}
	s.bytes += out.Bytes()
	return nil
}

// nextRows returns the numbers of the next rows in the order of sorted.
func (s *rowSorter) nextRows() []int32 {
	n := min(len(s.sorted)-s.at, types.BatchSize)
	s.rows = s.rows[:0]
	for _, e := range s.sorted[s.at : s.at+n] {
		s.rows = append(s.rows, e.row)
	}
	s.at += n
	return s.rows
}

// finish ends the adding: next returns the rows from now on.
func (s *rowSorter) finish(ctx context.Context) (err error) {
	if len(s.runs) == 0 {
		s.sorted, err = sortRows(ctx, s.orderKeys(), s.store.len)
		return err
	}
	if s.store.len > 0 {
		if err := s.writeRun(ctx); err != nil {
			return err
		}
	}
	if s.runs, err = s.mergeSome(ctx, s.runs); err != nil {
		return err
	}
	s.merge, err = s.newMerger(s.runs)
	return err
}

// next returns the next rows in order; nil at the end. The batch has the columns in which the
// caller is interested, the first width.
func (s *rowSorter) next(ctx context.Context, width int) (*types.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.merge != nil {
		return s.merge.next(width)
	}
	rows := s.nextRows()
	if len(rows) == 0 {
		return nil, nil
	}
	if s.out == nil {
		s.out = types.NewBatchCap(s.types[:width], 0)
	}
	for i, c := range s.out.Cols {
		c.Gather(s.store.cols[i], rows)
	}
	s.out.Len = len(rows)
	return s.out, nil
}
