package builtin

import (
	"cmp"
	"strings"
	"time"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// comparisonNames are the six operators; a comparison's index in it is its identity below.
var comparisonNames = [6]string{"=", "<>", "<", "<=", ">", ">="}

// holds reports whether the operator is true for the result c of a three-way comparison.
func holds(op, c int) bool {
	switch op {
	case 0:
		return c == 0
	case 1:
		return c != 0
	case 2:
		return c < 0
	case 3:
		return c <= 0
	case 4:
		return c > 0
	}
	return c >= 0
}

// compareBy makes the six operators of a pair of types from a three-way comparison.
func compareBy(pair string, vol expr.Volatility,
	three func(rt *expr.Runtime, a, b types.Datum) (int, error)) []def {
	out := make([]def, 0, 6)
	for op, name := range comparisonNames {
		out = append(out, def{sig: name + pair + " bool", vol: vol,
			fn: func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
				c, err := three(rt, a[0], a[1])
				return types.NewBool(holds(op, c)), err
			}})
	}
	return out
}

// compareTyped is compareBy for types whose order types.Compare gives.
func compareTyped(t *types.Type) []def {
	return compareBy("("+t.Name+","+t.Name+")", expr.Immutable,
		func(_ *expr.Runtime, a, b types.Datum) (int, error) { return types.Compare(t, a, b), nil })
}

// comparePair makes the six operators of two types that are in the same field of a datum and are
// compared without conversion.
func comparePair(pair string, vecs [6]vector, scalars [6]scalar) []def {
	out := make([]def, 0, 6)
	for op, name := range comparisonNames {
		out = append(out, v(name+pair+" bool", scalars[op], vecs[op]))
	}
	return out
}

func equalRows[T cmp.Ordered](x, y []T, sel []int32, out []int64, want int64) {
	for _, i := range sel {
		r := int64(0)
		if x[i] == y[i] {
			r = 1
		}
		out[i] = r ^ want
	}
}

// lessRows computes x < y, or with want 1 its negation x >= y.
func lessRows[T cmp.Ordered](x, y []T, sel []int32, out []int64, want int64) {
	for _, i := range sel {
		r := int64(0)
		if x[i] < y[i] {
			r = 1
		}
		out[i] = r ^ want
	}
}

func intVec(op int) vector {
	return func(_ *expr.Runtime, a []*types.Vec, sel []int32, out *types.Vec) error {
		compareRows(op, a[0].I, a[1].I, sel, out.I)
		return nil
	}
}

func stringVec(op int) vector {
	return func(_ *expr.Runtime, a []*types.Vec, sel []int32, out *types.Vec) error {
		compareRows(op, a[0].S, a[1].S, sel, out.I)
		return nil
	}
}

// compareRows requires a total order. It is not for floats, which have NaN.
func compareRows[T cmp.Ordered](op int, x, y []T, sel []int32, out []int64) {
	switch op {
	case 0:
		equalRows(x, y, sel, out, 0)
	case 1:
		equalRows(x, y, sel, out, 1)
	case 2:
		lessRows(x, y, sel, out, 0)
	case 3:
		lessRows(y, x, sel, out, 1)
	case 4:
		lessRows(y, x, sel, out, 0)
	default:
		lessRows(x, y, sel, out, 1)
	}
}

// comparedVec makes the vectors of the operators from a three-way comparison.
func comparedVec[T stored](three func(x, y T) int) func(op int) vector {
	return func(op int) vector {
		return rows2(func(x, y T) (int64, error) {
			if holds(op, three(x, y)) {
				return 1, nil
			}
			return 0, nil
		})
	}
}

func perOperator[T any](make func(op int) T) (out [6]T) {
	for op := range out {
		out[op] = make(op)
	}
	return out
}

func scalarBy(op int, three func(a, b *types.Datum) int) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return types.NewBool(holds(op, three(&a[0], &a[1]))), nil
	}
}

func comparisonOperators() []def {
	ints := perOperator(intVec)
	intScalars := perOperator(func(op int) scalar {
		return scalarBy(op, func(a, b *types.Datum) int { return cmp.Compare(a.I, b.I) })
	})
	floats := perOperator(comparedVec(types.CompareFloats))
	floatScalars := perOperator(func(op int) scalar {
		return scalarBy(op, func(a, b *types.Datum) int { return types.CompareFloats(a.F, b.F) })
	})
	strs := perOperator(stringVec)
	strScalars := perOperator(func(op int) scalar {
		return scalarBy(op, func(a, b *types.Datum) int { return strings.Compare(a.S, b.S) })
	})
	decs := perOperator(comparedVec(types.NumericCmp))
	decScalars := perOperator(func(op int) scalar {
		return scalarBy(op, func(a, b *types.Datum) int { return types.NumericCmp(a.Dec, b.Dec) })
	})
	var out []def
	for _, p := range []string{
		"(int4,int8)", "(bool,bool)", "(int2,int2)", "(int4,int4)", "(int8,int8)", "(int8,int4)",
		"(int2,int4)", "(int4,int2)", "(oid,oid)", "(int2,int8)", "(int8,int2)", "(date,date)",
		"(time,time)", "(timestamp,timestamp)", "(timestamptz,timestamptz)", "(xid,xid)",
		"(xid,int4)",
	} {
		if strings.HasPrefix(p, "(xid") {
			out = append(out, comparePair(p, ints, intScalars)[:2]...)
			continue
		}
		out = append(out, comparePair(p, ints, intScalars)...)
	}
	for _, p := range []string{"(float8,float8)", "(float4,float4)", "(float4,float8)",
		"(float8,float4)"} {
		out = append(out, comparePair(p, floats, floatScalars)...)
	}
	for _, p := range []string{
		"(text,text)", "(name,name)", "(name,text)", "(text,name)", "(bpchar,bpchar)",
		"(bytea,bytea)",
		"(uuid,uuid)", "(char,char)",
	} {
		out = append(out, comparePair(p, strs, strScalars)...)
	}
	out = append(out, comparePair("(numeric,numeric)", decs, decScalars)...)
	for _, t := range []*types.Type{types.TInterval, types.TJSONB} {
		out = append(out, compareTyped(t)...)
	}
	out = append(out, compareBy("(anyarray,anyarray)", expr.Immutable, compareByArgType)...)
	out = append(out, compareBy("(record,record)", expr.Immutable, compareByArgType)...)
	out = append(out, compareBy("(oidvector,oidvector)", expr.Immutable, compareByArgType)...)
	return append(out, dateTimeComparisons()...)
}

func compareByArgType(rt *expr.Runtime, a, b types.Datum) (int, error) {
	return types.Compare(rt.ArgTypes[0], a, b), nil
}

// dateTimeComparisons compare dates and timestamps. The session's time zone determines the moment
// that a date or timestamp is when it is compared with a timestamptz.
func dateTimeComparisons() []def {
	forms := map[string]func(rt *expr.Runtime, d types.Datum) int64{
		"date":        func(_ *expr.Runtime, d types.Datum) int64 { return dateMicros(d.I) },
		"timestamp":   func(_ *expr.Runtime, d types.Datum) int64 { return d.I },
		"timestamptz": func(_ *expr.Runtime, d types.Datum) int64 { return d.I },
	}
	zoned := map[string]func(rt *expr.Runtime, d types.Datum) int64{
		"date": func(rt *expr.Runtime,
			d types.Datum) int64 {
			return zonedDateMicros(d.I, location(rt))
		},
		"timestamp": func(rt *expr.Runtime,
			d types.Datum) int64 {
			return zonedMicros(d.I, location(rt))
		},
		"timestamptz": forms["timestamptz"],
	}
	var out []def
	for _, p := range [][2]string{
		{"date", "timestamp"}, {"timestamp", "date"}, {"date", "timestamptz"}, {"timestamptz",
			"date"},
		{"timestamp", "timestamptz"}, {"timestamptz", "timestamp"},
	} {
		from, vol := forms, expr.Immutable
		if p[0] == "timestamptz" || p[1] == "timestamptz" {
			from, vol = zoned, expr.Stable
		}
		left, right := from[p[0]], from[p[1]]
		out = append(out, compareBy("("+p[0]+","+p[1]+")", vol,
			func(rt *expr.Runtime, a, b types.Datum) (int, error) {
				return cmp.Compare(left(rt, a), right(rt, b)), nil
			})...)
	}
	return out
}

// dateMicros converts a date to a timestamp for comparison: a date outside of the range of
// timestamps is below or above all finite ones.
func dateMicros(d int64) int64 {
	us, err := types.DateToTimestamp(d)
	if err != nil {
		return beyondTimestamps(d)
	}
	return us
}

// zonedDateMicros is midnight of a date in a zone, for comparison.
func zonedDateMicros(d int64, loc *time.Location) int64 {
	us, err := types.DateToTimestampTZ(d, loc)
	if err != nil {
		return beyondTimestamps(d)
	}
	return us
}

// zonedMicros is the moment at which a zone's clocks show a timestamp, for comparison.
func zonedMicros(local int64, loc *time.Location) int64 {
	us, err := types.LocalToUTC(local, loc)
	if err != nil {
		return beyondTimestamps(local)
	}
	return us
}

func beyondTimestamps(v int64) int64 {
	if v < 0 {
		return types.NegInfinity + 1
	}
	return types.PosInfinity - 1
}
