package incremental

import (
	"strings"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/codec"
	"github.com/minidb/minidb/table/types"
)

// checkSyntax refuses what the text of a query shows, at its position.
func checkSyntax(query *ast.Select) error {
	var err error
	ast.Inspect(query, func(n any) bool {
		if err == nil {
			err = checkNode(n)
		}
		return err == nil
	})
	return err
}

func checkNode(n any) error {
	switch n := n.(type) {
	case *ast.Select:
		return checkQuery(n)
	case *ast.SelectCore:
		return checkCore(n)
	case *ast.SetOp:
		if n.Op != "union" {
			return refused(int(n.Pos), "%s", strings.ToUpper(n.Op))
		}
	case *ast.With:
		if n.Recursive {
			return refused(int(n.Pos), "WITH RECURSIVE")
		}
	case *ast.Join:
		if n.Kind == "full" {
			return refused(int(n.Pos), "a FULL JOIN")
		}
	case *ast.TableRef:
		if n.Sample != nil {
			return refused(int(n.Sample.Pos), "TABLESAMPLE")
		}
	case *ast.SubqueryRef:
		if n.Lateral {
			return refused(int(n.Pos), "LATERAL")
		}
	case *ast.FuncRef:
		if n.Lateral {
			return refused(int(n.Pos), "LATERAL")
		}
	case *ast.FuncCall:
		if n.Over != nil {
			return refused(int(n.Pos), "a window function")
		}
	case *ast.InSubquery, *ast.Exists, *ast.Subquery, *ast.ArraySubquery:
		return refused(int(n.(ast.Expr).At()), "a subquery in an expression")
	case *ast.Quantified:
		if n.Query != nil {
			return refused(int(n.Pos), "a subquery in an expression")
		}
	}
	return nil
}

func checkQuery(q *ast.Select) error {
	switch {
	case q.Limit != nil:
		return refused(int(q.Limit.At()), "LIMIT")
	case q.Offset != nil:
		return refused(int(q.Offset.At()), "OFFSET")
	case len(q.Locking) > 0:
		return refused(int(q.Locking[0].Pos), "FOR %s", strings.ToUpper(q.Locking[0].Strength))
	case q.AsOf != nil:
		return refused(int(q.AsOf.Pos), "AS OF SYSTEM TIME")
	}
	return nil
}

func checkCore(c *ast.SelectCore) error {
	if len(c.DistinctOn) > 0 {
		return refused(int(c.DistinctOn[0].At()), "DISTINCT ON")
	}
	for _, g := range c.GroupBy {
		if g.Kind != "" {
			return refused(int(g.Pos), "grouping sets")
		}
	}
	return nil
}

// checker refuses what shows once names are resolved and ordinary views are in the place of their
// names. Positions within such a view are not those of the statement, so they are left out.
type checker struct {
	meta      *logical.Meta
	positions map[int]bool // of the statement's calls
}

func checkPlan(meta *logical.Meta, root logical.Node, query *ast.Select) error {
	c := &checker{meta: meta, positions: map[int]bool{}}
	ast.Inspect(query, func(n any) bool {
		if e, ok := n.(ast.Expr); ok {
			c.positions[int(e.At())] = true
		}
		return true
	})
	if err := c.tree(root); err != nil {
		return err
	}
	for _, cte := range meta.CTEs {
		if cte.Refs == 0 {
			continue
		}
		if err := c.tree(cte.Query.Node); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) at(pos int) int {
	if c.positions[pos] {
		return pos
	}
	return 0
}

func (c *checker) tree(root logical.Node) error {
	var err error
	eachNode(root, func(n logical.Node) {
		if err == nil {
			err = c.node(n)
		}
		logical.EachExpr(n, func(e *expr.Expr) {
			if err == nil {
				err = c.expr(*e)
			}
		})
	})
	return err
}

func (c *checker) node(n logical.Node) error {
	switch n := n.(type) {
	case *logical.Scan:
		return readable(n.Desc)
	case *logical.FuncScan:
		for _, f := range n.Funcs {
			if f.Func != nil && f.Func.Volatility != expr.Immutable {
				return refused(0, "function %s, which is not immutable", f.Func.Name)
			}
		}
	case *logical.ProjectSet:
		pos := 0
		if len(n.Items) > 0 && len(n.Items[0].Args) > 0 {
			pos = position(n.Items[0].Args)
		}
		return refused(c.at(pos), "a set-returning function in the select list")
	case *logical.Join:
		if n.Kind == opt.Full {
			return refused(0, "a FULL JOIN")
		}
		if n.Lateral {
			return refused(0, "LATERAL")
		}
	case *logical.Distinct:
		if n.On != nil {
			return refused(0, "DISTINCT ON")
		}
	case *logical.Aggregate:
		if n.Sets != nil {
			return refused(0, "grouping sets")
		}
		for i := range n.Aggs {
			if err := c.aggregate(&n.Aggs[i].Agg); err != nil {
				return err
			}
		}
	case *logical.Window:
		return refused(0, "a window function")
	case *logical.Limit:
		return refused(0, "LIMIT")
	case *logical.SetOp:
		return refused(0, "INTERSECT or EXCEPT")
	case *logical.LockRows:
		return refused(0, "row locks")
	}
	return nil
}

// readable refuses relations whose changes cannot be followed.
func readable(d *table.Desc) error {
	switch d.Kind {
	case table.KindTable, table.KindState:
		return nil
	case table.KindMaterializedView:
		if d.View.Incremental != nil {
			return nil
		}
		return refused(0, "materialized view \"%s\", which is not incremental", d.Name)
	case table.KindSequence:
		return refused(0, "sequence \"%s\"", d.Name)
	}
	return refused(0, "system relation \"%s\"", d.Name)
}

func (c *checker) aggregate(a *opt.Agg) error {
	pos := c.at(position(a.Args))
	if len(a.OrderBy) > 0 || len(a.Direct) > 0 || a.Func.WithinGroup {
		return refused(pos, "aggregate %s with ORDER BY", a.Func.Name)
	}
	if _, ok := aggregateKinds[a.Func.Name]; !ok || len(a.Args) > 1 {
		return refused(pos, "aggregate %s", a.Func.Name)
	}
	return nil
}

// expr refuses what does not give the same value for the same row for ever.
func (c *checker) expr(e expr.Expr) error {
	var err error
	expr.Walk(e, func(x expr.Expr) bool {
		switch x := x.(type) {
		case *expr.Call:
			if x.Func.Volatility != expr.Immutable {
				err = refused(c.at(x.Pos), "function %s, which is not immutable", x.Func.Name)
			}
		case *expr.Cast:
			if stableCast(x.Arg.Type(), x.T) {
				err = refused(c.at(x.Pos), "a cast from %s to %s, which depends on settings",
					x.Arg.Type(), x.T)
			}
		case *expr.Subquery:
			err = refused(c.at(x.Pos), "a subquery in an expression")
		}
		return err == nil
	})
	return err
}

// stableCast reports whether a cast depends on settings, as the time zone, or on the catalog: it
// looks names up, or the texts of values may change. PostgreSQL takes the text of any array and
// range for such; here it depends on what they are made of.
func stableCast(from, to *types.Type) bool {
	if from.OID == to.OID {
		return false
	}
	from, to = innermost(from), innermost(to)
	return named(from) || named(to) || expr.CastVolatility(from, to) != expr.Immutable
}

// innermost is what a type is made of: below domains, the elements of arrays, the bounds of ranges.
func innermost(t *types.Type) *types.Type {
	switch t = t.Base(); {
	case t.Elem != nil:
		return innermost(t.Elem)
	case t.Sub != nil: // a range, or a multirange of ranges
		return innermost(t.Sub)
	}
	return t
}

// named reports whether the texts of a type's values are names of objects.
func named(t *types.Type) bool {
	switch t.OID {
	case types.OIDInt2, types.OIDInt4, types.OIDInt8, types.OIDOid:
		return false
	}
	return t.Family == types.Int
}

func indexable(t *types.Type) bool { return codec.Indexable(t) }

// position returns the position of the first expression that has one, else 0.
func position(es []expr.Expr) int {
	pos := 0
	for _, e := range es {
		expr.Walk(e, func(x expr.Expr) bool {
			at := 0
			switch x := x.(type) {
			case *expr.Call:
				at = x.Pos
			case *expr.Col:
				at = x.Pos
			case *expr.Const:
				at = x.Pos
			}
			if at > 0 && (pos == 0 || at < pos) {
				pos = at
			}
			return true
		})
	}
	return pos
}
