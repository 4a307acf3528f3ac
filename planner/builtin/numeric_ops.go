package builtin

import (
	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// A decOp is an operation on two numerics.
type decOp func(a, b *apd.Decimal) (*apd.Decimal, error)

// run does the operation and counts its work.
func (op decOp) run(rt *expr.Runtime, a, b *apd.Decimal) (*apd.Decimal, error) {
	r, err := op(a, b)
	if err == nil {
		err = countDecimals(rt, a, b, r)
	}
	return r, err
}

// dec2 makes a function of two numerics.
func dec2(op decOp) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := op.run(rt, a[0].Dec, a[1].Dec)
		return types.Datum{Dec: r}, err
	}
}

// dec2Ticking is dec2 for an operation of many steps on large numbers.
func dec2Ticking(op func(a, b *apd.Decimal, tick types.Tick) (*apd.Decimal, error)) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		ticking := func(x, y *apd.Decimal) (*apd.Decimal, error) { return op(x, y, rt.Tick) }
		return dec2(ticking)(rt, a)
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
	same := decOp(func(a, _ *apd.Decimal) (*apd.Decimal, error) { return op(a) })
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := same.run(rt, a[0].Dec, a[0].Dec)
		return types.Datum{Dec: r}, err
	}
}

// total gives an operation that cannot fail an error result.
func total(op func(*apd.Decimal) *apd.Decimal) func(*apd.Decimal) (*apd.Decimal, error) {
	return func(d *apd.Decimal) (*apd.Decimal, error) { return op(d), nil }
}

func numericOperators() []def {
	const pair = "(numeric,numeric) numeric"
	both := func(name string, op decOp) def { return v(name+pair, dec2(op), running2(op.run)) }
	return []def{
		both("+", types.NumericAdd),
		both("-", types.NumericSub),
		both("*", types.NumericMul),
		both("/", types.NumericDiv),
		both("%", types.NumericMod),
		f("^"+pair, dec2Ticking(types.NumericPower)),
		f("-(numeric) numeric", dec1(total(types.NumericNeg))),
		f("+(numeric) numeric", same),
		f("@(numeric) numeric", dec1(total(types.NumericAbs))),
	}
}
