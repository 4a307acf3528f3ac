package codec

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table/types"
)

func numeric(t testing.TB, s string) types.Datum {
	d, err := types.ParseNumeric(s)
	require.NoError(t, err)
	return types.NewDecimal(d)
}

// samples are datums of a type, at least one of them at each edge of the encoding.
func samples(t testing.TB) map[*types.Type][]types.Datum {
	m := map[*types.Type][]types.Datum{
		types.TBool: {types.NewBool(false), types.NewBool(true)},
		types.TFloat8: {{F: math.Inf(-1)}, {F: -1e300}, {F: -1}, {F: -5e-324}, {F: 0},
			{F: math.Copysign(0, -1)},
			{F: 5e-324}, {F: 0.5}, {F: 1}, {F: math.MaxFloat64}, {F: math.Inf(1)}, {F: math.NaN()}},
		types.TUUID: {{S: string(make([]byte, 16))}, {S: "0123456789abcdef"},
			{S: string(bytes.Repeat([]byte{255}, 16))}},
		types.TInterval: {{Iv: types.IntervalValue{Months: -1}},
			{Iv: types.IntervalValue{Micros: -1}}, {}, {Iv: types.IntervalValue{Days: 1}},
			{Iv: types.IntervalValue{Micros: types.MicrosPerDay}},
			{Iv: types.IntervalValue{Months: 1}}, {Iv: types.IntervalValue{Days: 30}},
			{Iv: types.IntervalValue{Months: math.MaxInt32, Days: math.MaxInt32,
				Micros: math.MaxInt64}},
			{Iv: types.IntervalValue{Months: math.MinInt32, Days: math.MinInt32,
				Micros: math.MinInt64}}},
	}
	for _, i := range []int64{math.MinInt64, math.MinInt64 + 1, -1 << 40, -65537, -65536, -257,
		-256, -255, -2, -1, 0, 1, 5, 108, 109, 110,
		255, 256, 65535, 65536, 1 << 40, math.MaxInt64 - 1, math.MaxInt64} {
		m[types.TInt8] = append(m[types.TInt8], types.NewInt(i))
	}
	for _, s := range []string{"", "a", "ab", "b", "\x00", "\x00\x00", "\x01", "\x01\x01", "\x02",
		"\x02\x01", "\x03", "a\x00", "a\x00b", "a\x01", "\xff", "é"} {
		m[types.TBytea] = append(m[types.TBytea], types.NewString(s))
		m[types.TText] = append(m[types.TText], types.NewString(s))
	}
	for _, s := range []string{"NaN", "Infinity", "-Infinity", "0", "0.00", "1", "1.0", "1.00",
		"-1", "10", "100", "99", "9.9", "0.001", "-0.001",
		"123456789012345678901234567890", "-123456789012345678901234567890.5", "12.5", "12.50",
		"12.51", "1e-100", "1e100", "-99.99", "7", "70"} {
		m[types.TNumeric] = append(m[types.TNumeric], numeric(t, s))
	}
	for _, s := range []string{`null`, `"a"`, `"b"`, `""`, `1`, `1.0`, `-2`, `true`, `false`, `[]`,
		`[[]]`, `[1]`, `[1, 2]`, `[2]`, `["a"]`, `{}`,
		`{"a": 1}`, `{"a": 2}`, `{"b": 1}`, `{"a": 1, "b": 2}`, `[{}]`} {
		m[types.TJSONB] = append(m[types.TJSONB], types.NewString(s))
	}
	for _, digits := range []string{"", "0", "00", "0000000", "00000000", "1", "10", "1000000",
		"10000000", "100000001", "01", "0111111", "01111111", "11111111111111", "111111111111111"} {
		m[types.TVarbit] = append(m[types.TVarbit], types.NewString(types.PackBits(digits)))
	}
	for _, s := range []string{"0.0.0.0/0", "0.0.0.0", "10.0.0.0/8", "10.0.0.1/8", "10.0.0.0/9",
		"10.128.0.0/9", "10.0.0.0/16", "10.1.2.3", "255.255.255.255", "::/0", "::", "::1", "1::/16",
		"1::1/16", "ffff::/17"} {
		d, err := types.ParseText(types.TInet, s, nil)
		require.NoError(t, err)
		m[types.TInet] = append(m[types.TInet], d)
	}
	for _, s := range []string{"00:00+15:59", "10:00+00", "10:00+01", "09:00+00", "24:00-15:59"} {
		d, err := types.ParseText(types.TTimeTZ, s, nil)
		require.NoError(t, err)
		m[types.TTimeTZ] = append(m[types.TTimeTZ], d)
	}
	for _, s := range []string{"", "a", "A", "ab", "aB", "b", "É", "é", "Z"} {
		m[types.TCIText] = append(m[types.TCIText], types.NewString(s))
	}
	for _, s := range []string{"", "a=>1", "a=>2", "a=>NULL", `a=>""`, "ab=>1", "a=>b1", "b=>1",
		"a=>1,b=>2", "a=>1b2", "a=>1,b=>NULL", `a=>1,b=>""`, `""=>""`, `""=>NULL`, `""=>a`} {
		d, err := types.ParseText(types.THStore, s, nil)
		require.NoError(t, err)
		m[types.THStore] = append(m[types.THStore], d)
	}
	for _, v := range []uint64{0, 1, 1 << 32, math.MaxInt64, 1 << 63, math.MaxUint64} {
		m[types.TLSN] = append(m[types.TLSN], types.NewLSN(v))
	}
	for _, s := range []string{"empty", "(,)", "(,1)", "(,1]", "[1,1]", "[1.0,2)", "[1,2]", "(1,2)",
		"(1.00,2]", "[1,)", "(1,)", "(-5,)"} {
		nums := types.RangeOf(types.TNumeric)
		d, err := types.ParseText(nums, s, nil)
		require.NoError(t, err)
		m[nums] = append(m[nums], d)
	}
	multi := types.MultiRangeOf(types.RangeOf(types.TInt4))
	for _, s := range []string{"{}", "{(,)}", "{[1,2)}", "{[1,2),[3,4)}", "{[1,2),[3,)}", "{[1,3)}",
		"{[2,3)}"} {
		d, err := types.ParseText(multi, s, nil)
		require.NoError(t, err)
		m[multi] = append(m[multi], d)
	}
	ints := &types.Type{OID: 1016, Family: types.Array, Name: "_int8", Mod: types.NoMod,
		Elem: types.TInt8, Len: -1}
	m[ints] = []types.Datum{types.NewArray(nil), types.NewArray([]types.Datum{types.NewInt(1)}),
		types.NewArray([]types.Datum{types.Null}),
		types.NewArray([]types.Datum{types.NewInt(1), types.NewInt(2)}),
		types.NewArray([]types.Datum{types.NewInt(300)}),
		{Arr: &types.ArrayValue{Elems: []types.Datum{types.NewInt(1)}, Dims: []int{1},
			Lower: []int{0}}}}
	return m
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

func TestKeysAreOrderedAsTheirDatums(t *testing.T) {
	for typ, ds := range samples(t) {
		for _, a := range ds {
			for _, b := range ds {
				up, err := AppendKey(nil, typ, a, false, false)
				require.NoError(t, err)
				up2, _ := AppendKey(nil, typ, b, false, false)
				down, _ := AppendKey(nil, typ, a, true, false)
				down2, _ := AppendKey(nil, typ, b, true, false)
				want := sign(types.Compare(typ, a, b))
				require.Equal(t, want, bytes.Compare(up, up2), "%s %v %v", typ.Name, a, b)
				require.Equal(t, -want, bytes.Compare(down, down2), "%s desc %v %v", typ.Name, a, b)
				if want != 0 {
					require.False(t, bytes.HasPrefix(up2, up), "%s %v %v", typ.Name, a, b)
				}
			}
		}
	}
}

func TestKeysAndValuesComeBack(t *testing.T) {
	for typ, ds := range samples(t) {
		for _, d := range append(ds, types.Null) {
			for _, desc := range []bool{false, true} {
				key, err := AppendKey([]byte("x"), typ, d, desc, true)
				require.NoError(t, err)
				key = append(key, "rest"...)
				got, rest, err := ReadKey(key[1:], typ, desc, true)
				require.NoError(t, err)
				require.Equal(t, "rest", string(rest))
				require.Zero(t, types.Compare(typ, d, got), "%s %v %v", typ.Name, d, got)
				if KeyExact(typ) {
					require.Equal(t, d, got)
				}
				rest, err = SkipKey(key[1:], typ, desc, true)
				require.NoError(t, err)
				require.Equal(t, "rest", string(rest))
			}
			field, err := EncodeValue(typ, d)
			require.NoError(t, err)
			got, err := DecodeValue(field, typ)
			require.NoError(t, err)
			require.Zero(t, types.Compare(typ, d, got))
			if typ.Family == types.Decimal && !d.Null {
				require.Equal(t, types.NumericString(d.Dec), types.NumericString(got.Dec),
					"the scale is kept")
			}
		}
	}
}

func TestNullsStandWhereTheyAreWanted(t *testing.T) {
	for _, desc := range []bool{false, true} {
		value, _ := AppendKey(nil, types.TInt8, types.NewInt(math.MinInt64), desc, false)
		first, _ := AppendKey(nil, types.TInt8, types.Null, desc, true)
		last, _ := AppendKey(nil, types.TInt8, types.Null, desc, false)
		require.Negative(t, bytes.Compare(first, value))
		require.Positive(t, bytes.Compare(last, value))
	}
}

func TestColumnsAreReadOneByOne(t *testing.T) {
	long := types.NewString(string(bytes.Repeat([]byte("x"), 70_000)))
	var value []byte
	var err error
	in := []struct {
		id uint32
		t  *types.Type
		d  types.Datum
	}{{1, types.TInt4, types.NewInt(-5)}, {2, types.TText, types.Null}, {3, types.TText,
		types.NewString("")}, {200, types.TText, long},
		{70000, types.TText, types.NewString(string(bytes.Repeat([]byte("y"), 126)))}, {70001,
			types.TText, types.NewString(string(bytes.Repeat([]byte("z"), 127)))}}
	for _, c := range in {
		value, err = AppendColumn(value, c.id, c.t, c.d)
		require.NoError(t, err)
	}
	for _, c := range in {
		var id uint32
		var field []byte
		id, field, value, err = NextColumn(value)
		require.NoError(t, err)
		require.Equal(t, c.id, id)
		got, err := DecodeValue(field, c.t)
		require.NoError(t, err)
		require.Equal(t, c.d, got)
	}
	require.Empty(t, value)
}

func TestTypesWithoutAnOrderAreRefused(t *testing.T) {
	_, err := AppendKey(nil, types.TJSON, types.NewString("{}"), false, false)
	var coded interface{ SQLState() string }
	require.True(t, errors.As(err, &coded))
	require.Equal(t, "42883", coded.SQLState())
	require.False(t, Indexable(types.TJSON))
	require.True(t, Indexable(types.TText))
}

func TestRandomNumericsAreOrdered(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var ds []types.Datum
	for range 300 {
		digits := make([]byte, 1+rng.IntN(20))
		for i := range digits {
			digits[i] = byte('0' + rng.IntN(10))
		}
		s := string(digits)
		if at := rng.IntN(len(s) + 1); at < len(s) {
			s = s[:at] + "." + s[at:]
		}
		if rng.IntN(2) == 0 {
			s = "-" + s
		}
		ds = append(ds, numeric(t, s))
	}
	sort.Slice(ds, func(i, j int) bool { return types.Compare(types.TNumeric, ds[i], ds[j]) < 0 })
	var last []byte
	for i, d := range ds {
		key, err := AppendKey(nil, types.TNumeric, d, false, false)
		require.NoError(t, err)
		if i > 0 {
			require.Equal(t, sign(types.Compare(types.TNumeric, ds[i-1], d)),
				bytes.Compare(last, key))
		}
		last = key
	}
}

func FuzzDecode(f *testing.F) {
	all := samples(f)
	for typ, ds := range all {
		for _, d := range ds {
			key, _ := AppendKey(nil, typ, d, false, false)
			f.Add(key)
			field, _ := EncodeValue(typ, d)
			f.Add(field)
			column, _ := AppendColumn(nil, 7, typ, d)
			f.Add(column)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for typ := range all {
			for _, desc := range []bool{false, true} {
				d, rest, err := ReadKey(b, typ, desc, false)
				if err != nil {
					require.ErrorIs(t, err, kv.ErrCorruption)
					continue
				}
				skipped, err := SkipKey(b, typ, desc, false)
				require.NoError(t, err)
				require.Equal(t, rest, skipped)
				if typ.Family != types.JSON { // its text may be what no JSON parser takes
					_, err = AppendKey(nil, typ, d, desc, false)
					require.NoError(t, err)
				}
			}
			if d, err := DecodeValue(b, typ); err == nil && b != nil {
				_, err := EncodeValue(typ, d)
				require.NoError(t, err)
			}
		}
		_, _, _, _ = NextColumn(b)
	})
}

func FuzzStringOrder(f *testing.F) {
	f.Add("a", "b")
	f.Add("\x00\x01", "\x02")
	f.Fuzz(func(t *testing.T, a, b string) {
		ka, _ := AppendKey(nil, types.TBytea, types.NewString(a), false, false)
		kb, _ := AppendKey(nil, types.TBytea, types.NewString(b), false, false)
		require.Equal(t, sign(bytes.Compare([]byte(a), []byte(b))), bytes.Compare(ka, kb))
		d, rest, err := ReadKey(ka, types.TBytea, false, false)
		require.NoError(t, err)
		require.Empty(t, rest)
		require.Equal(t, a, d.S)
	})
}

func BenchmarkAppendKey(b *testing.B) {
	buf := make([]byte, 0, 64)
	d := types.NewInt(123456)
	for b.Loop() {
		buf, _ = AppendKey(buf[:0], types.TInt8, d, false, false)
	}
}

func BenchmarkDecodeColumn(b *testing.B) {
	value, _ := AppendColumn(nil, 3, types.TInt8, types.NewInt(123456))
	for b.Loop() {
		_, field, _, _ := NextColumn(value)
		_, _ = DecodeValue(field, types.TInt8)
	}
}
