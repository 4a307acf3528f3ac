package rule

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// minMaxByIndex reads one end of an index for min(a) or max(a): the aggregate stays, over the first
// row of the ordered rows where a is not NULL.
//
// The same because min and max ignore NULLs and need but the first row in order. Must not fire:
// with GROUP BY, DISTINCT does not matter but FILTER does; where no index begins with a (after
// columns held to one value), since a sort would cost more than looking at every row; or with
// conditions on other columns, which may hold for the last row of the index only.
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
		if s == nil || !s.OwnsColumn(col.Index) || !endOfIndex(s, col.Index, conds) {
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

// scanOf is a table read with conditions.
func scanOf(n logical.Node) (*logical.Scan, []expr.Expr) {
	switch n := n.(type) {
	case *logical.Scan:
		if n.Desc.Kind == table.KindTable {
			return n, nil
		}
	case *logical.Filter:
		if s, ok := n.Child.(*logical.Scan); ok && s.Desc.Kind == table.KindTable {
			return s, n.Conds
		}
	}
	return nil, nil
}

// endOfIndex says whether some index has the column right after columns that the conditions hold to
// one value, and the conditions speak of nothing else.
func endOfIndex(s *logical.Scan, id logical.ColID, conds []expr.Expr) bool {
	var held logical.ColSet
	for _, cond := range conds {
		if col, ok := heldColumn(s, cond); ok {
			held.Add(col)
			continue
		}
		if cols := logical.ColsOf(cond); cols.Len() != 1 || !cols.Has(id) {
			return false
		}
	}
	begins := func(key []table.IndexColumn) bool {
		left := held.Len()
		for _, kc := range key {
			if kc.ColumnID == 0 {
				return false
			}
			col := s.First + s.Desc.ColumnByID(kc.ColumnID)
			if col == id {
				return left == 0
			}
			if !held.Has(col) {
				return false
			}
			left--
		}
		return false
	}
	if begins(s.Desc.RowKey) {
		return true
	}
	for i := range s.Desc.Indexes {
		if ix := &s.Desc.Indexes[i]; ix.WhereText == "" && begins(ix.Columns) {
			return true
		}
	}
	return false
}

// heldColumn reads `column = value`.
func heldColumn(s *logical.Scan, cond expr.Expr) (logical.ColID, bool) {
	call, ok := cond.(*expr.Call)
	if !ok || call.Func.Name != "=" || len(call.Args) != 2 {
		return 0, false
	}
	for i, arg := range call.Args {
		col, ok := arg.(*expr.Col)
		if !ok || !s.OwnsColumn(col.Index) {
			continue
		}
		switch call.Args[1-i].(type) {
		case *expr.Const, *expr.Param:
			return col.Index, true
		}
	}
	return 0, false
}
