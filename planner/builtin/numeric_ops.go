package builtin

import (
	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// dec2 makes a function of two numerics.
func dec2(op func(a, b *apd.Decimal) (*apd.Decimal, error)) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := op(a[0].Dec, a[1].Dec)
		if err == nil {
			err = countDecimals(rt, a[0].Dec, a[1].Dec, r)
		}
		return types.Datum{Dec: r}, err
	}
}

// dec2Ticking is dec2 for an operation of many steps on large numbers.
func dec2Ticking(op func(a, b *apd.Decimal, tick types.Tick) (*apd.Decimal, error)) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return dec2(func(x, y *apd.Decimal) (*apd.Decimal, error) { return op(x, y, rt.Tick) })(rt,
			a)
	}
}

// dec1Ticking is dec1 for an operation of many steps.
func dec1Ticking(op func(a *apd.Decimal, tick types.Tick) (*apd.Decimal, error)) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return dec1(func(x *apd.Decimal) (*apd.Decimal, error) { return op(x, rt.Tick) })(rt, a)
	}
}

// largeDecimal is the size of a coefficient, in bits, from which on the work of an operation is
// counted.
const largeDecimal = 4096

// countDecimals counts the work of an operation on a and b as that of their multiplication, and the
// bytes of its result. A single multiplication or division is not interrupted: with 147,000 digits,
// the most that a numeric has, it takes some milliseconds.
func countDecimals(rt *expr.Runtime, a, b, result *apd.Decimal) error {
	n, x, y := result.Coeff.BitLen(), a.Coeff.BitLen(), b.Coeff.BitLen()
	if max(n, x, y) < largeDecimal {
		return rt.TickSteps(1)
	}
	x, y = x/8, y/8
	if err := rt.Tick(n/8 + x*y/1024); err != nil {
		return err
	}
	return rt.Grow(int64(n / 8))
}

// dec1 makes a function of one numeric.
func dec1(op func(a *apd.Decimal) (*apd.Decimal, error)) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := op(a[0].Dec)
		if err == nil {
			err = countDecimals(rt, a[0].Dec, a[0].Dec, r)
		}
		return types.Datum{Dec: r}, err
	}
}

// decVec is dec2 over vectors.
func decVec(op func(a, b *apd.Decimal) (*apd.Decimal, error)) vector {
	return func(rt *expr.Runtime, a []*types.Vec, sel []int32, out *types.Vec) error {
		x, y := a[0].Dec, a[1].Dec
		for _, i := range sel {
			r, err := op(x[i], y[i])
			if err != nil {
				return err
			}
			if err := countDecimals(rt, x[i], y[i], r); err != nil {
				return err
			}
			out.Dec[i] = r
		}
		return nil
	}
}

// total gives an operation that cannot fail an error result.
func total(op func(*apd.Decimal) *apd.Decimal) func(*apd.Decimal) (*apd.Decimal, error) {
	return func(d *apd.Decimal) (*apd.Decimal, error) { return op(d), nil }
}

func numericOperators() []def {
	const pair = "(numeric,numeric) numeric"
	return []def{
		v("+"+pair, dec2(types.NumericAdd), decVec(types.NumericAdd)),
		v("-"+pair, dec2(types.NumericSub), decVec(types.NumericSub)),
		v("*"+pair, dec2(types.NumericMul), decVec(types.NumericMul)),
		v("/"+pair, dec2(types.NumericDiv), decVec(types.NumericDiv)),
		v("%"+pair, dec2(types.NumericMod), decVec(types.NumericMod)),
		f("^"+pair, dec2Ticking(types.NumericPower)),
		f("-(numeric) numeric", dec1(total(types.NumericNeg))),
		f("+(numeric) numeric", same),
		f("@(numeric) numeric", dec1(total(types.NumericAbs))),
	}
}
