package builtin

import (
	"time"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// goValue is what an argument or a result is in Go. Dates, times and timestamps are int64.
type goValue interface {
	int64 | float64 | string | bool | types.IntervalValue
}

// lift1, lift2 and lift3 make an SQL function of a Go function.
func lift1[A, R goValue](op func(A) (R, error)) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := op(argument[A](&a[0]))
		return result(r), err
	}
}

func lift2[A, B, R goValue](op func(A, B) (R, error)) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := op(argument[A](&a[0]), argument[B](&a[1]))
		return result(r), err
	}
}

func lift3[A, B, C, R goValue](op func(A, B, C) (R, error)) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := op(argument[A](&a[0]), argument[B](&a[1]), argument[C](&a[2]))
		return result(r), err
	}
}

// sure1 and sure2 lift a function that cannot fail.
func sure1[A, R goValue](op func(A) R) scalar {
	return lift1(func(x A) (R, error) { return op(x), nil })
}

func sure2[A, B, R goValue](op func(A, B) R) scalar {
	return lift2(func(x A, y B) (R, error) { return op(x, y), nil })
}

// zoned1 and zoned2 lift a function that takes the session's time zone too.
func zoned1[A, R goValue](op func(A, *time.Location) (R, error)) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := op(argument[A](&a[0]), location(rt))
		return result(r), err
	}
}

func zoned2[A, B, R goValue](op func(A, B, *time.Location) (R, error)) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := op(argument[A](&a[0]), argument[B](&a[1]), location(rt))
		return result(r), err
	}
}

// stored is what a vector holds an entry of, as that type.
type stored interface {
	int64 | float64 | string | *apd.Decimal
}

// rows1 and rows2 make the form over vectors of a Go function.
func rows1[A, R stored](op func(A) (R, error)) vector {
	return func(_ *expr.Runtime, a []*types.Vec, sel []int32, out *types.Vec) error {
		x, to := entries[A](a[0]), entries[R](out)
		for _, i := range sel {
			r, err := op(x[i])
			if err != nil {
				return err
			}
			to[i] = r
		}
		return nil
	}
}

func rows2[A, B, R stored](op func(A, B) (R, error)) vector {
	return func(_ *expr.Runtime, a []*types.Vec, sel []int32, out *types.Vec) error {
		x, y, to := entries[A](a[0]), entries[B](a[1]), entries[R](out)
		for _, i := range sel {
			r, err := op(x[i], y[i])
			if err != nil {
				return err
			}
			to[i] = r
		}
		return nil
	}
}

// running1 and running2 make the form over vectors of a function that needs the runtime.
func running1[A, R stored](op func(*expr.Runtime, A) (R, error)) vector {
	return func(rt *expr.Runtime, a []*types.Vec, sel []int32, out *types.Vec) error {
		bound := func(x A) (R, error) { return op(rt, x) }
		return rows1(bound)(rt, a, sel, out)
	}
}

func running2[A, B, R stored](op func(*expr.Runtime, A, B) (R, error)) vector {
	return func(rt *expr.Runtime, a []*types.Vec, sel []int32, out *types.Vec) error {
		bound := func(x A, y B) (R, error) { return op(rt, x, y) }
		return rows2(bound)(rt, a, sel, out)
	}
}

// entries returns the slice of a vector that holds its values.
func entries[T stored](v *types.Vec) (out []T) {
	switch p := any(&out).(type) {
	case *[]int64:
		*p = v.I
	case *[]float64:
		*p = v.F
	case *[]string:
		*p = v.S
	case *[]*apd.Decimal:
		*p = v.Dec
	}
	return out
}

func argument[T goValue](d *types.Datum) (v T) {
	switch p := any(&v).(type) {
	case *int64:
		*p = d.I
	case *float64:
		*p = d.F
	case *string:
		*p = d.S
	case *bool:
		*p = d.Bool()
	case *types.IntervalValue:
		*p = d.Iv
	}
	return v
}

func result[T goValue](v T) types.Datum {
	switch p := any(&v).(type) {
	case *int64:
		return types.NewInt(*p)
	case *float64:
		return types.NewFloat(*p)
	case *string:
		return types.NewString(*p)
	case *bool:
		return types.NewBool(*p)
	case *types.IntervalValue:
		return types.NewInterval(*p)
	}
	return types.Null
}
