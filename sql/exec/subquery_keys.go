package exec

import (
	"context"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// collectKeys makes the table of keys of a hashed subquery, and keeps apart the rows that have a
// NULL. Of a single column it keeps one NULL: more would not change any result.
func (s *subquery) collectKeys(ctx context.Context, r *run, ts []*types.Type) error {
	if s.keys != nil {
		s.keys.free()
	}
	s.keys = newKeyTable(&r.mem, ts)
	left := make([]*types.Type, len(s.sq.Left))
	for i, l := range s.sq.Left {
		left[i] = l.Type()
	}
	s.probe = types.NewBatchCap(left, 1)
	var live []int32
	return eachBatch(ctx, s.op, func(_ context.Context, b *types.Batch) (err error) {
		rows := selection(b)
		live = withoutNulls(b.Cols, rows, live)
		if s.found, err = s.keys.add(b.Cols, live, s.found); err != nil {
			return err
		}
		if len(live) == len(rows) || len(ts) == 1 && s.rows.len > 0 {
			return nil
		}
		rows = withNulls(b.Cols, rows)
		if len(ts) == 1 {
			rows = rows[:1]
		}
		return s.rows.add(b.Cols, rows)
	})
}

// withNulls lists the rows of sel that have a NULL among cols.
func withNulls(cols []*types.Vec, sel []int32) []int32 {
	var out []int32
	for _, i := range sel {
		for _, c := range cols {
			if c.HasNull && c.Nulls[i] {
				out = append(out, i)
				break
			}
		}
	}
	return out
}

// member computes = ANY by the table of keys; <> ALL is its negation.
func (s *subquery) member(left []types.Datum) types.Datum {
	all := s.sq.Kind == expr.All
	null := false
	for _, d := range left {
		null = null || d.Null
	}
	if !null {
		s.probe.Reset()
		s.probe.AppendRow(left)
		s.found = s.keys.find(s.probe.Cols, firstRows(1), s.found)
		if s.found[0] >= 0 {
			return types.NewBool(!all)
		}
	}
	if s.mayEqual(left, s.rows) || null && s.mayEqual(left, s.keys.keys) {
		return types.Null
	}
	return types.NewBool(all)
}

// mayEqual reports whether some row equals left as far as neither has a NULL.
func (s *subquery) mayEqual(left []types.Datum, rows *rowStore) bool {
next:
	for i := range rows.len {
		for k, d := range left {
			c := rows.cols[k]
			if d.Null || c.HasNull && c.Nulls[i] {
				continue
			}
			if !types.Equal(s.sq.Left[k].Type(), d, c.Get(i)) {
				continue next
			}
		}
		return true
	}
	return false
}
