package logical

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// mostAlternatives is the longest list of IN that is looked at value by value.
const mostAlternatives = 100

// Implies reports whether a row for which all conditions are true makes the predicate true. It
// finds what PostgreSQL's predicate_implied_by finds: equal clauses, clauses of a conjunction, all
// alternatives of a disjunction, comparisons of one expression with constants, and IS NOT NULL of
// what a strict condition reads. Parameters have no value here. False means "not known".
func Implies(conds []expr.Expr, predicate expr.Expr) bool {
	switch p := predicate.(type) {
	case *expr.And:
		return !slices.ContainsFunc(p.Args, func(a expr.Expr) bool { return !Implies(conds, a) })
	case *expr.Const:
		return p.Value.Bool()
	}
	if slices.ContainsFunc(conds, func(c expr.Expr) bool { return impliedBy(c, predicate) }) {
		return true
	}
	// One of several conditions may imply an alternative that none of them does alone.
	return slices.ContainsFunc(alternatives(predicate),
		func(a expr.Expr) bool { return Implies(conds, a) })
}

// impliedBy is Implies for one condition.
func impliedBy(cond, p expr.Expr) bool {
	if Equal(cond, p) {
		return true
	}
	if and, ok := cond.(*expr.And); ok {
		return Implies(and.Args, p)
	}
	if k, ok := cond.(*expr.Const); ok && !k.Value.Bool() {
		return true // no row makes it true
	}
	if ways := alternatives(cond); ways != nil {
		if !slices.ContainsFunc(ways,
			func(w expr.Expr) bool { return !Implies([]expr.Expr{w}, p) }) {
			return true
		}
	}
	if slices.ContainsFunc(alternatives(p), func(a expr.Expr) bool { return impliedBy(cond, a) }) {
		return true
	}
	switch p := p.(type) {
	case *expr.IsNull:
		return p.Not && strictFor(cond, p.Arg)
	case *expr.IsBool:
		return impliesTruth(cond, p.Arg, p.Want, p.Not)
	case *expr.Not:
		return impliesTruth(cond, p.Arg, false, false)
	}
	if impliesTruth(cond, p, true, false) {
		return true
	}
	return comparisonImplies(cond, p)
}

// alternatives returns the conditions of which one must be true for e to be true: the sides of an
// OR, the equalities of IN and of = ANY. It is nil for any other condition.
func alternatives(e expr.Expr) []expr.Expr {
	switch e := e.(type) {
	case *expr.Or:
		return e.Args
	case *expr.InList:
		if e.Not || len(e.List) > mostAlternatives {
			return nil
		}
		return equalities(e.Arg, e.List, e.Eq)
	case *expr.Quantified:
		if e.All || e.Op.Comparison() != "=" {
			return nil
		}
		return equalities(e.Left, elements(e.Array), e.Op)
	}
	return nil
}

func equalities(arg expr.Expr, list []expr.Expr, eq *expr.Func) []expr.Expr {
	out := make([]expr.Expr, len(list))
	for i, v := range list {
		out[i] = &expr.Call{T: types.TBool, Func: eq, Args: []expr.Expr{arg, v}}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// elements returns the elements of an array that is written out or constant.
func elements(array expr.Expr) []expr.Expr {
	switch a := array.(type) {
	case *expr.ArrayExpr:
		if len(a.Elems) <= mostAlternatives {
			return a.Elems
		}
	case *expr.Const:
		if a.Value.Null || a.T.Elem == nil || len(a.Value.Arr.Elems) > mostAlternatives {
			return nil
		}
		out := make([]expr.Expr, len(a.Value.Arr.Elems))
		for i, v := range a.Value.Arr.Elems {
			out[i] = &expr.Const{T: a.T.Elem, Value: v}
		}
		return out
	}
	return nil
}

// impliesTruth reports whether a condition implies that x IS [NOT] TRUE or FALSE.
func impliesTruth(cond, x expr.Expr, want, not bool) bool {
	if e, equals, ok := asTruth(x); ok {
		x, want = e, want == equals
	}
	if e, equals, ok := asTruth(cond); ok {
		return impliesTruth(truth(e, equals), x, want, not)
	}
	value, known := true, Equal(cond, x)
	switch c := cond.(type) {
	case *expr.Not:
		if Equal(c.Arg, x) {
			value, known = false, true
		}
	case *expr.IsBool:
		if !c.Not && Equal(c.Arg, x) {
			value, known = c.Want, true
		}
	}
	return known && (value == want) != not
}

// asTruth recognises `x = true`, `x <> false` and so on, which are x or NOT x.
func asTruth(e expr.Expr) (x expr.Expr, want, ok bool) {
	c, ok := asComparison(e)
	if !ok || c.k.T.OID != types.OIDBool || c.op != "=" && c.op != "<>" {
		return nil, false, false
	}
	return c.x, c.k.Value.Bool() == (c.op == "="), true
}

func truth(x expr.Expr, want bool) expr.Expr {
	if want {
		return x
	}
	return &expr.Not{Arg: x}
}

// strictFor reports whether a condition can be true only if x is not NULL.
func strictFor(cond, x expr.Expr) bool {
	switch c := cond.(type) {
	case *expr.IsBool:
		switch {
		case c.Not:
			return false
		case c.Want:
			return strictFor(c.Arg, x)
		}
		return nullFor(c.Arg, x)
	case *expr.IsNull:
		return c.Not && c.Arg.Type().Family != types.Record && nullFor(c.Arg, x)
	case *expr.Quantified: // false for an empty array
		return !c.All && !c.Op.NotStrict && nullFor(c.Left, x)
	}
	return nullFor(cond, x)
}

// nullFor reports whether an expression is NULL wherever x is.
func nullFor(e, x expr.Expr) bool {
	if Equal(e, x) {
		return true
	}
	switch e := e.(type) {
	case *expr.Call:
		return !e.Func.NotStrict && e.Func.Set == nil &&
			slices.ContainsFunc(e.Args, func(a expr.Expr) bool { return nullFor(a, x) })
	case *expr.Cast:
		return nullFor(e.Arg, x)
	case *expr.Not:
		return nullFor(e.Arg, x)
	case *expr.InList:
		return len(e.List) > 0 && nullFor(e.Arg, x)
	}
	return false
}

// comparison is `x op value` with a constant that is not NULL.
type comparison struct {
	x  expr.Expr
	op string
	k  *expr.Const
}

var commutators = map[string]string{"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<",
	">=": "<="}

func asComparison(e expr.Expr) (c comparison, ok bool) {
	call, ok := e.(*expr.Call)
	if !ok || len(call.Args) != 2 || commutators[call.Func.Comparison()] == "" {
		return c, false
	}
	c = comparison{x: call.Args[0], op: call.Func.Name}
	k, ok := call.Args[1].(*expr.Const)
	if !ok {
		if k, ok = call.Args[0].(*expr.Const); !ok {
			return c, false
		}
		c.x, c.op = call.Args[1], commutators[c.op]
	}
	c.k = k
	return c, !k.Value.Null
}

// holdsFor has, for a condition `x op a` and a predicate `x op b`, how a must compare with b: -1, 0
// and 1 for less, equal and greater.
var holdsFor = map[[2]string][]int{
	{"<", "<"}: {-1, 0}, {"<", "<="}: {-1, 0}, {"<", "<>"}: {-1, 0},
	{"<=", "<"}: {-1}, {"<=", "<="}: {-1, 0}, {"<=", "<>"}: {-1},
	{">", ">"}: {1, 0}, {">", ">="}: {1, 0}, {">", "<>"}: {1, 0},
	{">=", ">"}: {1}, {">=", ">="}: {1, 0}, {">=", "<>"}: {1},
	{"=", "<"}: {-1}, {"=", "<="}: {-1, 0}, {"=", "="}: {0}, {"=", ">="}: {0, 1}, {"=", ">"}: {1},
	{"=", "<>"}: {-1, 1}, {"<>", "<>"}: {0},
}

// comparisonImplies reports whether one comparison with a constant implies another of the same
// expression.
func comparisonImplies(cond, predicate expr.Expr) bool {
	c, ok := asComparison(cond)
	if !ok {
		return false
	}
	p, ok := asComparison(predicate)
	if !ok || !Equal(c.x, p.x) {
		return false
	}
	t := c.k.T
	if t.OID != p.k.T.OID && (t.Family != types.Int || p.k.T.Family != types.Int) {
		return false
	}
	if t.Family == types.Record || t.OID == types.OIDBPChar { // trailing blanks do not count
		return false
	}
	return slices.Contains(holdsFor[[2]string{c.op, p.op}],
		types.Compare(t, c.k.Value, p.k.Value))
}
