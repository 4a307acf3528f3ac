package builtin

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// ResolveFunction chooses the overload of a function for arguments of the given types, by the rules
// of PostgreSQL's chapter 10.3. It also returns the type to which each argument must be cast.
func ResolveFunction(name string, args []*types.Type) (*expr.Func, []*types.Type, error) {
	return Name{Name: name}.ResolveFunction(args)
}

// ResolveFunction is the function ResolveFunction for a name of a statement.
func (n Name) ResolveFunction(args []*types.Type) (*expr.Func, []*types.Type, error) {
	var cands []candidate
	for _, fn := range n.Functions() {
		if decl, ok := expand(fn.Args, fn.Variadic, len(args)); ok {
			cands = append(cands, candidate{args: decl, fn: fn})
		}
	}
	// A literal in a call of a type's name is converted to that type, even if there are functions
	// of that name.
	literal := len(args) == 1 && isUnknown(args[0])
	c, outcome := choose(cands, bases(args))
	if outcome == nothingFits || literal {
		if fn, target := n.typeCastFunction(args); fn != nil {
			return fn, []*types.Type{target}, nil
		}
	}
	targets, err := c.targets(n.written(), args, outcome)
	return c.fn, targets, err
}

// ResolveAggregate chooses the overload of an aggregate. For count(*) args is empty. For an
// ordered-set aggregate args are the direct arguments, then those of WITHIN GROUP.
func ResolveAggregate(name string, args []*types.Type) (*expr.Aggregate, []*types.Type, error) {
	return Name{Name: name}.ResolveAggregate(args)
}

// ResolveAggregate is the function ResolveAggregate for a name of a statement.
func (n Name) ResolveAggregate(args []*types.Type) (*expr.Aggregate, []*types.Type, error) {
	var cands []candidate
	for _, a := range n.Aggregates() {
		if decl, ok := expand(a.Args, a.Variadic, len(args)); ok {
			cands = append(cands, candidate{args: decl, agg: a})
		}
	}
	c, outcome := choose(cands, bases(args))
	targets, err := c.targets(n.written(), args, outcome)
	return c.agg, targets, err
}

// ResolveOperator chooses the overload of a binary operator, or if left is nil of a prefix
// operator, by the rules of chapter 10.2.
func ResolveOperator(op string, left, right *types.Type) (*expr.Func, []*types.Type, error) {
	return Name{Name: op}.ResolveOperator(left, right)
}

// ResolveOperator is the function ResolveOperator for an operator of a statement.
func (n Name) ResolveOperator(left, right *types.Type) (*expr.Func, []*types.Type, error) {
	args := []*types.Type{left, right}
	if left == nil {
		args = args[1:]
	}
	args = bases(args)
	all := n.withTypesOf(args).Operators(left == nil)
	// An unknown operand is first assumed to have the type of the other.
	if left != nil && isUnknown(left) != isUnknown(right) {
		known := left.Base()
		if isUnknown(left) {
			known = right.Base()
		}
		for _, fn := range all {
			if fn.Args[0].OID == known.OID && fn.Args[1].OID == known.OID {
				return fn, []*types.Type{known.WithMod(types.NoMod),
					known.WithMod(types.NoMod)}, nil
			}
		}
	}
	cands := make([]candidate, len(all))
	for i, fn := range all {
		cands[i] = candidate{args: fn.Args, fn: fn}
	}
	c, outcome := choose(cands, args)
	if outcome != chosen {
		return nil, nil, operatorError(n.written(), left, right, outcome)
	}
	targets, err := concrete(c.args, args)
	return c.fn, targets, err
}

// bases returns the types below the domains of ts: no function takes a domain in particular.
func bases(ts []*types.Type) []*types.Type {
	if !slices.ContainsFunc(ts, (*types.Type).IsDomain) {
		return ts
	}
	out := make([]*types.Type, len(ts))
	for i, t := range ts {
		out[i] = t.Base()
	}
	return out
}

// ReturnType returns the type of a call of fn with arguments of the target types.
func ReturnType(fn *expr.Func, targets []*types.Type) *types.Type {
	if fn.ReturnType != nil {
		return fn.ReturnType(targets)
	}
	return fn.Returns
}

// AggregateType returns the type of an aggregate over arguments of the target types.
func AggregateType(a *expr.Aggregate, targets []*types.Type) *types.Type {
	if a.ReturnType != nil {
		return a.ReturnType(targets)
	}
	return a.Returns
}

// typeCastFunction implements the rule of chapter 10.3 that a call of a type's name with one
// argument is a cast: date('2020-01-01'), int4(2.5).
func (n Name) typeCastFunction(args []*types.Type) (*expr.Func, *types.Type) {
	if len(args) != 1 {
		return nil, nil
	}
	t := n.Type()
	if t == nil || t.Elem != nil {
		return nil, nil
	}
	from := args[0]
	if isUnknown(from) {
		from = types.TText
	}
	if !CanCoerce(from, t) && category(from) != 'S' && category(t) != 'S' &&
		types.CastContext(from.OID, t.OID) == 0 {
		return nil, nil
	}
	return &expr.Func{
		Name: n.Name, Args: []*types.Type{from}, Returns: t, Volatility: expr.Stable,
		Same: madeFor{"cast", [2]types.OID{from.OID, t.OID}},
		Scalar: func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			return types.Cast(a[0], rt.ArgTypes[0], t, true, &rt.Format)
		},
	}, from
}
