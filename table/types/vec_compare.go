package types

import (
	"cmp"
	"strings"
)

// EqualEntries reports whether two entries are equal as grouping understands it: NULL equals NULL.
func EqualEntries(a *Vec, i int, b *Vec, j int) bool {
	an, bn := a.HasNull && a.Nulls[i], b.HasNull && b.Nulls[j]
	if an || bn {
		return an && bn
	}
	switch a.Type.Family.Order() {
	case I64:
		return a.I[i] == b.I[j]
	case Str:
		return a.S[i] == b.S[j]
	}
	return CompareEntries(a, i, b, j) == 0
}

// EqualRows is EqualEntries for several columns.
func EqualRows(a []*Vec, i int, b []*Vec, j int) bool {
	for k, v := range a {
		if !EqualEntries(v, i, b[k], j) {
			return false
		}
	}
	return true
}

// CompareEntries orders two entries, neither of which is NULL, as Compare does.
func CompareEntries(a *Vec, i int, b *Vec, j int) int {
	switch a.Type.Family.Order() {
	case I64:
		return cmp.Compare(a.I[i], b.I[j])
	case F64:
		return CompareFloats(a.F[i], b.F[j])
	case Str:
		return strings.Compare(a.S[i], b.S[j])
	case Dec:
		return NumericCmp(a.Dec[i], b.Dec[j])
	case Iv:
		return IntervalCmp(a.Iv[i], b.Iv[j])
	}
	return Compare(a.Type, a.Get(i), b.Get(j))
}
