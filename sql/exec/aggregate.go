package exec

import (
	"context"
	"slices"

	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// aggregate groups its input by hashing. Each grouping set is a grouping of its own over the same
// input; without grouping sets there is one.
//
// When the groups exceed their share of memory there are no new ones: rows of other groups are
// written to partitions, by the keys of their groups, while those of the groups in memory are added
// to their states as before. The partitions are worked on one by one when these groups were
// returned.
type aggregate struct {
	run       *run
	child     operator
	groupings []*grouping
	types     []*types.Type // of the output
	input     []*types.Type // of the child's columns
	keys      int
	read      bool
	set       int // grouping that is being returned
	at        int
	bytes     int64 // counted for states
	out       types.Batch
	own       []types.Vec
	spilled   spilled
}

// grouping numbers the groups of one set of keys and has the states of all aggregates for them.
type grouping struct {
	run    *run
	set    []int // positions of its keys among the output's
	keys   []*eval.Program
	table  *keyTable // nil: one group
	aggs   []*aggState
	vecs   []*types.Vec
	groups []int32

	parts *partitions // rows of groups that are not in the table; nil: the table takes all
	pile  pile
	sel   []int32
	sub   []int32
}

func (r *run) buildAggregate(n *physical.Aggregate) (operator, error) {
	child, err := r.build(n.Child)
	if err != nil {
		return nil, err
	}
	a := &aggregate{run: r, child: child, keys: len(n.GroupBy), input: columnTypes(n.Child)}
	r.noteSpill(n, &a.spilled)
	sets := n.Sets
	if sets == nil {
		all := make([]int, len(n.GroupBy))
		for i := range all {
			all[i] = i
		}
		sets = [][]int{all}
	}
	for _, e := range n.GroupBy {
		a.types = append(a.types, e.Type())
	}
	for _, set := range sets {
		g, err := r.newGrouping(n, set)
		if err != nil {
			return nil, err
		}
		a.groupings = append(a.groupings, g)
	}
	return a, nil
}

func (r *run) newGrouping(n *physical.Aggregate, set []int) (*grouping, error) {
	g := &grouping{run: r, set: set}
	for _, i := range set {
		p, err := eval.Compile(n.GroupBy[i])
		if err != nil {
			return nil, err
		}
		g.keys = append(g.keys, p)
	}
	if len(set) > 0 {
		g.table = newKeyTable(&r.mem, programTypes(g.keys))
	}
	for i := range n.Aggs {
		s, err := newAggState(r, &n.Aggs[i])
		if err != nil {
			return nil, err
		}
		g.aggs = append(g.aggs, s)
	}
	return g, nil
}

func (a *aggregate) Open(ctx context.Context) error {
	a.forget()
	return a.child.Open(ctx)
}

func (a *aggregate) forget() {
	a.read, a.set, a.at = false, 0, 0
	a.run.mem.shrink(a.bytes)
	a.bytes = 0
	for _, g := range a.groupings {
		g.reset()
		g.parts.free()
		g.parts = nil
		g.pile.free()
	}
}

// reset forgets the groups.
func (g *grouping) reset() {
	if g.table != nil {
		g.table.reset()
	}
	for _, s := range g.aggs {
		s.reset()
	}
}

func (a *aggregate) Close() error {
	a.forget()
	for _, g := range a.groupings {
		if g.table != nil {
			g.table.free()
		}
	}
	return a.child.Close()
}

func (a *aggregate) take(ctx context.Context, b *types.Batch) error {
	a.run.ctx = ctx
	for _, g := range a.groupings {
		if err := g.take(ctx, a, b); err != nil {
			return err
		}
	}
	return a.account()
}

// consume reads the input into the states.
func (a *aggregate) consume(ctx context.Context) error {
	if err := eachBatch(ctx, a.child, a.take); err != nil {
		return err
	}
	a.run.ctx = ctx
	for _, g := range a.groupings {
		if err := a.finish(ctx, g); err != nil {
			return err
		}
	}
	a.read = true
	return nil
}

// finish ends the input of the groups in memory.
func (a *aggregate) finish(ctx context.Context, g *grouping) error {
	for _, s := range g.aggs {
		s.grouped.Grow(g.len())
		if err := s.finish(ctx); err != nil {
			return err
		}
		a.spilled.add(s.spilled())
	}
	if g.parts != nil {
		if err := g.pile.put(g.parts); err != nil {
			return err
		}
		g.parts = nil
	}
	return a.account()
}

// nextPartition makes the groups of the partition on top of the pile; false: there is none.
func (a *aggregate) nextPartition(ctx context.Context, g *grouping) (bool, error) {
	if !g.pile.take() {
		a.spilled.add(g.pile.spilled)
		g.pile.spilled = spilled{}
		return false, nil
	}
	g.reset()
	g.table.free()
	for {
		b, err := g.pile.reader.Next()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return false, err
		}
		if b == nil {
			break
		}
		a.run.ctx = ctx
		if err := g.take(ctx, a, b); err != nil {
			return false, err
		}
		if err := a.account(); err != nil {
			return false, err
		}
	}
	a.run.ctx = ctx
	return true, a.finish(ctx, g)
}

// account brings the budget up to the size of the states.
func (a *aggregate) account() error {
	size := int64(0)
	for _, g := range a.groupings {
		for _, s := range g.aggs {
			size += int64(s.grouped.Size())
		}
	}
	n := size - a.bytes
	a.bytes = size
	return a.run.mem.grow(n)
}

// advance makes the states of up to n groups, and returns of how many it has: fewer where they are
// large.
func (a *aggregate) advance(ctx context.Context, g *grouping, n int) (int, error) {
	step := n
	if share := a.run.mem.share; share > 0 && slices.ContainsFunc(g.aggs,
		func(s *aggState) bool { return s.kept != nil }) {
		step = 1
	}
	before := a.bytes
	for k := step; ; k += step {
		for _, s := range g.aggs {
			if err := s.advance(ctx, a.at+k); err != nil {
				return 0, err
			}
		}
		if k == n {
			return n, a.account()
		}
		err := a.account()
		grown := a.bytes - before
		if err != nil || a.run.mem.full(resultShare*grown, grown) {
			return k, err
		}
	}
}

// resultShare is the part of an operator's share that the states of a batch of groups may take.
const resultShare = 8

// len is the number of groups.
func (g *grouping) len() int {
	if g.table == nil {
		return 1
	}
	return g.table.len()
}

// take adds a batch to the states.
func (g *grouping) take(ctx context.Context, a *aggregate, b *types.Batch) (err error) {
	sel := selection(b)
	if g.table == nil {
		g.groups = resizeRows(g.groups, len(sel)) // all zero; read only
	} else {
		if g.vecs, err = g.run.evalKeys(g.keys, b, g.vecs); err != nil {
			return err
		}
		if sel, err = g.number(a, b, sel); err != nil || len(sel) == 0 {
			return err
		}
	}
	for _, s := range g.aggs {
		s.grouped.Grow(g.len())
		if err := s.take(ctx, b, sel, g.groups); err != nil {
			return err
		}
		if g.len() > 1 {
			s.keepLater()
		}
	}
	return nil
}

// number sets groups to the numbers of the groups of rows sel, and returns the rows that are in
// one: the others are on disk.
func (g *grouping) number(a *aggregate, b *types.Batch, sel []int32) (in []int32, err error) {
	if g.parts == nil && g.pile.at.depth < deepest && g.table.len() > 0 &&
		g.run.mem.full(g.table.held()+a.bytes, g.table.need(g.vecs, sel)) {
		g.parts = g.run.newPartitions(a.input, g.pile.at.depth)
	}
	if g.parts == nil {
		g.groups, err = g.table.add(g.vecs, sel, g.groups)
		return sel, err
	}
	g.groups = g.table.find(g.vecs, sel, g.groups)
	g.sub = missing(sel, g.groups, g.sub)
	if err := g.parts.add(b.Cols, g.vecs, g.sub); err != nil {
		return nil, err
	}
	if g.sel == nil {
		g.sel = make([]int32, 0, len(sel))
	}
	g.sel = g.sel[:0]
	for k, i := range sel {
		if n := g.groups[k]; n >= 0 {
			g.groups[len(g.sel)] = n
			g.sel = append(g.sel, i)
		}
	}
	g.groups = g.groups[:len(g.sel)]
	return g.sel, nil
}

func (a *aggregate) Next(ctx context.Context) (*types.Batch, error) {
	if !a.read {
		if err := a.consume(ctx); err != nil {
			return nil, err
		}
	}
	for a.set < len(a.groupings) {
		g := a.groupings[a.set]
		n := min(g.len()-a.at, types.BatchSize)
		if n > 0 {
			return a.nextGroups(ctx, g, n)
		}
		a.at = 0
		more, err := a.nextPartition(ctx, g)
		if err != nil {
			return nil, err
		}
		if !more {
			a.set++
		}
	}
	return nil, nil
}

// nextGroups returns the rows of the next groups, up to n.
func (a *aggregate) nextGroups(ctx context.Context, g *grouping, n int) (*types.Batch, error) {
	a.run.ctx = ctx
	n, err := a.advance(ctx, g, n)
	if err != nil {
		return nil, err
	}
	b, err := a.results(g, n)
	if err != nil {
		return nil, err
	}
	for _, s := range g.aggs {
		s.release(a.at, a.at+n)
	}
	a.at += n
	return b, a.account()
}

// results makes the next n groups' rows.
func (a *aggregate) results(g *grouping, n int) (*types.Batch, error) {
	if a.own == nil {
		a.own = make([]types.Vec, a.keys+len(g.aggs))
		a.out.Cols = make([]*types.Vec, len(a.own))
		for i := range a.own {
			a.out.Cols[i] = &a.own[i]
		}
	}
	if len(g.set) < a.keys {
		for i := range a.keys {
			nulls(&a.own[i], a.types[i], n)
		}
	}
	for k, i := range g.set {
		a.own[i].Slice(g.table.keys.cols[k], a.at, a.at+n)
	}
	for k, s := range g.aggs {
		if err := s.grouped.Results(a.run.ev.Runtime, a.at, a.at+n, &a.own[a.keys+k]); err != nil {
			return nil, err
		}
	}
	a.out.Len = n
	return &a.out, nil
}
