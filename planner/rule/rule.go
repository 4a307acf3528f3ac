package rule

import (
	"github.com/minidb/minidb/planner/estimate"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
)

// Context is what the rules use besides the tree.
type Context struct {
	Meta *logical.Meta
	// Estimator is the statement's; nil when none of its tables has statistics.
	Estimator *estimate.Estimator
	// Fired counts, by name, how often each rule changed something; nil: not counted.
	Fired map[string]int
	// Interrupt ends the rules when the statement's context ends; nil: never.
	Interrupt *logical.Interrupt
}

// step counts a step of planning. It returns false when the statement has ended: a rule then leaves
// the tree as it is, and Apply returns the error.
func (c *Context) step() bool { return c.Interrupt.Step() == nil }

func (c *Context) fired(name string) {
	if c.Fired != nil {
		c.Fired[name]++
	}
}

// Rule rewrites a statement into an equivalent one.
type Rule struct {
	Name string
	// Deep rules enter subqueries themselves.
	Deep bool
	// Applies reports whether the rule can fire for the statement; nil: always.
	Applies func(*logical.Meta) bool
	Rewrite func(*Context, *logical.Query)
}

// onTree makes a rule from a function that rewrites trees.
func onTree(fn func(*Context, logical.Node) logical.Node) func(*Context, *logical.Query) {
	return func(c *Context, q *logical.Query) { q.Node = fn(c, q.Node) }
}

// inSubqueries calls fn for the plan of each subquery in the expressions of a tree, but not for
// subqueries within these.
func (c *Context) inSubqueries(n logical.Node, fn func(*logical.Query)) {
	if !c.step() {
		return
	}
	logical.EachExpr(n, func(e *expr.Expr) {
		expr.Walk(*e, func(x expr.Expr) bool {
			if sq, ok := x.(*expr.Subquery); ok {
				if sub, ok := sq.Plan.(*logical.Query); ok {
					fn(sub)
				}
			}
			return true
		})
	})
	logical.EachInput(n, func(in *logical.Node) { c.inSubqueries(*in, fn) })
}

// bottomUp rewrites each node of a tree, children before their parents.
func bottomUp(c *Context, n logical.Node, fn func(logical.Node) logical.Node) logical.Node {
	if !c.step() {
		return n
	}
	logical.EachInput(n, func(in *logical.Node) { *in = bottomUp(c, *in, fn) })
	return fn(n)
}
