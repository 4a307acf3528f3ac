package exec

import (
	"context"

	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// sorter reads all its input, sorts row numbers and gathers the rows in that order. If only the
// first bound rows are wanted, it drops the rows beyond them from time to time.
type sorter struct {
	run   *run
	child operator
	keys  []opt.SortKey
	progs []*eval.Program
	top   scalarExpr

	width   int // columns of the child; computed keys follow them in the store
	from    []int
	store   *rowStore
	order   []orderKey
	sorted  []sortEntry
	ready   bool
	bound   int64 // rows to keep, or -1
	at      int
	vecs    []*types.Vec
	sel     []int32
	rows    []int32
	out     *types.Batch
	columns []*types.Type
}

func (r *run) buildSort(n *physical.Sort) (operator, error) {
	child, err := r.build(n.Child)
	if err != nil {
		return nil, err
	}
	s := &sorter{run: r, child: child, keys: n.Keys, top: scalarExpr{e: n.Top}}
	s.columns = columnTypes(n.Child)
	s.width = len(s.columns)
	stored := s.columns[:s.width:s.width]
	s.from = make([]int, len(n.Keys))
	s.progs = make([]*eval.Program, len(n.Keys))
	for i, k := range n.Keys {
		p, err := eval.Compile(k.Expr)
		if err != nil {
			return nil, err
		}
		s.progs[i] = p
		if c, ok := p.Column(); ok {
			s.from[i] = c
			continue
		}
		s.from[i] = len(stored)
		stored = append(stored, p.Type())
	}
	s.store = newRowStore(&r.mem, stored)
	return s, nil
}

func (s *sorter) Open(ctx context.Context) error {
	s.ready, s.at, s.sorted = false, 0, nil
	s.store.reset()
	return s.child.Open(ctx)
}

func (s *sorter) Close() error {
	s.sorted = nil
	s.store.free()
	return s.child.Close()
}

// orderKeys are the sort keys over the columns of the store.
func (s *sorter) orderKeys() []orderKey {
	if s.order == nil {
		s.order = make([]orderKey, len(s.keys))
	}
	for i, k := range s.keys {
		s.order[i] = orderKey{col: s.store.cols[s.from[i]], desc: k.Desc, nullsFirst: k.NullsFirst}
	}
	return s.order
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
	s.sorted = sortRows(s.orderKeys(), s.store.len)
	if s.bound >= 0 && int64(len(s.sorted)) > s.bound {
		s.sorted = s.sorted[:s.bound]
	}
	s.ready = true
	return nil
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
	if err := s.store.add(s.vecs, sel); err != nil {
		return err
	}
	if err := s.store.charge(int64(len(sel)) * sortEntryBytes); err != nil {
		return err
	}
	if s.bound >= 0 && int64(s.store.len) > s.bound+slack+s.bound/2 {
		return s.cut()
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
func (s *sorter) cut() error {
	s.sorted = sortRows(s.orderKeys(), s.store.len)[:s.bound]
	if s.bound == 0 {
		s.sorted = nil
		s.store.reset()
		return nil
	}
	kept := newRowStore(s.store.mem, s.store.types())
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

func (s *rowStore) types() []*types.Type {
	ts := make([]*types.Type, len(s.cols))
	for i, c := range s.cols {
		ts[i] = c.Type
	}
	return ts
}

func (s *sorter) Next(ctx context.Context) (*types.Batch, error) {
	if !s.ready {
		if err := s.read(ctx); err != nil {
			return nil, err
		}
	}
	n := min(len(s.sorted)-s.at, types.BatchSize)
	if n <= 0 {
		return nil, nil
	}
	s.rows = s.rows[:0]
	for _, e := range s.sorted[s.at : s.at+n] {
		s.rows = append(s.rows, e.row)
	}
	s.at += n
	if s.out == nil {
		s.out = types.NewBatchCap(s.columns, 0)
	}
	for i, c := range s.out.Cols {
		c.Gather(s.store.cols[i], s.rows)
	}
	s.out.Len = n
	return s.out, ctx.Err()
}
