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
//
// States that grow with their rows (array_agg) may exceed their share of memory. From then on rows
// are kept too, in their order of arrival, so that the states of a few groups at a time are made
// when their results are asked for.
type aggState struct {
	run     *run
	grouped builtin.Grouped
	args    []*eval.Program // direct arguments first
	filter  *eval.Program

	seen   *keyTable   // DISTINCT: group and arguments
	spare  *partitions // DISTINCT: rows that are not in seen, which is full; nil: it is not
	pile   pile
	kept   *rowSorter    // ordered: group, arguments, sort keys; late: group, arguments, arrival
	late   bool          // rows are kept because the states are large
	held   []*types.Vec  // columns of the kept rows that were read last
	next   []int32       // those rows that were not added to the states
	stored []*types.Type // columns of kept and spare
	keys   []*eval.Program
	order  []opt.SortKey
	vecs   []*types.Vec
	group  types.Vec // group number by row
	came   types.Vec // late: number in the order of arrival by row
	count  int64     // rows that came late
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
	s.stored = tagged
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
	s.stored = append(tagged[:len(tagged):len(tagged)], programTypes(s.keys)...)
	keys, from := []opt.SortKey{{}}, []int{0}
	for i, k := range s.order {
		keys, from = append(keys, k), append(from, len(tagged)+i)
	}
	s.kept = newRowSorter(r, s.stored, keys, from)
	return s, nil
}

func (s *aggState) reset() {
	s.grouped.Reset()
	if s.seen != nil {
		s.seen.free()
		s.spare.free()
		s.spare = nil
		s.pile.free()
	}
	if s.kept != nil {
		s.kept.free()
	}
	if s.late {
		s.kept, s.late = nil, false
	}
	s.held, s.next = nil, nil
}

// take adds rows sel of b, row sel[k] to group groups[k].
func (s *aggState) take(ctx context.Context, b *types.Batch, sel, groups []int32) (err error) {
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
	row := append([]*types.Vec{&s.group}, s.vecs...)
	for _, p := range s.keys {
		v, err := p.EvalVec(&s.run.ev, b, sel)
		if err != nil {
			return err
		}
		row = append(row, v)
	}
	if s.seen == nil {
		return s.put(ctx, row, sel)
	}
	return s.distinct(ctx, row, sel)
}

// keepLater makes the rows to come be kept, where states are large and can be given up one by one.
// How much they will grow is not known: a quarter is asked for.
func (s *aggState) keepLater() {
	if s.kept != nil {
		return
	}
	_, ok := s.grouped.(builtin.Releasing)
	size := int64(s.grouped.Size())
	if !ok || !s.run.mem.full(size, size/4) {
		return
	}
	n := len(s.stored)
	s.late = true
	s.kept = newRowSorter(s.run, append(s.stored[:n:n], types.TInt8), make([]opt.SortKey, 2),
		[]int{0, n})
}

// put adds rows sel to the states, or keeps them. row are the columns of stored.
func (s *aggState) put(ctx context.Context, row []*types.Vec, sel []int32) error {
	if s.kept == nil {
		return s.update(row, sel)
	}
	if s.late {
		s.came.Reset(types.TInt8)
		s.came.Resize(row[0].Len)
		for _, i := range sel {
			s.came.I[i] = s.count
			s.count++
		}
		row = append(row[:len(row):len(row)], &s.came)
	}
	return s.kept.add(ctx, row, sel)
}

// distinct adds rows sel whose groups and arguments were not there before. row are the columns of
// spare. When the table exceeds its share of memory, rows that it does not have are written to
// partitions, which finish works on.
func (s *aggState) distinct(ctx context.Context, row []*types.Vec, sel []int32) (err error) {
	keys := row[:1+len(s.args)]
	if s.spare == nil && s.pile.at.depth < deepest && s.seen.len() > 0 &&
		s.run.mem.full(s.seen.held(), s.seen.need(keys, sel)) {
		s.spare = s.run.newPartitions(s.stored, s.pile.at.depth)
	}
	if s.spare != nil {
		s.number = s.seen.find(keys, sel, s.number)
		s.fresh = missing(sel, s.number, s.fresh)
		return s.spare.add(row, keys, s.fresh)
	}
	if s.fresh, s.number, err = s.seen.addNew(keys, sel, s.fresh, s.number); err != nil {
		return err
	}
	return s.put(ctx, row, s.fresh)
}

// update adds rows sel to the states of their groups. row begins with the group and the arguments.
func (s *aggState) update(row []*types.Vec, sel []int32) error {
	s.sub = s.sub[:0]
	for _, i := range sel {
		s.sub = append(s.sub, int32(row[0].I[i]))
	}
	return s.grouped.Update(s.run.ev.Runtime, s.sub, row[1:1+len(s.args)], sel)
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

// finish ends the input.
func (s *aggState) finish(ctx context.Context) error {
	if err := s.finishDistinct(ctx); err != nil || s.kept == nil {
		return err
	}
	return s.kept.finish(ctx)
}

// advance adds to the states the kept rows of the groups before to.
func (s *aggState) advance(ctx context.Context, to int) error {
	for s.kept != nil {
		if len(s.next) == 0 {
			if err := s.read(ctx); err != nil || len(s.next) == 0 {
				return err
			}
		}
		n := 0
		for n < len(s.next) && s.held[0].I[s.next[n]] < int64(to) {
			n++
		}
		if n == 0 {
			return nil
		}
		if err := s.update(s.held, s.next[:n]); err != nil {
			return err
		}
		s.next = s.next[n:]
	}
	return nil
}

// read makes next the next kept rows, none at the end.
func (s *aggState) read(ctx context.Context) error {
	if s.kept.merge == nil {
		s.held, s.next = s.kept.store.cols, s.kept.nextRows()
		return ctx.Err()
	}
	b, err := s.kept.next(ctx, len(s.kept.types))
	if b == nil || err != nil {
		return err
	}
	s.held, s.next = b.Cols, firstRows(b.Len)
	return nil
}

// release gives up the states of groups from … to-1, whose results were taken.
func (s *aggState) release(from, to int) {
	if r, ok := s.grouped.(builtin.Releasing); ok && s.kept != nil {
		r.Release(from, to)
	}
}

// finishDistinct works on the partitions of DISTINCT.
func (s *aggState) finishDistinct(ctx context.Context) error {
	for s.spare != nil || len(s.pile.parts) > 0 {
		if s.spare != nil {
			if err := s.pile.put(s.spare); err != nil {
				return err
			}
			s.spare = nil
		}
		if !s.pile.take() {
			return nil
		}
		s.seen.free()
		for {
			b, err := s.pile.reader.Next()
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			if b == nil {
				break
			}
			if err := s.distinct(ctx, b.Cols, selection(b)); err != nil {
				return err
			}
		}
		s.pile.done()
	}
	return nil
}

// spilled counts what was written to disk since the last call.
func (s *aggState) spilled() (n spilled) {
	n.add(s.pile.spilled)
	s.pile.spilled = spilled{}
	if s.kept != nil {
		n.add(s.kept.spilled)
		s.kept.spilled = spilled{}
	}
	return n
}
