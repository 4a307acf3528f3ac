package exec

import (
	"context"

	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// sorter reads all its input and sorts it. If only the first bound rows are wanted, it drops the
// rows beyond them from time to time.
type sorter struct {
	*rowSorter
	child operator
	progs []*eval.Program
	top   scalarExpr

	width int // columns of the child; computed keys follow them in the rows
	ready bool
	bound int64 // rows to keep, or -1
	left  int64 // of bound
	vecs  []*types.Vec
	sel   []int32
}

func (r *run) buildSort(n *physical.Sort) (operator, error) {
	child, err := r.build(n.Child)
	if err != nil {
		return nil, err
	}
	s := &sorter{child: child, top: scalarExpr{e: n.Top}}
	columns := columnTypes(n.Child)
	s.width = len(columns)
	from := make([]int, len(n.Keys))
	s.progs = make([]*eval.Program, len(n.Keys))
	for i, k := range n.Keys {
		p, err := eval.Compile(k.Expr)
		if err != nil {
			return nil, err
		}
		s.progs[i] = p
		if c, ok := p.Column(); ok {
			from[i] = c
			continue
		}
		from[i] = len(columns)
		columns = append(columns, p.Type())
	}
	s.rowSorter = newRowSorter(r, columns, n.Keys, from)
	r.noteSpill(n, &s.spilled)
	return s, nil
}

func (s *sorter) Open(ctx context.Context) error {
	s.ready = false
	s.reset()
	return s.child.Open(ctx)
}

func (s *sorter) Close() error {
	s.free()
	return s.child.Close()
}

func (s *sorter) read(ctx context.Context) error {
	s.bound = -1
	s.run.ctx = ctx
	if s.top.e != nil {
		d, err := s.top.value(s.run)
		if err != nil {
			return err
		}
		if !d.Null && d.I >= 0 {
			s.bound = d.I
		}
	}
	if err := eachBatch(ctx, s.child, s.take); err != nil {
		return err
	}
	s.ready, s.left = true, s.bound
	return s.finish(ctx)
}

// slack is how many rows beyond the bound are collected before they are cut off.
const slack = 4 * types.BatchSize

// take stores the rows of a batch with their computed keys.
func (s *sorter) take(ctx context.Context, b *types.Batch) error {
	s.run.ctx = ctx
	s.vecs = append(s.vecs[:0], b.Cols[:s.width]...)
	for i, p := range s.progs {
		if s.from[i] < s.width {
			continue
		}
		v, err := p.EvalVec(&s.run.ev, b, b.Sel)
		if err != nil {
			return err
		}
		s.vecs = append(s.vecs, v)
	}
	sel := selection(b)
	if s.sorted != nil {
		sel = s.below(sel)
	}
	if err := s.add(ctx, s.vecs, sel); err != nil {
		return err
	}
	if s.bound >= 0 && int64(s.store.len) > s.bound+slack+s.bound/2 {
		return s.cut(ctx)
	}
	return nil
}

// below leaves out the rows that do not come before the last of the rows kept at the last cut,
// which has number bound-1.
func (s *sorter) below(sel []int32) []int32 {
	s.sel = s.sel[:0]
	keys := s.orderKeys()
	last := int(s.bound) - 1
	for _, i := range sel {
		for n := range keys {
			c := keys[n].compareKey(s.vecs[s.from[n]], int(i), keys[n].col, last)
			if c < 0 {
				s.sel = append(s.sel, i)
			}
			if c != 0 {
				break
			}
		}
	}
	return s.sel
}

// cut keeps the first rows up to the bound, in order.
func (s *sorter) cut(ctx context.Context) (err error) {
	if s.sorted, err = sortRows(ctx, s.orderKeys(), s.store.len); err != nil {
		return err
	}
	s.sorted = s.sorted[:s.bound]
	if s.bound == 0 {
		s.sorted = nil
		s.store.reset()
		return nil
	}
	kept := newRowStore(s.store.mem, s.types)
	s.rows = s.rows[:0]
	for _, e := range s.sorted {
		s.rows = append(s.rows, e.row)
	}
	old := s.store
	s.store = kept
	defer old.free()
	if err := kept.charge(int64(len(s.rows)) * sortEntryBytes); err != nil {
		return err
	}
	return kept.add(old.cols, s.rows)
}

func (s *sorter) Next(ctx context.Context) (*types.Batch, error) {
	if !s.ready {
		if err := s.read(ctx); err != nil {
			return nil, err
		}
	}
	if s.bound < 0 {
		return s.next(ctx, s.width)
	}
	if s.left <= 0 {
		return nil, nil
	}
	b, err := s.next(ctx, s.width)
	if b == nil || err != nil {
		return nil, err
	}
	b.Sel = nil
	if int64(b.Len) > s.left {
		b.Sel = firstRows(int(s.left))
	}
	s.left -= int64(b.Len)
	return b, nil
}
