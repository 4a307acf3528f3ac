package choose

import (
	"cmp"
	"context"
	"math"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/estimate"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"

	"slices"
)

// chooser makes one statement's physical plan.
type chooser struct {
	costs opt.Costs
	est   *estimate.Estimator
	meta  *logical.Meta
	vars  []variable // columns of the enclosing queries, innermost last
	slots int
	// qualified is set when more than one table is read: EXPLAIN then qualifies column names.
	qualified bool
	aliases   map[logical.ColID]string
	interrupt *logical.Interrupt
	err       error
	// checksLater is set when a written table has checks that run later (table.Desc.ChecksLater).
	checksLater bool
}

// variable is a column of an outer query, held in a slot.
type variable struct {
	id   logical.ColID
	slot int
}

// subplan is the finished physical plan of a subtree: output column i of node is cols[i].
type subplan struct {
	node physical.Node
	cols []logical.ColID
	// ordered is set when the rows have the required order.
	ordered bool
}

// required are the properties that a parent requires of a child. Both are optional: a parent sorts
// the rows itself if the child is not ordered.
type required struct {
	order []orderCol
	// limit is the number of rows after which the parent stops reading; 0: it reads all.
	limit float64
}

// orderCol is one column of a required order.
type orderCol struct {
	id         logical.ColID
	desc       bool
	nullsFirst bool
}

// Plan makes the physical plan of a bound and rewritten statement under a session's cost settings.
// est may be nil.
func Plan(ctx context.Context, costs opt.Costs, est *estimate.Estimator,
	r *logical.Statement) (*physical.Plan, error) {
	c := &chooser{costs: costs, est: est, meta: r.Meta, interrupt: logical.NewInterrupt(ctx)}
	c.qualified = scans(r.Query.Node)+len(r.Meta.CTEs) > 1
	plan := &physical.Plan{ReadOnly: !r.Meta.Writes, ParamTypes: r.Meta.Params,
		Tables: r.Meta.Tables, Needs: r.Meta.Needs, NoCache: r.NoCache, Lasting: r.Meta.Lasting,
		RowSecurity: r.Meta.RowSecurity, Positions: r.Meta.Positions}
	for _, cte := range r.Meta.CTEs {
		if cte.Refs == 0 && !cte.Modifies {
			continue
		}
		plan.CTEs = append(plan.CTEs, c.cte(cte))
	}
	root := c.query(r.Query, true)
	if c.err != nil {
		return nil, c.err
	}
	plan.Root, plan.Slots, plan.ChecksLater = root, c.slots, c.checksLater
	return plan, nil
}

// scans returns the number of tables that a tree reads.
func scans(n logical.Node) int {
	count := 0
	switch n.(type) {
	case *logical.Scan, *logical.FuncScan, *logical.CTERef:
		count = 1
	}
	logical.EachExpr(n, func(e *expr.Expr) {
		logical.EachSubquery(*e, func(sq *expr.Subquery) {
			if q, ok := sq.Plan.(*logical.Query); ok {
				count += scans(q.Node)
			}
		})
	})
	logical.EachInput(n, func(in *logical.Node) { count += scans(*in) })
	return count
}

func (c *chooser) fail(format string, args ...any) {
	if c.err == nil {
		c.err = sqlerr.New(sqlerr.InternalError, "planner: "+format, args...)
	}
}

func (c *chooser) cte(cte *logical.CTE) physical.CTE {
	out := physical.CTE{ID: cte.ID, Name: cte.Name, UnionAll: cte.UnionAll, Modifies: cte.Modifies}
	out.Plan = c.query(cte.Query, false)
	if cte.Recursive != nil {
		out.Recursive = c.query(cte.Recursive, false)
	}
	return out
}

// query plans a query with exactly the columns of its result.
func (c *chooser) query(q *logical.Query, named bool) physical.Node {
	sub := c.build(q.Node, required{})
	if c.err != nil {
		return nil
	}
	node := c.projectExactly(sub, q.IDs()).node
	if !named {
		return node
	}
	cols := node.Columns()
	for i, out := range q.Cols {
		if cols[i].Name != out.Name {
			return c.rename(node, q)
		}
	}
	return node
}

// rename gives the result columns of the statement their names. The node must not be shared with
// another plan.
func (c *chooser) rename(node physical.Node, q *logical.Query) physical.Node {
	cols := append([]physical.Column(nil), node.Columns()...)
	for i, out := range q.Cols {
		cols[i].Name = out.Name
	}
	if based, ok := node.(interface{ SetColumns([]physical.Column) }); ok {
		based.SetColumns(cols)
	}
	return node
}

// projectExactly adds a projection to the listed columns, unless these are the columns already.
func (c *chooser) projectExactly(sub subplan, want []logical.ColID) subplan {
	if slices.Equal(sub.cols, want) {
		return sub
	}
	p := &physical.Project{Child: sub.node, Exprs: make([]expr.Expr, len(want))}
	for i, id := range want {
		at := slices.Index(sub.cols, id)
		if at < 0 {
			if p.Exprs[i] = c.variable(id); p.Exprs[i] == nil {
				c.fail("column %d (%s) is not there", id, c.meta.Cols[id].Name)
				return sub
			}
			continue
		}
		p.Exprs[i] = c.ordinal(id, at)
	}
	p.Base = c.base(want, sub.node.Est().Rows, sub.node.Est().Cost)
	return subplan{node: p, cols: want, ordered: sub.ordered}
}

// base returns the output columns and the estimate of a node.
func (c *chooser) base(cols []logical.ColID, rows, cost float64) physical.Base {
	b := physical.Base{Cols: make([]physical.Column, len(cols))}
	for i, id := range cols {
		m := &c.meta.Cols[id]
		b.Cols[i] = physical.Column{Name: m.Name, Type: m.Type, Table: m.Table, Attr: m.Attr}
	}
	b.Estimate = opt.Estimate{Rows: math.Max(rows, 1), Cost: cost}
	return b
}

// ordinal returns a reference to a column at its place in the input row.
func (c *chooser) ordinal(id logical.ColID, at int) *expr.Col {
	m := &c.meta.Cols[id]
	return &expr.Col{T: m.Type, Index: at, Name: c.displayName(id)}
}

// displayName returns a column's name in EXPLAIN.
func (c *chooser) displayName(id logical.ColID) string {
	name := c.meta.Cols[id].Name
	if !c.qualified {
		return name
	}
	if alias := c.aliases[id]; alias != "" {
		return alias + "." + name
	}
	return name
}

func (c *chooser) noteAlias(cols []logical.ColID, alias string) {
	if !c.qualified {
		return
	}
	if c.aliases == nil {
		c.aliases = map[logical.ColID]string{}
	}
	for _, id := range cols {
		c.aliases[id] = alias
	}
}

// variable returns a reference to a column of an outer query, nil when no enclosing query has it.
func (c *chooser) variable(id logical.ColID) expr.Expr {
	for i := len(c.vars) - 1; i >= 0; i-- {
		if c.vars[i].id == id {
			m := &c.meta.Cols[id]
			return &expr.Var{T: m.Type, Slot: c.vars[i].slot, Name: c.displayName(id)}
		}
	}
	return nil
}

// bindOuter assigns slots to the outer columns that a correlated tree reads. args are the values of
// these columns over the outer row. The caller truncates c.vars to its old length afterwards.
func (c *chooser) bindOuter(free logical.ColSet, cols []logical.ColID) (slots []int,
	args []expr.Expr) {
	free.Each(func(id logical.ColID) {
		var arg expr.Expr
		if at := slices.Index(cols, id); at >= 0 {
			arg = c.ordinal(id, at)
		} else if arg = c.variable(id); arg == nil {
			c.fail("outer column %d (%s) is not there", id, c.meta.Cols[id].Name)
			return
		}
		args = append(args, arg)
		slots = append(slots, c.slots)
		c.slots++
	})
	if c.err != nil {
		return nil, nil
	}
	i := 0
	free.Each(func(id logical.ColID) {
		c.vars = append(c.vars, variable{id: id, slot: slots[i]})
		i++
	})
	return slots, args
}

// expr replaces the columns of an expression by ordinals of the input row cols, and outer columns
// by variables.
func (c *chooser) expr(e expr.Expr, cols []logical.ColID) expr.Expr {
	switch e := e.(type) {
	case *expr.Const, *expr.Param:
		return e
	case *expr.Col:
		if at := slices.Index(cols, e.Index); at >= 0 {
			col := c.ordinal(e.Index, at)
			if e.T.OID != col.T.OID { // a column of a domain, as one of what the domain is over
				col.T = e.T
			}
			return col
		}
		if v := c.variable(e.Index); v != nil {
			return v
		}
		c.fail("column %d (%s) is not in sight", e.Index, e.Name)
		return e
	case *expr.Subquery:
		return c.subquery(e, cols)
	}
	return expr.Children(e, func(x expr.Expr) expr.Expr { return c.expr(x, cols) })
}

func (c *chooser) exprs(es []expr.Expr, cols []logical.ColID) []expr.Expr {
	if es == nil {
		return nil
	}
	out := make([]expr.Expr, len(es))
	for i, e := range es {
		out[i] = c.expr(e, cols)
	}
	return out
}

// conj returns the conjunction of conditions, nil for none. Cheaper ones come first, as in
// PostgreSQL, and otherwise the first that is written. A subquery is dear.
func (c *chooser) conj(conds []expr.Expr, cols []logical.ColID) expr.Expr {
	switch len(conds) {
	case 0:
		return nil
	case 1:
		return c.expr(conds[0], cols)
	}
	type priced struct {
		cond  expr.Expr
		calls float64
	}
	list := make([]priced, len(conds)) // there may be many: each is priced once
	for i, cond := range conds {
		list[i] = priced{cond, expr.Calls(cond)}
	}
	slices.SortStableFunc(list, func(a, b priced) int { return cmp.Compare(a.calls, b.calls) })
	args := make([]expr.Expr, len(list))
	for i := range list {
		args[i] = c.expr(list[i].cond, cols)
	}
	return &expr.And{Args: args}
}

// subquery plans the subquery of an expression.
func (c *chooser) subquery(e *expr.Subquery, cols []logical.ColID) expr.Expr {
	q, ok := e.Plan.(*logical.Query)
	if !ok {
		c.fail("a subquery is planned twice")
		return e
	}
	out := *e
	out.Left = c.exprs(e.Left, cols)
	mark := len(c.vars)
	// Columns of queries further out are in slots already. A subquery that reads no others keeps
	// its result from row to row.
	free := logical.FreeCols(q.Node)
	outer := free.Copy()
	outer.DifferenceWith(logical.SetOf(cols))
	free.DifferenceWith(outer)
	out.Slots, out.Args = c.bindOuter(free, cols)
	limit := required{}
	if e.Kind == expr.Exists {
		limit.limit = 1
	}
	if c.err == nil {
		sub := c.build(q.Node, limit)
		if c.err == nil {
			out.Plan = c.projectExactly(sub, q.IDs()).node
		}
	}
	c.vars = c.vars[:mark]
	return &out
}
