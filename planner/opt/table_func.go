package opt

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// TableFunc is a function of FROM: a set-returning one, Func over Args, or if Func is nil, Scalar,
// which gives one row of one column. With Record, the single value of each row is a record, whose
// fields are the columns.
type TableFunc struct {
	Func   *expr.Func
	Args   []expr.Expr
	Scalar expr.Expr
	Width  int         // number of columns
	Record *types.Type // its Fields are what the records must have
}

// Volatile reports whether the function may return other rows each time it is called.
func (f *TableFunc) Volatile() bool {
	return f.Func != nil && f.Func.Volatility == expr.Volatile
}

// AnyVolatile reports whether one of the functions is volatile.
func AnyVolatile(funcs []TableFunc) bool {
	for i := range funcs {
		if funcs[i].Volatile() {
			return true
		}
	}
	return false
}

// MapTableFuncs returns the functions with each expression replaced by what convert makes of it.
func MapTableFuncs(funcs []TableFunc, convert func(expr.Expr) expr.Expr) []TableFunc {
	out := make([]TableFunc, len(funcs))
	for i, f := range funcs {
		out[i] = TableFunc{Func: f.Func, Width: f.Width, Record: f.Record,
			Args: make([]expr.Expr, len(f.Args))}
		for k, a := range f.Args {
			out[i].Args[k] = convert(a)
		}
		if f.Scalar != nil {
			out[i].Scalar = convert(f.Scalar)
		}
	}
	return out
}
