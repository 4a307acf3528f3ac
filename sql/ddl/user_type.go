package ddl

import (
	"context"
	"errors"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/rowlock"
)

// createType makes an enum or a composite type.
func (env *Env) createType(ctx context.Context, s *ast.CreateType) error {
	d, err := env.newType(ctx, s.Name)
	if err != nil {
		return err
	}
	if s.Enum {
		d.Kind = types.KindEnum
		err = env.newLabels(ctx, d, s.Labels)
	} else {
		d.Kind = types.KindComposite
		err = env.newAttributes(ctx, d, s.Attributes)
	}
	if err != nil {
		return err
	}
	return env.View.CreateType(ctx, d)
}

// newType begins the descriptor of a type.
func (env *Env) newType(ctx context.Context, n ast.Name) (*catalog.TypeDesc, error) {
	sc, err := env.creationSchema(ctx, n)
	if err != nil {
		return nil, err
	}
	if sc.ID.Temporary() {
		return nil, sqlerr.Unsupported(int(n.Pos), "a temporary type")
	}
	d := &catalog.TypeDesc{DatabaseID: env.Database, SchemaID: sc.ID, Schema: sc.Name,
		Name: n.Name}
	taken, err := env.View.TypeTaken(ctx, d.DatabaseID, d.SchemaID, n.Name)
	if err != nil {
		return nil, err
	}
	if taken {
		return nil, catalog.DuplicateType(n.Name)
	}
	if d.Owner, err = env.owner(ctx); err != nil {
		return nil, err
	}
	if d.ACL, err = env.defaultList(ctx, acl.Type, d.OwnedBy(), d.SchemaID); err != nil {
		return nil, err
	}
	if d.ID, err = env.View.NewID(ctx); err != nil {
		return nil, err
	}
	d.ArrayID, err = env.View.NewID(ctx)
	return d, err
}

// newLabels gives an enum its labels.
func (env *Env) newLabels(ctx context.Context, d *catalog.TypeDesc, labels []ast.Label) error {
	keys := types.EnumKeys(len(labels))
	for i, l := range labels {
		if err := checkLabel(l); err != nil {
			return err
		}
		if labelNamed(d, l.Text) >= 0 {
			e := sqlerr.New(sqlerr.UniqueViolation,
				"duplicate key value violates unique constraint \"pg_enum_typid_label_index\"").
				WithDetail("Key (enumtypid, enumlabel)=(%d, %s) already exists.", d.ID, l.Text)
			e.Schema, e.Table, e.Constraint = "pg_catalog", "pg_enum", "pg_enum_typid_label_index"
			return e
		}
		id, err := env.View.NewID(ctx)
		if err != nil {
			return err
		}
		d.Labels = append(d.Labels, catalog.TypeLabel{OID: id, Name: l.Text, Key: []byte(keys[i]),
			Sort: float32(i + 1)})
	}
	return nil
}

func checkLabel(l ast.Label) error {
	if len(l.Text) > maxName {
		return sqlerr.New(sqlerr.InvalidName, "invalid enum label \"%s\"", l.Text).
			WithDetail("Labels must be %d bytes or less.", maxName)
	}
	return nil
}

// labelNamed returns the index of a label of an enum, or -1.
func labelNamed(d *catalog.TypeDesc, name string) int {
	for i := range d.Labels {
		if d.Labels[i].Name == name {
			return i
		}
	}
	return -1
}

// newAttributes gives a composite type its attributes.
func (env *Env) newAttributes(ctx context.Context, d *catalog.TypeDesc,
	defs []ast.ColumnDef) (err error) {
	if d.Class, err = env.View.NewID(ctx); err != nil {
		return err
	}
	for i := range defs {
		if err := env.addAttribute(ctx, d, &defs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (env *Env) addAttribute(ctx context.Context, d *catalog.TypeDesc, def *ast.ColumnDef) error {
	if attributeNamed(d, def.Name.Name) >= 0 {
		return sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" specified more than once",
			def.Name.Name)
	}
	t, coll, err := env.attributeType(ctx, d, def)
	if err != nil {
		return err
	}
	d.LastAttribute++
	d.Attributes = append(d.Attributes, catalog.TypeAttribute{Name: def.Name.Name,
		Number: d.LastAttribute, Type: catalog.WireOf(t), Collation: coll})
	return nil
}

func (env *Env) attributeType(ctx context.Context, d *catalog.TypeDesc,
	def *ast.ColumnDef) (*types.Type, string, error) {
	if serialTypes[def.Type.Name] != nil && def.Type.Schema == "" {
		return nil, "", sqlerr.New(sqlerr.UndefinedObject, "type \"%s\" does not exist",
			def.Type.Name)
	}
	t, coll, err := env.resolveType(ctx, def.Name.Name, def.Type, def.Collation)
	if err != nil {
		return nil, "", unplaced(err)
	}
	within, err := env.madeOf(ctx, t, d.ID)
	if err == nil && within {
		err = sqlerr.New(sqlerr.InvalidTableDefinition,
			"composite type %s cannot be made a member of itself", d.Name)
	}
	return t, coll, err
}

// madeOf reports whether a type is, or has within it, the type with that ID.
func (env *Env) madeOf(ctx context.Context, t *types.Type, id table.ID) (bool, error) {
	switch {
	case t.Def == nil && t.Elem != nil:
		return env.madeOf(ctx, t.Elem, id)
	case t.Def == nil:
		return false, nil
	case table.ID(t.OID) == id:
		return true, nil
	}
	for _, a := range t.Def.Attributes {
		if in, err := env.madeOf(ctx, a.Type, id); err != nil || in {
			return in, err
		}
	}
	if t.Def.Base != nil {
		return env.madeOf(ctx, t.Def.Base, id)
	}
	return false, nil
}

// attributeNamed returns the index of an attribute, or -1.
func attributeNamed(d *catalog.TypeDesc, name string) int {
	for i := range d.Attributes {
		if d.Attributes[i].Name == name {
			return i
		}
	}
	return -1
}

// userType finds a user type by name; 42704 when there is none. A built-in type, or one of arrays,
// is not one that may be changed.
func (env *Env) userType(ctx context.Context, n ast.Name) (*catalog.TypeDesc, error) {
	t, err := planner.ResolveType(ctx, env.Planner, ast.TypeName{Schema: n.Schema, Name: n.Name})
	if err != nil {
		return nil, err
	}
	d, err := env.View.UserType(ctx, table.ID(t.OID))
	if err != nil || d != nil {
		return d, err
	}
	if t.Nests() && t.Elem.Def != nil {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "cannot alter array type %s",
			t).WithHint("You can alter type %s, which will alter the array type as well.", t.Elem)
	}
	if t.IsRowType() {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "%s is a table's row type", t).
			WithHint("Use ALTER TABLE instead.")
	}
	return nil, sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of type %s", t)
}

// lockType locks a type until the transaction's end, as a relation is locked.
func (env *Env) lockType(ctx context.Context, d *catalog.TypeDesc, mode rowlock.Mode) error {
	return env.take(ctx, d.ID, mode)
}

// holdTypes keeps the user types of a type from being changed by others until the transaction's
// end: something that rests on them is about to be stored.
func (env *Env) holdTypes(ctx context.Context, t *types.Type) (err error) {
	t.UserTypes(func(u *types.Type) {
		if err == nil {
			err = env.take(ctx, lockedFor(u), rowlock.AccessShare)
		}
	})
	return err
}

// lockedFor returns the ID of what is locked for a type: for a row type its relation.
func lockedFor(t *types.Type) table.ID {
	if t.IsRowType() {
		return table.ID(t.Def.Class)
	}
	return table.ID(t.OID)
}

// Mentions returns a function that lists the user types that the expressions and the query of a
// relation mention.
func Mentions(env *planner.Env) func(context.Context, *table.Desc) ([]table.ID, error) {
	return func(ctx context.Context, d *table.Desc) (ids []table.ID, err error) {
		note := func(text string, query bool) {
			if err != nil || !strings.Contains(text, "::") {
				return
			}
			var found []table.ID
			found, err = mentioned(ctx, env, text, query)
			ids = append(ids, found...)
		}
		for i := range d.Columns {
			note(d.Columns[i].DefaultText, false)
			note(d.Columns[i].Generated, false)
		}
		for i := range d.Checks {
			note(d.Checks[i].Text, false)
		}
		for i := range d.Indexes {
			note(d.Indexes[i].WhereText, false)
		}
		for i := range d.Exprs {
			note(d.Exprs[i].Text, false)
		}
		for i := range d.Policies {
			note(d.Policies[i].Using, false)
			note(d.Policies[i].Check, false)
		}
		if d.View != nil {
			note(d.View.Text, true)
		}
		if isUndefined(err) { // a name is being changed: the types stay the same
			return d.Types, nil
		}
		return ids, err
	}
}

func isUndefined(err error) bool {
	var e *sqlerr.Error
	return errors.As(err, &e) &&
		(e.Code == sqlerr.UndefinedObject || e.Code == sqlerr.InvalidSchemaName)
}

// mentioned lists the user types of the casts in a stored text.
func mentioned(ctx context.Context, env *planner.Env, text string, query bool) (ids []table.ID,
	err error) {
	var tree any
	if query {
		tree, err = env.ParseQuery(text)
	} else {
		tree, err = env.ParseExpr(text)
	}
	if err != nil {
		return nil, err
	}
	ast.Inspect(tree, func(n any) bool {
		c, ok := n.(*ast.Cast)
		if !ok || err != nil {
			return err == nil
		}
		var t *types.Type
		if t, err = planner.ResolveType(ctx, env, c.Type); err == nil {
			t.UserTypes(func(u *types.Type) { ids = append(ids, table.ID(u.OID)) })
		}
		return true
	})
	return ids, err
}
