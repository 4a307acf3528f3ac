package choose

import (
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/estimate"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// anyLookup plans a scan with the condition `key = ANY ($1)`, whose array is known only when the
// statement runs: each different element of the array is looked up. It returns nil when the given
// path is better, or no key begins with such a column.
func (c *chooser) anyLookup(s *logical.Scan, conds []expr.Expr, best *path) *subplan {
	if best.ranges != nil || best.keys != nil || c.costs.NoIndexScan {
		return nil
	}
	for i, cond := range conds {
		q, ok := cond.(*expr.Quantified)
		if !ok || q.All || q.Op.Comparison() != "=" || !c.constantDuring(s, q.Array) {
			continue
		}
		if q.Array.Type().Elem == nil {
			continue
		}
		others := append(append([]expr.Expr(nil), conds[:i]...), conds[i+1:]...)
		if b := c.lookupElements(s, q, others); b != nil {
			return b
		}
	}
	return nil
}

func (c *chooser) lookupElements(s *logical.Scan, q *expr.Quantified, others []expr.Expr) *subplan {
	unnest, _, err := builtin.ResolveFunction("unnest", []*types.Type{q.Array.Type()})
	if err != nil {
		return nil
	}
	id := c.meta.Add(logical.Column{Name: "element", Type: q.Array.Type().Elem})
	pair := equiPair{left: c.meta.Col(id), right: q.Left}
	ix, used, unique := c.lookupIndex(s, others, []equiPair{pair})
	if len(used) == 0 {
		return nil
	}
	elements := &physical.FuncScan{Alias: "unnest", Funcs: []opt.TableFunc{
		{Func: unnest, Args: []expr.Expr{c.expr(q.Array, nil)}, Width: 1}}}
	const count = estimate.ArrayElements
	elements.Base = c.base([]logical.ColID{id}, count, count)
	keys, id := c.elementKeys(elements, id, used[0].key)
	distinct := &physical.Distinct{Child: keys}
	distinct.Base = c.base([]logical.ColID{id}, count, count)
	j := &physical.IndexJoin{Kind: opt.Inner, Left: distinct, Inner: c.lookupScan(s, ix, others)}
	j.Keys = []expr.Expr{c.ordinal(id, 0)}
	rows := float64(count)
	if !unique {
		rows *= c.est.Matches(s.Desc, []expr.Expr{q.Left})
	}
	cols := append([]logical.ColID{id}, s.Out...)
	j.Base = c.base(cols, rows*c.est.Conds(others), opt.Lookups(count, rows))
	return &subplan{node: j, cols: cols}
}

// elementKeys converts an array's elements to the type of the key where it differs. Different
// elements may become the same key.
func (c *chooser) elementKeys(elements physical.Node, id logical.ColID,
	key expr.Expr) (physical.Node, logical.ColID) {
	if _, same := key.(*expr.Col); same {
		return elements, id
	}
	of := c.meta.Add(logical.Column{Name: "key", Type: key.Type()})
	p := &physical.Project{Child: elements, Exprs: []expr.Expr{c.expr(key, []logical.ColID{id})}}
	p.Base = c.base([]logical.ColID{of}, estimate.ArrayElements, elements.Est().Cost)
	return p, of
}
