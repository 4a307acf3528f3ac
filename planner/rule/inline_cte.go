package rule

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
)

// inlineCTEs puts a WITH query that is read once in the place where it is read, so that conditions
// can move into it.
//
// Equivalent because a query without side effects returns the same rows wherever it runs in the
// statement. Must not fire: on MATERIALIZED; on recursive and data-modifying queries; on volatile
// ones, which must run once (`WITH r AS (SELECT random() x) SELECT x FROM r WHERE x < .5 OR x >=
// .5`); on one that is read twice, which would run twice.
func inlineCTEs(c *Context, q *logical.Query) {
	by := map[logical.ColID]logical.ColID{}
	q.Node = inline(c, q.Node, by)
	if len(by) > 0 {
		substituteQuery(q, by)
	}
}

func inline(c *Context, n logical.Node, by map[logical.ColID]logical.ColID) logical.Node {
	if ref, ok := n.(*logical.CTERef); ok && inlinable(ref) {
		c.fired("InlineCTE")
		ref.CTE.Refs = 0
		for i, id := range ref.Cols {
			by[id] = ref.CTE.Query.Cols[i].ID
		}
		return inline(c, ref.CTE.Query.Node, by)
	}
	logical.EachInput(n, func(in *logical.Node) { *in = inline(c, *in, by) })
	return n
}

func inlinable(ref *logical.CTERef) bool {
	cte := ref.CTE
	if ref.WorkTable || cte.Refs != 1 || cte.Recursive != nil || cte.Modifies {
		return false
	}
	if cte.Materialized != nil {
		return !*cte.Materialized
	}
	return !logical.NodeVolatile(cte.Query.Node)
}

// substitute renames columns throughout a tree, its subqueries included.
func substitute(n logical.Node, by map[logical.ColID]logical.ColID) {
	rename := func(ids []logical.ColID) []logical.ColID {
		out := make([]logical.ColID, len(ids))
		for i, id := range ids {
			out[i] = renameID(id, by)
		}
		return out
	}
	switch n := n.(type) {
	case *logical.Project:
		for i := range n.Items {
			n.Items[i].ID = renameID(n.Items[i].ID, by)
		}
		n.SetItems(dedupe(n.Items))
	case *logical.Aggregate:
		for i := range n.Keys {
			n.Keys[i].ID = renameID(n.Keys[i].ID, by)
		}
		n.SetAggs(n.Aggs)
	case *logical.Append:
		for i := range n.InCols {
			n.InCols[i] = rename(n.InCols[i])
		}
	case *logical.Recursion:
		for _, q := range []*logical.Query{n.CTE.Query, n.CTE.Recursive} {
			for i := range q.Cols {
				q.Cols[i].ID = renameID(q.Cols[i].ID, by)
			}
		}
	case *logical.SetOp:
		n.LeftCols, n.RightCols = rename(n.LeftCols), rename(n.RightCols)
	case *logical.Insert:
		n.ChildCols = rename(n.ChildCols)
	}
	logical.EachExpr(n, func(e *expr.Expr) { *e = substituteExpr(*e, by) })
	logical.EachInput(n, func(in *logical.Node) { substitute(*in, by) })
}

// dedupe drops items that compute the same column a second time.
func dedupe(items []logical.Item) []logical.Item {
	var seen logical.ColSet
	out := items[:0]
	for _, it := range items {
		if !seen.Has(it.ID) {
			out = append(out, it)
		}
		seen.Add(it.ID)
	}
	return out
}

func renameID(id logical.ColID, by map[logical.ColID]logical.ColID) logical.ColID {
	for {
		to, ok := by[id]
		if !ok {
			return id
		}
		id = to
	}
}

func substituteExpr(e expr.Expr, by map[logical.ColID]logical.ColID) expr.Expr {
	return expr.Rewrite(e, func(x expr.Expr) expr.Expr {
		switch x := x.(type) {
		case *expr.Col:
			if to := renameID(x.Index, by); to != x.Index {
				return &expr.Col{T: x.T, Index: to, Name: x.Name, Pos: x.Pos}
			}
		case *expr.Subquery:
			if q, ok := x.Plan.(*logical.Query); ok {
				substituteQuery(q, by)
			}
		}
		return x
	})
}

func substituteQuery(q *logical.Query, by map[logical.ColID]logical.ColID) {
	for i := range q.Cols {
		q.Cols[i].ID = renameID(q.Cols[i].ID, by)
	}
	substitute(q.Node, by)
}

// dropUnused subtracts, from the counts of references to WITH queries, those within WITH queries
// that are never read themselves.
func dropUnused(m *logical.Meta) {
	for i := len(m.CTEs) - 1; i >= 0; i-- {
		if cte := m.CTEs[i]; cte.Refs == 0 && !cte.Modifies {
			subtractReferences(cte.Query.Node)
			if cte.Recursive != nil {
				subtractReferences(cte.Recursive.Node)
			}
		}
	}
}

func subtractReferences(n logical.Node) {
	if ref, ok := n.(*logical.CTERef); ok && !ref.WorkTable {
		ref.CTE.Refs--
	}
	logical.EachExpr(n, func(e *expr.Expr) {
		expr.Walk(*e, func(x expr.Expr) bool {
			if sq, ok := x.(*expr.Subquery); ok {
				if q, ok := sq.Plan.(*logical.Query); ok {
					subtractReferences(q.Node)
				}
			}
			return true
		})
	})
	logical.EachInput(n, func(in *logical.Node) { subtractReferences(*in) })
}
