package builtin

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

func errLogZero() error {
	return sqlerr.New(sqlerr.InvalidArgumentForLog, "cannot take logarithm of zero")
}

func errLogNegative() error {
	return sqlerr.New(sqlerr.InvalidArgumentForLog, "cannot take logarithm of a negative number")
}

func logFloat(op func(float64) float64) scalar {
	return lift1(func(x float64) (float64, error) {
		switch {
		case x == 0:
			return 0, errLogZero()
		case x < 0:
			return 0, errLogNegative()
		}
		return op(x), nil
	})
}

// checked makes a function whose result must be finite if its argument is.
func checked(op func(float64) float64) scalar {
	return lift1(func(x float64) (float64, error) {
		r := op(x)
		return r, checkFloat(r, math.IsInf(x, 0), true)
	})
}

func expFloat(x float64) (float64, error) {
	r := math.Exp(x)
	return r, checkFloat(r, math.IsInf(x, 0), math.IsInf(x, -1))
}

// numericScale makes a function with the scale argument of round and trunc.
func numericScale(op func(*apd.Decimal, int) (*apd.Decimal, error)) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		d, err := op(a[0].Dec, int(min(max(intAt(a, 1, 0), -131073), 16383)))
		return types.Datum{Dec: d}, err
	}
}

func mathFunctions() []def {
	out := []def{
		f("abs(numeric) numeric", dec1(total(types.NumericAbs))),
		f("abs(float8) float8", sure1(math.Abs)),
		f("abs(float4) float4", sure1(math.Abs)),
		f("numeric_inc(numeric) numeric", dec1(func(d *apd.Decimal) (*apd.Decimal, error) {
			return types.NumericAdd(d, types.NumericFromInt(1))
		})),
		f("sign(numeric) numeric", func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
			if a[0].Dec.Form == apd.NaN {
				return a[0], nil
			}
			return types.NewDecimal(types.NumericFromInt(int64(types.NumericSign(a[0].Dec)))), nil
		}),
		f("sign(float8) float8", sure1(func(x float64) float64 {
			switch {
			case x > 0:
				return 1
			case x < 0:
				return -1
			}
			return 0 // -0 and NaN included
		})),
		f("round(numeric,int4?) numeric", numericScale(types.NumericRound)),
		f("round|dround(float8) float8", sure1(math.RoundToEven)),
		f("ceil|ceiling(numeric) numeric", dec1(types.NumericCeil)),
		f("ceil|ceiling(float8) float8", sure1(math.Ceil)),
		f("floor(numeric) numeric", dec1(types.NumericFloor)),
		f("floor(float8) float8", sure1(math.Floor)),
		f("trunc(numeric,int4?) numeric", numericScale(types.NumericTrunc)),
		f("trunc|dtrunc(float8) float8", sure1(math.Trunc)),
		f("sqrt|numeric_sqrt(numeric) numeric", dec1Ticking(types.NumericSqrt)),
		f("sqrt(float8) float8", lift1(sqrtFloat)),
		f("cbrt(float8) float8", sure1(math.Cbrt)),
		f("exp|numeric_exp(numeric) numeric", dec1Ticking(types.NumericExp)),
		f("exp|dexp(float8) float8", lift1(expFloat)),
		f("ln|numeric_ln(numeric) numeric", dec1Ticking(types.NumericLn)),
		f("ln|dlog1(float8) float8", logFloat(math.Log)),
		f("log|numeric_log(numeric,numeric) numeric", dec2Ticking(types.NumericLog)),
		f("log|log10(numeric) numeric", dec1Ticking(types.NumericLog10)),
		f("log|log10|dlog10(float8) float8", logFloat(math.Log10)),
		f("power|pow(numeric,numeric) numeric", dec2Ticking(types.NumericPower)),
		f("power|pow(float8,float8) float8", lift2(powFloat)),
		f("mod(numeric,numeric) numeric", dec2(types.NumericMod)),
		f("div|numeric_div_trunc(numeric,numeric) numeric", dec2(types.NumericDivTrunc)),
		f("int4inc(int4) int4", incrementInt4),
		f("gcd(int4,int4) int4", gcdInt(math.MaxInt32)),
		f("gcd(int8,int8) int8", gcdInt(math.MaxInt64)),
		f("gcd(numeric,numeric) numeric", dec2Ticking(types.NumericGcd)),
		f("lcm(int4,int4) int4", lcmInt(math.MaxInt32)),
		f("lcm(int8,int8) int8", lcmInt(math.MaxInt64)),
		f("lcm(numeric,numeric) numeric", dec2Ticking(types.NumericLcm)),
		f("factorial(int8) numeric", func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			d, err := types.NumericFactorial(a[0].I, rt.Tick)
			return types.Datum{Dec: d}, err
		}),
		f("scale(numeric) int4", decimalInt(types.NumericScale)),
		f("min_scale(numeric) int4", decimalInt(types.NumericMinScale)),
		f("trim_scale(numeric) numeric", dec1(total(types.NumericTrimScale))),
		f("pi() float8", always(types.NewFloat(math.Pi))),
		f("degrees(float8) float8",
			checked(func(x float64) float64 { return x / (math.Pi / 180) })),
		f("radians(float8) float8",
			checked(func(x float64) float64 { return x * (math.Pi / 180) })),
		f("random() float8", random).volatile(),
		f("setseed(float8) void", setSeed).volatile(),
		f("width_bucket(float8,float8,float8,int4) int4", widthBucketFloat),
		f("width_bucket(numeric,numeric,numeric,int4) int4", widthBucketNumeric),
		f("width_bucket(anycompatible,anycompatiblearray) int4",
			comparing(comparisonFunction, widthBucketArray)),
	}
	for _, t := range integerTypes {
		out = append(out, f("abs("+t.name+") "+t.name, absInt(t.lo, t.hi)),
			f("mod("+t.name+","+t.name+") "+t.name, lift2(modInt)))
	}
	return append(out, trigonometry...)
}

func decimalInt(op func(*apd.Decimal) int) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		if a[0].Dec.Form != apd.Finite {
			return types.Null, nil
		}
		return types.NewInt(int64(op(a[0].Dec))), nil
	}
}

func absUint(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

func gcd(x, y int64) uint64 {
	a, b := absUint(x), absUint(y)
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func gcdInt(hi int64) scalar {
	return lift2(func(x, y int64) (int64, error) {
		g := gcd(x, y)
		if g > uint64(hi) {
			return 0, errIntRange(hi)
		}
		return int64(g), nil
	})
}

func lcmInt(hi int64) scalar {
	return lift2(func(x, y int64) (int64, error) {
		if x == 0 || y == 0 {
			return 0, nil
		}
		g := gcd(x, y)
		if g > math.MaxInt64 {
			return 0, errIntRange(hi)
		}
		r, ok := mulInt(x/int64(g), y)
		r = max(r, -r)
		if !ok || r < 0 || r > hi {
			return 0, errIntRange(hi)
		}
		return r, nil
	})
}

// random draws from the generator that setseed made for the session, and from Go's own source as
// long as there is none.
func random(rt *expr.Runtime, _ []types.Datum) (types.Datum, error) {
	if s, ok := rt.Session.(expr.Seeded); ok && s.Generator() != nil {
		return types.NewFloat(s.Generator().Float64()), nil
	}
	return types.NewFloat(rand.Float64()), nil
}

func setSeed(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	x := a[0].F
	if !(x >= -1 && x <= 1) {
		return types.Null, errInvalid("setseed parameter %v is out of allowed range [-1,1]", x)
	}
	s, ok := rt.Session.(expr.Seeded)
	if !ok {
		return types.Null, sqlerr.New(sqlerr.FeatureNotSupported,
			"setseed outside a session is not supported")
	}
	s.Seed(rand.New(rand.NewPCG(math.Float64bits(x), 0)))
	return types.Datum{}, nil
}

func errBuckets(what string) error {
	return sqlerr.New("2201G", "%s", what)
}

func widthBucketFloat(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	x, lo, hi, n := a[0].F, a[1].F, a[2].F, a[3].I
	switch {
	case n <= 0:
		return types.Null, errBuckets("count must be greater than zero")
	case math.IsNaN(x) || math.IsNaN(lo) || math.IsNaN(hi):
		return types.Null, errBuckets("operand, lower bound, and upper bound cannot be NaN")
	case isInf(lo, hi):
		return types.Null, errBuckets("lower and upper bounds must be finite")
	case lo == hi:
		return types.Null, errBuckets("lower bound cannot equal upper bound")
	}
	below, above := x < lo, x >= hi
	if lo > hi {
		below, above = x > lo, x <= hi
	}
	switch {
	case below:
		return types.NewInt(0), nil
	case above:
		if n == math.MaxInt32 {
			return types.Null, errIntRange(math.MaxInt32)
		}
		return types.NewInt(n + 1), nil
	}
	return types.NewInt(min(int64(float64(n)*((x-lo)/(hi-lo))), n-1) + 1), nil
}

func widthBucketNumeric(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	x, lo, hi, n := a[0].Dec, a[1].Dec, a[2].Dec, a[3].I
	c := types.NumericCmp(lo, hi)
	switch {
	case n <= 0:
		return types.Null, errBuckets("count must be greater than zero")
	case x.Form == apd.NaN || lo.Form == apd.NaN || hi.Form == apd.NaN:
		return types.Null, errBuckets("operand, lower bound, and upper bound cannot be NaN")
	case lo.Form != apd.Finite || hi.Form != apd.Finite:
		return types.Null, errBuckets("lower and upper bounds must be finite")
	case c == 0:
		return types.Null, errBuckets("lower bound cannot equal upper bound")
	case types.NumericCmp(x, lo)*c > 0:
		return types.NewInt(0), nil
	case types.NumericCmp(x, hi)*c <= 0:
		if n == math.MaxInt32 {
			return types.Null, errIntRange(math.MaxInt32)
		}
		return types.NewInt(n + 1), nil
	}
	// floor(n * (x - lo) / (hi - lo)) + 1; as in PostgreSQL the quotient is rounded first.
	num, err := types.NumericSub(x, lo)
	if err != nil {
		return types.Null, err
	}
	if num, err = types.NumericMul(num, types.NumericFromInt(n)); err != nil {
		return types.Null, err
	}
	den, err := types.NumericSub(hi, lo)
	if err != nil {
		return types.Null, err
	}
	q, err := types.NumericDiv(num, den)
	if err != nil {
		return types.Null, err
	}
	if q, err = types.NumericFloor(q); err != nil {
		return types.Null, err
	}
	i, _ := types.NumericToInt64(q)
	if i == math.MaxInt32 {
		return types.Null, errIntRange(math.MaxInt32)
	}
	return types.NewInt(i + 1), nil
}

func widthBucketArray(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	t, thresholds := rt.ArgTypes[0], a[1].Arr
	if len(thresholds.Dims) > 1 {
		return types.Null, errSubscripts("thresholds must be one-dimensional array")
	}
	if slices.ContainsFunc(thresholds.Elems, func(e types.Datum) bool { return e.Null }) {
		return types.Null, sqlerr.New(sqlerr.NullValueNotAllowed,
			"thresholds array must not contain NULLs")
	}
	// Halving gives PostgreSQL's answer where the thresholds are not sorted, too.
	i, _ := slices.BinarySearchFunc(thresholds.Elems, a[0], func(e, x types.Datum) int {
		if types.Compare(t, x, e) < 0 {
			return 1
		}
		return -1
	})
	return types.NewInt(int64(i)), nil
}
