package eval

import (
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
		if e.Func.Volatility != expr.Immutable || e.Func.Scalar == nil {
			return e
		}
		if allConst(e.Args) {
			return foldCall(e, rt)
		}
	case *expr.Cast:
		if k, ok := e.Arg.(*expr.Const); ok && (rt != nil || !dependsOnSession(k.T, e.T)) {
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
	p, err := Compile(e)
	if err != nil {
		return e
	}
	d, err := p.EvalRow(&Context{Runtime: rt}, nil)
	if err != nil {
		return e
	}
	return &expr.Const{T: e.Type(), Value: d}
}

func allConst(es []expr.Expr) bool {
	for _, e := range es {
		if _, ok := e.(*expr.Const); !ok {
			return false
		}
	}
	return true
}

// dependsOnSession reports whether a cast depends on settings or the catalog: the time zone, the
// style of dates and intervals, or names.
func dependsOnSession(from, to *types.Type) bool {
	return sessionType(from) || sessionType(to)
}

func sessionType(t *types.Type) bool {
	switch t.Family {
	case types.Array:
		return t.Elem == nil || sessionType(t.Elem)
	case types.Date, types.Time, types.Timestamp, types.Interval, types.Bytes, types.Float,
		types.Record:
		return true
	}
	return t.Family == types.Int && t.OID != types.OIDInt2 && t.OID != types.OIDInt4 &&
		t.OID != types.OIDInt8
}

// foldLogic drops arguments that have no effect. An argument that decides makes the whole
// expression a constant, whatever arguments precede it: PostgreSQL does not evaluate those either.
func foldLogic(args []expr.Expr, or bool) expr.Expr {
	rest := make([]expr.Expr, 0, len(args))
	for _, a := range args {
		k, ok := a.(*expr.Const)
		switch {
		case !ok || k.Value.Null:
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
