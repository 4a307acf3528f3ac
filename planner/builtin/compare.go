package builtin

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
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
	return comparisonsNamed(comparisonNames[:], pair, vol, three)
}

// comparisonsNamed is compareBy with other names in the places of those of comparisonNames; ""
// makes none.
func comparisonsNamed(names []string, pair string, vol expr.Volatility,
	three func(rt *expr.Runtime, a, b types.Datum) (int, error)) []def {
	out := make([]def, 0, 6)
	for op, name := range names {
		if name == "" {
			continue
		}
		out = append(out, def{sig: name + pair + " bool", vol: vol,
			fn: func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
				c, err := three(rt, a[0], a[1])
				return types.NewBool(holds(op, c)), err
			}})
	}
	return out
}

// patternOrder are the operators of the classes text_pattern_ops and bpchar_pattern_ops: texts in
// the order of their bytes, as every text is here.
func patternOrder() []def {
	names := []string{"", "", "~<~", "~<=~", "~>~", "~>=~"}
	return allLeakproof(slices.Concat(
		comparisonsNamed(names, "(text,text)", expr.Immutable, compareByArgType),
		comparisonsNamed(names, "(bpchar,bpchar)", expr.Immutable, compareByArgType)))
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
			return types.NewBool(holds(op, three(x, y))).I, nil
		})
	}
}

// A fieldComparison makes the operators of types that are in the same field of a datum and are
// compared without conversion.
type fieldComparison struct {
	three func(a, b *types.Datum) int
	vec   func(op int) vector
}

var (
	compareInts = fieldComparison{
		func(a, b *types.Datum) int { return cmp.Compare(a.I, b.I) }, intVec}
	compareFloats = fieldComparison{
		func(a, b *types.Datum) int { return types.CompareFloats(a.F, b.F) },
		comparedVec(types.CompareFloats)}
	compareStrings = fieldComparison{
		func(a, b *types.Datum) int { return strings.Compare(a.S, b.S) }, stringVec}
	compareDecimals = fieldComparison{
		func(a, b *types.Datum) int { return types.NumericCmp(a.Dec, b.Dec) },
		comparedVec(types.NumericCmp)}
)

// of makes the first operators of comparisonNames, up to the given number, of pairs of types.
func (c fieldComparison) of(operators int, pairs ...string) (out []def) {
	for _, pair := range pairs {
		for op, name := range comparisonNames[:operators] {
			one := func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
				return types.NewBool(holds(op, c.three(&a[0], &a[1]))), nil
			}
			out = append(out, v(name+pair+" bool", one, c.vec(op)))
		}
	}
	return out
}

func comparisonOperators() []def {
	all := len(comparisonNames)
	return slices.Concat(
		allLeakproof(compareInts.of(all, "(int2|int4|int8,int2|int4|int8)", "(bool,bool)",
			"(oid,oid)",
			"(money,money)", "(pg_lsn,pg_lsn)", "(date,date)", "(time,time)",
			"(timestamp,timestamp)", "(timestamptz,timestamptz)")),
		allLeakproof(compareInts.of(2, "(xid,xid|int4)")),
		allLeakproof(compareInts.of(1, "(cid,cid)")),
		allLeakproof(compareBy("(xid8,xid8)", expr.Immutable,
			func(_ *expr.Runtime, a, b types.Datum) (int, error) {
				return cmp.Compare(uint64(a.I), uint64(b.I)), nil
			})),
		allLeakproof(compareBy("(tid,tid)", expr.Immutable, compareByArgType)),
		allLeakproof(compareFloats.of(all, "(float4|float8,float4|float8)")),
		allLeakproof(compareStrings.of(all, "(text|name,text|name)", "(bpchar,bpchar)",
			"(bytea,bytea)", "(uuid,uuid)", "(char,char)", "(bit,bit)", "(varbit,varbit)",
			"(inet,inet)", "(timetz,timetz)", "(macaddr,macaddr)", "(macaddr8,macaddr8)")),
		compareStrings.of(all, "(anyenum,anyenum)"),
		compareDecimals.of(all, "(numeric,numeric)"),
		allLeakproof(compareBy("(interval,interval)", expr.Immutable, compareByArgType)),
		compareBy("(jsonb,jsonb)", expr.Immutable, compareByArgType),
		compareBy("(anyrange,anyrange)", expr.Immutable, compareByArgType),
		compareBy("(anymultirange,anymultirange)", expr.Immutable, compareByArgType),
		arrayComparisons(),
		recordComparisons(),
		allLeakproof(compareBy("(oidvector,oidvector)", expr.Immutable, compareByArgType)),
		dateTimeComparisons())
}

// arrayComparisons are the operators of arrays, whose elements must be of a type that can be
// compared.
func arrayComparisons() []def {
	out := compareBy("(anyarray,anyarray)", expr.Immutable, compareByArgType)
	for i := range out {
		need := comparisonFunction
		if i < 2 {
			need = equalityOperator
		}
		out[i].fn = comparing(need, out[i].fn)
	}
	return out
}

// What the elements of an array must have.
const (
	comparisonFunction = "a comparison function"
	equalityOperator   = "an equality operator"
)

// comparing makes a function of arrays fail if the type of their elements has not what it needs.
func comparing(need string, fn scalar) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		for _, t := range rt.ArgTypes {
			if t.Elem != nil && t.Elem.Unordered() {
				return types.Null, errNotComparable(need, t.Elem)
			}
		}
		return fn(rt, a)
	}
}

func errNotComparable(need string, t *types.Type) error {
	return sqlerr.New(sqlerr.UndefinedFunction, "could not identify %s for type %s", need,
		t.SQLName())
}

func compareByArgType(rt *expr.Runtime, a, b types.Datum) (int, error) {
	return types.Compare(rt.ArgTypes[0], a, b), nil
}

// dateTimeComparisons compare dates and timestamps. The session's time zone determines the moment
// that a date or timestamp is when it is compared with a timestamptz.
func dateTimeComparisons() (out []def) {
	moment := map[string]func(v int64, loc *time.Location) int64{
		"date":        zonedDateMicros,
		"timestamp":   zonedMicros,
		"timestamptz": func(v int64, _ *time.Location) int64 { return v },
	}
	for _, pair := range []string{"date,timestamp", "timestamp,date", "date,timestamptz",
		"timestamptz,date", "timestamp,timestamptz", "timestamptz,timestamp"} {
		first, second, _ := strings.Cut(pair, ",")
		left, right := moment[first], moment[second]
		zoned, vol := strings.Contains(pair, "timestamptz"), expr.Immutable
		if zoned {
			vol = expr.Stable
		}
		out = append(out, compareBy("("+pair+")", vol,
			func(rt *expr.Runtime, a, b types.Datum) (int, error) {
				loc := time.UTC
				if zoned {
					loc = location(rt)
				}
				return cmp.Compare(left(a.I, loc), right(b.I, loc)), nil
			})...)
	}
	return out
}

// dateMicros converts a date to a timestamp for comparison: a date outside of the range of
// timestamps is below or above all finite ones.
func dateMicros(d int64) int64 { return zonedDateMicros(d, time.UTC) }

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
