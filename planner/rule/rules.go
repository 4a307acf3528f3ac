package rule

import "github.com/minidb/minidb/planner/logical"

// Rules lists all rules in the order in which they run.
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
	{Name: "PruneColumns", Deep: true, Rewrite: PruneColumns},
}

// Apply runs all rules over a statement: over its main query, and each WITH query that is not
// inlined. After an error, which is that of the statement's context, the tree must not be used.
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

// apply runs a rule over a query, and over the subqueries that remain in its expressions.
func (c *Context) apply(r *Rule, q *logical.Query) {
	if !c.step() {
		return
	}
	r.Rewrite(c, q)
	if c.Meta.Subqueries > 0 && !r.Deep {
		c.inSubqueries(q.Node, func(sub *logical.Query) { c.apply(r, sub) })
	}
}

func hasSubqueries(m *logical.Meta) bool { return m.Subqueries > 0 }

func hasJoins(m *logical.Meta) bool { return m.Joins > 0 || m.Subqueries > 0 }

func hasCTEs(m *logical.Meta) bool { return len(m.CTEs) > 0 }
