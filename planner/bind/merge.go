package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
)

// merging is a MERGE that is being bound.
type merging struct {
	b    *binder
	stmt *ast.Merge
	d    *table.Desc
	// matched has the names of the target and of the source; unmatched has those of the source.
	matched, unmatched *scope
	old                logical.ColID // the first column of the target
	right              *opt.Need
	target             *destination
}

// merge binds MERGE: the join of the source with the target, in which a source row without a match
// has NULLs for the target, and the actions on its rows.
func (b *binder) merge(s *ast.Merge, outer *scope) *logical.Query {
	m := &merging{b: b, stmt: s, matched: outer.inner()}
	if s.With != nil {
		if s.With.Recursive {
			panic(failure.At(0, sqlerr.SyntaxError,
				"WITH RECURSIVE is not supported for MERGE statement"))
		}
		b.with(m.matched, s.With)
	}
	want := neededBy(s.When)
	m.d = b.mergedTable(s.Table)
	m.right = b.need(m.d, want|acl.Select) // whether a row matches shows something of the table
	m.target = &destination{d: m.d, named: m.d, right: m.right}
	child, g := m.join()
	node := &logical.Merge{Desc: m.d, Alias: s.Alias, Child: child, Old: m.old}
	if g != nil {
		g.written = &guardedWrite{merge: node}
	}
	node.Row = b.newRow(m.d, m.matched.level())
	for i := range s.When {
		node.Actions = append(node.Actions, m.action(&s.When[i], node.Row))
	}
	node.Checks = b.checks(m.d, node.Row)
	return &logical.Query{Node: node}
}

// neededBy returns the privileges on the target that the actions need. It refuses clauses behind
// one that takes all rows.
func neededBy(when []ast.MergeWhen) acl.Privileges {
	want := acl.Privileges(0)
	last := map[bool]bool{}
	for i := range when {
		w := &when[i]
		switch w.Do {
		case ast.MergeInsert:
			want |= acl.Insert
		case ast.MergeUpdate:
			want |= acl.Update
		case ast.MergeDelete:
			want |= acl.Delete
		}
		if last[w.Matched] {
			panic(failure.At(0, sqlerr.SyntaxError,
				"unreachable WHEN clause specified after unconditional WHEN clause"))
		}
		last[w.Matched] = w.Cond == nil
	}
	return want
}

// mergedTable returns the target of MERGE.
func (b *binder) mergedTable(name ast.Name) *table.Desc {
	d := b.relation(name, nil)
	if kinds := notMerged[d.Kind]; kinds != "" {
		panic(failure.Of(sqlerr.New(sqlerr.FeatureNotSupported,
			"cannot execute MERGE on relation \"%s\"", d.Name).
			WithDetail("This operation is not supported for %s.", kinds)))
	}
	return b.modifiedTable(name)
}

// notMerged are the kinds of relations that MERGE cannot change, in words.
var notMerged = map[table.Kind]string{table.KindView: "views",
	table.KindMaterializedView: "materialized views", table.KindSequence: "sequences"}

// join binds the target, the source and the condition between them. Rows of the source without a
// match are made only if there is an action for them.
func (m *merging) join() (logical.Node, *guarded) {
	b, sc := m.b, m.matched
	target, g := b.scanGuarded(sc, m.d, m.stmt.Alias, nil, "merge", m.right)
	m.old = target.tables[0].first
	m.unmatched = &scope{outer: sc.outer, with: sc.with, sel: sc.sel, hidden: target.tables}
	source := b.tableExpr(m.unmatched, m.stmt.Source)
	if len(source.tables) == 1 && source.tables[0].alias == target.tables[0].alias {
		panic(failure.Of(sqlerr.New(sqlerr.DuplicateAlias, "name \"%s\" specified more than once",
			target.tables[0].alias).
			WithDetail("The name is used both as MERGE target table and data source.")))
	}
	m.unmatched.add(source)
	sc.add(target)
	sc.add(source)
	kind := opt.Inner
	for i := range m.stmt.When {
		if m.stmt.When[i].Do == ast.MergeInsert {
			kind = opt.Left
		}
	}
	sc.sel.clause = clauseOn
	on := conjuncts(nil, b.condition(sc, m.stmt.On, "JOIN/ON"))
	return b.join(kind, source.node, target.node, on), g
}

// action binds a WHEN clause; row is the first column of the row that is written.
func (m *merging) action(w *ast.MergeWhen, row logical.ColID) opt.MergeAction {
	b := m.b
	sc := m.unmatched
	if w.Matched {
		sc = m.matched
	}
	out := opt.MergeAction{Matched: w.Matched, Do: mergeKinds[w.Do]}
	if w.Cond != nil {
		sc.sel.clause = clauseMergeWhen
		out.Cond = b.condition(sc, w.Cond, "WHEN")
	}
	switch w.Do {
	case ast.MergeInsert:
		for i, e := range m.insert(sc, w) {
			out.Set = append(out.Set, opt.Assign{Column: i, Expr: e})
		}
	case ast.MergeUpdate:
		set := &updating{b: b, sc: sc, t: m.target, old: m.old}
		sc.sel.clause = clauseSet
		set.assignAll(w.Set)
		out.Set = set.assigns
	default:
		return out
	}
	out.Generated = b.recomputed(m.d, row)
	return out
}

var mergeKinds = map[ast.MergeAction]opt.MergeKind{ast.MergeNothing: opt.MergeNothing,
	ast.MergeInsert: opt.MergeInsert, ast.MergeUpdate: opt.MergeUpdate,
	ast.MergeDelete: opt.MergeDelete}

// insert returns the values of the columns of a new row.
func (m *merging) insert(sc *scope, w *ast.MergeWhen) []expr.Expr {
	in := &inserting{b: m.b, sc: sc, t: m.target, d: m.d,
		stmt:     &ast.Insert{Columns: w.Columns, Overriding: w.Overriding},
		defaults: defaults{b: m.b, t: m.target}}
	in.columnList()
	if w.Columns != nil {
		in.given(len(in.columns))
	}
	if len(w.Values) > 0 {
		in.checkCount(len(w.Values), func(i int) int { return exprPos(w.Values[i]) })
		in.given(len(w.Values))
	}
	sc.sel.clause = clauseValues
	row := make([]expr.Expr, len(m.d.Columns))
	in.fillRow(row, w.Values)
	return row
}
