package eval

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// Fold replaces constant expressions by their values: calls of immutable functions and casts over
// constants, and AND, OR, CASE and COALESCE as far as their constant arguments decide them. An
// expression whose evaluation fails is left as it is: it fails at run time, if it is evaluated at
// all. rt may be nil; then casts that depend on session settings are left as they are.
func Fold(e expr.Expr, rt *expr.Runtime) expr.Expr {
	return expr.Rewrite(e, func(n expr.Expr) expr.Expr { return foldNode(n, rt) })
}

// foldNode folds a node whose children are folded already.
func foldNode(e expr.Expr, rt *expr.Runtime) expr.Expr {
	switch e := e.(type) {
	case *expr.Call:
		if !isImmutable(e) || e.Func.Scalar == nil {
			return e
		}
		if allConst(e.Args) {
			return foldCall(e, rt)
		}
	case *expr.Cast:
		// Whether a domain has the value is asked when the statement runs.
		if k, ok := e.Arg.(*expr.Const); ok && !e.T.Constrained() &&
			(rt != nil || !DependsOnSession(k.T, e.T)) {
			return foldValue(e, rt)
		}
	case *expr.And:
		return foldLogic(e.Args, false)
	case *expr.Or:
		return foldLogic(e.Args, true)
	case *expr.Not, *expr.IsNull, *expr.IsBool:
		var arg expr.Expr
		expr.Children(e, func(c expr.Expr) expr.Expr { arg = c; return c })
		if _, ok := arg.(*expr.Const); ok {
			return foldValue(e, rt)
		}
	case *expr.Case:
		return foldCase(e)
	case *expr.Coalesce:
		return foldCoalesce(e)
	case *expr.InList:
		if _, ok := e.Arg.(*expr.Const); ok && allConst(e.List) {
			return foldValue(e, rt)
		}
	case *expr.ArrayExpr:
		if allConst(e.Elems) {
			return foldValue(e, rt)
		}
	}
	return e
}

// isImmutable reports whether the result of a call depends on nothing but its arguments.
func isImmutable(e *expr.Call) bool {
	if !e.Func.Inlined {
		return e.Func.Volatility == expr.Immutable
	}
	return !slices.ContainsFunc(e.Args, func(a expr.Expr) bool {
		return DependsOnSession(a.Type(), types.TText)
	})
}

// foldedMost is the largest size of a folded value that becomes part of a plan. A larger one is
// computed whenever the statement runs, where its memory is counted.
const foldedMost = 1 << 20

// elemBytes is about the memory of an element of an array.
const elemBytes = 96

func foldCall(e *expr.Call, rt *expr.Runtime) expr.Expr {
	folded := foldValue(e, rt)
	if c, ok := folded.(*expr.Const); ok {
		elems := 0
		if c.Value.Arr != nil {
			elems = len(c.Value.Arr.Elems)
		}
		if len(c.Value.S)+elems*elemBytes > foldedMost {
			return e
		}
	}
	return folded
}

func foldValue(e expr.Expr, rt *expr.Runtime) expr.Expr {
	d, err := constant(e, rt)
	if err != nil {
		return e
	}
	return &expr.Const{T: e.Type(), Value: d}
}

// constant returns the value of an expression over constants.
func constant(e expr.Expr, rt *expr.Runtime) (types.Datum, error) {
	p, err := Compile(e)
	if err != nil {
		return types.Null, err
	}
	return p.EvalRow(&Context{Runtime: rt}, nil)
}

func allConst(es []expr.Expr) bool {
	for _, e := range es {
		if _, ok := e.(*expr.Const); !ok {
			return false
		}
	}
	return true
}

// DependsOnSession reports whether a cast depends on settings or the catalog: the time zone, the
// style of dates and intervals, or names.
func DependsOnSession(from, to *types.Type) bool {
	if from.Family == types.XML && to.Family == types.String {
		return false // one stored form, which another setting only reads differently
	}
	if from.Family == types.Range && to.Family == types.MultiRange {
		return false
	}
	if quantity(from) && quantity(to) || isLabel(from, to) || isLabel(to, from) {
		return expr.CastVolatility(from, to) != expr.Immutable
	}
	return sessionType(from) || sessionType(to)
}

// Raises reports whether an expression has a call of constants that could not be folded, because it
// raises an error.
func Raises(e expr.Expr) (found bool) {
	expr.Walk(e, func(x expr.Expr) bool {
		found = found || raises(x)
		return !found
	})
	return found
}

// Raised returns the first error that Raises finds.
func Raised(e expr.Expr) (err error) {
	expr.Walk(e, func(x expr.Expr) bool {
		if err == nil && raises(x) {
			_, err = constant(x, nil)
		}
		return err == nil
	})
	return err
}

// raises reports whether an expression that is folded has constant arguments, and thus an error.
func raises(e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.Call:
		return isImmutable(e) && e.Func.Scalar != nil && allConst(e.Args)
	case *expr.Cast:
		k, ok := e.Arg.(*expr.Const)
		return ok && !e.T.Constrained() && !DependsOnSession(k.T, e.T)
	}
	return false
}

// isLabel reports whether a cast is between an enum and texts: labels are in the catalog.
func isLabel(t, text *types.Type) bool {
	return t.Family == types.Enum && text.Family == types.String && text.OID != types.OIDUnknown
}

// quantity reports whether values are numbers, moments and the like, whose casts make no text.
func quantity(t *types.Type) bool {
	switch t.Category() {
	case 'N', 'D', 'T', 'B':
		return true
	}
	return t.Family == types.JSON
}

func sessionType(t *types.Type) bool {
	switch t.Family {
	case types.Array:
		return t.Elem == nil || sessionType(t.Elem)
	case types.Date, types.Time, types.TimeTZ, types.Timestamp, types.Interval, types.Bytes,
		types.Float, types.Money, types.Record, types.XML:
		return true
	case types.Range, types.MultiRange:
		return t.Sub == nil || sessionType(t.Sub)
	}
	return t.Family == types.Int && t.OID != types.OIDInt2 && t.OID != types.OIDInt4 &&
		t.OID != types.OIDInt8
}

// foldLogic drops arguments that have no effect. An argument that decides makes the whole
// expression a constant, but not if an earlier one raises an error, which PostgreSQL has met by
// then.
func foldLogic(args []expr.Expr, or bool) expr.Expr {
	rest := make([]expr.Expr, 0, len(args))
	for _, a := range args {
		k, ok := a.(*expr.Const)
		switch {
		case !ok || k.Value.Null:
			rest = append(rest, a)
		case (k.Value.I != 0) == or && slices.ContainsFunc(rest, Raises):
			rest = append(rest, a)
		case (k.Value.I != 0) == or:
			return &expr.Const{T: types.TBool, Value: types.NewBool(or)}
		}
	}
	switch {
	case len(rest) == 0:
		return &expr.Const{T: types.TBool, Value: types.NewBool(!or)}
	case allConst(rest):
		return &expr.Const{T: types.TBool, Value: types.Null}
	case len(rest) == 1:
		return rest[0]
	case or:
		return &expr.Or{Args: rest}
	}
	return &expr.And{Args: rest}
}

// foldCase drops arms that are never taken and ends at the first arm that is always taken.
func foldCase(e *expr.Case) expr.Expr {
	if e.Operand != nil {
		return e
	}
	out := &expr.Case{T: e.T, Else: e.Else}
	for _, w := range e.Whens {
		k, ok := w.Cond.(*expr.Const)
		if !ok {
			out.Whens = append(out.Whens, w)
			continue
		}
		if k.Value.Bool() {
			out.Else = w.Result
			break
		}
	}
	switch {
	case len(out.Whens) == len(e.Whens):
		return e
	case len(out.Whens) > 0:
		return out
	case out.Else == nil:
		return &expr.Const{T: e.T, Value: types.Null}
	}
	return out.Else
}

func foldCoalesce(e *expr.Coalesce) expr.Expr {
	var rest []expr.Expr
	for _, a := range e.Args {
		k, ok := a.(*expr.Const)
		if ok && k.Value.Null {
			continue
		}
		rest = append(rest, a)
		if ok {
			break
		}
	}
	switch {
	case len(rest) == 0:
		return &expr.Const{T: e.T, Value: types.Null}
	case len(rest) == 1:
		return rest[0]
	case len(rest) == len(e.Args):
		return e
	}
	return &expr.Coalesce{T: e.T, Args: rest}
}
