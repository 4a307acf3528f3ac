package types

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/table/geometry"
)

// samples has two values for each family that holds any, the first below the second.
var samples = map[Family][2]Datum{
	Bool: {NewInt(0), NewInt(1)}, Int: {NewInt(-3), NewInt(4)}, Date: {NewInt(1), NewInt(2)},
	Time: {NewInt(5), NewInt(6)}, Timestamp: {NewInt(7), NewInt(8)},
	Float:   {NewFloat(0.5), NewFloat(1.5)},
	Decimal: {NewDecimal(NumericFromInt(1)), NewDecimal(NumericFromInt(2))},
	String:  {NewString("a"), NewString("b")}, Bytes: {NewString("\x00"), NewString("\xff")},
	UUID:   {NewString("0123456789abcdef"), NewString("fedcba9876543210")},
	Bit:    {NewString(PackBits("01")), NewString(PackBits("010"))},
	TID:    {NewString("\x00\x00\x00\x00\x00\x01"), NewString("\x00\x00\x00\x00\x00\x02")},
	Inet:   {Address{Bits: 8}.Datum(), Address{Bits: 9}.Datum()},
	TimeTZ: {ZonedTime{West: -1}.Datum(), ZonedTime{West: 1}.Datum()},
	Money:  {NewInt(-5), NewInt(6)},
	LSN:    {NewLSN(1), NewLSN(1 << 63)},
	Enum:   {NewString("a"), NewString("b")},
	Range:  {rangeSample(1), rangeSample(2)},
	MultiRange: {MultiRangeDatum([]RangeValue{RangeFrom(rangeSample(1))}),
		MultiRangeDatum([]RangeValue{RangeFrom(rangeSample(2))})},
	XML:       {NewString("<a/>"), NewString("<b/>")},
	JSONPath:  {NewString("$.a"), NewString("$.b")},
	Geometric: {ShapeDatum(geometry.Point{X: 1, Y: 2}), ShapeDatum(geometry.Point{X: 2, Y: 1})},
	MacAddr:   {NewString("012345"), NewString("123456")},
	MacAddr8:  {NewString("01234567"), NewString("12345678")},
	JSON:      {NewString("1"), NewString("2")},
	CIText:    {NewString("a"), NewString("B")},
	HStore:    {hstoreSample("1"), hstoreSample("2")},
	Interval:  {NewInterval(IntervalValue{Days: 1}), NewInterval(IntervalValue{Months: 1})},
	Array:     {NewArray([]Datum{NewInt(1)}), NewArray([]Datum{NewInt(2)})},
	Record:    {record(1), record(2)},
}

func hstoreSample(value string) Datum {
	d, _ := NewHStore([]HStorePair{{Key: "k", Value: value}})
	return d
}

func record(n int64) Datum {
	return Datum{Arr: &ArrayValue{Elems: []Datum{NewInt(n)}, Types: []*Type{TInt8}}}
}

func rangeSample(n int64) Datum {
	r, _ := MakeRange(&Type{Sub: TInt8}, Bound{Value: NewInt(n), Inclusive: true},
		Bound{Value: NewInt(n + 1)})
	return r.Datum()
}

func sampleType(f Family) *Type {
	if f == Array {
		return &Type{Family: Array, Elem: TInt8}
	}
	switch f {
	case Range:
		return &Type{Family: f, Sub: TInt8}
	case MultiRange:
		return &Type{Family: f, Sub: &Type{Family: Range, Sub: TInt8}}
	}
	return &Type{Family: f}
}

func TestEveryFamilyHasAStorageClass(t *testing.T) {
	require.Equal(t, NoStorage, Void.Storage())
	for f := Bool; f <= XML; f++ {
		require.NotEqual(t, NoStorage, f.Storage(), "family %d", f)
		if order := f.Order(); order != NoStorage {
			require.Equal(t, f.Storage(), order, "family %d", f)
		}
		if f != JSONPath { // it has no order
			require.Contains(t, samples, f)
		}
	}
}

func TestOperationsOnVectorsOfEachFamily(t *testing.T) {
	for f, sample := range samples {
		typ := sampleType(f)
		a, b := sample[0], sample[1]
		v := NewVec(typ, 0)
		v.Reserve(3)
		for _, d := range []Datum{a, Null, b} {
			v.Append(d)
		}
		requireEntries(t, v, a, Null, b)

		w := NewVec(typ, 0)
		w.AppendRows(v, []int32{2, 0})
		requireEntries(t, w, b, a)
		w.Gather(v, []int32{1, 2})
		requireEntries(t, w, Null, b)
		w.GatherOuter(v, []int32{0, -1, 1})
		requireEntries(t, w, a, Null, Null)
		w.Reset(typ)
		w.Resize(3)
		w.Fill(b, []int32{1})
		w.CopyRows(v, []int32{0, 2})
		requireEntries(t, w, a, b, b)
		w.Slice(v, 1, 3)
		requireEntries(t, w, Null, b)
		v.OwnStrings(0)
		requireEntries(t, v, a, Null, b)

		require.Negative(t, CompareEntries(v, 0, v, 2))
		require.Equal(t, Compare(typ, b, a), CompareEntries(v, 2, v, 0))
		require.True(t, EqualEntries(v, 2, w, 1))
		require.False(t, EqualEntries(v, 0, w, 1))
		require.True(t, EqualEntries(v, 1, w, 0))
		require.False(t, EqualEntries(v, 0, v, 1))
		hashes := HashRows([]*Vec{v}, []int32{0, 1, 2}, nil)
		require.Equal(t, hashes[1:], HashRows([]*Vec{w}, []int32{0, 1}, nil))
		require.Equal(t, a.ExtraSize()+b.ExtraSize(), v.ExtraSize([]int32{0, 2}))
	}
}

func requireEntries(t *testing.T, v *Vec, want ...Datum) {
	t.Helper()
	require.Equal(t, len(want), v.Len)
	for i, d := range want {
		require.Equal(t, d, v.Get(i), "family %d, entry %d", v.Type.Family, i)
	}
}
