package rule

import (
	"github.com/minidb/minidb/planner/estimate"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
)

// Context is what rules know beside the tree.
type Context struct {
	Meta *logical.Meta
	// Estimator estimates for the statement; nil: nothing is known of its tables.
	Estimator *estimate.Estimator
	// Fired collects the names of the rules that changed something; nil: nobody asks.
	Fired map[string]int
	// Interrupt ends the rules with the statement's context; nil: nothing does.
	Interrupt *logical.Interrupt
}

// step counts a step. False says that the statement has ended: every rule then leaves the tree as
// it is, and Apply returns the error.
func (c *Context) step() bool { return c.Interrupt.Step() == nil }

func (c *Context) fired(name string) {
	if c.Fired != nil {
		c.Fired[name]++
	}
}

// Rule is one equivalence.
type Rule struct {
	Name string
	// Deep rules go into subqueries by themselves.
	Deep bool
	// Applies is asked first; nil: always.
	Applies func(*logical.Meta) bool
	Rewrite func(*Context, *logical.Query)
}

func hasSubqueries(m *logical.Meta) bool { return m.Subqueries > 0 }
func hasJoins(m *logical.Meta) bool      { return m.Joins > 0 || m.Subqueries > 0 }
func hasCTEs(m *logical.Meta) bool       { return len(m.CTEs) > 0 }

// Rules are all rules, in their order.
var Rules = []Rule{
	{Name: "InlineCTE", Applies: hasCTEs, Rewrite: inlineCTEs},
	{Name: "FoldConstants", Rewrite: onTree(foldConstants)},
	{Name: "FactorOr", Rewrite: onTree(factorOr)},
	{Name: "Decorrelate", Applies: hasSubqueries, Rewrite: onTree(decorrelate)},
	{Name: "DecorrelateScalar", Applies: hasSubqueries, Rewrite: onTree(decorrelateScalar)},
	{Name: "HashExists", Applies: hasSubqueries, Rewrite: onTree(hashExists)},
	{Name: "MergeProjects", Rewrite: onTree(mergeProjects)},
	{Name: "SimplifyOuterJoins", Applies: hasJoins, Rewrite: onTree(simplifyOuterJoins)},
	{Name: "PushFilters", Rewrite: onTree(pushFilters)},
	{Name: "RestrictByOr", Applies: hasJoins, Rewrite: onTree(restrictByOr)},
	{Name: "OrderJoins", Applies: hasJoins, Rewrite: onTree(orderJoins)},
	{Name: "MinMaxByIndex", Rewrite: onTree(minMaxByIndex)},
	{Name: "PruneColumns", Deep: true, Rewrite: pruneColumns},
}

// onTree makes a rule of a function over trees.
func onTree(fn func(*Context, logical.Node) logical.Node) func(*Context, *logical.Query) {
	return func(c *Context, q *logical.Query) { q.Node = fn(c, q.Node) }
}

// Apply runs all rules over a statement: its main query, and each WITH query that stays one. Its
// error is that of the statement's context: the tree is of no use then.
func Apply(c *Context, q *logical.Query) error {
	dropUnused(c.Meta)
	for i := range Rules {
		r := &Rules[i]
		if r.Applies != nil && !r.Applies(c.Meta) {
			continue
		}
		c.apply(r, q)
		for _, cte := range c.Meta.CTEs {
			if cte.Refs == 0 && !cte.Modifies {
				continue
			}
			c.apply(r, cte.Query)
			if cte.Recursive != nil {
				c.apply(r, cte.Recursive)
			}
		}
		if err := c.Interrupt.Err(); err != nil {
			return err
		}
	}
	return nil
}

// apply runs a rule over a query, and over the subqueries that its expressions still have.
func (c *Context) apply(r *Rule, q *logical.Query) {
	if !c.step() {
		return
	}
	r.Rewrite(c, q)
	if c.Meta.Subqueries > 0 && !r.Deep {
		c.inSubqueries(q.Node, func(sub *logical.Query) { c.apply(r, sub) })
	}
}

// inSubqueries calls fn for the plans of all subqueries in the expressions of a tree, not for those
// inside of them.
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

// bottomUp rewrites a tree from the leaves up.
func bottomUp(c *Context, n logical.Node, fn func(logical.Node) logical.Node) logical.Node {
	if !c.step() {
		return n
	}
	logical.EachInput(n, func(in *logical.Node) { *in = bottomUp(c, *in, fn) })
	return fn(n)
}
