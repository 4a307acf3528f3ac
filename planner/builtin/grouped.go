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
		return &groupedBool{result: result, and: a.Name != "bool_or"}
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

// groupedSum is sum and avg with one state type S per kind of argument.
type groupedSum[S any] struct {
	states []S
	result *types.Type
	add    func(s *S, v *types.Vec, i int32) error
	get    func(s *S) (types.Datum, error)
	bytes  int
}

func newGroupedSum(avg bool, arg, result *types.Type) Grouped {
	switch {
	case arg.Family == types.Int && !avg && arg.OID != types.OIDInt8:
		return &groupedSumInt{result: result}
	case arg.Family == types.Int:
		get := func(s *avgInt) (types.Datum, error) { return averageInt(s.sum, s.n) }
		if !avg {
			get = func(s *avgInt) (types.Datum, error) {
				if s.n == 0 {
					return types.Null, nil
				}
				return types.NewDecimal(s.sum.decimal()), nil
			}
		}
		return &groupedSum[avgInt]{result: result, bytes: 24, get: get,
			add: func(s *avgInt, v *types.Vec, i int32) error {
				s.sum.add(v.I[i])
				s.n++
				return nil
			}}
	case arg.Family == types.Float:
		single := !avg && arg.OID == types.OIDFloat4
		return &groupedSum[sumFloat]{result: result, bytes: 24,
			get: func(s *sumFloat) (types.Datum, error) { s.avg = avg; return s.Result(nil) },
			add: func(s *sumFloat, v *types.Vec,
				i int32) error {
				s.single = single
				return s.add(v.F[i])
			}}
	case arg.Family == types.Decimal:
		get := (*decimalSum).total
		if avg {
			get = (*decimalSum).average
		}
		return &groupedSum[decimalSum]{result: result, bytes: 64, get: get,
			add: func(s *decimalSum, v *types.Vec, i int32) error { return s.add(v.Dec[i]) }}
	}
	return nil
}

func (g *groupedSum[S]) Grow(n int) { g.states = extend(g.states, n) }

func (g *groupedSum[S]) Update(_ *expr.Runtime, groups []int32, args []*types.Vec,
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

func (g *groupedSum[S]) Results(_ *expr.Runtime, from, to int, out *types.Vec) error {
	prepare(out, g.result, to-from)
	for i := from; i < to; i++ {
		d, err := g.get(&g.states[i])
		if err != nil {
			return err
		}
		out.Set(i-from, d)
	}
	return nil
}

func (g *groupedSum[S]) Size() int { return g.bytes * cap(g.states) }
func (g *groupedSum[S]) Reset()    { g.states = g.states[:0] }

// groupedSumInt is sum over int2 and int4.
type groupedSumInt struct {
	states []sumInt
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

// groupedBool is bool_and and bool_or. A state is 0 before any row, then 1 for false and 2 for
// true.
type groupedBool struct {
	states []uint8
	result *types.Type
	and    bool
}

func (g *groupedBool) Grow(n int) { g.states = extend(g.states, n) }

func (g *groupedBool) Update(_ *expr.Runtime, groups []int32, args []*types.Vec,
	sel []int32) error {
	v := args[0]
	for k, i := range sel {
		if v.HasNull && v.Nulls[i] {
			continue
		}
		s := &g.states[groups[k]]
		next := uint8(v.I[i]) + 1
		if *s == 0 || g.and == (next < *s) {
			*s = next
		}
	}
	return nil
}

func (g *groupedBool) Results(_ *expr.Runtime, from, to int, out *types.Vec) error {
	prepare(out, g.result, to-from)
	for i := from; i < to; i++ {
		if s := g.states[i]; s == 0 {
			out.SetNull(i - from)
		} else {
			out.I[i-from] = int64(s - 1)
		}
	}
	return nil
}

func (g *groupedBool) Size() int { return cap(g.states) }
func (g *groupedBool) Reset()    { g.states = g.states[:0] }

// groupedAny keeps an accumulator per group.
type groupedAny struct {
	agg    *expr.Aggregate
	args   []*types.Type
	result *types.Type
	accs   []expr.Accumulator
	row    []types.Datum
	size   int
}

func (g *groupedAny) Grow(n int) {
	for len(g.accs) < n {
		g.accs = append(g.accs, g.agg.New(g.args))
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

func (g *groupedAny) Reset() {
	clear(g.accs)
	g.accs, g.size = g.accs[:0], 0
}
