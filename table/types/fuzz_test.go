package types

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzParseText: whatever is taken is written in a form that is taken again as an equal value.
func FuzzParseText(f *testing.F) {
	for i, s := range []string{
		"2020-01-02 03:04:05+02", "1 year 2 mons -3 days 04:05:06.7", "P1Y2M3DT4H5M6S",
		"{1,{2},NULL}",
		`{"a":[1,2.50,"x"],"b":null}`, "-1.5e-10", "[2:3]={a,\"b c\"}", "Jan 5 1999 BC", "\\x00ff",
		"j2451187 t0405",
	} {
		for n := range 30 {
			f.Add(i*7+n, s)
		}
	}
	all := All()
	f.Fuzz(func(t *testing.T, n int, s string) {
		typ := all[int(uint(n)%uint(len(all)))]
		d, err := ParseText(typ, s, nil)
		if err != nil || typ.Family == Void {
			return
		}
		text := Text(typ, d, nil)
		again, err := ParseText(typ, text, nil)
		require.NoError(t, err, "%s %q → %q", typ, s, text)
		require.Zero(t, Compare(typ, d, again), "%s %q → %q", typ, s, text)
		require.Equal(t, Hash(typ, d, 1), Hash(typ, again, 1), "%s %q → %q", typ, s, text)
	})
}

// FuzzNumeric: the laws of arithmetic that rounding does not break.
func FuzzNumeric(f *testing.F) {
	f.Add("1.5", "-0.003")
	f.Add("123456789012345678901234567890", "7")
	f.Add("NaN", "Infinity")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, err1 := ParseNumeric(a)
		y, err2 := ParseNumeric(b)
		if err1 != nil || err2 != nil || len(a)+len(b) > 300 ||
			NumericScale(x)+NumericScale(y) > 2000 {
			return
		}
		if sum, err := NumericAdd(x, y); err == nil {
			back, err := NumericSub(sum, y)
			if err == nil && !isNaN(back) && !isInf(y) {
				require.Zero(t, NumericCmp(x, back), "%s + %s", a, b)
			}
		}
		if q, err := NumericDivTrunc(x, y); err == nil && !isNaN(q) && !isInf(q) && !isInf(y) {
			r, err := NumericMod(x, y)
			require.NoError(t, err)
			p, err := NumericMul(q, y)
			require.NoError(t, err)
			back, err := NumericAdd(p, r)
			require.NoError(t, err)
			require.Zero(t, NumericCmp(x, back), "%s %% %s", a, b)
		}
		require.Equal(t, -NumericCmp(x, y), NumericCmp(y, x))
		_, _ = NumericDiv(x, y)
		_, _ = NumericSqrt(x, nil)
	})
}
