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
		"j2451187 t0405", "((1,2),(3,NaN))", "<(1,2),3>", "[(1e5,-inf),(0x10,2)]", "{1,2,3}",
		"{(1,2),(3,4);(5,6),(7,8)}",
		`<?xml version="1.0" standalone="yes"?><a b="&lt;">x<!-- c --><![CDATA[d]]></a><?p q?>`,
	} {
		for n := range 30 {
			f.Add(i*7+n, s)
		}
	}
	all := All()
	f.Fuzz(func(t *testing.T, n int, s string) {
		typ := all[int(uint(n)%uint(len(all)))]
		d, err := ParseText(typ, s, nil)
		if err != nil || typ.Family == Void || typ.Family == JSONPath || typ.Family == XML {
			return
		}
		text := Text(typ, d, nil)
		again, err := ParseText(typ, text, nil)
		require.NoError(t, err, "%s %q → %q", typ, s, text)
		require.Zero(t, Compare(typ, d, again), "%s %q → %q", typ, s, text)
		require.Equal(t, Hash(typ, d, 1), Hash(typ, again, 1), "%s %q → %q", typ, s, text)
	})
}

// userTypes are types as users make them: an enum, a composite type over it, domains, and arrays.
func userTypes() []*Type {
	ints, _ := ByName("int4range")
	mood := NewUserType(&Type{OID: 50001, Name: "mood", Def: &Definition{Kind: KindEnum,
		ArrayOID: 50002, ArrayName: "_mood", Labels: []Label{{50003, "sad", "\x40", false},
			{50004, "so, so", "\x60", false}, {50005, "", "\x80", false}}}})
	span := NewUserType(&Type{OID: 50006, Name: "span", Def: &Definition{Kind: KindDomain,
		ArrayOID: 50007, ArrayName: "_span", Base: ints}})
	place := NewUserType(&Type{OID: 50008, Name: "place", Def: &Definition{Kind: KindComposite,
		ArrayOID: 50009, ArrayName: "_place", Attributes: []Attribute{{Name: "a", Type: TInt4},
			{Name: "b", Type: TText}, {Name: "c", Type: mood}, {Name: "d", Type: ArrayOf(mood)},
			{Name: "e", Type: span}}}})
	nested := NewUserType(&Type{OID: 50010, Name: "nested", Def: &Definition{Kind: KindComposite,
		ArrayOID: 50011, ArrayName: "_nested", Attributes: []Attribute{{Name: "p", Type: place},
			{Name: "q", Type: ArrayOf(place)}}}})
	return []*Type{mood, span, place, nested, ArrayOf(mood), ArrayOf(span), ArrayOf(place),
		ArrayOf(nested)}
}

// FuzzUserTypes: what is taken as text or as bytes has a text and bytes that give an equal value.
func FuzzUserTypes(f *testing.F) {
	all := userTypes()
	for i := range all {
		for _, s := range []string{"sad", `"so, so"`, "[1,5)",
			`(1,"a ""b"" \\ c",sad,"{sad,NULL}",empty)`,
			`("(,,,,)","{""(1,x,,,)"",NULL}")`, `{"(1,\"x\",,{},)"}`,
			"{[1\\,2)}", "{{sad},{\"so, so\"}}",
			"\x00\x00\x00\x01\x00\x00\xc3\x51\x00\x00\x00\x03sad",
			"\x02\x00\x00\x00\x04\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x05"} {
			f.Add(i, s)
		}
	}
	f.Fuzz(func(t *testing.T, n int, s string) {
		typ := all[int(uint(n)%uint(len(all)))]
		for _, parse := range []func() (Datum, error){
			func() (Datum, error) {
				if err := CheckUTF8([]byte(s)); err != nil {
					return Datum{}, err
				}
				return ParseText(typ, s, nil)
			},
			func() (Datum, error) { return ParseBinary(typ, []byte(s), nil) },
		} {
			d, err := parse()
			if err != nil {
				continue
			}
			text := Text(typ, d, nil)
			again, err := ParseText(typ, text, nil)
			require.NoError(t, err, "%s %q → %q", typ, s, text)
			require.Zero(t, Compare(typ, d, again), "%s %q → %q", typ, s, text)
			require.Equal(t, Hash(typ, d, 1), Hash(typ, again, 1), "%s %q → %q", typ, s, text)
			again, err = ParseBinary(typ, AppendBinary(nil, typ, d), nil)
			require.NoError(t, err, "%s %q", typ, s)
			require.Zero(t, Compare(typ, d, again), "%s %q", typ, s)
		}
	})
}

// FuzzJSONPath: no text makes the parser or the printer panic. What is printed cannot always be
// read again: PostgreSQL leaves out parentheses that it needs.
func FuzzJSONPath(f *testing.F) {
	for _, s := range []string{`strict $.a[*].b ? (@ > 1 && exists(@.c)).size()`, `$."x\u0041"`,
		`-1 + $v % 2`, `$.**{1 to last} like_regex "^a" flag "i"`, `($ == 1) is unknown`,
		`$[0, last - 1 to 2].datetime("HH24")`, `lax 1.5e3.type()`, `$ starts with $"a b"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		path, err := ParsePath(s, nil)
		if err != nil {
			return
		}
		if again, err := ParsePath(path.String(), nil); err == nil {
			_ = again.String()
		}
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
