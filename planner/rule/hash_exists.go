package rule

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table/types"
)

// hashExists turns an EXISTS that many rows evaluate, and that is not a condition of WHERE by
// itself, into a membership test: EXISTS (SELECT FROM u WHERE u.k = t.k) becomes t.k = ANY (SELECT
// k FROM u) IS TRUE. The subquery then runs once, and its rows are put into a hash table.
//
// Equivalent because both are true if some row of u has that k. Where k is NULL, = ANY is NULL and
// EXISTS is false, hence IS TRUE. Must not fire: for conditions other than equality; where few rows
// evaluate it; where an index finds the matches of one row (unless so many rows evaluate it that
// reading all of u is cheaper), since LIMIT or CASE may leave few evaluations in the end.
func hashExists(c *Context, n logical.Node) logical.Node {
	return bottomUp(c, n, func(n logical.Node) logical.Node {
		switch n := n.(type) {
		case *logical.Filter:
			for i := range n.Conds {
				n.Conds[i] = c.hashIn(n.Conds[i], n.Child.Columns(), c.rows(n.Child))
			}
		case *logical.Project:
			for i := range n.Items {
				n.Items[i].Expr = c.hashIn(n.Items[i].Expr, n.Child.Columns(), c.rows(n.Child))
			}
		case *logical.Aggregate:
			for i := range n.Aggs {
				c.hashInAggregate(&n.Aggs[i].Agg, n.Child)
			}
		case *logical.Join:
			both := append(append([]logical.ColID(nil), n.Left.Columns()...), n.Right.Columns()...)
			for i := range n.On {
				n.On[i] = c.hashIn(n.On[i], both, c.rows(n.Left)*c.rows(n.Right))
			}
		}
		return n
	})
}

func (c *Context) hashInAggregate(a *opt.Agg, child logical.Node) {
	for i := range a.Args {
		a.Args[i] = c.hashIn(a.Args[i], child.Columns(), c.rows(child))
	}
	if a.Filter != nil {
		a.Filter = c.hashIn(a.Filter, child.Columns(), c.rows(child))
	}
}

// hashIn replaces EXISTS within an expression over rows with columns cols. evaluations is the
// number of these rows.
func (c *Context) hashIn(e expr.Expr, cols []logical.ColID, asks float64) expr.Expr {
	if !expr.HasSubquery(e) {
		return e
	}
	return expr.Rewrite(e, func(x expr.Expr) expr.Expr {
		if sq, ok := x.(*expr.Subquery); ok && sq.Kind == expr.Exists {
			if by := c.membership(sq, logical.SetOf(cols), asks); by != nil {
				c.fired("HashExists")
				return by
			}
		}
		return x
	})
}

// membership returns the membership test that replaces an EXISTS. It returns nil when the subquery
// has another shape, or is better run for each row.
func (c *Context) membership(sq *expr.Subquery, outer logical.ColSet, asks float64) expr.Expr {
	q, ok := sq.Plan.(*logical.Query)
	if !ok || logical.NodeVolatile(q.Node) || !logical.FreeCols(q.Node).SubsetOf(outer) {
		return nil
	}
	p := pulling{meta: c.Meta, outer: outer}
	conds := correlated(q.Node, outer, nil)
	if len(conds) == 0 || !p.possible(q.Node, true) {
		return nil
	}
	out := &expr.Subquery{T: types.TBool, Kind: expr.Any, Pos: sq.Pos}
	var items []logical.Item
	for _, cond := range conds {
		inner, side, ok := innerSide(cond, outer)
		if !ok {
			return nil
		}
		call := cond.(*expr.Call)
		if call.Args[0].Type().OID != call.Args[1].Type().OID || logical.IsVolatile(cond) {
			return nil
		}
		out.Left, out.Ops = append(out.Left, call.Args[1-side]), append(out.Ops, call.Func)
		items = append(items, logical.Item{Expr: inner})
	}
	if !c.worthHashing(q.Node, conds, outer, asks) || !out.Hashed() {
		return nil
	}
	child, _ := p.pull(q.Node, true)
	made := &logical.Project{Child: child}
	plan := &logical.Query{Node: made}
	for i := range items {
		items[i].ID = c.Meta.Add(logical.Column{Type: items[i].Expr.Type()})
		plan.Cols = append(plan.Cols, logical.Output{ID: items[i].ID})
	}
	made.SetItems(items)
	out.Plan = plan
	return &expr.IsBool{Arg: out, Want: true}
}

// maxHashedRows is the largest number of rows that are read into a hash table.
const maxHashedRows = 1e6

// worthHashing reports whether reading the subquery once is cheaper than running it for every row.
func (c *Context) worthHashing(n logical.Node, conds []expr.Expr, outer logical.ColSet,
	asks float64) bool {
	for {
		p, ok := n.(*logical.Project) // EXISTS ignores the columns of its subquery
		if !ok {
			break
		}
		n = p.Child
	}
	rows := c.readRows(n)
	if asks < 20 || rows > maxHashedRows {
		return false
	}
	return !indexServes(n, conds, outer) || c.Estimator.Known() && opt.Seeks(asks) > rows
}

// readRows returns the number of rows of all tables below a node.
func (c *Context) readRows(n logical.Node) float64 {
	rows := 0.0
	if s, ok := n.(*logical.Scan); ok {
		rows = c.Estimator.TableRows(s.Desc)
	}
	logical.EachInput(n, func(in *logical.Node) { rows += c.readRows(*in) })
	return rows
}
