package builtin

import (
	"math"
	"math/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// A bound must select the same keys as the comparison. The test compares both for all pairs of
// types, with keys and values at the limits of either type, around changes of a zone's offset, and
// at random.
func TestBoundsOfKeysAgreeWithTheComparison(t *testing.T) {
	for _, zone := range []string{"UTC", "America/New_York", "Pacific/Apia", "Asia/Kolkata",
		"Europe/London"} {
		z, err := types.ParseZone(zone)
		require.NoError(t, err)
		rt := &expr.Runtime{Location: z.Location, Format: types.DefaultFormat}
		for c, b := range keyBounds() {
			if zone != "UTC" && b.Func.Volatility == expr.Immutable {
				continue
			}
			checkBound(t, rt, c, b)
		}
	}
}

func checkBound(t *testing.T, rt *expr.Runtime, c keyComparison, b KeyBound) {
	key, value := typeOf(t, c.key), typeOf(t, c.value)
	holds, keys := comparison(t, rt, key, c.op, value), samples(key)
	for _, v := range samples(value) {
		bound, err := b.Func.Scalar(rt, []types.Datum{v})
		require.NoError(t, err)
		for _, k := range keys {
			want := holds(k, v)
			got := !bound.Null && onSide(c.op, types.Compare(key, k, bound), b.Inclusive)
			if want != got && (want || b.Exact) {
				t.Fatalf("%s: %s %s %s is %v, but the bound is %s", rt.Location,
					show(key, k), c.op, show(value, v), want, show(key, bound))
			}
		}
	}
}

func typeOf(t *testing.T, oid types.OID) *types.Type {
	found, ok := types.ByOID(oid)
	require.True(t, ok)
	return found
}

func show(t *types.Type, d types.Datum) string {
	if d.Null {
		return "NULL"
	}
	return types.Text(t, d, &types.DefaultFormat) + "::" + t.Name
}

func onSide(op string, compared int, inclusive bool) bool {
	switch op {
	case "=":
		return compared == 0
	case "<", "<=":
		return compared < 0 || compared == 0 && inclusive
	}
	return compared > 0 || compared == 0 && inclusive
}

// comparison makes the expression of the filter: the operator and the casts that it needs.
func comparison(t *testing.T, rt *expr.Runtime, key *types.Type, op string,
	value *types.Type) func(k, v types.Datum) bool {
	fn, targets, err := ResolveOperator(op, key, value)
	require.NoError(t, err)
	if key.OID == types.OIDBPChar { // with a varchar, the binder casts both to char(n)
		fn, targets, err = ResolveOperator(op, types.TText, types.TText)
		require.NoError(t, err)
	}
	cast := func(d types.Datum, from, to *types.Type) types.Datum {
		if from.OID == to.OID {
			return d
		}
		out, err := types.Cast(d, from, to, false, &rt.Format)
		require.NoError(t, err)
		return out
	}
	return func(k, v types.Datum) bool {
		d, err := fn.Scalar(rt, []types.Datum{cast(k, key, targets[0]), cast(v, value, targets[1])})
		require.NoError(t, err)
		return d.Bool()
	}
}

// samples returns values of a type: its limits, and those of the types that it is compared with.
func samples(t *types.Type) []types.Datum {
	var out []types.Datum
	switch t.Family {
	case types.Int:
		most := int64(1)<<(uint(t.Len)*8-1) - 1
		for _, i := range wholeSamples() {
			if i >= -most-1 && i <= most {
				out = append(out, types.NewInt(i))
			}
		}
	case types.Float:
		for _, f := range floatSamples() {
			if t.OID == types.OIDFloat4 {
				f = float64(float32(f))
			}
			out = append(out, types.NewFloat(f))
		}
	case types.Decimal:
		for _, s := range []string{"0", "0.5", "-0.5", "1.0", "1.5", "-1.5", "32767", "32767.5",
			"32768", "-32768.5", "2147483647",
			"2147483647.1", "2147483648", "-2147483648", "-2147483648.1", "9223372036854775807",
			"9223372036854775807.5",
			"9223372036854775808", "-9223372036854775808", "-9223372036854775808.5",
			"-9223372036854775809",
			"1e40", "-1e40", "1e-40", "NaN", "Infinity", "-Infinity"} {
			d, err := types.ParseNumeric(s)
			if err != nil {
				panic(err)
			}
			out = append(out, types.Datum{Dec: d})
		}
	case types.String:
		for _, s := range []string{"", "a", "a\x01", "a!", "a b", "ab", "b", "\x01", "!", "é"} {
			out = append(out, types.NewString(s))
			if t.OID != types.OIDBPChar {
				out = append(out, types.NewString(s+" "), types.NewString(s+"  "))
			}
		}
	case types.Date:
		for _, us := range timeSamples() {
			out = append(out, types.NewInt(types.TimestampToDate(us)))
		}
		first, last := types.FiniteDates()
		out = append(out, types.NewInt(first), types.NewInt(last), types.NewInt(first+1),
			types.NewInt(last-1))
	case types.Timestamp:
		for _, us := range timeSamples() {
			out = append(out, types.NewInt(us))
		}
	}
	return out
}

func wholeSamples() []int64 {
	var out []int64
	for _, edge := range []int64{0, 10, math.MaxInt16, math.MinInt16, math.MaxInt32, math.MinInt32,
		1 << 24, 1 << 53, -1 << 53,
		1<<53 + 1024, 1 << 62, math.MaxInt64 - 512, math.MinInt64 + 1024} {
		out = append(out, edge-2, edge-1, edge, edge+1, edge+2)
	}
	return append(out, math.MaxInt64, math.MaxInt64-1, math.MinInt64, math.MinInt64+1)
}

func floatSamples() []float64 {
	out := []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1), 0.1, -0.1, 0.5,
		1.5, math.MaxFloat32,
		math.MaxFloat64, -math.MaxFloat32, -math.MaxFloat64, math.SmallestNonzeroFloat32,
		math.SmallestNonzeroFloat64,
		-math.SmallestNonzeroFloat64, math.MaxFloat32 * (1 + 1e-9), 0x1p63, -0x1p63, 0x1p64}
	for _, i := range wholeSamples() {
		f := float64(i)
		out = append(out, f, math.Nextafter(f, 1e300), math.Nextafter(f, -1e300),
			float64(math.Nextafter32(float32(f), -1e30)))
	}
	return out
}

// timeSamples returns times around midnights, changes of a zone's offset, and the limits of the
// calendar.
func timeSamples() []int64 {
	rng := rand.New(rand.NewSource(1))
	out := []int64{types.NegInfinity, types.PosInfinity}
	for _, at := range []time.Time{
		time.Date(2021, 3, 14, 2, 0, 0, 0, time.UTC), time.Date(2021, 3, 14, 7, 0, 0, 0, time.UTC),
		time.Date(2021, 11, 7, 6, 0, 0, 0, time.UTC), time.Date(2011, 12, 30, 10, 0, 0, 0,
			time.UTC),
		time.Date(2021, 3, 28, 1, 0, 0, 0, time.UTC), time.Date(1883, 11, 18, 17, 0, 0, 0,
			time.UTC),
		time.Date(1892, 7, 4, 12, 0, 0, 0, time.UTC), time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(-4712, 11, 24, 0, 0, 0, 0, time.UTC), time.Date(294276, 12, 30, 0, 0, 0, 0,
			time.UTC),
	} {
		us := types.TimestampFromTime(at)
		for _, by := range []time.Duration{0, 1000, -1000, time.Hour, -time.Hour, 24 * time.Hour,
			-24 * time.Hour,
			time.Duration(rng.Int63n(int64(96 * time.Hour))),
			-time.Duration(rng.Int63n(int64(96 * time.Hour)))} {
			if v := us + by.Microseconds(); types.ValidTimestamp(v) {
				out = append(out, v)
				if midnight := v - (v%types.MicrosPerDay+
					types.MicrosPerDay)%types.MicrosPerDay; types.ValidTimestamp(midnight) {
					out = append(out, midnight)
				}
			}
		}
	}
	return out
}
