package builtin

import (
	"math"

	"github.com/minidb/minidb/internal/sqlerr"
)

// checkFloat implements PostgreSQL's rule: an operation on finite numbers must not give infinity,
// and one on nonzero numbers must not give zero unless zero is exact.
func checkFloat(r float64, inf, zero bool) error {
	if math.IsInf(r, 0) && !inf {
		return errOverflow()
	}
	if r == 0 && !zero {
		return errUnderflow()
	}
	return nil
}

func isInf(x, y float64) bool { return math.IsInf(x, 0) || math.IsInf(y, 0) }

type floatOp func(x, y float64) (float64, error)

func addFloat(x, y float64) (float64, error) {
	r := x + y
	if math.IsInf(r, 0) && !isInf(x, y) {
		return 0, errOverflow()
	}
	return r, nil
}

func subFloat(x, y float64) (float64, error) {
	r := x - y
	if math.IsInf(r, 0) && !isInf(x, y) {
		return 0, errOverflow()
	}
	return r, nil
}

func mulFloat(x, y float64) (float64, error) {
	r := x * y
	return r, checkFloat(r, isInf(x, y), x == 0 || y == 0)
}

func divFloat(x, y float64) (float64, error) {
	if y == 0 && !math.IsNaN(x) {
		return 0, errDivisionByZero()
	}
	r := x / y
	return r, checkFloat(r, math.IsInf(x, 0), x == 0 || math.IsInf(y, 0))
}

// powFloat is pow with PostgreSQL's errors, like its function dpow.
func powFloat(x, y float64) (float64, error) {
	switch {
	case math.IsNaN(x):
		if y == 0 {
			return 1, nil
		}
		return math.NaN(), nil
	case math.IsNaN(y):
		if x == 1 {
			return 1, nil
		}
		return math.NaN(), nil
	case x == 0 && y < 0:
		return 0, sqlerr.New(sqlerr.InvalidArgumentForPower,
			"zero raised to a negative power is undefined")
	case x < 0 && math.Floor(y) != y:
		return 0, sqlerr.New(sqlerr.InvalidArgumentForPower,
			"a negative number raised to a non-integer power yields a complex result")
	}
	r := math.Pow(x, y)
	return r, checkFloat(r, isInf(x, y), x == 0 || isInf(x, y))
}

// round32 converts an operation to one of float4.
func round32(op floatOp) floatOp {
	return func(x, y float64) (float64, error) {
		r, err := op(x, y)
		if err != nil {
			return 0, err
		}
		s := float64(float32(r))
		return s, checkFloat(s, isInf(x, y) || math.IsInf(r, 0), r == 0)
	}
}

func floatOperators() []def {
	ops := []struct {
		name string
		op   floatOp
	}{{"+", addFloat}, {"-", subFloat}, {"*", mulFloat}, {"/", divFloat}}
	var out []def
	for _, o := range ops {
		out = append(out, v(o.name+"(float8|float4,float8) float8", lift2(o.op), rows2(o.op)),
			v(o.name+"(float8,float4) float8", lift2(o.op), rows2(o.op)),
			f(o.name+"(float4,float4) float4", lift2(round32(o.op))))
	}
	neg, abs := sure1(func(x float64) float64 { return -x }), sure1(math.Abs)
	for _, t := range []string{"float4", "float8"} {
		out = append(out, f("-("+t+") "+t, neg), f("+("+t+") "+t, same), f("@("+t+") "+t, abs))
	}
	return append(out, f("^(float8,float8) float8", lift2(powFloat)),
		f("|/(float8) float8", lift1(sqrtFloat)), f("||/(float8) float8",
			lift1(func(x float64) (float64, error) { return math.Cbrt(x), nil })))
}

func sqrtFloat(x float64) (float64, error) {
	if x < 0 {
		return 0, sqlerr.New(sqlerr.InvalidArgumentForPower,
			"cannot take square root of a negative number")
	}
	return math.Sqrt(x), nil
}

// finiteInput makes a trigonometric function, which is undefined at infinity.
func finiteInput(op func(float64) float64) scalar {
	return lift1(func(x float64) (float64, error) {
		if math.IsInf(x, 0) {
			return 0, errInputRange()
		}
		return op(x), nil
	})
}

// within makes a function that is defined on [lo, hi].
func within(lo, hi float64, op func(float64) float64) scalar {
	return lift1(func(x float64) (float64, error) {
		if x < lo || x > hi {
			return 0, errInputRange()
		}
		return op(x), nil
	})
}
