package builtin

import (
	"math"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// Greatest returns GREATEST over arguments of type t, to which the binder casts all of them (see
// CommonTypeFor). NULLs are ignored.
func Greatest(t *types.Type) *expr.Func { return extremeOf("greatest", t, 1) }

// Least returns LEAST over arguments of type t, like Greatest.
func Least(t *types.Type) *expr.Func { return extremeOf("least", t, -1) }

// madeFor identifies a function that is made for a call by its parts.
type madeFor struct {
	name string
	of   any
}

func extremeOf(name string, t *types.Type, sign int) *expr.Func {
	return &expr.Func{
		Name: name, Args: []*types.Type{t}, Variadic: true, Returns: t, NotStrict: true,
		Same: madeFor{name, t.OID},
		Scalar: func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
			best := types.Null
			for _, d := range a {
				if !d.Null && (best.Null || sign*types.Compare(t, d, best) > 0) {
					best = d
				}
			}
			return best, nil
		},
	}
}

// NullIf returns NULLIF(left, right) and the types of its arguments: its value is the first
// argument, converted to the operand type of =, unless = finds both equal.
func NullIf(left, right *types.Type) (*expr.Func, []*types.Type, error) {
	eq, targets, err := ResolveOperator("=", left, right)
	if err != nil {
		return nil, nil, err
	}
	return &expr.Func{
		Name: "nullif", Args: targets, Returns: targets[0], Volatility: eq.Volatility,
		NotStrict: true, Same: madeFor{"nullif", eq},
		Scalar: func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			if a[0].Null || a[1].Null {
				return a[0], nil
			}
			same, err := eq.Scalar(rt, a)
			if err != nil || same.Bool() {
				return types.Null, err
			}
			return a[0], nil
		},
	}, targets, nil
}

// ExpandVariadic returns the form of a variadic function for a call f(…, VARIADIC array): the
// elements of the last argument become arguments. A NULL array gives NULL, except for format, for
// which it means no arguments.
func ExpandVariadic(fn *expr.Func) *expr.Func {
	c := *fn
	c.Variadic, c.Vector, c.NotStrict, c.Same = false, nil, true, madeFor{"variadic", fn}
	c.Scalar = func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		last := len(a) - 1
		var elems []types.Datum
		switch {
		case !a[last].Null:
			elems = a[last].Arr.Elems
		case fn.Name != "format":
			return types.Null, nil
		}
		args := append(append([]types.Datum(nil), a[:last]...), elems...)
		ts := append([]*types.Type(nil), rt.ArgTypes[:last]...)
		for range elems {
			ts = append(ts, rt.ArgTypes[last].Elem)
		}
		for _, d := range args {
			if d.Null && !fn.NotStrict {
				return types.Null, nil
			}
		}
		own := rt.ArgTypes // of all rows of this call
		defer func() { rt.ArgTypes = own }()
		rt.ArgTypes = ts
		return fn.Scalar(rt, args)
	}
	return &c
}

// generateSeries is generate_series over integers.
func generateSeries(_ *expr.Runtime, a []types.Datum, emit func([]types.Datum) error) error {
	step := intAt(a, 2, 1)
	if step == 0 {
		return errInvalid("step size cannot equal zero")
	}
	row := make([]types.Datum, 1)
	for x := a[0].I; step > 0 && x <= a[1].I || step < 0 && x >= a[1].I; {
		row[0] = types.NewInt(x)
		if err := emit(row); err != nil {
			return err
		}
		next, ok := addInt(x, step)
		if !ok {
			return nil
		}
		x = next
	}
	return nil
}

func generateNumericSeries(_ *expr.Runtime, a []types.Datum, emit func([]types.Datum) error) error {
	step := types.NumericFromInt(1)
	if len(a) > 2 {
		step = a[2].Dec
	}
	for i, what := range []string{"start", "stop", "step size"} {
		if i < len(a) && a[i].Dec.Form != 0 {
			kind := "infinity"
			if s := types.NumericString(a[i].Dec); s == "NaN" {
				kind = "NaN"
			}
			if what == "step size" {
				return errInvalid("%s cannot be %s", what, kind)
			}
			return errInvalid("%s value cannot be %s", what, kind)
		}
	}
	sign := types.NumericSign(step)
	if sign == 0 {
		return errInvalid("step size cannot equal zero")
	}
	for x := a[0].Dec; types.NumericCmp(x, a[1].Dec)*sign <= 0; {
		if err := emit([]types.Datum{types.NewDecimal(x)}); err != nil {
			return err
		}
		var err error
		if x, err = types.NumericAdd(x, step); err != nil {
			return err
		}
	}
	return nil
}

// generateTimestamps is generate_series over timestamps; zoned counts days and months in the
// session's time zone.
func generateTimestamps(zoned bool) setBody {
	return func(rt *expr.Runtime, a []types.Datum, emit func([]types.Datum) error) error {
		sign := types.IntervalCmp(a[2].Iv, types.IntervalValue{})
		if sign == 0 {
			return errInvalid("step size cannot equal zero")
		}
		for x := a[0].I; sign > 0 && x <= a[1].I || sign < 0 && x >= a[1].I; {
			if err := emit([]types.Datum{types.NewInt(x)}); err != nil {
				return err
			}
			if types.IsInfinite(x) || x == math.MaxInt64 {
				return sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range")
			}
			var err error
			if zoned {
				x, err = types.TimestampTZPlusInterval(x, a[2].Iv, location(rt))
			} else {
				x, err = types.TimestampPlusInterval(x, a[2].Iv)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

var setFunctions = []def{
	s("generate_series(int4,int4,int4?) int4", "", generateSeries),
	s("generate_series(int8,int8,int8?) int8", "", generateSeries),
	s("generate_series(numeric,numeric,numeric?) numeric", "", generateNumericSeries),
	s("generate_series(timestamp,timestamp,interval) timestamp", "", generateTimestamps(false)),
	s("generate_series(timestamptz,timestamptz,interval) timestamptz", "",
		generateTimestamps(true)).stable(),
}
