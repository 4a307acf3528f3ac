package logical

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// KeyID returns the ID of a key column: that of the scan's column, or that which stands for the
// expression. It returns 0 for an expression that the scan has not bound.
func (n *Scan) KeyID(id table.ColumnID) ColID {
	o := n.Desc.Part(id)
	if i := o - len(n.Desc.Columns); i >= 0 && (i >= len(n.Exprs) || n.Exprs[i] == nil) {
		return 0
	}
	return n.First + o
}

// PartType returns the type of a column or an expression of the scan, below all domains: that is
// what its keys are compared as.
func (n *Scan) PartType(id ColID) *types.Type { return n.Desc.PartType(id - n.First).Base() }

// NeverNull reports whether a column of the scan is NOT NULL. An expression may be NULL.
func (n *Scan) NeverNull(id ColID) bool {
	o := id - n.First
	return o < len(n.Desc.Columns) && n.Desc.Columns[o].NotNull
}

// OwnsPart reports whether an ID is that of a column or an expression of the scan.
func (n *Scan) OwnsPart(id ColID) bool {
	return id >= n.First && id < n.First+len(n.Desc.Columns)+len(n.Exprs)
}

// ByIndex returns an expression in which each occurrence of an expression of the scan's indexes is
// replaced by the column that stands for it.
func (n *Scan) ByIndex(e expr.Expr) expr.Expr {
	if len(n.Exprs) == 0 {
		return e
	}
	for i, x := range n.Exprs {
		if x != nil && Equal(x, e) {
			return &expr.Col{T: x.Type(), Index: n.First + len(n.Desc.Columns) + i,
				Name: n.Desc.Exprs[i].Text}
		}
	}
	return expr.Children(e, n.ByIndex)
}
