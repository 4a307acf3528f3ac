package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
)

// maxGroupingSets bounds the number of sets that CUBE and products of grouping sets expand to, as
// in PostgreSQL.
const maxGroupingSets = 4096

func (s *selecting) bindGroupBy() {
	items := s.core.GroupBy
	if len(items) == 0 {
		return
	}
	s.group.given = true
	s.sc.sel.clause = clauseGroupBy
	withSets := false
	for _, it := range items {
		withSets = withSets || it.Kind != ""
	}
	sets := [][]int{nil}
	for _, it := range items {
		next := s.groupItem(it)
		if len(sets)*len(next) > maxGroupingSets {
			panic(failure.At(it.Pos, sqlerr.StatementTooComplex,
				"too many grouping sets present (maximum %d)", maxGroupingSets))
		}
		var product [][]int
		for _, left := range sets {
			for _, right := range next {
				product = append(product, append(append([]int(nil), left...), right...))
			}
		}
		sets = product
	}
	if withSets {
		s.group.sets = sets
		for i, set := range sets {
			s.group.sets[i] = unique(set)
		}
	}
}

func unique(set []int) []int {
	out := make([]int, 0, len(set))
	for _, k := range set {
		dup := false
		for _, o := range out {
			dup = dup || o == k
		}
		if !dup {
			out = append(out, k)
		}
	}
	return out
}

// groupItem returns the grouping sets of an item, as indexes of group expressions.
func (s *selecting) groupItem(it ast.GroupItem) [][]int {
	if it.Kind == "" {
		return [][]int{s.groupExpr(it.Expr)}
	}
	var parts [][]int
	for _, set := range it.Sets {
		var part []int
		for _, e := range set {
			part = append(part, s.groupExpr(e)...)
		}
		parts = append(parts, part)
	}
	switch it.Kind {
	case "rollup":
		return rollup(parts)
	case "cube":
		return cube(parts, it.Pos)
	}
	return parts
}

func rollup(parts [][]int) [][]int {
	var sets [][]int
	for n := len(parts); n >= 0; n-- {
		var set []int
		for _, p := range parts[:n] {
			set = append(set, p...)
		}
		sets = append(sets, set)
	}
	return sets
}

func cube(parts [][]int, pos ast.Pos) [][]int {
	if len(parts) > 12 {
		panic(failure.At(pos, sqlerr.TooManyColumns, "CUBE is limited to 12 elements"))
	}
	var sets [][]int
	for mask := 1<<len(parts) - 1; mask >= 0; mask-- {
		var set []int
		for i, p := range parts {
			if mask&(1<<(len(parts)-1-i)) != 0 {
				set = append(set, p...)
			}
		}
		sets = append(sets, set)
	}
	return sets
}

// groupExpr resolves an item to a column in FROM, else to the name or position of a result column,
// else to an expression. A parenthesised list is several items.
func (s *selecting) groupExpr(e ast.Expr) []int {
	if row, ok := e.(*ast.Row); ok {
		var all []int
		for _, el := range row.Elements {
			all = append(all, s.groupExpr(el)...)
		}
		return all
	}
	bound := s.b.resolveUnknown(s.groupBound(e))
	requireEquality(bound.Type(), exprPos(e))
	for i, have := range s.group.exprs {
		if logical.Equal(have, bound) {
			return []int{i}
		}
	}
	s.group.exprs = append(s.group.exprs, bound)
	return []int{len(s.group.exprs) - 1}
}

func (s *selecting) groupBound(e ast.Expr) expr.Expr {
	n, ok := ordinal(e, len(s.core.Items)+len(s.targets), clauseGroupBy)
	if ref, isRef := e.(*ast.ColumnRef); !ok && isRef && len(ref.Qualifier) == 0 {
		if col := s.b.localColumn(s.sc, ref); col != nil {
			return col
		}
		n = s.namedTarget(ref, clauseGroupBy)
		ok = n >= 0
	}
	if !ok {
		return s.b.expr(s.sc, e)
	}
	if n >= len(s.targets) || s.targets[n].junk {
		panic(failure.At(e.At(), sqlerr.InvalidColumnReference,
			"GROUP BY position %d is not in select list", n+1))
	}
	t := &s.targets[n]
	t.e = s.b.resolveUnknown(t.e)
	s.refuseCalls(t.e, e.At())
	return t.e
}

// refuseCalls refuses an aggregate or window call in an expression that GROUP BY took from the
// select list.
func (s *selecting) refuseCalls(e expr.Expr, pos ast.Pos) {
	sel := s.sc.sel
	expr.Walk(e, func(x expr.Expr) bool {
		c, ok := x.(*expr.Col)
		if !ok || !sel.made.Has(c.Index) {
			return true
		}
		for _, a := range sel.aggs {
			if a.ID == c.Index {
				panic(failure.At(a.pos, sqlerr.GroupingError,
					"aggregate functions are not allowed in GROUP BY"))
			}
		}
		for _, w := range sel.wins {
			if w.ID == c.Index {
				panic(failure.At(w.pos, sqlerr.WindowingError,
					"window functions are not allowed in GROUP BY"))
			}
		}
		return true
	})
}

// buildGroups adds the Aggregate and HAVING, and rewrites the expressions above to refer to groups.
func (s *selecting) buildGroups() {
	sel := s.sc.sel
	if len(sel.aggs) == 0 && !s.group.given && s.having == nil && len(sel.groupings) == 0 {
		return
	}
	if sel.selfReference && len(sel.aggs) > 0 {
		panic(failure.At(sel.aggs[0].pos, sqlerr.InvalidRecursion,
			"aggregate functions are not allowed in a recursive query's recursive term"))
	}
	s.setsBelow()
	if len(s.group.exprs) == 0 && len(sel.aggs) == 0 && len(sel.groupings) == 0 && !s.group.given {
		s.onlyHaving()
		return
	}
	g := &grouper{s: s, level: s.sc.level(),
		node: &logical.Aggregate{Child: s.node, Keys: s.groupKeys(), Sets: s.group.sets}}
	g.rewriteAll()
	for _, a := range sel.aggs {
		g.node.Aggs = append(g.node.Aggs, a.AggItem)
	}
	if g.node.Sets != nil {
		g.computeOnce()
	}
	s.node = g.node
	if len(s.having) > 0 {
		s.node = &logical.Filter{Child: s.node, Conds: s.having}
	}
}

// groupKeys returns the keys of the groups. A plain column keeps its ID, unless there are grouping
// sets, in which it may be NULL.
func (s *selecting) groupKeys() []logical.Item {
	below := logical.SetOf(s.node.Columns())
	var keys []logical.Item
	for _, e := range s.group.exprs {
		it := logical.Item{Expr: e}
		if c, ok := e.(*expr.Col); ok && below.Has(c.Index) && s.group.sets == nil {
			it.ID = c.Index
		} else {
			it.ID = s.b.newColumn(keyName(e), e.Type(), s.sc.level())
			s.b.computedFrom(it.ID, e)
		}
		keys = append(keys, it)
	}
	return keys
}

// onlyHaving adds HAVING without groups and aggregates: the result is one row or none, whatever the
// rows of FROM, and no column of FROM may be used.
func (s *selecting) onlyHaving() {
	g := &grouper{s: s, level: s.sc.level(), node: &logical.Aggregate{Child: s.node}}
	g.rewriteAll()
	s.node = &logical.Filter{Child: &logical.Values{Rows: [][]expr.Expr{{}}}, Conds: s.having}
}

// setsBelow evaluates set-returning calls below the grouping if a group expression needs them.
func (s *selecting) setsBelow() {
	var cols, sets logical.ColSet
	for _, e := range s.group.exprs {
		logical.ExprCols(e, &cols)
	}
	for _, it := range s.sc.sel.sets {
		sets.Add(it.ID)
	}
	if !cols.Intersects(sets) {
		return
	}
	s.buildSets()
	sets.Each(s.sc.sel.made.Remove)
	s.sc.sel.sets = nil
}

func keyName(e expr.Expr) string {
	if c, ok := e.(*expr.Col); ok {
		return c.Name
	}
	return ""
}
