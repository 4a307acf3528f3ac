package ddl

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
)

// A typed table has the attributes of a composite type as its columns. ALTER TABLE does not change
// the list of its columns; ALTER TYPE … CASCADE changes the type and its tables together.

// tableType finds the composite type that a typed table is to be of, and locks it.
func (env *Env) tableType(ctx context.Context, n ast.TypeName) (*catalog.TypeDesc, *types.Type,
	error) {
	t, err := planner.ResolveType(ctx, env.Planner, n)
	if err != nil {
		return nil, nil, withoutPosition(err)
	}
	if err := env.holdTypes(ctx, t); err != nil {
		return nil, nil, err
	}
	d, err := env.View.UserType(ctx, table.ID(t.OID))
	if err != nil {
		return nil, nil, err
	}
	if d == nil || d.Kind != types.KindComposite {
		name := t.String()
		if t.Def != nil {
			name = env.visible(t.Def.Schema, t.Name)
		}
		return nil, nil, sqlerr.New(sqlerr.WrongObjectType, "type %s is not a composite type",
			name)
	}
	return d, t, env.mayUseType(ctx, t)
}

// typed makes the columns of a typed table, with the options that CREATE TABLE gives to some.
func (b *builder) typed(ctx context.Context, s *ast.CreateTable) error {
	d, t, err := b.env.tableType(ctx, *s.Of)
	if err != nil {
		return err
	}
	b.d.OfType = d.ID
	for i, a := range t.Def.Attributes {
		b.columns = append(b.columns, &newColumn{
			def: &ast.ColumnDef{Name: ast.Ident{Name: a.Name}},
			col: table.Column{Name: a.Name, Type: a.Type, Collation: d.Attributes[i].Collation}})
	}
	given := map[string]bool{}
	for i := range s.Columns {
		def := &s.Columns[i]
		if err := refuseTypedOptions(def); err != nil {
			return err
		}
		n := b.column(def.Name.Name)
		if n == nil {
			return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist",
				def.Name.Name)
		}
		if given[def.Name.Name] {
			return sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" specified more than once",
				def.Name.Name)
		}
		given[def.Name.Name] = true
		n.def = def
		for k := range def.Constraints {
			if err := n.constraint(&def.Constraints[k], s.Name.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// refuseTypedOptions refuses what columns of typed tables do not have.
func refuseTypedOptions(def *ast.ColumnDef) error {
	for _, c := range def.Constraints {
		switch c.Kind {
		case "identity":
			return sqlerr.New(sqlerr.FeatureNotSupported,
				"identity columns are not supported on typed tables")
		case "generated":
			return sqlerr.New(sqlerr.FeatureNotSupported,
				"generated columns are not supported on typed tables")
		}
	}
	if def.Collation != nil {
		return sqlerr.Unsupported(int(def.Collation.Pos), "COLLATE in CREATE TABLE … OF")
	}
	return nil
}

// column finds a column of the table that is made; nil when there is none of the name.
func (b *builder) column(name string) *newColumn {
	for _, n := range b.columns {
		if n.col.Name == name {
			return n
		}
	}
	return nil
}

// notTyped refuses to change the list of the columns of a typed table without its type.
func (a *alteration) notTyped(action string) error {
	if a.d.OfType == 0 || a.withType {
		return nil
	}
	return sqlerr.New(sqlerr.WrongObjectType, "cannot %s typed table", action)
}

// setOf is ALTER TABLE … OF.
func (a *alteration) setOf(ctx context.Context, act *ast.AlterAction) error {
	d, t, err := a.env.tableType(ctx, *act.Type)
	if err != nil {
		return err
	}
	cols := a.d.Columns[:a.d.VisibleColumns()]
	for i, attr := range t.Def.Attributes {
		if i >= len(cols) {
			return mismatch("table is missing column \"%s\"", attr.Name)
		}
		c := &cols[i]
		switch {
		case c.Name != attr.Name:
			return mismatch("table has column \"%s\" where type requires \"%s\"", c.Name, attr.Name)
		case c.Type.OID != attr.Type.OID, c.Type.Mod != attr.Type.Mod,
			c.Collation != d.Attributes[i].Collation:
			return mismatch("table \"%s\" has different type for column \"%s\"", a.d.Name, c.Name)
		}
	}
	if n := len(t.Def.Attributes); n < len(cols) {
		return mismatch("table has extra column \"%s\"", cols[n].Name)
	}
	next := a.d.Clone()
	next.OfType = d.ID
	return a.update(ctx, next)
}

func mismatch(format string, args ...any) error {
	return sqlerr.New(sqlerr.DatatypeMismatch, format, args...)
}

// setNotOf is ALTER TABLE … NOT OF.
func (a *alteration) setNotOf(ctx context.Context) error {
	if a.d.OfType == 0 {
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a typed table", a.d.Name)
	}
	next := a.d.Clone()
	next.OfType = 0
	return a.update(ctx, next)
}

// typedTables lists the tables of a type whose attributes change, which must be allowed by CASCADE
// to change too.
func (env *Env) typedTables(ctx context.Context, d *catalog.TypeDesc,
	act *ast.AlterTypeAction) ([]*table.Desc, error) {
	relations, _, err := env.View.TypeDependents(ctx, d.ID)
	if err != nil {
		return nil, err
	}
	var typed []*table.Desc
	for _, r := range relations {
		if r.OfType == d.ID {
			typed = append(typed, r)
		}
	}
	if len(typed) == 0 {
		return nil, nil
	}
	if act.Kind == "alter attribute" && attributeNamed(d, act.Name.Name) < 0 {
		return nil, nil // which is the error to give
	}
	if !act.Cascade {
		return nil, sqlerr.New(sqlerr.DependentObjectsStillExist,
			"cannot alter type \"%s\" because it is the type of a typed table", d.Name).
			WithHint("Use ALTER ... CASCADE to alter the typed tables too.")
	}
	who, err := env.authority(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range typed {
		if !who.Has(r.OwnedBy()) {
			return nil, notOwner(ast.TableObject, r.Name)
		}
		if err := env.lockWhole(ctx, "ALTER TABLE", r); err != nil {
			return nil, err
		}
	}
	return typed, nil
}

// alterWithTables changes an attribute of a type, with the columns of its tables.
func (env *Env) alterWithTables(ctx context.Context, d *catalog.TypeDesc,
	act *ast.AlterTypeAction) error {
	typed, err := env.typedTables(ctx, d, act)
	if err != nil {
		return err
	}
	if act.Kind == "rename attribute" { // PostgreSQL's errors are those of the tables
		if err := env.alterTyped(ctx, typed, act); err != nil {
			return err
		}
		return env.alterAttribute(ctx, d, act)
	}
	if err := env.alterAttribute(ctx, d, act); err != nil {
		return err
	}
	return env.alterTyped(ctx, typed, act)
}

// alterTyped changes the columns of typed tables as an attribute of their type has changed.
func (env *Env) alterTyped(ctx context.Context, typed []*table.Desc,
	act *ast.AlterTypeAction) error {
	for _, r := range typed {
		d, err := env.View.RelationByID(ctx, r.ID) // the change of the type has renewed it
		if err != nil {
			return err
		}
		a := &alteration{env: env, d: d, withType: true}
		do := ast.AlterAction{Pos: act.Pos, Column: act.Name, NewName: act.NewName, Def: act.Def,
			IfExists: act.IfExists, Cascade: true}
		switch act.Kind {
		case "add attribute":
			do.Kind = "add column"
		case "drop attribute":
			do.Kind = "drop column"
		case "alter attribute":
			do.Kind, do.Type = "set type", &act.Def.Type
		default:
			do.Kind = "rename column"
		}
		if err := a.action(ctx, &do); err != nil {
			return err
		}
	}
	return nil
}
