package rule

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// pushNots removes each NOT over what has an opposite: a comparison, a conjunction, another NOT,
// and comparisons with true and false. A condition `NOT id < 10` can so be looked up in an index.
//
// Equivalent by three-valued logic, but for the comparisons of geometric values that have a
// coordinate NaN, where neither an operator nor its opposite holds: PostgreSQL plans them so, too.
func pushNots(e expr.Expr) expr.Expr {
	return expr.Rewrite(e, func(x expr.Expr) expr.Expr {
		switch x := x.(type) {
		case *expr.Not:
			if opposite := negate(x.Arg); opposite != nil {
				return opposite
			}
		case *expr.Call:
			return compared(x)
		}
		return x
	})
}

// compared returns x for the comparison x = true, and NOT x for x = false.
func compared(e *expr.Call) expr.Expr {
	equal := e.Func.Name == "="
	if !equal && e.Func.Name != "<>" || len(e.Args) != 2 || !isBool(e.Args[0]) ||
		!isBool(e.Args[1]) {
		return e
	}
	for i, arg := range e.Args {
		k, ok := arg.(*expr.Const)
		_, column := e.Args[1-i].(*expr.Col)
		switch {
		case !ok || k.Value.Null || column: // an index may have the column
		case k.Value.Bool() == equal:
			return e.Args[1-i]
		default:
			if opposite := negate(e.Args[1-i]); opposite != nil {
				return opposite
			}
			return &expr.Not{Arg: e.Args[1-i]}
		}
	}
	return e
}

// negate returns NOT e without that NOT; nil: there is no such expression.
func negate(e expr.Expr) expr.Expr {
	switch e := e.(type) {
	case *expr.Not:
		return e.Arg
	case *expr.And:
		return &expr.Or{Args: negateAll(e.Args)}
	case *expr.Or:
		return &expr.And{Args: negateAll(e.Args)}
	case *expr.IsNull: // a record may be neither
		if t := e.Arg.Type(); t != nil && t.Family != types.Record {
			return &expr.IsNull{Arg: e.Arg, Not: !e.Not}
		}
	case *expr.IsBool:
		return &expr.IsBool{Arg: e.Arg, Want: e.Want, Not: !e.Not}
	case *expr.Call:
		if fn := e.Func.Negator; fn != nil && e.Func.Same == nil {
			return &expr.Call{T: e.T, Func: fn, Args: e.Args, Pos: e.Pos}
		}
	}
	return nil
}

func negateAll(es []expr.Expr) []expr.Expr {
	out := make([]expr.Expr, len(es))
	for i, e := range es {
		if out[i] = negate(e); out[i] == nil {
			out[i] = &expr.Not{Arg: e}
		}
	}
	return out
}

func isBool(e expr.Expr) bool { return e.Type() != nil && e.Type().OID == types.OIDBool }
