package types

import (
	"cmp"
	"slices"
	"strings"
)

// Compare orders two values of type t as PostgreSQL's btree does, in the "C" collation. NULL is
// greater than everything, as inside arrays and records.
func Compare(t *Type, a, b Datum) int {
	if a.Null || b.Null {
		switch {
		case a.Null && b.Null:
			return 0
		case a.Null:
			return 1
		}
		return -1
	}
	switch t.Family.Order() {
	case I64:
		return cmp.Compare(a.I, b.I)
	case F64:
		return CompareFloats(a.F, b.F)
	case Dec:
		return NumericCmp(a.Dec, b.Dec)
	case Iv:
		return IntervalCmp(a.Iv, b.Iv)
	case Str:
		if t.Base().OID == OIDBPChar {
			return strings.Compare(strings.TrimRight(a.S, " "), strings.TrimRight(b.S, " "))
		}
		return strings.Compare(a.S, b.S)
	}
	switch t.Family {
	case JSON:
		return compareJSONText(a.S, b.S)
	case JSONPath, XML, Geometric:
		// SQL does not sort them: this is for what only asks whether a value changed.
		return strings.Compare(a.S, b.S)
	case CIText:
		return strings.Compare(FoldCase(a.S), FoldCase(b.S))
	case TID:
		return compareTIDs(a.S, b.S)
	case Range:
		return CompareRanges(t, RangeFrom(a), RangeFrom(b))
	case MultiRange:
		return compareMultiRanges(t.Sub, a, b)
	case Array:
		return compareArrays(t.Elem, a.Arr, b.Arr)
	case Record:
		return compareRecords(a.Arr, b.Arr)
	}
	return 0
}

// Equal reports whether Compare is 0; two NULLs are equal here.
func Equal(t *Type, a, b Datum) bool {
	if a.Null || b.Null {
		return a.Null && b.Null
	}
	switch t.Family.Order() {
	case I64:
		return a.I == b.I
	case Str:
		if t.Base().OID != OIDBPChar {
			return a.S == b.S
		}
	}
	return Compare(t, a, b) == 0
}

// CompareFloats orders floats with NaN equal to itself and above everything.
func CompareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	// They are equal, or one is NaN. For cmp.Compare that is below everything, so its order of the
	// negated values is reversed.
	return cmp.Compare(-b, -a)
}

func compareJSONText(a, b string) int {
	if a == b {
		return 0
	}
	va, erra := ParseJSON(a, nil)
	vb, errb := ParseJSON(b, nil)
	if erra != nil || errb != nil {
		return strings.Compare(a, b) // not canonical jsonb: an invariant is broken
	}
	return CompareJSON(va, vb)
}

func compareArrays(elem *Type, a, b *ArrayValue) int {
	for i := 0; i < len(a.Elems) && i < len(b.Elems); i++ {
		if c := Compare(elem, a.Elems[i], b.Elems[i]); c != 0 {
			return c
		}
	}
	bounds := min(len(a.Lower), len(b.Lower))
	return cmp.Or(cmp.Compare(len(a.Elems), len(b.Elems)), cmp.Compare(len(a.Dims), len(b.Dims)),
		slices.Compare(a.Dims, b.Dims), slices.Compare(a.Lower[:bounds], b.Lower[:bounds]))
}

func (a *ArrayValue) fieldType(i int) *Type {
	if i < len(a.Types) {
		return a.Types[i]
	}
	return TText
}

func compareRecords(a, b *ArrayValue) int {
	for i := 0; i < len(a.Elems) && i < len(b.Elems); i++ {
		if c := Compare(a.fieldType(i), a.Elems[i], b.Elems[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a.Elems), len(b.Elems))
}
