package builtin

import (
	"math"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// nullCounts count the arguments that are NULL, or are not.
var nullCounts = []def{
	n("num_nulls(any*) int4", func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return types.NewInt(nulls(a)), nil
	}),
	n("num_nonnulls(any*) int4", func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return types.NewInt(int64(len(a)) - nulls(a)), nil
	}),
}

func nulls(a []types.Datum) (n int64) {
	for i := range a {
		if a[i].Null {
			n++
		}
	}
	return n
}

func incrementInt4(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if a[0].I == math.MaxInt32 {
		return types.Null, errIntRange(math.MaxInt32)
	}
	return types.NewInt(a[0].I + 1), nil
}

// withdrawnFunctions are errors in PostgreSQL 15 too, by their names.
var withdrawnFunctions = []def{
	withdrawn("aclinsert"), withdrawn("aclremove"),
}

func withdrawn(name string) def {
	return f(name+"(aclitem[],aclitem) aclitem[]",
		func(*expr.Runtime, []types.Datum) (types.Datum, error) {
			return types.Null, sqlerr.New(sqlerr.FeatureNotSupported, "%s is no longer supported",
				name)
		})
}

// typeNames is oidvectortypes: the names of types, separated by commas.
func typeNames(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	names := make([]string, len(a[0].Arr.Elems))
	for i, oid := range a[0].Arr.Elems {
		name, err := formatType(rt, []types.Datum{oid, types.Null})
		if err != nil {
			return types.Null, err
		}
		names[i] = name.S
	}
	return types.NewString(strings.Join(names, ", ")), nil
}
