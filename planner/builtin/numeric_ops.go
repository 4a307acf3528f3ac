package builtin

import (
	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// dec2 makes a function of two numerics.
func dec2(op func(a, b *apd.Decimal) (*apd.Decimal, error)) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := op(a[0].Dec, a[1].Dec)
		return types.Datum{Dec: r}, err
	}
}

// dec1 makes a function of one numeric.
func dec1(op func(a *apd.Decimal) (*apd.Decimal, error)) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := op(a[0].Dec)
		return types.Datum{Dec: r}, err
	}
}

// decVec is dec2 over vectors.
func decVec(op func(a, b *apd.Decimal) (*apd.Decimal, error)) vector {
	return func(_ *expr.Runtime, a []*types.Vec, sel []int32, out *types.Vec) error {
		x, y := a[0].Dec, a[1].Dec
		for _, i := range sel {
			r, err := op(x[i], y[i])
			if err != nil {
				return err
			}
			out.Dec[i] = r
		}
		return nil
	}
}

// total makes an operation that cannot fail look like one that can.
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
		f("^"+pair, dec2(types.NumericPower)),
		f("-(numeric) numeric", dec1(total(types.NumericNeg))),
		f("+(numeric) numeric", same),
		f("@(numeric) numeric", dec1(total(types.NumericAbs))),
	}
}
