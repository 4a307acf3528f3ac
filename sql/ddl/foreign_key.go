package ddl

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/sql/ri"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn/rowlock"
)

// addForeignKey binds a FOREIGN KEY constraint, adds it to d, and returns the table it refers to,
// which is d itself for a self-referencing key. The caller links the other table once d is stored
// (link).
func (env *Env) addForeignKey(ctx context.Context, d *table.Desc,
	c *ast.TableConstraint) (*table.Desc, error) {
	if c.Ref.Match == "partial" {
		return nil, sqlerr.Unsupported(int(c.Pos), "MATCH PARTIAL")
	}
	fk := table.ForeignKey{Name: c.Name, MatchFull: c.Ref.Match == "full", OnDelete: c.Ref.OnDelete,
		OnUpdate:   c.Ref.OnUpdate,
		Deferrable: c.Deferrable, InitiallyDeferred: c.InitiallyDeferred, NotValid: c.NotValid}
	var err error
	if fk.Columns, err = foreignColumns(d, c.Columns); err != nil {
		return nil, err
	}
	if fk.OnDeleteColumns, err = setColumns(d, &fk, c.Ref.OnDeleteColumns); err != nil {
		return nil, err
	}
	if err := refuseGenerated(d, &fk); err != nil {
		return nil, err
	}
	parent, err := env.referenced(ctx, d, c.Ref.Table)
	if err != nil {
		return nil, err
	}
	if err := sameLife(d, parent); err != nil {
		return nil, err
	}
	fk.RefTable = parent.ID
	if fk.RefColumns, err = referencedColumns(parent, c.Ref.Columns); err != nil {
		return nil, err
	}
	if err := env.nameForeignKey(d, &fk, c); err != nil {
		return nil, err
	}
	if parent != d {
		if err := env.mustReference(ctx, parent, fk.RefColumns); err != nil {
			return nil, err
		}
	}
	if len(fk.Columns) != len(fk.RefColumns) {
		return nil, sqlerr.New(sqlerr.InvalidForeignKey,
			"number of referencing and referenced columns for foreign key disagree")
	}
	switch ix := parent.ReferencedIndex(fk.RefColumns); {
	case ix == nil:
		return nil, sqlerr.New(sqlerr.InvalidForeignKey,
			"there is no unique constraint matching given keys for referenced table \"%s\"",
			parent.Name)
	case ix.Deferrable:
		return nil, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
			"cannot use a deferrable unique constraint for referenced table \"%s\"", parent.Name)
	}
	if err := comparableColumns(d, parent, &fk); err != nil {
		return nil, err
	}
	if fk.OID, err = env.View.NewIDIn(ctx, d.SchemaID); err != nil {
		return nil, err
	}
	d.ForeignKeys = append(d.ForeignKeys, fk)
	if parent == d && !slices.Contains(d.ReferencedBy, d.ID) {
		d.ReferencedBy = append(d.ReferencedBy, d.ID)
	}
	return parent, nil
}

// referenced finds the table to which a foreign key of d refers.
func (env *Env) referenced(ctx context.Context, d *table.Desc, n ast.Name) (*table.Desc, error) {
	if n.Name == d.Name && env.namesSchema(n.Schema, d) {
		return d, nil
	}
	parent, err := env.relation(ctx, n)
	if err != nil {
		return nil, err
	}
	if parent.Kind != table.KindTable {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "referenced relation \"%s\" is not a table",
			parent.Name)
	}
	return parent, env.lock(ctx, parent, rowlock.ShareRowExclusive)
}

// namesSchema reports whether the schema of a name, which may be left out, is that of d. The search
// path of the statement that makes the session's temporary schema does not have it yet.
func (env *Env) namesSchema(schema string, d *table.Desc) bool {
	switch {
	case schema == "":
		return d.Temporary() || slices.Contains(env.SearchPath, d.Schema)
	case schema == catalog.TemporaryAlias:
		return d.Temporary()
	}
	return schema == d.Schema
}

func foreignColumns(d *table.Desc, names []ast.Ident) ([]table.ColumnID, error) {
	var ids []table.ColumnID
	for _, id := range names {
		o := d.Column(id.Name)
		if o < 0 && slices.Contains(builtin.SystemColumnNames, id.Name) {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported,
				"system columns cannot be used in foreign keys")
		}
		if o < 0 || d.Columns[o].Hidden {
			return nil, sqlerr.New(sqlerr.UndefinedColumn,
				"column \"%s\" referenced in foreign key constraint does not exist", id.Name)
		}
		ids = append(ids, d.Columns[o].ID)
	}
	return ids, nil
}

// setColumns are those that ON DELETE SET NULL or SET DEFAULT names.
func setColumns(d *table.Desc, fk *table.ForeignKey, names []ast.Ident) ([]table.ColumnID,
	error) {
	ids, err := foreignColumns(d, names)
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		if !slices.Contains(fk.Columns, id) {
			return nil, sqlerr.New(sqlerr.InvalidColumnReference, "column \"%s\" referenced in "+
				"ON DELETE SET action must be part of foreign key", names[i].Name)
		}
	}
	var once []table.ColumnID // the statement may name one twice
	for _, id := range ids {
		if !slices.Contains(once, id) {
			once = append(once, id)
		}
	}
	return once, nil
}

// referencedColumns are those that are named, or the primary key's.
func referencedColumns(parent *table.Desc, names []ast.Ident) ([]table.ColumnID, error) {
	if len(names) == 0 {
		pk := parent.PrimaryKey()
		if pk == nil {
			return nil, sqlerr.New(sqlerr.UndefinedObject,
				"there is no primary key for referenced table \"%s\"", parent.Name)
		}
		if pk.Deferrable {
			return nil, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
				"cannot use a deferrable primary key for referenced table \"%s\"", parent.Name)
		}
		var ids []table.ColumnID
		for _, c := range pk.Columns {
			ids = append(ids, c.ColumnID)
		}
		return ids, nil
	}
	ids, err := foreignColumns(parent, names)
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			return nil, sqlerr.New(sqlerr.InvalidForeignKey,
				"foreign key referenced-columns list must not contain duplicates")
		}
	}
	return ids, nil
}

// refuseGenerated refuses actions that would assign to generated columns.
func refuseGenerated(d *table.Desc, fk *table.ForeignKey) error {
	for _, id := range fk.Columns {
		if d.Columns[d.ColumnByID(id)].Generated == "" {
			continue
		}
		if fk.OnUpdate != "no action" && fk.OnUpdate != "restrict" {
			return sqlerr.New(sqlerr.SyntaxError, "invalid ON UPDATE action for foreign key "+
				"constraint containing generated column")
		}
		if strings.HasPrefix(fk.OnDelete, "set") {
			return sqlerr.New(sqlerr.SyntaxError, "invalid ON DELETE action for foreign key "+
				"constraint containing generated column")
		}
	}
	return nil
}

func (env *Env) nameForeignKey(d *table.Desc, fk *table.ForeignKey, c *ast.TableConstraint) error {
	if fk.Name != "" {
		if constraintNamed(d, fk.Name) {
			return duplicateConstraint(d, fk.Name)
		}
		return nil
	}
	var names []string
	for _, id := range c.Columns {
		names = append(names, id.Name)
	}
	var err error
	fk.Name, err = freeName(d.Name, strings.Join(names, "_"), "fkey",
		func(s string) (bool, error) { return constraintNamed(d, s), nil })
	return err
}

// comparableColumns refuses pairs of columns whose values cannot be equal without loss.
func comparableColumns(d, parent *table.Desc, fk *table.ForeignKey) error {
	for i, id := range fk.Columns {
		from, to := &d.Columns[d.ColumnByID(id)],
			&parent.Columns[parent.ColumnByID(fk.RefColumns[i])]
		if table.Referable(from.Type, to.Type) {
			continue
		}
		return sqlerr.New(sqlerr.DatatypeMismatch,
			"foreign key constraint \"%s\" cannot be implemented", fk.Name).
			WithDetail("Key columns \"%s\" and \"%s\" are of incompatible types: %s and %s.",
				from.Name, to.Name,
				from.Type.SQLName(), to.Type.SQLName())
	}
	return nil
}

// link records in a table's descriptor that another has foreign keys to it.
func (env *Env) link(ctx context.Context, parent, child table.ID) error {
	old, err := env.View.RelationByID(ctx, parent)
	if err != nil {
		return err
	}
	if slices.Contains(old.ReferencedBy, child) {
		return env.View.ExcludeWriters(parent)
	}
	next := old.Clone()
	next.ReferencedBy = append(next.ReferencedBy, child)
	return env.View.UpdateRelation(ctx, old, next)
}

// unlink removes the table from the descriptors of those to which it had foreign keys and has none
// any more.
func (env *Env) unlink(ctx context.Context, child table.ID, had, has []table.ForeignKey) error {
	for _, fk := range had {
		if slices.ContainsFunc(has,
			func(f table.ForeignKey) bool { return f.RefTable == fk.RefTable }) {
			continue
		}
		old, err := env.View.RelationByID(ctx, fk.RefTable)
		if err != nil {
			return err
		}
		if old == nil || !slices.Contains(old.ReferencedBy, child) {
			continue
		}
		next := old.Clone()
		next.ReferencedBy = slices.DeleteFunc(next.ReferencedBy,
			func(id table.ID) bool { return id == child })
		if err := env.View.UpdateRelation(ctx, old, next); err != nil {
			return err
		}
	}
	return nil
}

// lockReferenced locks the tables that the foreign keys to be dropped refer to, because writers of
// those tables check the keys.
func (env *Env) lockReferenced(ctx context.Context, fks []table.ForeignKey) error {
	for i := range fks {
		parent, err := env.View.RelationByID(ctx, fks[i].RefTable)
		if err != nil {
			return err
		}
		if err := env.lock(ctx, parent, rowlock.AccessExclusive); err != nil {
			return err
		}
	}
	return nil
}

// removeForeignKeys takes the foreign keys for which gone holds out of a table.
func (env *Env) removeForeignKeys(ctx context.Context, id table.ID,
	gone func(*table.ForeignKey) bool) error {
	old, err := env.View.RelationByID(ctx, id)
	if err != nil || old == nil {
		return err
	}
	next := old.Clone()
	next.ForeignKeys = slices.DeleteFunc(next.ForeignKeys,
		func(fk table.ForeignKey) bool { return gone(&fk) })
	if len(next.ForeignKeys) == len(old.ForeignKeys) {
		return nil
	}
	if err := env.View.UpdateRelation(ctx, old, next); err != nil {
		return err
	}
	return env.unlink(ctx, id, old.ForeignKeys, next.ForeignKeys)
}

// eachReference calls fn for the foreign keys of other tables, and its own, to d.
func (env *Env) eachReference(ctx context.Context, d *table.Desc,
	fn func(child *table.Desc, fk *table.ForeignKey)) error {
	for _, id := range d.ReferencedBy {
		child, err := env.View.RelationByID(ctx, id)
		if err != nil {
			return err
		}
		for i := range child.ForeignKeys {
			if child.ForeignKeys[i].RefTable == d.ID {
				fn(child, &child.ForeignKeys[i])
			}
		}
	}
	return nil
}

func (env *Env) describeForeignKey(child *table.Desc, fk *table.ForeignKey) string {
	return "constraint " + sqlname.Quote(fk.Name) + " on " + env.describe(child)
}

func (a *alteration) addForeignKey(ctx context.Context, c *ast.TableConstraint) error {
	if c.Name != "" && constraintNamed(a.d, c.Name) { // before what is wrong with its columns
		return duplicateConstraint(a.d, c.Name)
	}
	next := a.d.Clone()
	parent, err := a.env.addForeignKey(ctx, next, c)
	if err != nil {
		return err
	}
	fk := &next.ForeignKeys[len(next.ForeignKeys)-1]
	if !c.NotValid {
		a.exclude(a.d, parent)
		if err := a.verifyForeignKey(ctx, parent, fk); err != nil {
			return err
		}
	}
	if err := a.update(ctx, next); err != nil || parent == next {
		return err
	}
	return a.env.link(ctx, parent.ID, next.ID)
}

// verifyForeignKey looks for a row that breaks a foreign key.
func (a *alteration) verifyForeignKey(ctx context.Context, parent *table.Desc,
	fk *table.ForeignKey) error {
	values, err := a.env.FirstRow(ctx, ri.Orphans(a.d, parent, fk))
	if err != nil || values == nil {
		return err
	}
	return ri.Absent(a.d, parent, fk, values, &a.env.Runtime.Format)
}

// validateForeignKey is VALIDATE CONSTRAINT of a foreign key.
func (a *alteration) validateForeignKey(ctx context.Context, fk *table.ForeignKey) error {
	if !fk.NotValid {
		return nil
	}
	parent, err := a.env.View.RelationByID(ctx, fk.RefTable)
	if err != nil {
		return err
	}
	if err := a.excludeUnaware(ctx, a.d, parent); err != nil {
		return err
	}
	if err := a.verifyForeignKey(ctx, parent, fk); err != nil {
		return err
	}
	next := a.d.Clone()
	next.ForeignKey(fk.Name).NotValid = false
	return a.validated(ctx, next)
}

// reload reads the descriptor again, which others of the statement's changes may have touched.
func (a *alteration) reload(ctx context.Context) (err error) {
	a.d, err = a.env.View.RelationByID(ctx, a.d.ID)
	return err
}

// freeOfReferences makes sure that an index can go: the foreign keys that rest on it go first,
// which needs cascade. what describes what is dropped.
func (a *alteration) freeOfReferences(ctx context.Context, ix *table.Index, what string,
	cascade bool) error {
	without := a.d.Clone()
	without.Indexes = slices.DeleteFunc(without.Indexes,
		func(o table.Index) bool { return o.ID == ix.ID })
	dr := newDropper(a.env)
	dr.what = []string{what}
	err := a.env.eachReference(ctx, a.d, func(child *table.Desc, fk *table.ForeignKey) {
		if without.ReferencedIndex(fk.RefColumns) == nil {
			dr.foreignKey(child, fk, "index "+sqlname.Quote(ix.Name))
		}
	})
	if err != nil {
		return err
	}
	if err := dr.viewsOnKey(ctx, a.d, ix, what); err != nil {
		return err
	}
	if err := dr.run(ctx, cascade); err != nil {
		return err
	}
	return a.reload(ctx)
}

// stillComparable verifies that a column of a new type fits the foreign keys that it is part of,
// and locks the tables at their other ends.
func (a *alteration) stillComparable(ctx context.Context, next *table.Desc,
	id table.ColumnID) error {
	return a.eachForeignKeyOf(ctx, next, id,
		func(child, parent *table.Desc, fk *table.ForeignKey) error {
			for _, end := range []*table.Desc{child, parent} {
				if err := a.env.lock(ctx, end, rowlock.AccessExclusive); err != nil {
					return err
				}
			}
			return comparableColumns(child, parent, fk)
		})
}

// verifyReferences verifies the foreign keys of a column whose values were converted.
func (a *alteration) verifyReferences(ctx context.Context, id table.ColumnID) error {
	return a.eachForeignKeyOf(ctx, a.d, id,
		func(child, parent *table.Desc, fk *table.ForeignKey) error {
			of := &alteration{env: a.env, d: child}
			of.exclude(child, parent)
			return of.verifyForeignKey(ctx, parent, fk)
		})
}

// eachForeignKeyOf calls fn for the foreign keys of d, and to d, that have the column. d is the
// table's future descriptor.
func (a *alteration) eachForeignKeyOf(ctx context.Context, d *table.Desc, id table.ColumnID,
	fn func(child, parent *table.Desc, fk *table.ForeignKey) error) error {
	for i := range d.ForeignKeys {
		fk := &d.ForeignKeys[i]
		parent, err := d, error(nil)
		if fk.RefTable != d.ID {
			parent, err = a.env.View.RelationByID(ctx, fk.RefTable)
		}
		if err != nil {
			return err
		}
		if slices.Contains(fk.Columns, id) || parent == d && slices.Contains(fk.RefColumns, id) {
			if err := fn(d, parent, fk); err != nil {
				return err
			}
		}
	}
	var failed error
	err := a.env.eachReference(ctx, d, func(child *table.Desc, fk *table.ForeignKey) {
		if child.ID != d.ID && slices.Contains(fk.RefColumns, id) && failed == nil {
			failed = fn(child, d, fk)
		}
	})
	return errors.Join(err, failed)
}
