package exec

import (
	"context"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// onlyPoints says whether the ranges may be read as single keys. The order of several does not
// follow from that, so somebody above must not ask for it; and IS NULL is no point.
func (s *scan) onlyPoints(ranges []table.Range) bool {
	if len(ranges) > 1 && s.node.Ordered || len(ranges) > types.BatchSize {
		return false
	}
	for i := range ranges {
		for _, d := range ranges[i].Eq {
			if d.Null {
				return false
			}
		}
	}
	return true
}

// points reads the rows of single keys.
func (s *scan) points(ctx context.Context, ranges []table.Range) (*types.Batch, error) {
	s.batch.Reset()
	if len(ranges) == 1 && s.index == nil {
		return s.point(ctx, ranges[0].Eq)
	}
	keys, err := s.distinctKeys(ranges)
	if err != nil {
		return nil, err
	}
	var which []int32
	n := s.node
	if err := table.Lookup(ctx, s.run.env.Tx, n.Table, s.index, n.Out, keys, s.batch, &which); err != nil {
		return nil, err
	}
	return s.narrow(s.batch)
}

// point reads one row by its row key.
func (s *scan) point(ctx context.Context, key []types.Datum) (*types.Batch, error) {
	n := s.node
	if s.row == nil {
		s.row = make([]types.Datum, len(n.Out))
	}
	found, err := table.GetRow(ctx, s.run.env.Tx, n.Table, key, n.Out, s.row)
	if err != nil || !found {
		return nil, err
	}
	if s.filter != nil {
		d, err := s.filter.EvalRow(&s.run.ev, s.row)
		if err != nil || !d.Bool() {
			return nil, err
		}
	}
	s.batch.AppendRow(s.row)
	return s.batch, nil
}

// distinctKeys lists each key once.
func (s *scan) distinctKeys(ranges []table.Range) ([][]types.Datum, error) {
	keys := make([][]types.Datum, 0, len(ranges))
	if len(ranges) == 1 {
		return append(keys, ranges[0].Eq), nil
	}
	ts := make([]*types.Type, len(s.ranges[0].node.Eq))
	for i, e := range s.ranges[0].node.Eq {
		ts[i] = e.Type()
	}
	b := types.NewBatchCap(ts, len(ranges))
	for i := range ranges {
		b.AppendRow(ranges[i].Eq)
	}
	t := newKeyTable(&budget{}, ts)
	numbers, err := t.add(b.Cols, firstRows(b.Len), nil)
	if err != nil {
		return nil, err
	}
	for i, n := range numbers {
		if int(n) == len(keys) {
			keys = append(keys, ranges[i].Eq)
		}
	}
	return keys, nil
}
