package ddl

import (
	"context"
	"slices"
	"strings"

	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/planner/deparse"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/rowlock"
)

// The catalog keeps expressions and views as text whose meaning depends neither on the session, nor
// on its search path, nor on the time: relations carry their schemas, stars are written out, 'now'
// has become a time. A rename prints the texts that contain the name anew, from their trees.

// storedExpr is the text that the catalog keeps of an expression over a row of d, or of a DEFAULT
// without d. want is the type of the column; nil for a condition.
func (env *Env) storedExpr(ctx context.Context, d *table.Desc, e ast.Expr,
	want *types.Type) (string, error) {
	out, err := deparse.Expr(ctx, env.Planner, d, e, want, deparse.Options{Source: true})
	return strings.TrimSpace(out), err
}

// renaming are the options that print names as they are after was has become is.
func renaming(was, is *table.Desc) deparse.Options {
	return deparse.Options{Source: true, Rename: func(d *table.Desc) *table.Desc {
		if d.ID == was.ID {
			return is
		}
		return d
	}}
}

// reprintRow prints the expressions over a row of is anew, which was was when they were written.
func (env *Env) reprintRow(ctx context.Context, was, is *table.Desc) error {
	opts := renaming(was, is)
	reprint := func(text *string, want *types.Type) error {
		if *text == "" {
			return nil
		}
		out, err := deparse.Stored(ctx, env.Planner, was, *text, want, opts)
		*text = strings.TrimSpace(out)
		return err
	}
	for i := range is.Columns {
		if err := reprint(&is.Columns[i].Generated, is.Columns[i].Type); err != nil {
			return err
		}
	}
	for i := range is.Checks {
		if err := reprint(&is.Checks[i].Text, nil); err != nil {
			return err
		}
	}
	if err := env.reprintPolicies(ctx, was, is, renaming(was, is)); err != nil {
		return err
	}
	return env.reprintIndexes(ctx, was, is, renaming(was, is))
}

// reprintPolicies prints the conditions of a table's policies anew, by options, into next.
func (env *Env) reprintPolicies(ctx context.Context, d, next *table.Desc,
	opts deparse.Options) error {
	for i := range next.Policies {
		p := &next.Policies[i]
		for _, text := range []*string{&p.Using, &p.Check} {
			if *text == "" {
				continue
			}
			e, err := env.Planner.ParseExpr(*text)
			if err != nil {
				return err
			}
			notes, err := bind.PolicyExpr(ctx, env.Planner, d, e, []string{})
			if err != nil {
				return err
			}
			opts.Stored = true
			out, err := deparse.Policy(ctx, env.Planner, d, e, notes, opts)
			if err != nil {
				return err
			}
			*text = strings.TrimSpace(out)
		}
	}
	return nil
}

// storedTexts lists the texts of a relation.
func storedTexts(d *table.Desc) (out []string) {
	if d.View != nil {
		out = append(out, d.View.Text)
	}
	for i := range d.Columns {
		out = append(out, d.Columns[i].DefaultText, d.Columns[i].Generated)
	}
	for i := range d.Checks {
		out = append(out, d.Checks[i].Text)
	}
	for i := range d.Indexes {
		out = append(out, d.Indexes[i].WhereText)
	}
	for i := range d.Exprs {
		out = append(out, d.Exprs[i].Text)
	}
	for i := range d.Policies {
		out = append(out, d.Policies[i].Using, d.Policies[i].Check)
	}
	return out
}

// mended is a relation whose stored texts have been printed anew.
type mended struct{ old, next *table.Desc }

// reprintViews prints the views and policies anew that read a relation, before was becomes is.
func (env *Env) reprintViews(ctx context.Context, was, is *table.Desc) ([]mended, error) {
	views, err := env.View.Dependents(ctx, was.ID)
	if err != nil {
		return nil, err
	}
	out := make([]mended, len(views))
	for i, v := range views {
		out[i] = mended{v, v.Clone()}
		if out[i].next.View.Text, err = deparse.View(ctx, env.Planner, v,
			renaming(was, is)); err != nil {
			return nil, err
		}
	}
	tables, err := env.View.Guarded(ctx, was.ID)
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		m := mended{t, t.Clone()}
		if err := env.reprintPolicies(ctx, t, m.next, renaming(was, is)); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// reprintConstants prints the defaults, CHECK constraints and domains anew that name a relation, as
// nextval('s') does, before was becomes is. The columns of was itself are is's, and its constraints
// have been printed by reprintRow. Tables of the list are changed in place, others are added.
func (env *Env) reprintConstants(ctx context.Context, was, is *table.Desc, list []mended) (
	out []mended, domains []mendedType, err error) {
	all, err := env.View.Relations(ctx, env.Database)
	if err != nil {
		return nil, nil, err
	}
	rename := &constants{env: env, ctx: ctx, was: was, opts: renaming(was, is)}
	for _, t := range all {
		next, listed := is, true
		if t.ID != was.ID {
			next, listed = nextOf(t, list)
		}
		changed := false
		for i := range t.Columns {
			changed = rename.in(nil, &next.Columns[i].DefaultText, t.Columns[i].Type) || changed
		}
		for i := range t.Checks {
			changed = t.ID != was.ID && rename.in(t, &next.Checks[i].Text, nil) || changed
		}
		if changed && !listed {
			list = append(list, mended{t, next})
		}
	}
	types, err := env.View.Types(ctx, env.Database)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range types {
		if next := rename.inDomain(d); next != nil {
			domains = append(domains, mendedType{d, next})
		}
	}
	return list, domains, rename.err
}

// nextOf returns what a relation of the list becomes, or a copy of one that is not listed.
func nextOf(d *table.Desc, list []mended) (next *table.Desc, listed bool) {
	for _, m := range list {
		if m.old.ID == d.ID {
			return m.next, true
		}
	}
	return d.Clone(), false
}

// constants prints texts anew that name a relation as a constant. It keeps the first error, after
// which it changes nothing more.
type constants struct {
	env  *Env
	ctx  context.Context
	was  *table.Desc
	opts deparse.Options
	err  error
}

// in prints a text over a row, and reports whether it names the relation.
func (c *constants) in(row *table.Desc, text *string, want *types.Type) bool {
	if c.err != nil {
		return false
	}
	var names bool
	if names, c.err = c.env.namesRelation(c.ctx, row, *text, c.was.ID); !names || c.err != nil {
		return false
	}
	var out string
	out, c.err = deparse.Stored(c.ctx, c.env.Planner, row, *text, want, c.opts)
	*text = strings.TrimSpace(out)
	return true
}

// inDomain returns a domain whose texts have been printed anew, nil if none names the relation.
func (c *constants) inDomain(d *catalog.TypeDesc) *catalog.TypeDesc {
	if d.Kind != types.KindDomain || c.err != nil || d.Default == "" && len(d.Checks) == 0 {
		return nil
	}
	var t *types.Type
	if t, c.err = c.env.View.Built(c.ctx, d); c.err != nil {
		return nil
	}
	next := d.Clone()
	changed := c.in(nil, &next.Default, t.Def.Base)
	over := *c
	over.opts.Value = true
	for i := range next.Checks {
		changed = over.in(planner.DomainValue(t.Def.Base), &next.Checks[i].Text, nil) || changed
	}
	if c.err = over.err; !changed {
		return nil
	}
	return next
}

// namesRelation reports whether an expression over a row has the relation as a constant, which
// follows its name.
func (env *Env) namesRelation(ctx context.Context, row *table.Desc, text string,
	id table.ID) (bool, error) {
	lower := strings.ToLower(text)
	if !strings.Contains(lower, "regclass") && !strings.Contains(lower, "val(") {
		return false, nil
	}
	e, err := env.parse(text)
	if err != nil {
		return false, err
	}
	named, err := deparse.Relations(ctx, env.Planner, row, e)
	return slices.Contains(named, id), err
}

// storedDefault is storedExpr of a DEFAULT, with the relations held that it names.
func (env *Env) storedDefault(ctx context.Context, e ast.Expr, t *types.Type) (string, error) {
	stored, err := env.storedExpr(ctx, nil, e, t)
	if err != nil {
		return "", err
	}
	named, err := deparse.Relations(ctx, env.Planner, nil, e)
	if err != nil {
		return "", err
	}
	return stored, env.hold(ctx, named)
}

// hold keeps relations from being dropped or renamed by others, on which something rests that is
// about to be stored.
func (env *Env) hold(ctx context.Context, ids []table.ID) error {
	for _, id := range ids {
		if err := env.take(ctx, id, rowlock.AccessShare); err != nil {
			return err
		}
	}
	env.View.Require(ids...)
	return nil
}

// putMended stores relations whose texts have been printed anew.
func (env *Env) putMended(ctx context.Context, list []mended) error {
	for _, m := range list {
		if err := env.View.UpdateRelation(ctx, m.old, m.next); err != nil {
			return err
		}
	}
	return nil
}

// reprinted prints the texts of a relation anew, by options, and reports whether that has changed
// one. The relation is locked then.
func (env *Env) reprinted(ctx context.Context, r *table.Desc, opts deparse.Options) (m mended,
	changed bool, err error) {
	m = mended{r, r.Clone()}
	if err := env.reprint(ctx, m.old, m.next, opts); err != nil {
		return m, false, err
	}
	if slices.Equal(storedTexts(m.old), storedTexts(m.next)) {
		return m, false, nil
	}
	return m, true, env.lock(ctx, r, rowlock.AccessExclusive)
}

// putReprinted stores relations and domains whose texts have been printed anew.
func (env *Env) putReprinted(ctx context.Context, relations []mended, domains []mendedType) error {
	if err := env.putMended(ctx, relations); err != nil {
		return err
	}
	return env.putMendedTypes(ctx, domains)
}

// viewHolds reports whether a view's query can still be bound, with the columns that the view has.
func (env *Env) viewHolds(ctx context.Context, v *table.Desc) (bool, error) {
	q, err := env.Planner.ParseQuery(v.View.Text)
	if err != nil {
		return false, err
	}
	path := v.View.SearchPath
	if path == nil {
		path = []string{}
	}
	notes, err := bind.Query(ctx, env.Planner, q, path)
	if err != nil {
		return false, onlySQL(err)
	}
	cols := notes.Results[q]
	if len(cols) != v.VisibleColumns() {
		return false, nil
	}
	for i := range cols {
		if cols[i].Type.OID != v.Columns[i].Type.OID || cols[i].Type.Mod != v.Columns[i].Type.Mod {
			return false, nil
		}
	}
	return true, nil
}

// renamingType are the options that print a user type, and its labels, as they are to become.
func renamingType(to *types.Type) deparse.Options {
	return deparse.Options{Source: true, RenameType: func(t *types.Type) *types.Type {
		if t.OID == to.OID {
			return to
		}
		return t
	}}
}

// reprint prints all texts of a relation anew, by options, into next.
func (env *Env) reprint(ctx context.Context, d, next *table.Desc, opts deparse.Options) error {
	if d.View != nil {
		text, err := deparse.View(ctx, env.Planner, d, opts)
		next.View.Text = text
		return err
	}
	stored := func(row *table.Desc, text *string, want *types.Type) error {
		if *text == "" {
			return nil
		}
		out, err := deparse.Stored(ctx, env.Planner, row, *text, want, opts)
		*text = strings.TrimSpace(out)
		return err
	}
	for i := range next.Columns {
		c := &next.Columns[i]
		if err := stored(nil, &c.DefaultText, c.Type); err != nil {
			return err
		}
		if err := stored(d, &c.Generated, c.Type); err != nil {
			return err
		}
	}
	for i := range next.Checks {
		if err := stored(d, &next.Checks[i].Text, nil); err != nil {
			return err
		}
	}
	if err := env.reprintPolicies(ctx, d, next, opts); err != nil {
		return err
	}
	return env.reprintIndexes(ctx, d, next, opts)
}
