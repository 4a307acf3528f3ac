package rule

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table/types"
)

// hashExists turns an EXISTS that is asked for many rows and is no join into membership: EXISTS
// (SELECT FROM u WHERE u.k = t.k) is t.k = ANY (SELECT k FROM u) IS TRUE, whose subquery runs once
// and is looked up in a table of its rows.
//
// The same because both are true where some row of u has that k; where a k is NULL, = ANY is NULL
// and EXISTS false. Must not fire: for conditions other than equality; where few rows ask; where an
// index finds the rows for each of them (unless so many ask that reading all is cheaper), since few
// may ask for them in the end (LIMIT, CASE).
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

// hashIn replaces the EXISTS of an expression over rows with some columns; asks is how many rows
// there are.
func (c *Context) hashIn(e expr.Expr, cols []logical.ColID, asks float64) expr.Expr {
	if !expr.HasSubquery(e) {
		return e
	}
	return expr.Rewrite(e, func(x expr.Expr) expr.Expr {
		if sq, ok := x.(*expr.Subquery); ok && sq.Kind == expr.Exists {
			if by := c.hashed(sq, logical.SetOf(cols), asks); by != nil {
				c.fired("HashExists")
				return by
			}
		}
		return x
	})
}

// hashed is the membership that an EXISTS asks for; nil when it is none, or better run for each
// row.
func (c *Context) hashed(sq *expr.Subquery, outer logical.ColSet, asks float64) expr.Expr {
	q, ok := sq.Plan.(*logical.Query)
	if !ok || logical.NodeVolatile(q.Node) || !logical.FreeCols(q.Node).SubsetOf(outer) {
		return nil
	}
	p := pulling{meta: c.Meta, outer: outer}
	conds := correlated(q.Node, outer, nil)
	if len(conds) == 0 || !p.can(q.Node, true) {
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
	child, _ := p.from(q.Node, true)
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

// mostHashed bounds the rows of which a table of keys is made for this.
const mostHashed = 1e6

// worthHashing reports whether reading the subquery once is cheaper than running it for every row.
func (c *Context) worthHashing(n logical.Node, conds []expr.Expr, outer logical.ColSet,
	asks float64) bool {
	for {
		p, ok := n.(*logical.Project) // EXISTS does not look at its columns
		if !ok {
			break
		}
		n = p.Child
	}
	rows := c.readRows(n)
	if asks < 20 || rows > mostHashed {
		return false
	}
	return !looksUp(n, conds, outer) || c.Estimator.Known() && opt.Seeks(asks) > rows
}

// readRows is the number of rows of all tables below a node.
func (c *Context) readRows(n logical.Node) float64 {
	rows := 0.0
	if s, ok := n.(*logical.Scan); ok {
		rows = c.Estimator.TableRows(s.Desc)
	}
	logical.EachInput(n, func(in *logical.Node) { rows += c.readRows(*in) })
	return rows
}
