package eval

import (
	"strings"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// asked is the size up to which a value may be made without asking the account for its bytes.
const asked = 1 << 10

// countResult counts a row, and if its value is large also those of its bytes that were not asked
// for while it was made; before is the number of bytes taken then. So the values of a function that
// does not ask are still counted, row by row.
func countResult(rt *expr.Runtime, d types.Datum, before int64) error {
	if len(d.S) >= asked || d.Arr != nil && len(d.Arr.Elems)*types.DatumSize >= asked {
		size := int64(len(d.S))
		if d.Arr != nil {
			size += int64(len(d.Arr.Elems) * types.DatumSize)
		}
		if err := rt.Grow(size - (rt.Taken() - before)); err != nil {
			return err
		}
		if err := rt.Tick(int(size)); err != nil {
			return err
		}
	}
	return rt.TickRow()
}

// spreadSize returns about how many bytes the text of an array or a record takes. Its elements may
// share their bytes: array_fill(repeat('x', 1000000), ARRAY[1000000]) is small, and its text a
// terabyte.
func spreadSize(d types.Datum) int64 {
	n := int64(len(d.S))
	if d.Arr != nil {
		for i := range d.Arr.Elems {
			n += 2 + spreadSize(d.Arr.Elems[i])
		}
	}
	return n
}

// isText reports whether values of the type are texts or JSON.
func isText(t *types.Type) bool {
	return t != nil && (t.Family == types.String || t.Family == types.JSON)
}

// parsedSize returns about how many bytes the elements of an array or a JSON document take while
// its text is parsed; 0 for a short text.
func parsedSize(text string) int64 {
	if len(text) < asked {
		return 0
	}
	return int64(len(text) + strings.Count(text, ",")*2*types.DatumSize)
}

// pointsSize is parsedSize for the points of a path or a polygon, of which each takes two numbers
// while it is read, in a slice that has grown, and as it is stored.
func pointsSize(text string) int64 {
	if len(text) < asked {
		return 0
	}
	const numberSize = 8
	return int64(strings.Count(text, ",")) * 3 * numberSize
}
