package exec

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// Delta is a change of a relation between two states of it, as a multiset of rows with weights: a
// row of weight 2 is there twice more than before, one of weight -1 once less. A row that is
// updated is its old image with -1 and its new one with 1. The same row may occur several times;
// its weights add up.
type Delta struct {
	Rows    [][]types.Datum // one datum for each visible column of the relation
	Weights []int64
}

// Add adds a row, which belongs to the delta from then on.
func (d *Delta) Add(row []types.Datum, weight int64) {
	if weight != 0 {
		d.Rows, d.Weights = append(d.Rows, row), append(d.Weights, weight)
	}
}

// Empty reports whether there are no rows. A nil Delta is empty.
func (d *Delta) Empty() bool { return d == nil || len(d.Rows) == 0 }

// Before are two readers of what was before a delta: of tables, and of the views that are being
// brought up to date with what they keep beside. The second is a reader of its own because the
// transaction that writes the views sees what it has written. Without a reader of tables these are
// as they were.
type Before struct{ Tables, Views *txn.Txn }

// reads returns the transaction that a scan reads by.
func (r *run) reads(n *physical.Scan) *txn.Txn {
	before := r.env.Before.Views
	if n.Table.Kind == table.KindTable {
		before = r.env.Before.Tables
	}
	if !n.Before || before == nil {
		return r.env.Tx
	}
	return before
}

// deltaScan reads a delta: the columns of its rows, then their weights.
type deltaScan struct {
	run    *run
	node   *physical.DeltaScan
	filter condition // without a program, where there is none
	delta  *Delta
	batch  *types.Batch
	at     int
}

func (r *run) buildDeltaScan(n *physical.DeltaScan) (operator, error) {
	p, err := compileOptional(n.Filter)
	if err != nil {
		return nil, err
	}
	return &deltaScan{run: r, node: n, filter: condition{run: r, prog: p}}, nil
}

func (s *deltaScan) Open(context.Context) error {
	s.at, s.filter.failed = 0, nil
	s.delta = s.run.env.Deltas[s.node.Table.ID]
	if s.delta == nil {
		s.delta = &Delta{}
	}
	if len(s.delta.Rows) > 0 && len(s.delta.Rows[0]) != len(s.node.Table.Columns)-1 {
		return sqlerr.New(sqlerr.InternalError, "a delta of \"%s\" has %d columns, not %d",
			s.node.Table.Name, len(s.delta.Rows[0]), len(s.node.Table.Columns)-1)
	}
	if s.batch == nil {
		s.batch = types.NewBatchCap(columnTypes(s.node), min(len(s.delta.Rows), types.BatchSize))
	}
	return nil
}

func (s *deltaScan) Close() error {
	s.delta, s.batch = nil, nil
	return nil
}

func (s *deltaScan) Next(ctx context.Context) (*types.Batch, error) {
	s.run.ctx = ctx
	for s.filter.failed == nil && s.at < len(s.delta.Rows) {
		s.fill()
		if s.filter.prog == nil {
			return s.batch, nil
		}
		if b, err := s.filter.narrow(s.batch); err != nil || b != nil {
			return b, err
		}
	}
	if s.filter.failed != nil {
		return nil, s.filter.failed
	}
	return nil, ctx.Err()
}

// fill puts the next rows into the batch.
func (s *deltaScan) fill() {
	s.batch.Reset()
	end := min(len(s.delta.Rows), s.at+types.BatchSize)
	weight := len(s.node.Table.Columns) - 1
	for ; s.at < end; s.at++ {
		for i, o := range s.node.Out {
			if o == weight {
				s.batch.Cols[i].Append(types.NewInt(s.delta.Weights[s.at]))
			} else {
				s.batch.Cols[i].Append(s.delta.Rows[s.at][o])
			}
		}
		s.batch.Len++
	}
}
