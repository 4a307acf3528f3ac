package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// requireOrder refuses to sort by values that have no order.
func requireOrder(t *types.Type, pos int) {
	if unordered(t) {
		panic(failure.Of(sqlerr.New(sqlerr.UndefinedFunction,
			"could not identify an ordering operator for type %s", typeName(t)).
			WithHint("Use an explicit ordering operator or modify the query.").At(pos)))
	}
}

// requireEquality refuses to group values that cannot be compared, or to leave out equal ones.
func requireEquality(t *types.Type, pos int) {
	if unordered(t) {
		panic(failure.At(pos, sqlerr.UndefinedFunction,
			"could not identify an equality operator for type %s", typeName(t)))
	}
}

func unordered(t *types.Type) bool {
	for t.Elem != nil {
		t = t.Elem
	}
	return t.Unordered()
}
