package builtin

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// Prototype is a function, operator or aggregate as pg_proc or pg_operator of PostgreSQL describes
// it. Types may be pseudo-types. Variadic is the type of the elements of a variadic last argument,
// 0 where there is none; the type of that argument is an array of it.
type Prototype struct {
	Name string
	// Extension is the extension whose member it is; "": it is in pg_catalog.
	Extension string
	Args      []types.OID
	Variadic  types.OID
	Returns   types.OID
	Set       bool // a function that returns a set
}

// ProvidesFunction reports whether a call with arguments of the prototype's types finds a function
// here, and has the prototype's result: so the catalogue has the function, whether as one overload
// of its own or by one over types to which the arguments are converted.
func ProvidesFunction(p Prototype) bool {
	of := catalogueOf(p.Extension).functions
	if slices.ContainsFunc(of[p.Name], func(f *expr.Func) bool {
		return p.declares(f.Args, f.Variadic) && p.Set == (f.Set != nil)
	}) {
		return true
	}
	args, ok := p.examples()
	if !ok || p.Extension != "" {
		return false
	}
	f, targets, err := ResolveFunction(p.Name, args)
	switch {
	case err != nil || p.Set != (f.Set != nil):
		return false
	case f.Set != nil && len(f.Columns) > 1:
		return p.Returns == types.OIDRecord
	}
	return p.gives(ReturnType(f, targets))
}

// Provided returns the function (*expr.Func) or aggregate (*expr.Aggregate) that a call with
// arguments of the prototype's types finds, nil if there is none.
func Provided(p Prototype, aggregate bool) any {
	scope := catalogueOf(p.Extension)
	if aggregate {
		for _, a := range scope.aggregates[p.Name] {
			if p.declares(a.Args, a.Variadic) {
				return a
			}
		}
	} else {
		for _, f := range scope.functions[p.Name] {
			if p.declares(f.Args, f.Variadic) {
				return f
			}
		}
	}
	args, ok := p.examples()
	if !ok || p.Extension != "" {
		return nil
	}
	if aggregate {
		if a, _, err := ResolveAggregate(p.Name, args); err == nil {
			return a
		}
	} else if f, _, err := ResolveFunction(p.Name, args); err == nil {
		return f
	}
	return nil
}

// ProvidesAggregate is ProvidesFunction for an aggregate.
func ProvidesAggregate(p Prototype) bool {
	of := catalogueOf(p.Extension).aggregates
	if slices.ContainsFunc(of[p.Name], func(a *expr.Aggregate) bool {
		return p.declares(a.Args, a.Variadic)
	}) {
		return true
	}
	args, ok := p.examples()
	if !ok || p.Extension != "" {
		return false
	}
	a, targets, err := ResolveAggregate(p.Name, args)
	return err == nil && p.gives(AggregateType(a, targets))
}

// ProvidesOperator is ProvidesFunction for an operator, a prefix operator if it has one argument.
func ProvidesOperator(p Prototype) bool {
	of := catalogueOf(p.Extension).binary
	if len(p.Args) == 1 {
		of = catalogueOf(p.Extension).prefix
	}
	if slices.ContainsFunc(of[p.Name], func(f *expr.Func) bool {
		return p.declares(f.Args, false)
	}) {
		return true
	}
	args, ok := p.examples()
	if !ok || p.Extension != "" {
		return false
	}
	left, right := (*types.Type)(nil), args[len(args)-1]
	if len(args) == 2 {
		left = args[0]
	}
	f, targets, err := ResolveOperator(p.Name, left, right)
	return err == nil && p.gives(ReturnType(f, targets))
}

// declares reports whether the declared arguments of an overload are those of the prototype.
func (p Prototype) declares(decl []*types.Type, variadic bool) bool {
	if len(decl) != len(p.Args) || variadic != (p.Variadic != 0) {
		return false
	}
	for i, d := range decl {
		want := p.Args[i]
		if variadic && i == len(decl)-1 {
			want = p.Variadic
		}
		if d.OID != want {
			return false
		}
	}
	return true
}

// gives reports whether the type of a call with the examples is that of the prototype.
func (p Prototype) gives(t *types.Type) bool {
	want, ok := example(p.Returns)
	return ok && t != nil && t.OID == want.OID
}

// examples are types of arguments with which the prototype may be called. There are none if one of
// its types is unknown here, or is one that no expression has.
func (p Prototype) examples() ([]*types.Type, bool) {
	out := make([]*types.Type, len(p.Args))
	for i, oid := range p.Args {
		if p.Variadic != 0 && i == len(p.Args)-1 {
			oid = p.Variadic
		}
		t, ok := example(oid)
		if !ok {
			return nil, false
		}
		out[i] = t
	}
	return out, true
}

// example is a type that an argument of a declared type may have.
func example(oid types.OID) (*types.Type, bool) {
	switch oid {
	case Any.OID, AnyElement.OID, AnyNonArray.OID, AnyCompatible.OID:
		return types.TInt4, true
	case AnyRange.OID:
		return types.RangeOf(types.TInt4), true
	case AnyMultiRange.OID:
		return types.MultiRangeOf(types.RangeOf(types.TInt4)), true
	case AnyArray.OID, AnyCompatibleArray.OID:
		return types.ArrayOf(types.TInt4), true
	}
	t, ok := types.ByOID(oid)
	return t, ok && (t.Family != types.Void || oid == types.OIDVoid)
}
