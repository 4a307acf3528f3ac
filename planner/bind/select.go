package bind

import (
	"slices"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
)

// selectCore binds SELECT … with its ORDER BY. q is the query expression that it belongs to, for
// its locking clause; nil within set operations.
func (b *binder) selectCore(sc *scope, core *ast.SelectCore, orderBy []ast.OrderItem,
	keepUnknown bool, q *ast.Select) *logical.Query {
	if core.Into != nil {
		panic(failure.Unsupported(core.Into.Name.Pos, "SELECT INTO here"))
	}
	s := &selecting{b: b, sc: sc, core: core}
	if q != nil {
		s.locking, s.positioned = q.Locking, q.Positioned
	}
	s.bindClauses(orderBy)
	if !keepUnknown {
		s.resolveUnknowns()
	}
	return s.build()
}

// bindClauses binds all clauses in PostgreSQL's order.
func (s *selecting) bindClauses(orderBy []ast.OrderItem) {
	sc, core := s.sc, s.core
	sc.sel.defs = core.Windows
	s.node = s.b.from(sc, core.From)
	sc.sel.clause = clauseTarget
	s.targets = s.b.targetList(sc, core.Items)
	s.where = s.b.where(sc, core.Where)
	if core.Having != nil {
		sc.sel.clause = clauseHaving
		having := s.b.condition(sc, core.Having, "HAVING")
		s.having = conjuncts(nil, having)
	}
	sc.sel.clause = clauseOrderBy
	for _, it := range orderBy {
		t := s.sortTarget(it.Expr, clauseOrderBy)
		if s.ordered(t) {
			continue
		}
		s.order = append(s.order, orderKey{target: t, item: it})
	}
	s.bindGroupBy()
	s.bindDistinct()
	s.b.checkDefs(sc)
}

func (s *selecting) ordered(t int) bool {
	for _, o := range s.order {
		if o.target == t {
			return true
		}
	}
	return false
}

// where binds WHERE and returns its conjuncts.
func (b *binder) where(sc *scope, e ast.Expr) []expr.Expr {
	if e == nil {
		return nil
	}
	sc.sel.clause = clauseWhere
	return conjuncts(nil, b.condition(sc, e, "WHERE"))
}

// targetList binds a select list or RETURNING. It expands stars.
func (b *binder) targetList(sc *scope, items []ast.SelectItem) []target {
	targets := make([]target, 0, len(items))
	for _, it := range items {
		if cols, ok := b.star(sc, it.Expr); ok {
			pos := it.Expr.At()
			for i := range cols {
				targets = append(targets,
					target{name: cols[i].name, e: b.visibleRef(&cols[i], pos)})
			}
			continue
		}
		e := b.expr(sc, it.Expr)
		given := collation{}
		if b.collated != nil {
			given = b.collationOf(e)
		}
		name := it.Alias
		if name == "" {
			name = figureName(it.Expr)
		}
		targets = append(targets, target{name: name, e: e, src: it.Expr, given: given})
	}
	return targets
}

// star expands * and t.*; ok is false for any other expression.
func (b *binder) star(sc *scope, e ast.Expr) (cols []visible, ok bool) {
	var qualifier []string
	var pos ast.Pos
	switch e := e.(type) {
	case *ast.Star:
		qualifier, pos = e.Qualifier, e.Pos
	case *ast.FieldSelect:
		if e.Field != "*" {
			return nil, false
		}
		t := rowOperand(sc, e.Operand)
		if t == nil {
			return b.expand(sc, e), true
		}
		b.noteStar(e, []*fromTable{t}, t.cols)
		return t.cols, true
	default:
		return nil, false
	}
	if len(qualifier) > 0 {
		t, hidden := findTable(sc, qualifier)
		if t == nil {
			if row := b.variableRow(e.(*ast.Star)); row != nil {
				return variableFields(row), true
			}
			panic(failure.Of(missingTable(sc, qualifier, hidden, pos)))
		}
		cols = expanded(t.cols)
		b.noteStar(e, []*fromTable{t}, cols)
		return cols, true
	}
	if len(sc.tables) == 0 {
		panic(failure.At(pos, sqlerr.SyntaxError, "SELECT * with no tables specified is not valid"))
	}
	cols = expanded(sc.cols)
	b.noteStar(e, sc.tables, cols)
	return cols, true
}

// expanded returns the columns that * stands for.
func expanded(cols []visible) []visible {
	hidden := func(v visible) bool { return v.unexpanded }
	if !slices.ContainsFunc(cols, hidden) {
		return cols
	}
	return slices.DeleteFunc(slices.Clone(cols), hidden)
}

// sortTarget resolves an item of ORDER BY or DISTINCT ON by the SQL-92 rules first (the name or
// position of a result column), else as an expression. If the select list does not contain an equal
// one, that becomes a hidden target.
func (s *selecting) sortTarget(e ast.Expr, c clause) int {
	visible := len(s.targets)
	for visible > 0 && s.targets[visible-1].junk {
		visible--
	}
	if n, ok := ordinal(e, visible, c); ok {
		return n
	}
	if ref, ok := e.(*ast.ColumnRef); ok && len(ref.Qualifier) == 0 {
		if t := s.namedTarget(ref, c); t >= 0 {
			return t
		}
	}
	return s.addTarget(s.b.expr(s.sc, e), e)
}

func (s *selecting) addTarget(e expr.Expr, src ast.Expr) int {
	for i := range s.targets {
		if logical.Equal(s.targets[i].e, e) {
			return i
		}
	}
	s.targets = append(s.targets, target{e: e, src: src, junk: true})
	return len(s.targets) - 1
}

// bindDistinct checks DISTINCT and DISTINCT ON against ORDER BY.
func (s *selecting) bindDistinct() {
	core := s.core
	if core.Distinct && len(core.DistinctOn) == 0 {
		for _, o := range s.order {
			if s.targets[o.target].junk {
				panic(failure.At(exprPos(o.item.Expr), sqlerr.InvalidColumnReference,
					"for SELECT DISTINCT, ORDER BY expressions must appear in select list"))
			}
		}
		for _, t := range s.targets {
			requireEquality(t.e.Type(), exprPos(t.src))
		}
		return
	}
	s.sc.sel.clause = clauseDistinctOn
	for _, e := range core.DistinctOn {
		t := s.sortTarget(e, clauseDistinctOn)
		requireEquality(s.targets[t].e.Type(), exprPos(e))
		s.on = append(s.on, t)
	}
	s.matchDistinctOn()
}

// matchDistinctOn requires that the leading ORDER BY items are the DISTINCT ON expressions.
func (s *selecting) matchDistinctOn() {
	if len(s.on) == 0 {
		return
	}
	in := func(t int) bool {
		return slices.Contains(s.on, t)
	}
	skipped := false
	for _, o := range s.order {
		switch {
		case !in(o.target):
			skipped = true
		case skipped:
			panic(failure.At(exprPos(o.item.Expr), sqlerr.InvalidColumnReference,
				"SELECT DISTINCT ON expressions must match initial ORDER BY expressions"))
		}
	}
	for i, t := range s.on {
		if skipped && !s.ordered(t) {
			panic(failure.At(exprPos(s.core.DistinctOn[i]), sqlerr.InvalidColumnReference,
				"SELECT DISTINCT ON expressions must match initial ORDER BY expressions"))
		}
	}
}

// resolveUnknowns gives literals and parameters without a type the type text.
func (s *selecting) resolveUnknowns() {
	for i := range s.targets {
		s.targets[i].e = s.b.resolveUnknown(s.targets[i].e)
	}
}

// build assembles the plan: rows, WHERE, groups, HAVING, sets, select list, DISTINCT, order.
func (s *selecting) build() *logical.Query {
	if len(s.where) > 0 {
		s.node = &logical.Filter{Child: s.node, Conds: s.where}
	}
	s.buildGroups()
	s.postpone()
	switch {
	case s.windowsReadSets():
		s.buildSets()
		s.buildWindows()
	case s.later.sets:
		s.buildWindows()
	default:
		s.buildWindows()
		s.buildSets()
	}
	s.buildLocking()
	s.buildPositions()
	s.project()
	s.distinctAndSort()
	s.projectLater()
	s.lockRows()
	q := &logical.Query{Node: s.node}
	for _, t := range s.targets {
		if !t.junk {
			q.Cols = append(q.Cols, logical.Output{Name: t.name, ID: t.id})
		}
	}
	s.outputPositions(q)
	return q
}

// project gives every target an ID. A plain column keeps its ID. If all targets are columns, and no
// DISTINCT needs exactly the select list, there is nothing to compute.
func (s *selecting) project() {
	have := logical.SetOf(s.node.Columns())
	var items []logical.Item
	var seen logical.ColSet
	computed := s.core.Distinct && len(s.on) == 0
	for i := range s.targets {
		t := &s.targets[i]
		if s.later.targets[i] {
			continue
		}
		if c, ok := t.e.(*expr.Col); ok && have.Has(c.Index) && !t.collated() {
			t.id = c.Index
			if !seen.Has(t.id) {
				seen.Add(t.id)
				items = append(items, logical.Item{ID: t.id, Expr: t.e})
			}
			continue
		}
		computed = true
		t.id = s.b.newTarget(t, s.sc.level())
		items = append(items, logical.Item{ID: t.id, Expr: t.e})
	}
	if computed {
		items = s.inputsOf(items, seen)
		items = append(items, s.lockItems(seen)...)
		s.node = &logical.Project{Child: s.node, Items: items}
	}
}

func (s *selecting) distinctAndSort() {
	distinct := s.core.Distinct || len(s.core.DistinctOn) > 0
	if distinct && len(s.on) == 0 {
		s.node = &logical.Distinct{Child: s.node}
	}
	keys := s.sortKeys()
	if len(keys) > 0 {
		s.node = &logical.Sort{Child: s.node, Keys: keys}
	}
	if len(s.on) > 0 {
		var on []expr.Expr
		for _, t := range s.on {
			on = append(on, s.b.ref(s.targets[t].id, 0))
		}
		s.node = &logical.Distinct{Child: s.node, On: on}
	}
}

// sortKeys returns the ORDER BY items, and the expressions of DISTINCT ON that are not among them.
func (s *selecting) sortKeys() []opt.SortKey {
	var keys []opt.SortKey
	for _, o := range s.order {
		keys = append(keys, sortKey(s.b.ref(s.targets[o.target].id, 0), o.item))
	}
	for _, t := range s.on {
		if !s.ordered(t) {
			keys = append(keys, opt.SortKey{Expr: s.b.ref(s.targets[t].id, 0)})
		}
	}
	return keys
}
