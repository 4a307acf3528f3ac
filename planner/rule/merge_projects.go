package rule

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
)

// mergeProjects makes one projection of two, and drops one that only leaves columns out.
//
// The same because an expression may stand in for the column that it computes. Must not fire: where
// the inner expression is volatile, has a subquery, or is used more than once and is more than a
// column, which would compute it more often; and a projection below DISTINCT or a set operation
// stays, since it decides which rows are the same.
func mergeProjects(c *Context, n logical.Node) logical.Node {
	logical.EachInput(n, func(in *logical.Node) {
		*in = mergeProjects(c, *in)
		if p, ok := (*in).(*logical.Project); ok && passesOnly(p) && extraAllowed(n) {
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

// passesOnly says whether a projection computes nothing.
func passesOnly(p *logical.Project) bool {
	for _, it := range p.Items {
		if col, ok := it.Expr.(*expr.Col); !ok || col.Index != it.ID {
			return false
		}
	}
	return true
}

// extraAllowed says whether a node does not mind more columns below it.
func extraAllowed(n logical.Node) bool {
	switch n := n.(type) {
	case *logical.Filter, *logical.Project, *logical.Join, *logical.Aggregate, *logical.Append,
		*logical.Limit:
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
			return false // what it refers to is not found by a walk
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
