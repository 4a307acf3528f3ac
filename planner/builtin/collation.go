package builtin

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// collationUnknown is pg_collation_for where nothing is known of the expression: values have no
// collation of their own.
func collationUnknown(*expr.Runtime, []types.Datum) (types.Datum, error) { return types.Null, nil }

// madeCollation identifies the function of CollationFor.
type madeCollation struct {
	arg       types.OID
	collation string
	collates  bool
}

// CollationFor returns pg_collation_for, which is fn, for an argument of a type and collation that
// the planner knows; "" is for a collation that could not be determined. collates is set for a type
// whose values have a collation.
func CollationFor(fn *expr.Func, t *types.Type, collation string, collates bool) *expr.Func {
	made := *fn
	made.Same = madeCollation{arg: t.OID, collation: collation, collates: collates}
	made.Scalar = func(*expr.Runtime, []types.Datum) (types.Datum, error) {
		switch {
		case !collates && t.OID != types.OIDUnknown:
			return types.Null, sqlerr.New(sqlerr.DatatypeMismatch,
				"collations are not supported by type %s", t.SQLName())
		case collation == "":
			return types.Null, nil
		}
		return types.NewString(sqlname.Quote(collation)), nil
	}
	return &made
}
