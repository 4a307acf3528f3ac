package ddl

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/rowlock"
)

// onAttributes reports whether ALTER TYPE is about attributes. As in PostgreSQL it is then looked
// for among the relations, as if it were a table.
func onAttributes(s *ast.AlterType) bool {
	switch s.Actions[0].Kind {
	case "add attribute", "drop attribute", "alter attribute", "rename attribute":
		return true
	}
	return false
}

// alterAttributes is ALTER TYPE … ADD, DROP, ALTER and RENAME ATTRIBUTE.
func (env *Env) alterAttributes(ctx context.Context, s *ast.AlterType) error {
	d, err := env.compositeNamed(ctx, s)
	if err != nil || d == nil {
		return err
	}
	if who, err := env.authority(ctx); err != nil {
		return err
	} else if !who.Has(d.OwnedBy()) {
		return notOwner(ast.TableObject, d.Name)
	}
	if err := env.lockType(ctx, d, rowlock.AccessExclusive); err != nil {
		return err
	}
	for i := range attributePasses(s.Actions) {
		if d, err = env.View.UserType(ctx, d.ID); err != nil {
			return err
		}
		if err := env.alterWithTables(ctx, d, &s.Actions[i]); err != nil {
			return err
		}
	}
	return nil
}

// attributePasses sorts actions as PostgreSQL does them: what is dropped goes first, then types
// change, then attributes are added.
func attributePasses(actions []ast.AlterTypeAction) []ast.AlterTypeAction {
	pass := map[string]int{"drop attribute": 0, "alter attribute": 1, "add attribute": 2}
	slices.SortStableFunc(actions,
		func(a, b ast.AlterTypeAction) int { return pass[a.Kind] - pass[b.Kind] })
	return actions
}

// compositeNamed finds the type that ALTER TYPE … ATTRIBUTE names. It is nil once it has renamed
// the column of a table, which the statement may.
func (env *Env) compositeNamed(ctx context.Context, s *ast.AlterType) (*catalog.TypeDesc, error) {
	d, err := env.composite(ctx, s.Name)
	if err != nil || d != nil {
		return d, err
	}
	r, ix, err := env.lookup(ctx, s.Name)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist",
			display(s.Name))
	}
	a := &s.Actions[0]
	if a.Kind != "rename attribute" || ix != nil {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a composite type",
			s.Name.Name)
	}
	_, err = env.alter(ctx, &ast.AlterTable{Pos: s.Pos, Kind: ast.TableObject, Name: s.Name,
		Actions: []ast.AlterAction{{Pos: a.Pos, Kind: "rename column", Column: a.Name,
			NewName: a.NewName}}})
	return nil, err
}

// alterAsTable is ALTER TABLE of a composite type, which may rename an attribute.
func (env *Env) alterAsTable(ctx context.Context, s *ast.AlterTable, d *catalog.TypeDesc) error {
	a := &s.Actions[0]
	switch {
	case s.Kind == ast.TableObject && a.Kind == "rename column":
		return env.alterAttributes(ctx, &ast.AlterType{Pos: s.Pos, Kind: ast.TypeObject,
			Name: s.Name, Actions: []ast.AlterTypeAction{{Pos: a.Pos, Kind: "rename attribute",
				Name: a.Column, NewName: a.NewName, Cascade: a.Cascade}}})
	case s.Kind == ast.TableObject || s.Kind == ast.IndexObject:
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is a composite type", d.Name).
			WithHint("Use ALTER TYPE instead.")
	}
	return wrongKind(d.Name, s.Kind)
}

func (env *Env) alterAttribute(ctx context.Context, d *catalog.TypeDesc,
	a *ast.AlterTypeAction) error {
	switch a.Kind {
	case "add attribute":
		return env.addNewAttribute(ctx, d, a)
	case "drop attribute":
		return env.dropAttribute(ctx, d, a)
	case "alter attribute":
		return env.retypeAttribute(ctx, d, a)
	}
	return env.renameAttribute(ctx, d, a)
}

// addNewAttribute is ADD ATTRIBUTE. Values that are stored have NULL in it, and their keys in
// indexes stay as they are.
func (env *Env) addNewAttribute(ctx context.Context, d *catalog.TypeDesc,
	a *ast.AlterTypeAction) error {
	if attributeNamed(d, a.Def.Name.Name) >= 0 {
		return sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" of relation \"%s\" already exists",
			a.Def.Name.Name, d.Name)
	}
	if serialTypes[a.Def.Type.Name] != nil && a.Def.Type.Schema == "" {
		return sqlerr.New(sqlerr.WrongObjectType, "sequence cannot be owned by relation \"%s\"",
			d.Name).WithDetail("This operation is not supported for composite types.")
	}
	next := d.Clone()
	if err := env.addAttribute(ctx, next, a.Def); err != nil {
		return err
	}
	return env.reshape(ctx, d, next, false)
}

// reshape gives a type other attributes. Rows that are written out in stored texts follow; a text
// in which another form of a value does not is an error.
func (env *Env) reshape(ctx context.Context, d, next *catalog.TypeDesc, exclude bool) error {
	u, err := env.usersOf(ctx, d.ID)
	if err != nil {
		return err
	}
	if err := env.relabel(ctx, u, d, next, exclude); err != nil {
		return err
	}
	broken, err := u.without(ctx, func() error { return nil })
	if err != nil || len(broken) == 0 {
		return err
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter type \"%s\" because %s uses it",
		d.Name, broken[0].what)
}

func describeAttribute(env *Env, d *catalog.TypeDesc, name string) string {
	return "column " + sqlname.Quote(name) + " of composite type " + env.visibleTypeName(d)
}

// dropAttribute is DROP ATTRIBUTE.
func (env *Env) dropAttribute(ctx context.Context, d *catalog.TypeDesc,
	a *ast.AlterTypeAction) error {
	name := a.Name.Name
	if attributeNamed(d, name) < 0 {
		if a.IfExists {
			env.notice("00000", "column \"%s\" of relation \"%s\" does not exist, skipping", name,
				d.Name)
			return nil
		}
		return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist",
			name, d.Name)
	}
	dr := newDropper(env)
	dr.what = []string{describeAttribute(env, d, name)}
	dr.parts = append(dr.parts, typePart{of: d.ID, attribute: name})
	if err := dr.followAttribute(ctx, d, name); err != nil {
		return err
	}
	return dr.run(ctx, a.Cascade)
}

// followAttribute notes what names an attribute of a type.
func (dr *dropper) followAttribute(ctx context.Context, d *catalog.TypeDesc, name string) error {
	parts, err := dr.env.withoutAttribute(ctx, d, name)
	if err != nil {
		return err
	}
	return dr.partsWithout(ctx, parts, describeAttribute(dr.env, d, name))
}

// withoutAttribute lists what cannot do without an attribute of a type.
func (env *Env) withoutAttribute(ctx context.Context, d *catalog.TypeDesc,
	name string) ([]storedPart, error) {
	u, err := env.usersOf(ctx, d.ID)
	if err != nil {
		return nil, err
	}
	return u.without(ctx, func() error {
		next := d.Clone()
		next.Attributes[attributeNamed(next, name)].Name = "minidb.dropped"
		return env.View.UpdateType(ctx, d, next, false)
	})
}

// removeAttribute takes an attribute out of a type. Stored values keep its field, which is passed
// over. Keys of indexes have their fields one after the other, so they are made anew.
func (env *Env) removeAttribute(ctx context.Context, d *catalog.TypeDesc, name string) error {
	u, err := env.usersOf(ctx, d.ID)
	if err != nil {
		return err
	}
	keyed, err := u.keyed(ctx, "ALTER TYPE", d.ID)
	if err != nil {
		return err
	}
	next := d.Clone()
	i := attributeNamed(next, name)
	next.Attributes = slices.Delete(next.Attributes, i, i+1)
	if err := env.reshape(ctx, d, next, len(keyed) > 0); err != nil {
		return err
	}
	return env.rekeyAll(ctx, keyed)
}

// lockWhole locks a relation of which parts go, for a command that no cursor of the session may be
// in the way of.
func (env *Env) lockWhole(ctx context.Context, command string, r *table.Desc) error {
	if err := env.lock(ctx, r, rowlock.AccessExclusive); err != nil {
		return err
	}
	return env.unused(command, r)
}

// inKeys reports whether an index of a relation, or its row key, is over a type or what is made of
// it.
func inKeys(r *table.Desc, id table.ID) bool {
	in := func(k table.IndexColumn) bool {
		return containsType(r.PartType(r.Part(k.ColumnID)), id)
	}
	return slices.ContainsFunc(r.RowKey, in) || slices.ContainsFunc(r.Indexes,
		func(ix table.Index) bool { return slices.ContainsFunc(ix.Columns, in) })
}

// keyed locks and returns the relations with a type in the keys of their indexes, for a command
// that takes fields out of it.
func (u *users) keyed(ctx context.Context, command string, id table.ID) (out []*table.Desc,
	err error) {
	for _, r := range u.relations {
		if !r.HasRows() || !inKeys(r, id) {
			continue
		}
		if err := u.env.lockWhole(ctx, command, r); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func (env *Env) rekeyAll(ctx context.Context, list []*table.Desc) error {
	for _, r := range list {
		if err := env.rekey(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// rekey writes the rows and index entries of a relation anew, whose composite types have lost
// fields since old was read.
func (env *Env) rekey(ctx context.Context, old *table.Desc) error {
	now, err := env.View.RelationByID(ctx, old.ID)
	if err != nil {
		return err
	}
	next := now.Clone()
	next.Rekey()
	a := &alteration{env: env, d: old}
	return a.rewrite(ctx, next, func(row []types.Datum) ([]types.Datum, error) {
		out := slices.Clone(row)
		for i := range out {
			out[i] = types.Refit(out[i], old.Columns[i].Type, next.Columns[i].Type)
		}
		return out, nil
	})
}

// retypeAttribute is ALTER ATTRIBUTE … TYPE, of a type that no column is of.
func (env *Env) retypeAttribute(ctx context.Context, d *catalog.TypeDesc,
	a *ast.AlterTypeAction) error {
	i := attributeNamed(d, a.Name.Name)
	if i < 0 {
		return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist",
			a.Name.Name, d.Name)
	}
	t, coll, err := env.attributeType(ctx, d, a.Def)
	if err != nil {
		return err
	}
	used, err := env.storingColumn(ctx, d.ID)
	if err != nil {
		return err
	}
	if used != "" {
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"cannot alter type \"%s\" because column \"%s\" uses it", d.Name, used)
	}
	parts, err := env.withoutAttribute(ctx, d, a.Name.Name)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if p.relation != nil && p.relation.View != nil {
			return sqlerr.New(sqlerr.FeatureNotSupported,
				"cannot alter type of a column used by a view or rule").
				WithDetail("rule _RETURN on %s depends on column \"%s\"", p.what, a.Name.Name)
		}
	}
	next := d.Clone()
	next.Attributes[i].Type, next.Attributes[i].Collation = catalog.WireOf(t), coll
	return env.reshape(ctx, d, next, true)
}

// storingColumn returns a column that has values of a type, or of what is made of it, as
// relation.column; "" when there is none. As in PostgreSQL arrays and domains come first.
func (env *Env) storingColumn(ctx context.Context, id table.ID) (string, error) {
	relations, others, err := env.View.TypeDependents(ctx, id)
	if err != nil {
		return "", err
	}
	isDomain := func(o *catalog.TypeDesc) bool { return o.Kind == types.KindDomain }
	slices.SortStableFunc(others, func(a, b *catalog.TypeDesc) int {
		return -compareBool(isDomain(a), isDomain(b))
	})
	for _, arrays := range []bool{true, false} {
		for _, r := range relations {
			used, err := env.storedAs(ctx, r, id, arrays)
			if err != nil || used != "" {
				return used, err
			}
		}
		for len(others) > 0 && (!arrays || isDomain(others[0])) {
			used, err := env.storingColumn(ctx, others[0].ID)
			if err != nil || used != "" {
				return used, err
			}
			others = others[1:]
		}
	}
	return "", nil
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// storedAs returns a column of a relation that has values of a type, or of arrays of it, or a
// column that has values of the relation's row type then.
func (env *Env) storedAs(ctx context.Context, r *table.Desc, id table.ID,
	arrays bool) (string, error) {
	for i := range r.Columns {
		t := r.Columns[i].Type
		if !slices.Contains(catalog.WireOf(t).User, id) || t.Nests() != arrays {
			continue
		}
		if r.HasRows() {
			return r.Name + "." + r.Columns[i].Name, nil
		}
		if used, err := env.storingColumn(ctx, r.RowType); err != nil || used != "" {
			return used, err
		}
	}
	for _, x := range r.Exprs {
		if slices.Contains(catalog.WireOf(x.Type).User, id) && x.Type.Nests() == arrays {
			return indexOn(r, x.ID) + "." + x.Name, nil
		}
	}
	return "", nil
}

// indexOn returns the name of an index that has an expression.
func indexOn(r *table.Desc, expression table.ColumnID) string {
	for i := range r.Indexes {
		if slices.ContainsFunc(r.Indexes[i].Columns,
			func(k table.IndexColumn) bool { return k.ColumnID == expression }) {
			return r.Indexes[i].Name
		}
	}
	return r.Name
}

// renameAttribute is RENAME ATTRIBUTE. The texts that name it are printed anew.
func (env *Env) renameAttribute(ctx context.Context, d *catalog.TypeDesc,
	a *ast.AlterTypeAction) error {
	i := attributeNamed(d, a.Name.Name)
	if i < 0 {
		return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist", a.Name.Name)
	}
	if attributeNamed(d, a.NewName.Name) >= 0 {
		return sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" of relation \"%s\" already exists",
			a.NewName.Name, d.Name)
	}
	next := d.Clone()
	next.Attributes[i].Name = a.NewName.Name
	return env.relabelType(ctx, d, next)
}

// composite finds the composite type that CREATE TYPE made under a name; nil when there is none.
func (env *Env) composite(ctx context.Context, n ast.Name) (*catalog.TypeDesc, error) {
	t, err := planner.ResolveType(ctx, env.Planner, ast.TypeName{Schema: n.Schema, Name: n.Name})
	if err != nil {
		return nil, onlySQL(err)
	}
	d, err := env.View.UserType(ctx, table.ID(t.OID))
	if err != nil || d == nil || d.Kind != types.KindComposite {
		return nil, err
	}
	return d, nil
}
