package bind

import (
	"strings"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
)

// destination is the relation that INSERT, UPDATE or DELETE names. Where that is an updatable view,
// the statement changes the table at the bottom of it, as if the view's select list and condition
// were written in the statement.
type destination struct {
	d      *table.Desc // the table
	named  *table.Desc // the table or view that the statement names
	right  *opt.Need   // on named
	layers []*layer    // the views, outermost first
	verb   verb
	// refusal is the error of a view that is not updatable, nil for others. d is that view then:
	// other errors of the statement come first, as in PostgreSQL, which rewrites views after it has
	// analysed the statement. [destination.settle] raises it.
	refusal error
}

// alias is the name that EXPLAIN shows of the table, by the alias of the statement: that of a view
// is not the table's.
func (t *destination) alias(written string) string {
	if t.d != t.named {
		return ""
	}
	return written
}

// layer is a view between the statement and the table.
type layer struct {
	*updatable
	right *opt.Need // on base, for the owner of the view
	reads opt.Need  // the columns of base that the view reads
}

// verb is what a statement does to a relation, in the words of errors.
type verb struct {
	name string // of the statement
	// of a view: "cannot insert into view", "To enable inserting into the view", "INSERT"
	view, doing string
	privilege   acl.Privileges
}

var (
	inserts = verb{"INSERT", "insert into", "inserting into", acl.Insert}
	updates = verb{"UPDATE", "update", "updating", acl.Update}
	deletes = verb{"DELETE", "delete from", "deleting from", acl.Delete}
)

// destination resolves the name of a relation that a statement changes.
func (b *binder) destination(name ast.Name, v verb) *destination {
	d := b.modifiedTable(name)
	t := &destination{d: d, named: d, right: b.need(d, v.privilege), verb: v}
	defer func(as acl.RoleID) { b.as = as }(b.as)
	for t.d.Kind == table.KindView && t.refusal == nil {
		t.descend(b)
	}
	return t
}

// descend replaces the view t.d by its base.
func (t *destination) descend(b *binder) {
	for _, l := range t.layers {
		if l.view.ID == t.d.ID {
			panic(failure.At(0, sqlerr.InvalidObjectDefinition,
				"infinite recursion detected in rules for relation \"%s\"", t.d.Name))
		}
	}
	u, reason := b.updatable(t.d)
	if reason == "" && t.verb != deletes && !u.assignable() {
		reason = noColumns
	}
	if reason != "" {
		t.refusal = t.verb.refused(t.d, reason)
		return
	}
	if !t.d.SecurityInvoker() {
		b.as = t.d.OwnedBy()
	} else {
		b.as = 0
	}
	b.modifiable(u.base)
	t.layers = append(t.layers, &layer{updatable: u, right: b.need(u.base, t.verb.privilege)})
	t.d = u.base
}

// refused is the error for a view that is not updatable.
func (v verb) refused(view *table.Desc, reason string) error {
	return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "cannot %s view \"%s\"", v.view,
		view.Name).WithDetail("%s", reason).WithHint("To enable %s the view, provide an INSTEAD "+
		"OF %s trigger or an unconditional ON %s DO INSTEAD rule.", v.doing, v.name, v.name)
}

// column returns the ordinal in named of a column that is assigned to.
func (t *destination) column(c ast.Ident) int { return targetColumn(t.named, c) }

// stored returns the ordinal in d of the column that column k of named shows, which must be one
// that can be assigned to.
func (t *destination) stored(k int) int { return t.storedFrom(0, k) }

// storedFrom is stored for column k of layer n.
func (t *destination) storedFrom(n, k int) int {
	for _, l := range t.layers[n:] {
		if l.columns[k] < 0 {
			panic(failure.Of(sqlerr.New(sqlerr.FeatureNotSupported,
				"cannot %s column \"%s\" of view \"%s\"", t.verb.view, l.view.Columns[k].Name,
				l.view.Name).WithDetail("%s", l.reasons[k])))
		}
		k = l.columns[k]
	}
	return k
}

// storesDefaults refuses an INSERT if a view has a default for a column that cannot be assigned to.
func (t *destination) storesDefaults() {
	for n, l := range t.layers {
		for k := range l.view.Columns {
			if l.view.Columns[k].DefaultText != "" {
				t.storedFrom(n, k)
			}
		}
	}
}

// viewDefault returns the default that a view gives column i of d, the outermost first; "" is none.
func (t *destination) viewDefault(i int) string {
	for n, l := range t.layers {
		for k := range l.view.Columns {
			if text := l.view.Columns[k].DefaultText; text != "" && t.shown(n, k) == i {
				return text
			}
		}
	}
	return ""
}

// shown returns the ordinal in d of the column that column k of layer n shows, -1 for none.
func (t *destination) shown(n, k int) int {
	for ; n < len(t.layers) && k >= 0; n++ {
		k = t.layers[n].columns[k]
	}
	return k
}

// note notes that column k of named gets a value in new rows, or in changed ones.
func (t *destination) note(k int, note func(*opt.Need, table.ColumnID)) {
	note(t.right, t.named.Columns[k].ID)
	for _, l := range t.layers {
		if k = l.columns[k]; k < 0 {
			return
		}
		note(l.right, l.base.Columns[k].ID)
	}
}

// settle ends the binding of a statement: the view must be updatable, and the owners of the views
// must be allowed to read what the views read, if the statement reads them.
func (t *destination) settle() {
	failure.Check(t.refusal)
	above := t.right
	for _, l := range t.layers {
		if above.Want&acl.Select != 0 {
			l.right.Want |= acl.Select
			for _, c := range l.reads.Selected {
				l.right.Select(c)
			}
		}
		above = l.right
	}
}

// guard is binder.guard for the table, which the owner of the innermost view uses.
func (t *destination) guard(b *binder, sc *scope, command string) *guarded {
	right, as := t.right, b.as
	if n := len(t.layers); n > 0 {
		right = t.layers[n-1].right
	}
	if right != nil {
		b.as = right.As
	}
	defer func() { b.as = as }()
	return b.guard(sc, t.d, command, right)
}

// scan returns the rows of named, made of a scan of d, and the first column of that.
func (t *destination) scan(b *binder, sc *scope, alias string) (*fromItem, logical.ColID,
	*guarded) {
	scan := b.newScan(t.d, t.alias(alias), sc.level())
	entry, conds := t.over(b, sc, alias, scan.First)
	it := &fromItem{node: scan, tables: []*fromTable{entry}, cols: entry.cols}
	g := t.guard(b, sc, strings.ToLower(t.verb.name))
	if g != nil {
		it.node = g.over(scan)
	}
	for i := len(conds) - 1; i >= 0; i-- {
		if len(conds[i]) > 0 {
			it.node = &logical.Filter{Child: it.node, Conds: conds[i]}
		}
		if t.layers[i].view.SecurityBarrier() {
			it.node = &logical.Barrier{Child: it.node}
		}
	}
	return it, scan.First, g
}

// over returns named as an entry of FROM, made of a row of d whose first column is first, and the
// conditions of the views on that row, for each layer.
func (t *destination) over(b *binder, sc *scope, alias string, first logical.ColID) (*fromTable,
	[][]expr.Expr) {
	entry := &fromTable{alias: t.d.Name, schema: t.d.Schema, desc: t.d, first: first,
		cols: relationColumns(t.d, first)}
	conds := make([][]expr.Expr, len(t.layers))
	for i := len(t.layers) - 1; i >= 0; i-- {
		entry, conds[i] = t.layers[i].over(b, sc.level(), entry)
	}
	noteReads(entry.cols, t.named, t.right)
	entry.right = t.right
	if alias != "" {
		entry.alias, entry.aliased = alias, true
	}
	return entry, conds
}

// over returns the view as an entry of FROM made of its base, and its condition.
func (l *layer) over(b *binder, level int, base *fromTable) (*fromTable, []expr.Expr) {
	defer failure.Amend(withoutPosition)
	path, as := b.path, b.as
	defer func() { b.path, b.as = path, as }()
	b.path = pathOf(l.view)
	if b.as = l.view.OwnedBy(); l.view.SecurityInvoker() {
		b.as = 0
	}
	if l.from.Alias != "" {
		base.alias, base.aliased = l.from.Alias, true
	}
	b.renameColumns(base, l.from.Columns)
	noteReads(base.cols, l.base, &l.reads)
	base.right = &l.reads
	sc := &scope{sel: &selectState{level: level}, tables: []*fromTable{base}, cols: base.cols}
	out := &fromTable{alias: l.view.Name, schema: l.view.Schema, desc: l.view, nested: true,
		first: -1}
	for i, item := range b.targetList(sc, l.items) {
		col := &l.view.Columns[i]
		e := b.coerce(b.resolveUnknown(item.e), col.Type, explicit, 0)
		v := visible{name: col.Name, e: e}
		if c, ok := e.(*expr.Col); ok {
			v.id, v.e = c.Index, nil
		}
		out.cols = append(out.cols, v)
	}
	return out, b.where(sc, l.where)
}

// viewChecks binds what WITH CHECK OPTION asks of a new row of d, the innermost view first.
func (t *destination) viewChecks(b *binder, sc *scope, row logical.ColID) []opt.Check {
	any := false
	for _, l := range t.layers {
		any = any || l.view.CheckOption() != ""
	}
	if !any {
		return nil
	}
	_, conds := t.over(b, sc, "", row)
	var out []opt.Check
	cascaded := false
	for i, l := range t.layers {
		option := l.view.CheckOption()
		cascaded = cascaded || option == "cascaded"
		if (cascaded || option != "") && len(conds[i]) > 0 {
			check := opt.Check{Name: l.view.Name, Cond: connect(conds[i], true)}
			out = append([]opt.Check{check}, out...)
		}
	}
	return out
}
