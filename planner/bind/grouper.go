package bind

import (
	"slices"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// grouper rewrites the expressions above an Aggregate: an expression that equals a group expression
// becomes its column; any other column of FROM is an error.
type grouper struct {
	s     *selecting
	level int
	node  *logical.Aggregate
	inner int // number of subqueries around the expression
}

func (g *grouper) rewriteAll() {
	s := g.s
	for i := range s.targets {
		s.targets[i].e = g.rewrite(s.targets[i].e)
	}
	for i := range s.having {
		s.having[i] = g.rewrite(s.having[i])
	}
	for i := range s.sc.sel.sets {
		args := s.sc.sel.sets[i].Args
		for k := range args {
			args[k] = g.rewrite(args[k])
		}
	}
	for i := range s.sc.sel.wins {
		s.sc.sel.wins[i].each(func(e *expr.Expr) { *e = g.rewrite(*e) })
	}
	g.groupings()
}

func (g *grouper) rewrite(e expr.Expr) expr.Expr {
	if _, isConst := e.(*expr.Const); isConst {
		return e
	}
	for _, k := range g.node.Keys {
		if logical.Equal(k.Expr, e) {
			return g.s.b.ref(k.ID, 0)
		}
	}
	switch e := e.(type) {
	case *expr.Col:
		return g.column(e)
	case *expr.Subquery:
		out := expr.Children(e, g.rewrite)
		if q, ok := e.Plan.(*logical.Query); ok {
			g.inner++
			g.plan(q.Node)
			g.inner--
		}
		return out
	}
	return expr.Children(e, g.rewrite)
}

// plan rewrites the expressions of a subquery, which may refer to groups of this query.
func (g *grouper) plan(n logical.Node) {
	logical.EachExpr(n, func(e *expr.Expr) { *e = g.rewrite(*e) })
	logical.EachInput(n, func(c *logical.Node) { g.plan(*c) })
}

func (g *grouper) column(c *expr.Col) expr.Expr {
	info := &g.s.b.meta.Cols[c.Index]
	if info.Level != g.level || g.s.sc.sel.made.Has(c.Index) || !g.fromColumn(c.Index) {
		return c
	}
	t := g.tableOf(c.Index)
	if t != nil && g.s.group.sets == nil && g.determined(t) {
		g.node.Keys = append(g.node.Keys, logical.Item{ID: c.Index, Expr: c})
		return c
	}
	name := info.Name
	if v := g.visibleName(t, c.Index); v != "" {
		name = v
	}
	if t != nil {
		name = t.alias + "." + name
	}
	if g.inner > 0 {
		panic(failure.At(c.Pos, sqlerr.GroupingError,
			"subquery uses ungrouped column \"%s\" from outer query", name))
	}
	panic(failure.At(c.Pos, sqlerr.GroupingError,
		"column \"%s\" must appear in the GROUP BY clause or be used in an aggregate function",
		name))
}

// fromColumn reports whether FROM of this query makes the column.
func (g *grouper) fromColumn(id logical.ColID) bool {
	return slices.Contains(g.node.Child.Columns(), id)
}

func (g *grouper) tableOf(id logical.ColID) *fromTable { return tableOf(g.s.sc.tables, id) }

// tableOf returns the FROM entry that has a visible column.
func tableOf(tables []*fromTable, id logical.ColID) *fromTable {
	for _, t := range tables {
		for i := range t.cols {
			if t.cols[i].id == id {
				return t
			}
		}
	}
	return nil
}

func (g *grouper) visibleName(t *fromTable, id logical.ColID) string {
	if t == nil {
		return ""
	}
	for i := range t.cols {
		if t.cols[i].id == id {
			return t.cols[i].name
		}
	}
	return ""
}

// determined reports whether the group expressions contain the primary key of a table, so that each
// of its columns has one value per group.
func (g *grouper) determined(t *fromTable) bool {
	if t.desc == nil || t.desc.Kind != table.KindTable {
		return false
	}
	pk := t.desc.PrimaryKey()
	if pk == nil || pk.Deferrable {
		return false
	}
	for _, kc := range pk.Columns {
		id := t.first + t.desc.ColumnByID(kc.ColumnID)
		found := false
		for _, k := range g.node.Keys {
			c, ok := k.Expr.(*expr.Col)
			found = found || ok && c.Index == id
		}
		if !found {
			return false
		}
	}
	g.s.b.noteKey(t.desc)
	return true
}

// groupings computes grouping(…): a bit for each argument that the row's set leaves out, the lowest
// bit for the last argument. To each key belongs a second key, the constant 0, in the same sets: it
// is NULL where the key is left out.
func (g *grouper) groupings() {
	marks := map[int]logical.ColID{}
	for _, call := range g.s.sc.sel.groupings {
		var value expr.Expr = &expr.Const{T: types.TInt4, Value: types.NewInt(0)}
		for i, a := range call.args {
			k := g.keyOf(a)
			if k < 0 {
				panic(failure.At(call.pos, sqlerr.GroupingError,
					"arguments to GROUPING must be grouping expressions of the associated "+
						"query level"))
			}
			if g.node.Sets == nil {
				continue
			}
			bit := &expr.Const{T: types.TInt4, Value: types.NewInt(1 << (len(call.args) - 1 - i))}
			zero := &expr.Const{T: types.TInt4, Value: types.NewInt(0)}
			left := &expr.Case{T: types.TInt4, Else: zero, Whens: []expr.When{
				{Cond: &expr.IsNull{Arg: g.s.b.ref(g.mark(marks, k), 0)}, Result: bit}}}
			value = g.s.b.binary("+", value, left, call.pos)
		}
		for i := range g.s.targets {
			g.s.targets[i].e = replaceColumn(g.s.targets[i].e, call.id, value)
		}
		for i := range g.s.having {
			g.s.having[i] = replaceColumn(g.s.having[i], call.id, value)
		}
	}
}

// keyOf returns the index of an equal group expression, -1 for none.
func (g *grouper) keyOf(e expr.Expr) int {
	for i, k := range g.node.Keys {
		if logical.Equal(k.Expr, e) {
			return i
		}
	}
	return -1
}

// mark adds the constant key that belongs to key k.
func (g *grouper) mark(marks map[int]logical.ColID, k int) logical.ColID {
	if id, ok := marks[k]; ok {
		return id
	}
	id := g.s.b.newColumn("grouping", types.TInt4, g.level)
	at := len(g.node.Keys)
	g.node.Keys = append(g.node.Keys,
		logical.Item{ID: id, Expr: &expr.Const{T: types.TInt4, Value: types.NewInt(0)}})
	for i, set := range g.node.Sets {
		if slices.Contains(set, k) {
			g.node.Sets[i] = append(set[:len(set):len(set)], at)
		}
	}
	marks[k] = id
	return id
}

func replaceColumn(e expr.Expr, id logical.ColID, by expr.Expr) expr.Expr {
	return expr.Rewrite(e, func(x expr.Expr) expr.Expr {
		if c, ok := x.(*expr.Col); ok && c.Index == id {
			return by
		}
		return x
	})
}

// computeOnce moves volatile expressions below the grouping. Each grouping set evaluates keys and
// arguments itself, but a nextval() in them must be called once per row.
func (g *grouper) computeOnce() {
	var computed []logical.Item
	own := 0 // where the expressions of the key or aggregate begin
	move := func(e *expr.Expr) {
		if *e == nil || !logical.IsVolatile(*e) {
			return
		}
		for _, it := range computed[own:] { // an argument by which ORDER BY sorts is one value
			if logical.Equal(it.Expr, *e) {
				*e = g.s.b.ref(it.ID, 0)
				return
			}
		}
		id := g.s.b.newColumn("computed", (*e).Type(), g.level)
		g.s.b.computedFrom(id, *e)
		computed = append(computed, logical.Item{ID: id, Expr: *e})
		*e = g.s.b.ref(id, 0)
	}
	for i := range g.node.Keys {
		own = len(computed)
		move(&g.node.Keys[i].Expr)
	}
	for i := range g.node.Aggs {
		a := &g.node.Aggs[i].Agg
		own = len(computed)
		move(&a.Filter)
		for j := range a.Args {
			move(&a.Args[j])
		}
		for j := range a.OrderBy {
			move(&a.OrderBy[j].Expr)
		}
	}
	if len(computed) == 0 {
		return
	}
	p := &logical.Project{Child: g.node.Child}
	for _, id := range g.node.Child.Columns() {
		p.Items = append(p.Items, logical.Item{ID: id, Expr: g.s.b.ref(id, 0)})
	}
	p.Items = append(p.Items, computed...)
	g.node.Child = p
}
