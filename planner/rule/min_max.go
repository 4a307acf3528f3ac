package rule

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table/types"
)

// minMaxByIndex reads one end of an index for min(a) or max(a): the aggregate then reads the first
// of the rows, sorted by a, in which a is not NULL.
//
// Equivalent because min and max ignore NULLs and depend only on the first row in order. Must not
// fire: with GROUP BY or FILTER (DISTINCT does not matter); where no index begins with a, possibly
// after columns that are equated with values, since a sort costs more than reading every row; or
// with conditions on other columns, which may be true only for the last row of the index.
func minMaxByIndex(c *Context, n logical.Node) logical.Node {
	return bottomUp(c, n, func(n logical.Node) logical.Node {
		a, ok := n.(*logical.Aggregate)
		if !ok || len(a.Keys) > 0 || len(a.Aggs) != 1 || a.Sets != nil {
			return n
		}
		agg := &a.Aggs[0].Agg
		col, ok := minMaxColumn(agg)
		if !ok {
			return n
		}
		s, conds := scanOf(a.Child)
		if s == nil || !s.OwnsColumn(col.Index) || !indexOrders(s, col.Index, conds) {
			return n
		}
		c.fired("MinMaxByIndex")
		notNull := &expr.IsNull{Arg: col, Not: true}
		child := a.Child
		if !s.Column(col.Index).NotNull {
			child = filtered(child, []expr.Expr{notNull})
		}
		key := opt.SortKey{Expr: col, Desc: agg.Func.Name == "max",
			NullsFirst: agg.Func.Name == "max"}
		one := &expr.Const{T: types.TInt8, Value: types.NewInt(1)}
		a.Child = &logical.Limit{Child: &logical.Sort{Child: child, Keys: []opt.SortKey{key}},
			Count: one}
		return a
	})
}

func minMaxColumn(agg *opt.Agg) (*expr.Col, bool) {
	if agg.Func.Name != "min" && agg.Func.Name != "max" || agg.Filter != nil ||
		len(agg.Args) != 1 || agg.OrderBy != nil {
		return nil, false
	}
	col, ok := agg.Args[0].(*expr.Col)
	return col, ok
}

// indexOrders reports whether a key has the column right after columns that the conditions equate
// with values, and there are no conditions on other columns.
func indexOrders(s *logical.Scan, id logical.ColID, conds []expr.Expr) bool {
	equated, rest := equatedColumns(s, conds)
	for _, cond := range rest {
		if cols := logical.ColsOf(cond); cols.Len() != 1 || !cols.Has(id) {
			return false
		}
	}
	return anyKey(s, func(key []logical.ColID) bool {
		at := slices.Index(key, id)
		return at >= 0 && at == equated.Len() && logical.SetOf(key[:at]).SubsetOf(equated)
	})
}
