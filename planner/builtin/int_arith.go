package builtin

import (
	"math"
	"math/bits"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// An intOp computes one integer operation; ok is false when the result does not fit in int64.
type intOp func(x, y int64) (r int64, ok bool)

func addInt(x, y int64) (int64, bool) {
	r := x + y
	return r, (r^x)&(r^y) >= 0
}

func subInt(x, y int64) (int64, bool) {
	r := x - y
	return r, (x^y)&(r^x) >= 0
}

func mulInt(x, y int64) (int64, bool) {
	if int64(int32(x)) == x && int64(int32(y)) == y {
		return x * y, true
	}
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	// The high half of the signed product is the sign of the low one when the product fits.
	signed := int64(hi)
	if x < 0 {
		signed -= y
	}
	if y < 0 {
		signed -= x
	}
	return int64(lo), signed == int64(lo)>>63
}

// arith is the scalar form of add, subtract and multiply, whose result must be within [lo, hi].
func arith(op intOp, lo, hi int64) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, ok := op(a[0].I, a[1].I)
		if !ok || r < lo || r > hi {
			return types.Null, errIntRange(hi)
		}
		return types.NewInt(r), nil
	}
}

func addVec(lo, hi int64) vector {
	return func(_ *expr.Runtime, a []*types.Vec, sel []int32, out *types.Vec) error {
		x, y, o := a[0].I, a[1].I, out.I
		for _, i := range sel {
			r := x[i] + y[i]
			if (r^x[i])&(r^y[i]) < 0 || r < lo || r > hi {
				return errIntRange(hi)
			}
			o[i] = r
		}
		return nil
	}
}

func subVec(lo, hi int64) vector {
	return func(_ *expr.Runtime, a []*types.Vec, sel []int32, out *types.Vec) error {
		x, y, o := a[0].I, a[1].I, out.I
		for _, i := range sel {
			r := x[i] - y[i]
			if (x[i]^y[i])&(r^x[i]) < 0 || r < lo || r > hi {
				return errIntRange(hi)
			}
			o[i] = r
		}
		return nil
	}
}

func mulVec(lo, hi int64) vector {
	return func(_ *expr.Runtime, a []*types.Vec, sel []int32, out *types.Vec) error {
		x, y, o := a[0].I, a[1].I, out.I
		for _, i := range sel {
			r, ok := mulInt(x[i], y[i])
			if !ok || r < lo || r > hi {
				return errIntRange(hi)
			}
			o[i] = r
		}
		return nil
	}
}

func divInt(lo, hi int64) func(x, y int64) (int64, error) {
	return func(x, y int64) (int64, error) {
		switch {
		case y == 0:
			return 0, errDivisionByZero()
		case y == -1 && x == lo:
			return 0, errIntRange(hi)
		}
		return x / y, nil
	}
}

func modInt(x, y int64) (int64, error) {
	if y == 0 {
		return 0, errDivisionByZero()
	}
	if y == -1 { // the smallest integer has no negation
		return 0, nil
	}
	return x % y, nil
}

func negInt(lo, hi int64) func(x int64) (int64, error) {
	return func(x int64) (int64, error) {
		if x == lo {
			return 0, errIntRange(hi)
		}
		return -x, nil
	}
}

func absInt(lo, hi int64) scalar {
	neg := negInt(lo, hi)
	return lift1(func(x int64) (int64, error) {
		if x < 0 {
			return neg(x)
		}
		return x, nil
	})
}

func same(_ *expr.Runtime, a []types.Datum) (types.Datum, error) { return a[0], nil }

// integerTypes are the integer types by width, with their bounds.
var integerTypes = [...]struct {
	name   string
	lo, hi int64
}{
	{"int2", math.MinInt16, math.MaxInt16},
	{"int4", math.MinInt32, math.MaxInt32},
	{"int8", math.MinInt64, math.MaxInt64},
}

// intOperators returns the arithmetic of every pair of integer types. The result has the wider
// type.
func intOperators() []def {
	var out []def
	for i, l := range integerTypes {
		for j, r := range integerTypes {
			wide := integerTypes[max(i, j)]
			lo, hi := wide.lo, wide.hi
			sig := "(" + l.name + "," + r.name + ") " + wide.name
			out = append(out, v("+"+sig, arith(addInt, lo, hi), addVec(lo, hi)),
				v("-"+sig, arith(subInt, lo, hi), subVec(lo, hi)),
				v("*"+sig, arith(mulInt, lo, hi), mulVec(lo, hi)),
				v("/"+sig, lift2(divInt(lo, hi)), rows2(divInt(lo, hi))))
		}
		t, lo, hi := l.name, l.lo, l.hi
		sig := "(" + t + "," + t + ") " + t
		out = append(out, v("%"+sig, lift2(modInt), rows2(modInt)),
			f("&"+sig, sure2(func(x, y int64) int64 { return x & y })),
			f("|"+sig, sure2(func(x, y int64) int64 { return x | y })),
			f("#"+sig, sure2(func(x, y int64) int64 { return x ^ y })),
			f("<<("+t+",int4) "+t, shift(i, true)), f(">>("+t+",int4) "+t, shift(i, false)),
			f("~("+t+") "+t, sure1(func(x int64) int64 { return ^x })), f("+("+t+") "+t, same),
			v("-("+t+") "+t, lift1(negInt(lo, hi)), rows1(negInt(lo, hi))),
			f("@("+t+") "+t, absInt(lo, hi)))
	}
	return out
}

// shift is << or >> on the integer type of a width. As on the machines on which PostgreSQL runs,
// the count is taken modulo 32, or modulo 64 for int8.
func shift(width int, left bool) scalar {
	mask := int64(31)
	if width == 2 {
		mask = 63
	}
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		x, n := a[0].I, uint(a[1].I&mask)
		if !left {
			return types.NewInt(x >> n), nil
		}
		switch width {
		case 0:
			return types.NewInt(int64(int16(x << n))), nil
		case 1:
			return types.NewInt(int64(int32(x << n))), nil
		}
		return types.NewInt(x << n), nil
	}
}
