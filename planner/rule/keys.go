package rule

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table"
)

// scanOf returns the scan of a table, with the conditions of a filter directly above it. It returns
// nil for any other tree.
func scanOf(n logical.Node) (*logical.Scan, []expr.Expr) {
	switch n := n.(type) {
	case *logical.Scan:
		if n.Desc.HasRows() {
			return n, nil
		}
	case *logical.Filter:
		if s, ok := n.Child.(*logical.Scan); ok && s.Desc.HasRows() {
			return s, n.Conds
		}
	}
	return nil, nil
}

// keyOf returns the columns of a key of the scan's table. The ID of a key part that is an
// expression is 0, or that which stands for it (logical.Scan.Exprs).
func keyOf(s *logical.Scan, parts []table.IndexColumn) []logical.ColID {
	ids := make([]logical.ColID, len(parts))
	for i, part := range parts {
		ids[i] = s.KeyID(part.ColumnID)
	}
	return ids
}

// anyKey reports whether fits holds for the columns of the row key or of an index that is not
// partial.
func anyKey(s *logical.Scan, fits func(key []logical.ColID) bool) bool {
	if fits(keyOf(s, s.Desc.RowKey)) {
		return true
	}
	for i := range s.Desc.Indexes {
		ix := &s.Desc.Indexes[i]
		if ix.WhereText == "" && !ix.GIN() && fits(keyOf(s, ix.Columns)) {
			return true
		}
	}
	return false
}

// anyLeadingColumn reports whether fits holds for the leading column of a key (see anyKey).
func anyLeadingColumn(s *logical.Scan, fits func(logical.ColID) bool) bool {
	return anyKey(s, func(key []logical.ColID) bool {
		return len(key) > 0 && key[0] != 0 && fits(key[0])
	})
}

// containsUniqueKey reports whether cols contains all columns of a unique key of the table that n
// reads.
func containsUniqueKey(n logical.Node, cols logical.ColSet) bool {
	s, _ := scanOf(n)
	if s == nil || cols.Empty() {
		return false
	}
	contained := func(parts []table.IndexColumn) bool {
		return len(parts) > 0 && logical.SetOf(keyOf(s, parts)).SubsetOf(cols)
	}
	if contained(s.Desc.RowKey) {
		return true
	}
	for i := range s.Desc.Indexes {
		if ix := &s.Desc.Indexes[i]; ix.Immediate() && ix.WhereText == "" &&
			contained(ix.Columns) {
			return true
		}
	}
	return false
}

// comparesLeadingColumn reports whether a condition compares the leading column of a key of the
// table that n reads.
func comparesLeadingColumn(n logical.Node, cond expr.Expr) bool {
	s, _ := scanOf(n)
	if s == nil {
		return false
	}
	return anyLeadingColumn(s, func(id logical.ColID) bool {
		return slices.ContainsFunc(indexOperands(cond), func(e expr.Expr) bool {
			col, ok := e.(*expr.Col)
			return ok && col.Index == id
		})
	})
}

// indexOperands returns the operands of a comparison that an index may serve, nil for any other
// condition.
func indexOperands(cond expr.Expr) []expr.Expr {
	switch x := cond.(type) {
	case *expr.Call:
		switch x.Func.Comparison() {
		case "=", "<", "<=", ">", ">=", "~~":
			return x.Args
		}
	case *expr.InList:
		if !x.Not {
			return []expr.Expr{x.Arg}
		}
	}
	return nil
}

// equatedColumns returns the columns of the scan that conditions equate with a constant or a
// parameter, and the other conditions.
func equatedColumns(s *logical.Scan, conds []expr.Expr) (cols logical.ColSet, rest []expr.Expr) {
	for _, cond := range conds {
		if id, ok := equatedColumn(s, cond); ok {
			cols.Add(id)
		} else {
			rest = append(rest, cond)
		}
	}
	return cols, rest
}

// equatedColumn returns the column of the scan in a condition `column = value`.
func equatedColumn(s *logical.Scan, cond expr.Expr) (logical.ColID, bool) {
	call, ok := cond.(*expr.Call)
	if !ok || call.Func.Comparison() != "=" || len(call.Args) != 2 {
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
