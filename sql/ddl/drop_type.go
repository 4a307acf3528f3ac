package ddl

import (
	"context"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/rowlock"
)

// tableColumn is a column that goes with its type, or what else of the table rests on the type.
type tableColumn struct {
	table  table.ID
	column table.ColumnID // 0: a constraint
	// part is "column", "default", "check", "index" or "policy"; name is that of one of the latter.
	part, name string
}

// typePart is a part of a type that goes with another type: an attribute of a composite type, or a
// constraint of a domain.
type typePart struct {
	of               table.ID
	attribute, check string
}

func (env *Env) dropTypes(ctx context.Context, s *ast.Drop) error {
	dr := newDropper(env)
	var named []*catalog.TypeDesc
	for _, n := range s.Names {
		d, err := env.findType(ctx, s, n)
		if err != nil {
			return err
		}
		if d == nil || dr.going[d.ID] {
			continue
		}
		if err := env.mustDropType(ctx, d); err != nil {
			return err
		}
		dr.going[d.ID] = true
		dr.what = append(dr.what, env.describeType(d))
		named = append(named, d)
	}
	for _, d := range named { // now that all that go are known: nothing of these is to be mended
		if err := dr.followType(ctx, d); err != nil {
			return err
		}
	}
	return dr.run(ctx, s.Cascade)
}

// findType resolves a name for DROP; nil when it is missing and that was said.
func (env *Env) findType(ctx context.Context, s *ast.Drop, n ast.Name) (*catalog.TypeDesc, error) {
	if n.Schema != "" && s.IfExists && !isSystemSchema(n.Schema) {
		_, ok, err := env.View.Schema(ctx, env.Database, n.Schema)
		if err != nil {
			return nil, err
		}
		if !ok {
			env.notice("00000", "schema \"%s\" does not exist, skipping", n.Schema)
			return nil, nil
		}
	}
	t, err := planner.ResolveType(ctx, env.Planner, ast.TypeName{Schema: n.Schema, Name: n.Name})
	if isUndefined(err) {
		if s.IfExists {
			env.notice("00000", "type \"%s\" does not exist, skipping", display(n))
			return nil, nil
		}
		return nil, sqlerr.New(sqlerr.UndefinedObject, "type \"%s\" does not exist", display(n))
	}
	if err != nil {
		return nil, err
	}
	d, err := env.View.UserType(ctx, table.ID(t.OID))
	switch {
	case err != nil:
		return nil, err
	case d == nil && t.Nests() && t.Elem.Def != nil:
		return nil, sqlerr.New(sqlerr.DependentObjectsStillExist,
			"cannot drop type %s because type %s requires it", t, t.Elem).
			WithHint("You can drop type %s instead.", t.Elem)
	case d == nil && t.IsRowType():
		r, err := env.View.RelationByID(ctx, table.ID(t.Def.Class))
		if err != nil {
			return nil, err
		}
		return nil, sqlerr.New(sqlerr.DependentObjectsStillExist,
			"cannot drop type %s because %s requires it", t, env.describe(r)).
			WithHint("You can drop %s instead.", env.describe(r))
	case d == nil:
		return nil, sqlerr.New(sqlerr.DependentObjectsStillExist,
			"cannot drop type %s because it is required by the database system", t)
	case s.Kind == ast.DomainObject && d.Kind != types.KindDomain:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a domain",
			env.visibleTypeName(d))
	}
	return d, nil
}

func (env *Env) describeType(d *catalog.TypeDesc) string {
	return "type " + env.visibleTypeName(d)
}

func (env *Env) visibleTypeName(d *catalog.TypeDesc) string {
	return env.visible(d.Schema, d.Name)
}

// describeUse names a user type, or the type of its arrays, on which something rests.
func (env *Env) describeUse(d *catalog.TypeDesc, oid types.OID) string {
	if table.ID(oid) == d.ArrayID {
		return env.describeType(d) + "[]"
	}
	return env.describeType(d)
}

// followType notes a type and all that rests on it, which is dropped first.
func (dr *dropper) followType(ctx context.Context, d *catalog.TypeDesc) error {
	if slices.ContainsFunc(dr.types, func(t *catalog.TypeDesc) bool { return t.ID == d.ID }) {
		return nil
	}
	if err := dr.env.lockType(ctx, d, rowlock.AccessExclusive); err != nil {
		return err
	}
	if err := dr.followUses(ctx, d); err != nil {
		return err
	}
	dr.types = append(dr.types, d)
	return nil
}

// followRowType notes all that rests on the row type of a relation that goes.
func (dr *dropper) followRowType(ctx context.Context, r *table.Desc) error {
	if r.RowType == 0 {
		return nil
	}
	_, array := table.RowTypeOf(r.ID)
	return dr.followUses(ctx, &catalog.TypeDesc{ID: r.RowType, ArrayID: array,
		DatabaseID: r.DatabaseID, SchemaID: r.SchemaID, Schema: r.Schema, Name: r.Name,
		Kind: types.KindComposite, Class: r.ID})
}

// followUses notes all that rests on a type.
func (dr *dropper) followUses(ctx context.Context, d *catalog.TypeDesc) error {
	relations, others, err := dr.env.View.TypeDependents(ctx, d.ID)
	if err != nil {
		return err
	}
	for _, arrays := range []bool{true, false} {
		if err := dr.followUsers(ctx, d, arrays, relations, others); err != nil {
			return err
		}
	}
	dr.types = append(dr.types, d)
	return nil
}

// followUsers notes what rests on the type of the arrays of d, which PostgreSQL lists first, or
// else what rests on d itself: relations and types by their age.
func (dr *dropper) followUsers(ctx context.Context, d *catalog.TypeDesc, arrays bool,
	relations []*table.Desc, others []*catalog.TypeDesc) error {
	for len(relations) > 0 || len(others) > 0 {
		if len(others) == 0 || len(relations) > 0 && relations[0].ID < classOf(others[0]) {
			if err := dr.followUser(ctx, relations[0], d, arrays); err != nil {
				return err
			}
			relations = relations[1:]
			continue
		}
		if err := dr.followTypeUser(ctx, others[0], d, arrays); err != nil {
			return err
		}
		others = others[1:]
	}
	return nil
}

// classOf returns the ID of what depends when a type does: that of its fields, if it has any.
func classOf(d *catalog.TypeDesc) table.ID {
	if d.Kind == types.KindComposite {
		return d.Class
	}
	return d.ID
}

// usesPlain reports whether a relation uses a type itself, and not only arrays of it.
func usesPlain(r *table.Desc, d *catalog.TypeDesc) bool {
	ofType := func(c table.Column) bool { return table.ID(c.Type.OID) == d.ID }
	return slices.ContainsFunc(r.Columns, ofType) || slices.Contains(r.Types, d.ID)
}

// followUser notes what of a relation rests on a type.
func (dr *dropper) followUser(ctx context.Context, r *table.Desc, d *catalog.TypeDesc,
	arrays bool) error {
	if dr.going[r.ID] {
		return nil
	}
	if r.Kind != table.KindTable || r.OfType == d.ID {
		if arrays == (usesPlain(r, d) || r.OfType == d.ID) {
			return nil
		}
		dr.going[r.ID] = true
		dr.depends(dr.env.describe(r), dr.env.describeType(d))
		return dr.follow(ctx, r)
	}
	if err := dr.env.lock(ctx, r, rowlock.AccessExclusive); err != nil {
		return err
	}
	if err := dr.env.unused("DROP TYPE", r); err != nil {
		return err
	}
	for i := len(r.Columns) - 1; i >= 0; i-- {
		c := &r.Columns[i]
		if arrays != (table.ID(c.Type.OID) == d.ArrayID) {
			continue
		}
		if err := dr.followColumn(ctx, r, c, d); err != nil {
			return err
		}
	}
	if arrays {
		return nil
	}
	if err := dr.followDefaults(ctx, r, d); err != nil {
		return err
	}
	if err := dr.followIndexes(ctx, r, d); err != nil {
		return err
	}
	if err := dr.followChecks(ctx, r, d); err != nil {
		return err
	}
	for i := range r.Policies {
		p := &r.Policies[i]
		part := tableColumn{table: r.ID, part: "policy", name: p.Name}
		if err := dr.followTexts(ctx, d, part, dr.env.describePolicy(r, p), p.Using,
			p.Check); err != nil {
			return err
		}
	}
	return nil
}

// followIndexes notes the indexes that rest on a type by a predicate or an expression, and do not
// go with a column.
func (dr *dropper) followIndexes(ctx context.Context, r *table.Desc, d *catalog.TypeDesc) error {
	for i := range r.Indexes {
		ix := &r.Indexes[i]
		texts, plain := []string{ix.WhereText}, []table.ColumnID(nil)
		for _, k := range ix.Columns {
			plain = append(plain, k.ColumnID)
			for j := range r.Exprs {
				if r.Exprs[j].ID == k.ColumnID {
					texts = append(texts, r.Exprs[j].Text)
				}
			}
		}
		goes, err := dr.goesWithColumn(ctx, r, d, plain, texts...)
		if err != nil {
			return err
		}
		if goes {
			continue
		}
		part := tableColumn{table: r.ID, part: "index", name: ix.Name}
		if err := dr.followTexts(ctx, d, part, "index "+sqlname.Quote(part.name),
			texts...); err != nil {
			return err
		}
	}
	return nil
}

// followChecks notes the CHECK constraints that rest on a type, and do not go with a column.
func (dr *dropper) followChecks(ctx context.Context, r *table.Desc, d *catalog.TypeDesc) error {
	for i := range r.Checks {
		c := &r.Checks[i]
		goes, err := dr.goesWithColumn(ctx, r, d, nil, c.Text)
		if err != nil {
			return err
		}
		if goes {
			continue
		}
		part := tableColumn{table: r.ID, part: "check", name: c.Name}
		if err := dr.followTexts(ctx, d, part, "constraint "+sqlname.Quote(part.name)+" on "+
			dr.env.describe(r), c.Text); err != nil {
			return err
		}
	}
	return nil
}

// goesWithColumn reports whether a column of a type that goes is among some columns, or is read by
// one of the texts: what has these goes with the column.
func (dr *dropper) goesWithColumn(ctx context.Context, r *table.Desc, d *catalog.TypeDesc,
	columns []table.ColumnID, texts ...string) (bool, error) {
	a := &alteration{env: dr.env, d: r}
	for o := range r.Columns {
		if !slices.Contains(catalog.WireOf(r.Columns[o].Type).User, d.ID) {
			continue
		}
		if slices.Contains(columns, r.Columns[o].ID) {
			return true, nil
		}
		for _, text := range texts {
			if text == "" {
				continue
			}
			if reads, err := a.textReads(ctx, text, o); reads || err != nil {
				return reads, err
			}
		}
	}
	return false, nil
}

// followColumn notes a column if it rests on a type.
func (dr *dropper) followColumn(ctx context.Context, r *table.Desc, c *table.Column,
	d *catalog.TypeDesc) error {
	if slices.Contains(catalog.WireOf(c.Type).User, d.ID) {
		return dr.columnOfType(ctx, r, c, d)
	}
	what := "column " + sqlname.Quote(c.Name) + " of " + dr.env.describe(r)
	part := tableColumn{table: r.ID, column: c.ID, part: "column"}
	return dr.followTexts(ctx, d, part, what, c.Generated)
}

// followDefaults notes the defaults that rest on a type, of columns that do not.
func (dr *dropper) followDefaults(ctx context.Context, r *table.Desc, d *catalog.TypeDesc) error {
	for i := range r.Columns {
		c := &r.Columns[i]
		if slices.Contains(catalog.WireOf(c.Type).User, d.ID) {
			continue
		}
		part := tableColumn{table: r.ID, column: c.ID, part: "default"}
		if err := dr.followTexts(ctx, d, part, "default value for column "+sqlname.Quote(c.Name)+
			" of "+dr.env.describe(r), c.DefaultText); err != nil {
			return err
		}
	}
	return nil
}

// followTexts notes a part of a table if one of its texts mentions a type.
func (dr *dropper) followTexts(ctx context.Context, d *catalog.TypeDesc, part tableColumn,
	what string, texts ...string) error {
	for _, text := range texts {
		names, err := dr.env.mentions(ctx, text, d.ID)
		if err != nil {
			return err
		}
		if names {
			dr.depends(what, dr.env.describeType(d))
			dr.columns = append(dr.columns, part)
			return nil
		}
	}
	return nil
}

// columnOfType notes a column of the type, with the views that cannot do without it.
func (dr *dropper) columnOfType(ctx context.Context, r *table.Desc, c *table.Column,
	d *catalog.TypeDesc) error {
	dr.depends("column "+sqlname.Quote(c.Name)+" of "+dr.env.describe(r),
		dr.env.describeUse(d, c.Type.OID))
	dr.columns = append(dr.columns, tableColumn{table: r.ID, column: c.ID, part: "column"})
	a := &alteration{env: dr.env, d: r}
	views, err := a.viewsOf(ctx, c.Name)
	if err != nil {
		return err
	}
	for _, v := range views {
		if dr.going[v.ID] || slices.Contains(catalog.UserTypes(v), d.ID) {
			continue // or it is among what rests on the type itself
		}
		dr.going[v.ID] = true
		dr.depends(dr.env.describe(v), "column "+sqlname.Quote(c.Name)+" of "+dr.env.describe(r))
		if err := dr.follow(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

// followTypeUser notes what of another type rests on a type: a domain goes, a composite type loses
// the attribute.
func (dr *dropper) followTypeUser(ctx context.Context, o, d *catalog.TypeDesc, arrays bool) error {
	if dr.going[o.ID] {
		return dr.followType(ctx, o)
	}
	if o.Kind == types.KindDomain {
		if arrays != (table.ID(o.Base.OID) == d.ArrayID) {
			return nil
		}
		return dr.followDomain(ctx, o, d)
	}
	for _, a := range o.Attributes {
		if slices.Contains(a.Type.User, d.ID) && arrays == (table.ID(a.Type.OID) == d.ArrayID) {
			dr.depends("column "+sqlname.Quote(a.Name)+" of composite type "+
				dr.env.visibleTypeName(o), dr.env.describeUse(d, a.Type.OID))
			dr.parts = append(dr.parts, typePart{of: o.ID, attribute: a.Name})
			if err := dr.followAttribute(ctx, o, a.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// followDomain notes a domain that is over a type or whose default mentions it, or else those of
// its constraints that do.
func (dr *dropper) followDomain(ctx context.Context, o, d *catalog.TypeDesc) error {
	whole := slices.Contains(o.Base.User, d.ID)
	if !whole {
		var err error
		if whole, err = dr.env.mentions(ctx, o.Default, d.ID); err != nil {
			return err
		}
	}
	if whole {
		dr.going[o.ID] = true
		dr.depends(dr.env.describeType(o), dr.env.describeUse(d, o.Base.OID))
		return dr.followType(ctx, o)
	}
	for _, c := range o.Checks {
		names, err := dr.env.mentions(ctx, c.Text, d.ID)
		if err != nil {
			return err
		}
		if names {
			dr.depends("constraint "+c.Name, dr.env.describeType(d))
			dr.parts = append(dr.parts, typePart{of: o.ID, check: c.Name})
		}
	}
	return nil
}

// mentions reports whether a stored text names a user type.
func (env *Env) mentions(ctx context.Context, text string, id table.ID) (bool, error) {
	if !strings.Contains(text, "::") {
		return false, nil
	}
	ids, err := mentioned(ctx, env.Planner, text, false)
	return slices.Contains(ids, id), err
}

// dropColumns takes what rests on the types that go out of the tables that stay.
func (dr *dropper) dropColumns(ctx context.Context) error {
	for _, c := range dr.columns {
		d, err := dr.env.View.RelationByID(ctx, c.table)
		if err != nil || d == nil || dr.going[c.table] {
			if err != nil {
				return err
			}
			continue
		}
		a := &alteration{env: dr.env, d: d}
		switch o := d.ColumnByID(c.column); {
		case c.part == "check":
			next := d.Clone()
			next.Checks = slices.DeleteFunc(next.Checks,
				func(k table.Check) bool { return k.Name == c.name })
			err = a.update(ctx, next)
		case c.part == "policy":
			err = a.dropPolicies(ctx, []tablePolicy{{d, c.name}})
		case c.part == "index":
			if ix := d.IndexByName(c.name); ix != nil {
				err = dr.env.removeIndex(ctx, d, ix.ID)
			}
		case o < 0:
		case c.part == "default":
			next := d.Clone()
			next.Columns[o].DefaultText = ""
			err = a.update(ctx, next)
		default:
			err = a.dropColumnQuietly(ctx, d.Columns[o].Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dropColumnQuietly is DROP COLUMN … CASCADE without its notices.
func (a *alteration) dropColumnQuietly(ctx context.Context, name string) error {
	saved := a.env.Notice
	a.env.Notice = nil
	defer func() { a.env.Notice = saved }()
	return a.dropColumn(ctx, &ast.AlterAction{Column: ast.Ident{Name: name}, Cascade: true})
}

// typesIn makes all types of a schema targets that depend on it.
func (dr *dropper) typesIn(ctx context.Context, sc catalog.Schema) error {
	all, err := dr.env.View.Types(ctx, sc.Database)
	if err != nil {
		return err
	}
	for _, d := range all {
		if d.SchemaID == sc.ID && !dr.going[d.ID] {
			dr.going[d.ID] = true
			dr.depends(dr.env.describeType(d), "schema "+sqlname.Quote(sc.Name))
			if err := dr.followType(ctx, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// typesOwnedBy returns the types of some roles, which are going from now on; the caller follows
// them.
func (dr *dropper) typesOwnedBy(ctx context.Context, by func(owner acl.RoleID) bool) (
	owned []*catalog.TypeDesc, err error) {
	all, err := dr.env.View.Types(ctx, dr.env.Database)
	for _, d := range all {
		if by(d.OwnedBy()) && !dr.going[d.ID] {
			dr.going[d.ID] = true
			dr.what = append(dr.what, dr.env.describeType(d))
			owned = append(owned, d)
		}
	}
	return owned, err
}
