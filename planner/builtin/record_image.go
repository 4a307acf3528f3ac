package builtin

import (
	"bytes"
	"cmp"
	"math"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// imageNames are the operators that compare records by the bytes of their fields, in the places of
// those of comparisonNames. Values that are equal may differ in their bytes: 1.0 and 1.00.
var imageNames = []string{"*=", "*<>", "*<", "*<=", "*>", "*>="}

func imageOperators() []def {
	equality := comparisonsNamed(imageNames, "(record,record)", expr.Immutable,
		func(_ *expr.Runtime, a, b types.Datum) (int, error) {
			return compareImages(a.Arr, b.Arr, true)
		})
	order := comparisonsNamed(imageNames, "(record,record)", expr.Immutable,
		func(_ *expr.Runtime, a, b types.Datum) (int, error) {
			return compareImages(a.Arr, b.Arr, false)
		})
	return append(equality[:2], order[2:]...)
}

// compareImages compares field by field, up to the first that differs. With equality the result
// is 0 or not 0, and no order. NULL is behind all values.
func compareImages(a, b *types.ArrayValue, equality bool) (int, error) {
	for i := 0; i < len(a.Elems) && i < len(b.Elems); i++ {
		l, r := a.Types[i], b.Types[i]
		if l.OID != r.OID {
			return 0, errDissimilar(l, r, i)
		}
		x, y := a.Elems[i], b.Elems[i]
		if x.Null || y.Null {
			if x.Null == y.Null {
				continue
			}
			if x.Null {
				return 1, nil
			}
			return -1, nil
		}
		if bytes.Equal(types.AppendBinary(nil, l, x), types.AppendBinary(nil, r, y)) {
			continue
		}
		if equality {
			return 1, nil
		}
		return orderImages(l, x, y)
	}
	if len(a.Elems) != len(b.Elems) {
		return 0, errDifferentColumns()
	}
	return 0, nil
}

// orderImages orders two values by their bytes in PostgreSQL's memory: numbers as if they had no
// sign, texts from the left.
func orderImages(t *types.Type, x, y types.Datum) (int, error) {
	switch t = t.Base(); t.Family {
	case types.Int, types.Bool, types.Date, types.Time, types.Timestamp, types.Money:
		return cmp.Compare(uint64(x.I), uint64(y.I)), nil
	case types.Float:
		if t.OID == types.OIDFloat4 {
			image := func(f float64) uint64 {
				return uint64(int64(int32(math.Float32bits(float32(f)))))
			}
			return cmp.Compare(image(x.F), image(y.F)), nil
		}
		return cmp.Compare(math.Float64bits(x.F), math.Float64bits(y.F)), nil
	case types.String, types.Bytes:
		return bytes.Compare(types.AppendBinary(nil, t, x), types.AppendBinary(nil, t, y)), nil
	}
	return 0, sqlerr.Unsupported(0, "the order of records by the bytes of type "+t.SQLName())
}
