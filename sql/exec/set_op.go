package exec

import (
	"context"

	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// setOp is INTERSECT and EXCEPT: it counts the right side's rows, then lets left rows through in
// their order.
type setOp struct {
	left, right operator
	except, all bool
	table       *keyTable
	counts      []int64 // by key number: right rows not used up; without ALL, 0 once returned
	built       bool
	found       []int32
	sel         []int32
	out         types.Batch
}

func (r *run) buildSetOp(n *physical.SetOp) (operator, error) {
	left, right, err := r.buildBoth(n.Left, n.Right)
	if err != nil {
		return nil, err
	}
	return &setOp{left: left, right: right, except: n.Except, all: n.All,
		table: newKeyTable(&r.mem, columnTypes(n.Left))}, nil
}

func (s *setOp) Open(ctx context.Context) error {
	s.built = false
	s.table.reset()
	s.counts = s.counts[:0]
	if err := s.left.Open(ctx); err != nil {
		return err
	}
	return s.right.Open(ctx)
}

func (s *setOp) Close() error {
	s.table.free()
	return closeAll(s.left, s.right)
}

// count adds rows of the right side.
func (s *setOp) count(_ context.Context, b *types.Batch) (err error) {
	if s.found, err = s.table.add(b.Cols, selection(b), s.found); err != nil {
		return err
	}
	for len(s.counts) < s.table.len() {
		s.counts = append(s.counts, 0)
	}
	for _, n := range s.found {
		s.counts[n]++
	}
	return nil
}

func (s *setOp) Next(ctx context.Context) (*types.Batch, error) {
	if !s.built {
		if err := eachBatch(ctx, s.right, s.count); err != nil {
			return nil, err
		}
		s.built = true
	}
	for {
		b, err := s.left.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		if err := s.choose(b); err != nil {
			return nil, err
		}
		if len(s.sel) > 0 {
			s.out = types.Batch{Cols: b.Cols, Len: b.Len, Sel: s.sel}
			return &s.out, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// choose makes sel the rows of b to return.
func (s *setOp) choose(b *types.Batch) (err error) {
	sel := selection(b)
	s.sel = s.sel[:0]
	if s.except && !s.all {
		s.sel, s.found, err = s.table.addNew(b.Cols, sel, s.sel, s.found)
		return err
	}
	s.found = s.table.find(b.Cols, sel, s.found)
	for k, i := range sel {
		n := s.found[k]
		have := n >= 0 && s.counts[n] > 0
		if have {
			s.counts[n]--
			if !s.all {
				s.counts[n] = 0
			}
		}
		if have != s.except {
			s.sel = append(s.sel, i)
		}
	}
	return nil
}
