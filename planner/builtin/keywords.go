package builtin

import (
	"maps"
	"slices"

	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// keywordCategories are the code and the name of each category in pg_get_keywords().
var keywordCategories = map[sqlname.Category][2]string{
	sqlname.Unreserved:       {"U", "unreserved"},
	sqlname.ColumnName:       {"C", "unreserved (cannot be function or type name)"},
	sqlname.TypeFunctionName: {"T", "reserved (can be function or type name)"},
	sqlname.Reserved:         {"R", "reserved"},
}

// keywords is pg_get_keywords().
func keywords(_ *expr.Runtime, _ []types.Datum, emit func(row []types.Datum) error) error {
	for _, word := range slices.Sorted(maps.Keys(sqlname.Keywords)) {
		k := sqlname.Keywords[word]
		c, bare := keywordCategories[k.Category], "can be bare label"
		if k.NeedsAs {
			bare = "requires AS"
		}
		err := emit([]types.Datum{types.NewString(word), types.NewString(c[0]),
			types.NewBool(!k.NeedsAs), types.NewString(c[1]), types.NewString(bare)})
		if err != nil {
			return err
		}
	}
	return nil
}
