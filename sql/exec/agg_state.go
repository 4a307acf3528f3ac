package exec

import (
	"context"

	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table/types"
)

// aggState is one aggregate call within a grouping. Rows are added to the states at once, unless
// their order matters: then they are kept, and sorted before they are added.
type aggState struct {
	run     *run
	grouped builtin.Grouped
	args    []*eval.Program // direct arguments first
	filter  *eval.Program

	seen   *keyTable // DISTINCT: group and arguments
	kept   *rowStore // ordered: group, arguments, sort keys
	keys   []*eval.Program
	order  []opt.SortKey
	vecs   []*types.Vec
	group  types.Vec // group number by row
	sel    []int32
	sub    []int32 // groups of sel
	fresh  []int32
	number []int32
}

func newAggState(r *run, call *opt.Agg) (*aggState, error) {
	s := &aggState{run: r}
	args := append(append(call.Args[:0:0], call.Direct...), call.Args...)
	if call.Func.WithinGroup && len(call.Args) == 0 {
		for _, k := range call.OrderBy {
			args = append(args, k.Expr)
		}
	}
	var err error
	if s.args, err = compileAll(args); err != nil {
		return nil, err
	}
	if s.filter, err = compileOptional(call.Filter); err != nil {
		return nil, err
	}
	argTypes := programTypes(s.args)
	s.grouped = builtin.NewGrouped(call.Func, argTypes)
	s.group.Type = types.TInt8
	tagged := append([]*types.Type{types.TInt8}, argTypes...)
	if call.Distinct {
		s.seen = newKeyTable(&r.mem, tagged)
	}
	if !call.Func.OrderSensitive && !call.Func.WithinGroup {
		return s, nil
	}
	s.order = call.OrderBy
	if len(s.order) == 0 && call.Distinct {
		for _, e := range call.Args { // PostgreSQL sorts to find repeated values
			s.order = append(s.order, opt.SortKey{Expr: e})
		}
	}
	if len(s.order) == 0 {
		return s, nil
	}
	for _, k := range s.order {
		p, err := eval.Compile(k.Expr)
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, p)
	}
	s.kept = newRowStore(&r.mem, append(tagged, programTypes(s.keys)...))
	return s, nil
}

func (s *aggState) reset() {
	s.grouped.Reset()
	if s.seen != nil {
		s.seen.free()
	}
	if s.kept != nil {
		s.kept.free()
	}
}

// take adds rows sel of b, row sel[k] to group groups[k].
func (s *aggState) take(b *types.Batch, sel, groups []int32) (err error) {
	if s.filter != nil {
		if s.sel == nil {
			s.sel = make([]int32, 0, len(sel))
		}
		if s.sel, err = s.filter.EvalBool(&s.run.ev, b, sel, s.sel); err != nil || len(s.sel) == 0 {
			return err
		}
		s.sub = narrow(sel, groups, s.sel, s.sub)
		sel, groups = s.sel, s.sub
	}
	s.vecs = s.vecs[:0]
	for _, p := range s.args {
		v, err := p.EvalVec(&s.run.ev, b, sel)
		if err != nil {
			return err
		}
		s.vecs = append(s.vecs, v)
	}
	if s.seen == nil && s.kept == nil {
		return s.grouped.Update(s.run.ev.Runtime, groups, s.vecs, sel)
	}
	s.group.Resize(b.Len)
	for k, i := range sel {
		s.group.I[i] = int64(groups[k])
	}
	tagged := append([]*types.Vec{&s.group}, s.vecs...)
	if s.seen != nil {
		if s.fresh, s.number, err = s.seen.addNew(tagged, sel, s.fresh, s.number); err != nil {
			return err
		}
		s.sub = narrow(sel, groups, s.fresh, s.sub)
		sel, groups = s.fresh, s.sub
	}
	if s.kept == nil {
		return s.grouped.Update(s.run.ev.Runtime, groups, s.vecs, sel)
	}
	for _, p := range s.keys {
		v, err := p.EvalVec(&s.run.ev, b, sel)
		if err != nil {
			return err
		}
		tagged = append(tagged, v)
	}
	return s.kept.add(tagged, sel)
}

// narrow returns the groups of the rows sub, which are some of sel in the same order. dst may share
// memory with groups.
func narrow(sel, groups, sub, dst []int32) []int32 {
	dst = dst[:0]
	k := 0
	for _, i := range sub {
		for sel[k] != i {
			k++
		}
		dst = append(dst, groups[k])
	}
	return dst
}

// finish adds the rows that were kept to the states, in order.
func (s *aggState) finish(ctx context.Context) error {
	if s.kept == nil || s.kept.len == 0 {
		return nil
	}
	keys := []orderKey{{col: s.kept.cols[0]}}
	for i, k := range s.order {
		col := s.kept.cols[1+len(s.args)+i]
		keys = append(keys, orderKey{col: col, desc: k.Desc, nullsFirst: k.NullsFirst})
	}
	sorted, err := sortRows(ctx, keys, s.kept.len)
	if err != nil {
		return err
	}
	rows := make([]int32, 0, types.BatchSize)
	groups := make([]int32, 0, types.BatchSize)
	for from := 0; from < len(sorted); from += types.BatchSize {
		rows, groups = rows[:0], groups[:0]
		for _, e := range sorted[from:min(from+types.BatchSize, len(sorted))] {
			rows = append(rows, e.row)
			groups = append(groups, int32(s.kept.cols[0].I[e.row]))
		}
		args := s.kept.cols[1 : 1+len(s.args)]
		if err := s.grouped.Update(s.run.ev.Runtime, groups, args, rows); err != nil {
			return err
		}
	}
	return nil
}
