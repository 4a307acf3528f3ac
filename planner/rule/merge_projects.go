package rule

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
)

// mergeProjects merges a projection with the projection below it, and removes a projection that
// only leaves columns out.
//
// Equivalent because an expression may replace the column that it computes. Must not fire where the
// inner expression is volatile, has a subquery, or is more than a column and used more than once:
// it would be computed more often. A projection below DISTINCT or a set operation stays, since it
// decides which rows are equal.
func mergeProjects(c *Context, n logical.Node) logical.Node {
	logical.EachInput(n, func(in *logical.Node) {
		*in = mergeProjects(c, *in)
		if p, ok := (*in).(*logical.Project); ok && computesNothing(p) && allowsExtraColumns(n) {
			c.fired("MergeProjects")
			*in = p.Child
		}
	})
	outer, ok := n.(*logical.Project)
	if !ok {
		return n
	}
	inner, ok := outer.Child.(*logical.Project)
	if !ok || !mergeable(outer, inner) {
		return n
	}
	c.fired("MergeProjects")
	by := map[logical.ColID]expr.Expr{}
	for _, it := range inner.Items {
		by[it.ID] = it.Expr
	}
	for i := range outer.Items {
		outer.Items[i].Expr = expr.Rewrite(outer.Items[i].Expr, func(x expr.Expr) expr.Expr {
			if col, ok := x.(*expr.Col); ok && by[col.Index] != nil {
				return by[col.Index]
			}
			return x
		})
	}
	outer.Child = inner.Child
	return outer
}

// computesNothing reports whether a projection only passes columns on.
func computesNothing(p *logical.Project) bool {
	for _, it := range p.Items {
		if col, ok := it.Expr.(*expr.Col); !ok || col.Index != it.ID {
			return false
		}
	}
	return true
}

// allowsExtraColumns reports whether a node gives the same rows when its input has more columns.
func allowsExtraColumns(n logical.Node) bool {
	switch n := n.(type) {
	case *logical.Filter, *logical.Barrier, *logical.Project, *logical.Join, *logical.Aggregate,
		*logical.Append, *logical.Limit:
		return true
	case *logical.Distinct:
		return n.On != nil
	}
	return false
}

func mergeable(outer, inner *logical.Project) bool {
	uses := map[logical.ColID]int{}
	for _, it := range outer.Items {
		if expr.HasSubquery(it.Expr) {
			return false // a walk does not find the columns that it refers to
		}
		expr.Walk(it.Expr, func(x expr.Expr) bool {
			if col, ok := x.(*expr.Col); ok {
				uses[col.Index]++
			}
			return true
		})
	}
	for _, it := range inner.Items {
		switch it.Expr.(type) {
		case *expr.Col, *expr.Const:
			continue
		}
		if uses[it.ID] > 1 || !logical.Movable(it.Expr) {
			return false
		}
	}
	return true
}
