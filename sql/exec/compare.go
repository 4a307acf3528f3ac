package exec

import (
	"cmp"
	"strings"

	"github.com/minidb/minidb/table/types"
)

// equalEntries says whether two entries are equal as grouping understands it: NULL equals NULL.
func equalEntries(a *types.Vec, i int, b *types.Vec, j int) bool {
	an, bn := a.HasNull && a.Nulls[i], b.HasNull && b.Nulls[j]
	if an || bn {
		return an && bn
	}
	switch a.Type.Family {
	case types.Bool, types.Int, types.Date, types.Time, types.Timestamp:
		return a.I[i] == b.I[j]
	case types.String, types.Bytes, types.UUID:
		return a.S[i] == b.S[j]
	}
	return compareEntries(a, i, b, j) == 0
}

// equalRows is equalEntries for several columns.
func equalRows(a []*types.Vec, i int, b []*types.Vec, j int) bool {
	for k, c := range a {
		if !equalEntries(c, i, b[k], j) {
			return false
		}
	}
	return true
}

// compareEntries orders two entries, neither of which is NULL.
func compareEntries(a *types.Vec, i int, b *types.Vec, j int) int {
	switch a.Type.Family {
	case types.Bool, types.Int, types.Date, types.Time, types.Timestamp:
		return cmp.Compare(a.I[i], b.I[j])
	case types.String, types.Bytes, types.UUID:
		return strings.Compare(a.S[i], b.S[j])
	case types.Float:
		return compareFloats(a.F[i], b.F[j])
	case types.Decimal:
		return types.NumericCmp(a.Dec[i], b.Dec[j])
	}
	return types.Compare(a.Type, a.Get(i), b.Get(j))
}

// compareFloats orders NaN above all numbers, and equal to itself.
func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	an, bn := a != a, b != b
	switch {
	case an && bn:
		return 0
	case an:
		return 1
	}
	return -1
}
