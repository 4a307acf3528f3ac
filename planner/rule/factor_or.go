package rule

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
)

// factorOr moves conditions that all sides of an OR contain out of it: (a AND b) OR (a AND c)
// becomes a AND (b OR c), so that a can be pushed down, or serve an index or a hash join.
//
// Equivalent by distributivity, which holds in three-valued logic too. Must not fire for volatile
// conditions, which would be evaluated another number of times.
func factorOr(c *Context, n logical.Node) logical.Node {
	return bottomUp(c, n, func(n logical.Node) logical.Node {
		switch n := n.(type) {
		case *logical.Filter:
			n.Conds = factorAll(c, n.Conds)
		case *logical.Join:
			n.On = factorAll(c, n.On)
		}
		return n
	})
}

func factorAll(c *Context, conds []expr.Expr) []expr.Expr {
	for i, cond := range conds {
		or, ok := cond.(*expr.Or)
		if !ok {
			continue
		}
		common, rest := factor(or)
		if len(common) == 0 {
			continue
		}
		c.fired("FactorOr")
		out := append([]expr.Expr(nil), conds[:i]...)
		out = append(out, common...)
		if rest != nil {
			out = append(out, rest)
		}
		return append(out, factorAll(c, conds[i+1:])...)
	}
	return conds
}

// factor splits an OR into the conditions that all its sides contain, and the OR of the others.
// rest is nil when one side contains nothing else: the OR is then equivalent to common.
func factor(or *expr.Or) (common []expr.Expr, rest expr.Expr) {
	sides := make([][]expr.Expr, len(or.Args))
	for i, a := range or.Args {
		sides[i] = []expr.Expr{a}
		if and, ok := a.(*expr.And); ok {
			sides[i] = and.Args
		}
	}
	for _, cand := range sides[0] {
		if containedInAll(sides[1:], cand) && logical.Movable(cand) {
			common = append(common, cand)
		}
	}
	if len(common) == 0 {
		return nil, nil
	}
	var left []expr.Expr
	for _, side := range sides {
		var others []expr.Expr
		for _, e := range side {
			if !contains(common, e) {
				others = append(others, e)
			}
		}
		switch len(others) {
		case 0:
			return common, nil
		case 1:
			left = append(left, others[0])
		default:
			left = append(left, &expr.And{Args: others})
		}
	}
	return common, &expr.Or{Args: left}
}

func containedInAll(sides [][]expr.Expr, e expr.Expr) bool {
	for _, side := range sides {
		if !contains(side, e) {
			return false
		}
	}
	return true
}

func contains(list []expr.Expr, e expr.Expr) bool {
	for _, o := range list {
		if logical.Equal(o, e) {
			return true
		}
	}
	return false
}
