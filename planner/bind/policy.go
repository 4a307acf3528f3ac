package bind

import (
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/types"
)

// guarded is a use of a table whose row security policies bind the role that uses it. Which of them
// apply depends on the privileges that the use needs, which are known once the statement is bound:
// only then the conditions are added.
type guarded struct {
	d        *table.Desc
	command  string // "select", "insert", "update", "delete" or "merge": what is done with d
	policies []table.Policy
	right    *opt.Need
	level    int
	// rows are those that are read, with first as the ID of the first column; nil for INSERT.
	rows  *logical.Filter
	first logical.ColID
	// written is where the conditions on new rows go; nil: none are written.
	written *guardedWrite
	// as, views and within are those of the binder where d is named. within lists the tables whose
	// policies led there.
	as     acl.RoleID
	views  []table.ID
	within []table.ID
}

// guardedWrite has the conditions on the rows that a node writes, and the IDs of the first columns
// of these rows.
type guardedWrite struct {
	checks *[]opt.Check
	row    logical.ColID
	upsert *logical.OnConflict // of INSERT … ON CONFLICT DO UPDATE
	merge  *logical.Merge
}

// guard notes that a statement uses a table whose policies may bind the role. It returns nil if
// they do not.
func (b *binder) guard(sc *scope, d *table.Desc, command string, right *opt.Need) *guarded {
	if d.Kind != table.KindTable || b.notes != nil || b.env.RowSecurity == nil {
		return nil
	}
	s := failure.Must(b.env.RowSecurity(b.ctx, d, b.as))
	if s == nil {
		return nil
	}
	b.meta.RowSecurity = true
	if !s.Bound {
		return nil
	}
	g := &guarded{d: d, command: command, policies: s.Policies, right: right, level: sc.level(),
		as: b.as, views: slices.Clone(b.views), within: b.within}
	b.guards = append(b.guards, g)
	return g
}

// scanGuarded is scan for a table that a statement reads, or whose rows it changes.
func (b *binder) scanGuarded(sc *scope, d *table.Desc, alias string, columns []ast.Ident,
	command string, right *opt.Need) (*fromItem, *guarded) {
	it := b.scan(sc, d, alias, columns, right)
	g := b.guard(sc, d, command, right)
	if g != nil {
		it.node = g.over(it.node.(*logical.Scan))
	}
	return it, g
}

// over returns the rows of a scan that the policies let through.
func (g *guarded) over(scan *logical.Scan) logical.Node {
	g.first = scan.First
	g.rows = &logical.Filter{Child: scan}
	return &logical.Barrier{Child: g.rows}
}

// applyPolicies adds the conditions of all guards. Their subqueries may use further tables that are
// guarded.
func (b *binder) applyPolicies() {
	for i := 0; i < len(b.guards); i++ {
		failure.Check(b.interrupt.Step())
		b.guards[i].apply(b)
	}
	b.guards = nil
}

// apply adds the conditions of one guard, as PostgreSQL's get_row_security_policies does.
func (g *guarded) apply(b *binder) {
	reads := g.right == nil || g.right.Want&acl.Select != 0
	if g.rows != nil {
		g.restrict(b, reads)
	}
	w := g.written
	switch {
	case w == nil:
		return
	case w.merge != nil:
		g.merge(b, w.merge, reads)
		return
	}
	checks := g.checks(b, opt.NewRow, g.command, w.row, false)
	if reads {
		checks = append(checks, g.checks(b, opt.NewRow, "select", w.row, true)...)
	}
	*w.checks = append(distinctChecks(checks), *w.checks...)
	if w.upsert == nil {
		return
	}
	old, next := w.upsert.Existing, w.upsert.Row
	checks = g.checks(b, opt.TargetRow, "update", old, true)
	if reads {
		checks = append(checks, g.checks(b, opt.TargetRow, "select", old, true)...)
	}
	w.upsert.Targets = distinctChecks(checks)
	checks = g.checks(b, opt.NewRow, "update", next, false)
	if reads {
		checks = append(checks, g.checks(b, opt.NewRow, "select", next, true)...)
	}
	w.upsert.Checks = distinctChecks(checks)
}

// restrict adds the conditions on the rows that are read. Those that let a role lock or change rows
// come first.
func (g *guarded) restrict(b *binder, reads bool) {
	if g.command == "select" && g.right != nil && g.right.Want&acl.Update != 0 {
		g.using(b, "update")
	}
	if g.command != "select" && reads {
		g.using(b, "select")
	}
	if g.command != "merge" {
		g.using(b, g.command)
	}
}

// merge adds the conditions on the rows that the actions of MERGE change and write. A row that an
// action may not change is an error, as in ON CONFLICT DO UPDATE.
func (g *guarded) merge(b *binder, n *logical.Merge, reads bool) {
	for i := range n.Actions {
		a := &n.Actions[i]
		switch a.Do {
		case opt.MergeInsert:
			a.Checks = g.checks(b, opt.NewRow, "insert", n.Row, false)
		case opt.MergeDelete:
			a.Targets = g.checks(b, opt.MergedRow, "delete", n.Old, true)
		case opt.MergeUpdate:
			a.Targets = g.checks(b, opt.MergedRow, "update", n.Old, true)
			a.Checks = g.checks(b, opt.NewRow, "update", n.Row, false)
			if reads {
				a.Checks = append(a.Checks, g.checks(b, opt.NewRow, "select", n.Row, true)...)
			}
			a.Checks = distinctChecks(a.Checks)
		}
	}
}

// using adds the conditions of the policies for a command on rows that are there.
func (g *guarded) using(b *binder, command string) {
	permissive, restrictive := g.clauses(command, true)
	add := func(e expr.Expr) {
		if !slices.ContainsFunc(g.rows.Conds, func(o expr.Expr) bool {
			return logical.Equal(o, e)
		}) {
			g.rows.Conds = append(g.rows.Conds, e)
		}
	}
	if len(permissive) == 0 {
		add(falseCondition())
		return
	}
	for _, p := range restrictive {
		add(g.bind(b, p.text, g.first))
	}
	add(g.any(b, permissive, g.first))
}

func falseCondition() expr.Expr {
	return &expr.Const{T: types.TBool, Value: types.NewBool(false)}
}

// clause is the condition of a policy that applies.
type policyClause struct{ name, text string }

// clauses returns the conditions of the policies for a command: on rows that are there, or on new
// rows, for which the condition on old ones is taken where a policy has none of its own.
func (g *guarded) clauses(command string, using bool) (permissive, restrictive []policyClause) {
	for i := range g.policies {
		p := &g.policies[i]
		if !p.For(command) {
			continue
		}
		text := p.Using
		if !using && p.Check != "" {
			text = p.Check
		}
		switch {
		case text == "":
		case p.Restrictive:
			restrictive = append(restrictive, policyClause{p.Name, text})
		default:
			permissive = append(permissive, policyClause{p.Name, text})
		}
	}
	slices.SortFunc(restrictive,
		func(a, b policyClause) int { return strings.Compare(a.name, b.name) })
	return permissive, restrictive
}

// checks returns the conditions on a row whose first column is first.
func (g *guarded) checks(b *binder, kind opt.CheckKind, command string, first logical.ColID,
	using bool) []opt.Check {
	permissive, restrictive := g.clauses(command, using)
	if len(permissive) == 0 {
		return []opt.Check{{Kind: kind, Cond: falseCondition()}}
	}
	out := []opt.Check{{Kind: kind, Cond: g.any(b, permissive, first)}}
	for _, p := range restrictive {
		out = append(out, opt.Check{Kind: kind, Name: p.name, Cond: g.bind(b, p.text, first)})
	}
	return out
}

// distinctChecks leaves out checks that are there already.
func distinctChecks(checks []opt.Check) (out []opt.Check) {
	for _, c := range checks {
		if !slices.ContainsFunc(out, func(o opt.Check) bool {
			return o.Name == c.Name && logical.Equal(o.Cond, c.Cond)
		}) {
			out = append(out, c)
		}
	}
	return out
}

// any binds the disjunction of the permissive policies.
func (g *guarded) any(b *binder, list []policyClause, first logical.ColID) expr.Expr {
	args := make([]expr.Expr, len(list))
	for i, p := range list {
		args[i] = g.bind(b, p.text, first)
	}
	return connect(args, false)
}

// bind binds the condition of a policy over a row whose first column is first.
func (g *guarded) bind(b *binder, text string, first logical.ColID) expr.Expr {
	defer failure.Amend(withoutPosition)
	parsed := failure.Must(b.env.ParseExpr(text))
	path, views, as, within := b.path, b.views, b.as, b.within
	defer func() { b.path, b.views, b.as, b.within = path, views, as, within }()
	b.path, b.views, b.as = []string{}, g.views, g.as
	b.within = append(slices.Clone(g.within), g.d.ID)
	if slices.Contains(g.within, g.d.ID) && hasQuery(parsed) {
		panic(failure.At(0, sqlerr.InvalidObjectDefinition,
			"infinite recursion detected in policy for relation \"%s\"", g.d.Name))
	}
	return b.policy(g.d, first, g.level, parsed)
}

// policy binds a condition over a row of d that belongs to a query at a level of nesting.
func (b *binder) policy(d *table.Desc, first logical.ColID, level int, e ast.Expr) expr.Expr {
	sc := (*scope)(nil).inner()
	sc.sel.level, sc.sel.clause = level, clausePolicy
	t := &fromTable{alias: d.Name, schema: d.Schema, desc: d, first: first,
		cols: relationColumns(d, first)}
	sc.tables, sc.cols = []*fromTable{t}, t.cols
	return b.condition(sc, e, "POLICY")
}

// hasQuery reports whether an expression contains a query.
func hasQuery(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n any) bool {
		_, ok := n.(*ast.Select)
		found = found || ok
		return !found
	})
	return found
}
