package rule

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
)

// PruneColumns drops columns that no node above reads: from scans, so that an index may cover the
// rest, and from projections and aggregates, so that they are not computed.
//
// Equivalent because a column that no expression and no result refers to has no effect. Must not
// drop: a column of the input of DISTINCT, UNION, INTERSECT or EXCEPT, each of which decides which
// rows are the same (`SELECT count(*) FROM (SELECT DISTINCT a FROM t) s`); a volatile expression,
// whose call may have an effect (`SELECT 1 FROM (SELECT nextval('s')) x`); the columns of a table
// that an UPDATE writes back.
func PruneColumns(c *Context, q *logical.Query) {
	need := logical.SetOf(q.IDs())
	q.Node = prune(c, q.Node, need)
}

// pruneExprs adds the columns that the node's own expressions read to need, and prunes the
// subqueries in them.
func pruneExprs(c *Context, n logical.Node, need *logical.ColSet) {
	logical.EachExpr(n, func(e *expr.Expr) { pruneExpr(c, *e, need) })
}

func pruneExpr(c *Context, e expr.Expr, need *logical.ColSet) {
	expr.Walk(e, func(x expr.Expr) bool {
		switch x := x.(type) {
		case *expr.Col:
			need.Add(x.Index)
		case *expr.Subquery:
			if q, ok := x.Plan.(*logical.Query); ok {
				PruneColumns(c, q)
				need.UnionWith(logical.FreeCols(q.Node))
			}
		}
		return true
	})
}

func prune(c *Context, n logical.Node, need logical.ColSet) logical.Node {
	if !c.step() {
		return n
	}
	switch n := n.(type) {
	case *logical.Scan:
		pruneScan(c, n, need)
		return n
	case *logical.Project:
		return pruneProject(c, n, need)
	case *logical.Aggregate:
		return pruneAggregate(c, n, need)
	case *logical.Append:
		return pruneAppend(c, n, need)
	case *logical.SetOp:
		n.Left = prune(c, n.Left, logical.SetOf(n.LeftCols))
		n.Right = prune(c, n.Right, logical.SetOf(n.RightCols))
		return n
	case *logical.Recursion:
		PruneColumns(c, n.CTE.Query)
		PruneColumns(c, n.CTE.Recursive)
		return n
	case *logical.Values:
		return pruneValues(c, n, need)
	case *logical.Join:
		return pruneJoin(c, n, need)
	case *logical.Distinct:
		if n.On == nil {
			need = logical.SetOf(n.Columns())
		}
	case *logical.Insert, *logical.Update, *logical.Delete, *logical.Merge, *logical.LockRows:
		return pruneModify(c, n, need)
	}
	need = need.Copy()
	pruneExprs(c, n, &need)
	logical.EachInput(n, func(in *logical.Node) { *in = prune(c, *in, need) })
	return n
}

// pruned records that the rule fired if a node has fewer columns than before.
func (c *Context) pruned(before, after int) {
	if after < before {
		c.fired("PruneColumns")
	}
}

func pruneScan(c *Context, n *logical.Scan, need logical.ColSet) {
	out := n.Out[:0]
	for _, id := range n.Out {
		if need.Has(id) {
			out = append(out, id)
		}
	}
	c.pruned(len(n.Out), len(out))
	n.Out = out
}

func pruneProject(c *Context, n *logical.Project, need logical.ColSet) logical.Node {
	items := n.Items[:0]
	for _, it := range n.Items {
		if need.Has(it.ID) || logical.IsVolatile(it.Expr) {
			items = append(items, it)
		}
	}
	c.pruned(len(n.Items), len(items))
	n.SetItems(items)
	var below logical.ColSet
	pruneExprs(c, n, &below)
	n.Child = prune(c, n.Child, below)
	return n
}

func pruneAggregate(c *Context, n *logical.Aggregate, need logical.ColSet) logical.Node {
	aggs := n.Aggs[:0]
	for _, a := range n.Aggs {
		if need.Has(a.ID) {
			aggs = append(aggs, a)
		}
	}
	c.pruned(len(n.Aggs), len(aggs))
	n.SetAggs(aggs)
	var below logical.ColSet
	pruneExprs(c, n, &below)
	n.Child = prune(c, n.Child, below)
	return n
}

func pruneAppend(c *Context, n *logical.Append, need logical.ColSet) logical.Node {
	keep := places(n.Cols, need)
	c.pruned(len(n.Cols), len(keep))
	n.Cols = elementsAt(n.Cols, keep)
	for k := range n.Inputs {
		n.InCols[k] = elementsAt(n.InCols[k], keep)
		n.Inputs[k] = prune(c, n.Inputs[k], logical.SetOf(n.InCols[k]))
	}
	return n
}

// places returns the places in cols of the columns that are needed.
func places(cols []logical.ColID, need logical.ColSet) []int {
	var keep []int
	for i, id := range cols {
		if need.Has(id) {
			keep = append(keep, i)
		}
	}
	return keep
}

func elementsAt[T any](from []T, keep []int) []T {
	out := make([]T, len(keep))
	for i, k := range keep {
		out[i] = from[k]
	}
	return out
}

func pruneValues(c *Context, n *logical.Values, need logical.ColSet) logical.Node {
	keep := places(n.Cols, need)
	if len(keep) < len(n.Cols) {
		for _, row := range n.Rows {
			if slices.ContainsFunc(row, logical.IsVolatile) {
				return n
			}
		}
		c.pruned(len(n.Cols), len(keep))
		n.Cols = elementsAt(n.Cols, keep)
		for r, row := range n.Rows {
			n.Rows[r] = elementsAt(row, keep)
		}
	}
	if c.Meta.Subqueries > 0 {
		var ignored logical.ColSet
		pruneExprs(c, n, &ignored)
	}
	return n
}

func pruneJoin(c *Context, n *logical.Join, need logical.ColSet) logical.Node {
	if len(n.On) > 0 || n.Lateral { // otherwise no column is added, and many joins share one set
		need = need.Copy()
	}
	pruneExprs(c, n, &need)
	n.Right = prune(c, n.Right, need)
	if n.Lateral {
		need.UnionWith(logical.FreeCols(n.Right))
	}
	n.Left = prune(c, n.Left, need)
	n.Freeze()
	return n
}

// pruneModify keeps all columns of the table that a node writes.
func pruneModify(c *Context, n logical.Node, need logical.ColSet) logical.Node {
	need = need.Copy()
	pruneExprs(c, n, &need)
	switch n := n.(type) {
	case *logical.Insert:
		need.AddAll(n.ChildCols)
		n.Child = prune(c, n.Child, need)
	case *logical.Update:
		addRow(&need, len(n.Desc.Columns), n.Old)
		n.Child = prune(c, n.Child, need)
	case *logical.Delete:
		addRow(&need, len(n.Desc.Columns), n.Old)
		n.Child = prune(c, n.Child, need)
	case *logical.Merge:
		addRow(&need, len(n.Desc.Columns), n.Old)
		n.Child = prune(c, n.Child, need)
	case *logical.LockRows:
		for _, t := range n.Tables {
			for _, kc := range t.Desc.RowKey {
				need.Add(t.First + t.Desc.ColumnByID(kc.ColumnID))
			}
		}
		n.Child = prune(c, n.Child, need)
	}
	return n
}

func addRow(need *logical.ColSet, n int, first logical.ColID) {
	for i := range n {
		need.Add(first + i)
	}
}
