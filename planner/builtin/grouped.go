package builtin

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// Grouped is the states of one aggregate for all groups of a hash aggregate, or for the single
// group of a plain aggregate. It belongs to one goroutine.
type Grouped interface {
	// Grow adds the states of groups up to n-1.
	Grow(n int)
	// Update adds the rows sel of args: row sel[k] belongs to group groups[k]. A strict aggregate
	// skips the rows with a NULL argument itself. Requires: Grow beyond every group in groups.
	Update(rt *expr.Runtime, groups []int32, args []*types.Vec, sel []int32) error
	// Results sets the first to-from entries of out, resetting it, to the results of groups
	// from … to-1. Groups that saw no row have the result of an empty group.
	Results(rt *expr.Runtime, from, to int, out *types.Vec) error
	// Size returns about how many bytes all states hold.
	Size() int
	// Reset removes all groups and keeps the memory.
	Reset()
}

// Releasing is a Grouped whose states may be large, such as those of array_agg.
type Releasing interface {
	Grouped
	// Release gives up the states of groups from … to-1. Their results were taken: they are not
	// used again before Reset.
	Release(from, to int)
}

// NewGrouped returns the states of an aggregate over arguments of the given types: typed arrays for
// the common aggregates, accumulators for the others.
func NewGrouped(a *expr.Aggregate, args []*types.Type) Grouped {
	result := AggregateType(a, args)
	switch a.Name {
	case "count":
		return &groupedCount{star: len(args) == 0, result: result}
	case "sum", "avg":
		if g := newGroupedSum(a.Name == "avg", args[0], result); g != nil {
			return g
		}
	case "min", "max":
		sign := 1
		if a.Name == "min" {
			sign = -1
		}
		switch args[0].Family.Order() {
		case types.I64:
			return &groupedExtreme[int64]{result: result, sign: sign, field: intField}
		case types.Str:
			return &groupedExtreme[string]{result: result, sign: sign, field: stringField}
		}
	case "bool_and", "bool_or", "every":
		return newGroupedBool(a.Name != "bool_or", result)
	}
	return &groupedAny{agg: a, args: args, result: result, row: make([]types.Datum, len(args))}
}

// extend grows a slice of states to n entries; new ones are zero.
func extend[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	if n <= cap(s) {
		old := len(s)
		s = s[:n]
		clear(s[old:])
		return s
	}
	g := make([]T, n, max(n, 2*cap(s)))
	copy(g, s)
	return g
}

func prepare(out *types.Vec, t *types.Type, n int) {
	out.Reset(t)
	out.Resize(n)
}

// groupedCount is count(*) and count(x).
type groupedCount struct {
	n      []int64
	star   bool
	result *types.Type
}

func (g *groupedCount) Grow(n int) { g.n = extend(g.n, n) }

func (g *groupedCount) Update(_ *expr.Runtime, groups []int32, args []*types.Vec,
	sel []int32) error {
	if g.star || !args[0].HasNull {
		for _, k := range groups[:len(sel)] {
			g.n[k]++
		}
		return nil
	}
	nulls := args[0].Nulls
	for k, i := range sel {
		if !nulls[i] {
			g.n[groups[k]]++
		}
	}
	return nil
}

func (g *groupedCount) Results(_ *expr.Runtime, from, to int, out *types.Vec) error {
	prepare(out, g.result, to-from)
	copy(out.I, g.n[from:to])
	return nil
}

func (g *groupedCount) Size() int { return 8 * cap(g.n) }
func (g *groupedCount) Reset()    { g.n = g.n[:0] }

// groupedStates keeps a state of type S per group.
type groupedStates[S any] struct {
	states []S
	start  S // the state of a group without rows
	result *types.Type
	add    func(s *S, v *types.Vec, i int32) error
	get    func(s *S, rt *expr.Runtime) (types.Datum, error)
	bytes  int
}

func newGroupedSum(avg bool, arg, result *types.Type) Grouped {
	switch {
	case arg.Family == types.Int && !avg && arg.OID != types.OIDInt8:
		return &groupedSumInt{result: result}
	case arg.Family == types.Int:
		return &groupedStates[sumWide]{result: result, bytes: 32, start: sumWide{avg: avg},
			add: func(s *sumWide, v *types.Vec, i int32) error { return s.add(v.I[i]) },
			get: (*sumWide).Result}
	case arg.Family == types.Float:
		single := !avg && arg.OID == types.OIDFloat4
		return &groupedStates[sumFloat]{result: result, bytes: 24,
			start: sumFloat{avg: avg, single: single},
			add:   func(s *sumFloat, v *types.Vec, i int32) error { return s.add(v.F[i]) },
			get:   (*sumFloat).Result}
	case arg.Family == types.Decimal:
		return &groupedStates[sumNumeric]{result: result, bytes: 64, start: sumNumeric{avg: avg},
			add: func(s *sumNumeric, v *types.Vec, i int32) error { return s.sum.add(v.Dec[i]) },
			get: (*sumNumeric).Result}
	}
	return nil
}

// newGroupedBool makes bool_and or bool_or. A state is 0 before any row, then 1 for false and 2 for
// true.
func newGroupedBool(and bool, result *types.Type) Grouped {
	return &groupedStates[uint8]{result: result, bytes: 1,
		add: func(s *uint8, v *types.Vec, i int32) error {
			if next := uint8(v.I[i]) + 1; *s == 0 || and == (next < *s) {
				*s = next
			}
			return nil
		},
		get: func(s *uint8, _ *expr.Runtime) (types.Datum, error) {
			if *s == 0 {
				return types.Null, nil
			}
			return types.NewBool(*s == 2), nil
		}}
}

func (g *groupedStates[S]) Grow(n int) {
	for len(g.states) < n {
		g.states = append(g.states, g.start)
	}
}

func (g *groupedStates[S]) Update(_ *expr.Runtime, groups []int32, args []*types.Vec,
	sel []int32) error {
	v := args[0]
	for k, i := range sel {
		if v.HasNull && v.Nulls[i] {
			continue
		}
		if err := g.add(&g.states[groups[k]], v, i); err != nil {
			return err
		}
	}
	return nil
}

func (g *groupedStates[S]) Results(rt *expr.Runtime, from, to int, out *types.Vec) error {
	prepare(out, g.result, to-from)
	for i := from; i < to; i++ {
		d, err := g.get(&g.states[i], rt)
		if err != nil {
			return err
		}
		out.Set(i-from, d)
	}
	return nil
}

func (g *groupedStates[S]) Size() int { return g.bytes * cap(g.states) }
func (g *groupedStates[S]) Reset()    { g.states = g.states[:0] }

// groupedSumInt is sum over int2 and int4.
type groupedSumInt struct {
	states []struct {
		sum  int64
		seen bool
	}
	result *types.Type
}

func (g *groupedSumInt) Grow(n int) { g.states = extend(g.states, n) }

func (g *groupedSumInt) Update(_ *expr.Runtime, groups []int32, args []*types.Vec,
	sel []int32) error {
	v := args[0]
	for k, i := range sel {
		if v.HasNull && v.Nulls[i] {
			continue
		}
		s := &g.states[groups[k]]
		r, ok := addInt(s.sum, v.I[i])
		if !ok {
			return errIntRange(1<<63 - 1)
		}
		s.sum, s.seen = r, true
	}
	return nil
}

func (g *groupedSumInt) Results(_ *expr.Runtime, from, to int, out *types.Vec) error {
	prepare(out, g.result, to-from)
	for i := from; i < to; i++ {
		if out.I[i-from] = g.states[i].sum; !g.states[i].seen {
			out.SetNull(i - from)
		}
	}
	return nil
}

func (g *groupedSumInt) Size() int { return 16 * cap(g.states) }
func (g *groupedSumInt) Reset()    { g.states = g.states[:0] }

// groupedExtreme is min and max of types that Go orders like SQL.
type groupedExtreme[T int64 | string] struct {
	best   []T
	seen   []bool
	result *types.Type
	sign   int
	field  func(*types.Vec) []T
}

func intField(v *types.Vec) []int64     { return v.I }
func stringField(v *types.Vec) []string { return v.S }

func (g *groupedExtreme[T]) Grow(n int) { g.best, g.seen = extend(g.best, n), extend(g.seen, n) }

func (g *groupedExtreme[T]) Update(_ *expr.Runtime, groups []int32, args []*types.Vec,
	sel []int32) error {
	v, x := args[0], g.field(args[0])
	for k, i := range sel {
		if v.HasNull && v.Nulls[i] {
			continue
		}
		j := groups[k]
		if !g.seen[j] || g.sign > 0 && x[i] > g.best[j] || g.sign < 0 && x[i] < g.best[j] {
			g.best[j], g.seen[j] = x[i], true
		}
	}
	return nil
}

func (g *groupedExtreme[T]) Results(_ *expr.Runtime, from, to int, out *types.Vec) error {
	prepare(out, g.result, to-from)
	x := g.field(out)
	for i := from; i < to; i++ {
		if x[i-from] = g.best[i]; !g.seen[i] {
			out.SetNull(i - from)
		}
	}
	return nil
}

func (g *groupedExtreme[T]) Size() int { return 17 * cap(g.best) }

func (g *groupedExtreme[T]) Reset() { g.best, g.seen = g.best[:0], g.seen[:0] }

// groupedAny keeps an accumulator per group.
type groupedAny struct {
	agg    *expr.Aggregate
	args   []*types.Type
	result *types.Type
	accs   []expr.Accumulator
	row    []types.Datum
	size   int
	empty  int // size of the accumulator of a group without rows
}

func (g *groupedAny) Grow(n int) {
	for len(g.accs) < n {
		acc := g.agg.New(g.args)
		g.accs, g.empty = append(g.accs, acc), acc.Size()
	}
}

func (g *groupedAny) Update(rt *expr.Runtime, groups []int32, args []*types.Vec,
	sel []int32) error {
	rt.ArgTypes = g.args
next:
	for k, i := range sel {
		for j, v := range args {
			if v.HasNull && v.Nulls[i] && g.agg.Strict {
				continue next
			}
			g.row[j] = v.Get(int(i))
		}
		acc := g.accs[groups[k]]
		before := acc.Size()
		if err := acc.Add(rt, g.row); err != nil {
			return err
		}
		g.size += acc.Size() - before
	}
	return nil
}

func (g *groupedAny) Results(rt *expr.Runtime, from, to int, out *types.Vec) error {
	prepare(out, g.result, to-from)
	rt.ArgTypes = g.args
	for i := from; i < to; i++ {
		d, err := g.accs[i].Result(rt)
		if err != nil {
			return err
		}
		out.Set(i-from, d)
	}
	return nil
}

func (g *groupedAny) Size() int { return 96*cap(g.accs) + g.size }

// Release implements Releasing.
func (g *groupedAny) Release(from, to int) {
	for i := from; i < to; i++ {
		g.size -= g.accs[i].Size() - g.empty
		g.accs[i] = nil
	}
}

func (g *groupedAny) Reset() {
	clear(g.accs)
	g.accs, g.size = g.accs[:0], 0
}
