package builtin

import (
	"time"

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
