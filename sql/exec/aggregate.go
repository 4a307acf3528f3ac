package exec

import (
	"context"

	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// aggregate groups its input by hashing. Each grouping set is a grouping of its own over the same
// input; without grouping sets there is one.
type aggregate struct {
	run       *run
	child     operator
	groupings []*grouping
	types     []*types.Type // of the output
	keys      int
	read      bool
	set       int // grouping that is being returned
	at        int
	bytes     int64 // counted for states
	out       types.Batch
	own       []types.Vec
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
}

func (r *run) buildAggregate(n *physical.Aggregate) (operator, error) {
	child, err := r.build(n.Child)
	if err != nil {
		return nil, err
	}
	a := &aggregate{run: r, child: child, keys: len(n.GroupBy)}
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
		if g.table != nil {
			g.table.reset()
		}
		for _, s := range g.aggs {
			s.reset()
		}
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
		if err := g.take(b); err != nil {
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
		for _, s := range g.aggs {
			s.grouped.Grow(g.len())
			if err := s.finish(ctx); err != nil {
				return err
			}
		}
	}
	a.read = true
	return a.account()
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

// len is the number of groups.
func (g *grouping) len() int {
	if g.table == nil {
		return 1
	}
	return g.table.len()
}

// take adds a batch to the states.
func (g *grouping) take(b *types.Batch) (err error) {
	sel := selection(b)
	if g.table == nil {
		g.groups = resizeRows(g.groups, len(sel)) // all zero; read only
	} else {
		if g.vecs, err = g.run.evalKeys(g.keys, b, g.vecs); err != nil {
			return err
		}
		if g.groups, err = g.table.add(g.vecs, sel, g.groups); err != nil {
			return err
		}
	}
	for _, s := range g.aggs {
		s.grouped.Grow(g.len())
		if err := s.take(b, sel, g.groups); err != nil {
			return err
		}
	}
	return nil
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
			b, err := a.results(g, n)
			a.at += n
			return b, err
		}
		a.set, a.at = a.set+1, 0
	}
	return nil, nil
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
