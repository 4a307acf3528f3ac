package ddl

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
)

func (a *alteration) addConstraint(ctx context.Context, act *ast.AlterAction) error {
	return a.addTableConstraint(ctx, act.Constraint)
}

func (a *alteration) addTableConstraint(ctx context.Context, c *ast.TableConstraint) error {
	switch c.Kind {
	case "check":
		return a.addCheck(ctx, c)
	case "unique":
		return a.addUnique(ctx, c)
	case "primary key":
		return a.addPrimary(ctx, c)
	case "foreign key":
		return a.addForeignKey(ctx, c)
	case "exclude":
		return a.addExclusion(ctx, c)
	}
	return sqlerr.Unsupported(int(c.Pos), strings.ToUpper(c.Kind)+" constraint")
}

func (a *alteration) addCheck(ctx context.Context, c *ast.TableConstraint) error {
	if c.Name != "" && constraintNamed(a.d, c.Name) {
		if _, err := a.env.bindCheck(ctx, a.d, c.Expr); err != nil {
			return unplaced(err) // comes first, as in PostgreSQL
		}
		return duplicateConstraint(a.d, c.Name)
	}
	next := a.d.Clone()
	x, err := a.env.addCheck(ctx, next, c)
	if err != nil {
		return unplaced(err)
	}
	if !c.NotValid {
		a.exclude(a.d)
		if err := a.verify(ctx, next.Checks[len(next.Checks)-1].Name, x); err != nil {
			return err
		}
	}
	return a.update(ctx, next)
}

// exclude makes the statement fail if others write rows of the tables before it commits: what it
// found in all of them must hold for theirs too.
func (a *alteration) exclude(tables ...*table.Desc) {
	for _, d := range tables {
		a.env.Tx.Validate(d.IndexSpan(table.RowIndexID))
	}
}

// excludeUnaware is exclude for a constraint that exists already but is not valid for all rows.
// Since the constraint was committed all writers check it, so validating a snapshot that shows it
// is enough. If this transaction may have added it, other transactions do not check it yet.
func (a *alteration) excludeUnaware(ctx context.Context, tables ...*table.Desc) error {
	_, own, err := a.env.View.Version(ctx)
	if own {
		a.exclude(tables...)
	}
	return err
}

// validated stores a descriptor in which a constraint has become valid.
func (a *alteration) validated(ctx context.Context, next *table.Desc) error {
	if err := a.env.View.RelabelRelation(ctx, a.d, next); err != nil {
		return err
	}
	a.d = next
	return nil
}

// verify holds a condition against every row.
func (a *alteration) verify(ctx context.Context, name string, x expr.Expr) error {
	p, err := a.env.program(x)
	if err != nil {
		return err
	}
	return catalog.Rows(ctx, a.env.Tx, a.d, func(row []types.Datum) error {
		v, err := p(row)
		if err != nil || v.Null || v.Bool() {
			return err
		}
		e := sqlerr.New(sqlerr.CheckViolation, "check constraint \"%s\" of relation \"%s\" is "+
			"violated by some row", name, a.d.Name)
		e.Schema, e.Table, e.Constraint = a.d.Schema, a.d.Name, name
		return e
	})
}

func (a *alteration) validateConstraint(ctx context.Context, act *ast.AlterAction) error {
	if fk := a.d.ForeignKey(act.Name.Name); fk != nil {
		return a.validateForeignKey(ctx, fk)
	}
	i := slices.IndexFunc(a.d.Checks, func(c table.Check) bool { return c.Name == act.Name.Name })
	if i < 0 {
		if constraintNamed(a.d, act.Name.Name) {
			return sqlerr.New(sqlerr.WrongObjectType,
				"constraint \"%s\" of relation \"%s\" is not a foreign key or check constraint",
				act.Name.Name, a.d.Name)
		}
		return noConstraint(a.d, act.Name.Name)
	}
	if !a.d.Checks[i].NotValid {
		return nil
	}
	e, err := a.env.parse(a.d.Checks[i].Text)
	if err != nil {
		return err
	}
	x, err := a.env.bindCheck(ctx, a.d, e)
	if err != nil {
		return err
	}
	if err := a.excludeUnaware(ctx, a.d); err != nil {
		return err
	}
	if err := a.verify(ctx, act.Name.Name, x); err != nil {
		return err
	}
	next := a.d.Clone()
	next.Checks[i].NotValid = false
	return a.validated(ctx, next)
}

func noConstraint(d *table.Desc, name string) error {
	return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" of relation \"%s\" does not exist",
		name, d.Name)
}

func (a *alteration) addUnique(ctx context.Context, c *ast.TableConstraint) error {
	if c.UsingIndex != "" {
		return a.addUniqueUsing(ctx, c)
	}
	ix, err := a.env.constraintIndex(ctx, a.d, c)
	if err != nil {
		return unlessTwice(err)
	}
	if err := a.env.addIndex(ctx, a.d, ix); err != nil {
		return err
	}
	a.d, err = a.env.View.RelationByID(ctx, a.d.ID)
	return err
}

// addPrimary makes the primary key the row key, which rewrites the table.
func (a *alteration) addPrimary(ctx context.Context, c *ast.TableConstraint) error {
	if c.UsingIndex == "" && a.d.PrimaryKey() != nil {
		return multipleKeys(a.d.Name)
	}
	next, ix, err := a.primary(ctx, c)
	if err != nil {
		return err
	}
	if a.d.PrimaryKey() != nil {
		return multipleKeys(a.d.Name)
	}
	if ix.Deferrable {
		return a.addDeferrablePrimary(ctx, next, ix)
	}
	setPrimary(next, ix)
	hidden := slices.IndexFunc(next.Columns, func(c table.Column) bool { return c.Hidden })
	if hidden >= 0 {
		next.Columns = append(next.Columns[:hidden], next.Columns[hidden+1:]...)
	}
	var row []types.Datum
	return a.rewrite(ctx, next, func(old []types.Datum) ([]types.Datum, error) {
		row = append(row[:0], old...)
		if hidden >= 0 {
			row = append(row[:hidden], row[hidden+1:]...)
		}
		for _, k := range ix.Columns {
			if o := next.ColumnByID(k.ColumnID); row[o].Null {
				return nil, a.containsNull(next.Columns[o].Name)
			}
		}
		return row, nil
	})
}

// primary returns a copy of the table, and the primary key that it is to get.
func (a *alteration) primary(ctx context.Context, c *ast.TableConstraint) (*table.Desc,
	*table.Index, error) {
	if c.UsingIndex != "" {
		return a.primaryUsing(ctx, c)
	}
	for _, id := range c.Columns {
		if _, err := column(a.d, id); err != nil {
			return nil, nil, err
		}
	}
	ix, err := a.env.constraintIndex(ctx, a.d, c)
	return a.d.Clone(), ix, err
}

// unplaced takes the position out of an error. PostgreSQL binds what ALTER TABLE adds when the
// statement's text is out of its reach.
func unplaced(err error) error {
	var e *sqlerr.Error
	if errors.As(err, &e) {
		e.Position = 0
	}
	return err
}

// unlessTwice is unplaced for the columns of a key, of which only those named twice are placed.
func unlessTwice(err error) error {
	var e *sqlerr.Error
	if errors.As(err, &e) && e.Code == sqlerr.DuplicateColumn {
		return err
	}
	return unplaced(err)
}

func (a *alteration) dropConstraint(ctx context.Context, act *ast.AlterAction) error {
	name := act.Name.Name
	if i := slices.IndexFunc(a.d.Checks,
		func(c table.Check) bool { return c.Name == name }); i >= 0 {
		next := a.d.Clone()
		next.Checks = append(next.Checks[:i], next.Checks[i+1:]...)
		return a.update(ctx, next)
	}
	if fk := a.d.ForeignKey(name); fk != nil {
		if err := a.unusedReferenced(ctx, fk); err != nil {
			return err
		}
		if err := a.env.removeForeignKeys(ctx, a.d.ID,
			func(fk *table.ForeignKey) bool { return fk.Name == name }); err != nil {
			return err
		}
		return a.reload(ctx)
	}
	if ix := a.d.IndexByName(name); ix != nil && ix.Constraint {
		what := "constraint " + sqlname.Quote(name) + " on " + a.env.describe(a.d)
		if err := a.freeOfReferences(ctx, ix, what, act.Cascade); err != nil {
			return err
		}
		return a.removeKey(ctx, ix.ID)
	}
	if act.IfExists {
		a.env.notice("00000", "constraint \"%s\" of relation \"%s\" does not exist, skipping", name,
			a.d.Name)
		return nil
	}
	return noConstraint(a.d, name)
}

// unusedReferenced locks the table to which a foreign key refers that is to go, and refuses it
// while the session is not done with that table: checks of the key may wait.
func (a *alteration) unusedReferenced(ctx context.Context, fk *table.ForeignKey) error {
	if err := a.env.lockReferenced(ctx, []table.ForeignKey{*fk}); err != nil {
		return err
	}
	parent, err := a.env.View.RelationByID(ctx, fk.RefTable)
	if err != nil {
		return err
	}
	return a.env.unused("ALTER TABLE", parent)
}

func (a *alteration) renameConstraint(ctx context.Context, act *ast.AlterAction) error {
	name, to := act.Name.Name, act.NewName.Name
	next := a.d.Clone()
	i := slices.IndexFunc(next.Checks, func(c table.Check) bool { return c.Name == name })
	ix, fk := next.IndexByName(name), next.ForeignKey(name)
	switch {
	case i < 0 && fk == nil && (ix == nil || !ix.Constraint):
		return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" for table \"%s\" does not "+
			"exist", name, a.d.Name)
	case ix != nil && ix.Constraint && next.IndexByName(to) != nil:
		// the index takes the new name too
		return sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", to)
	case constraintNamed(a.d, to):
		return duplicateConstraint(a.d, to)
	case i >= 0:
		next.Checks[i].Name = to
	case fk != nil:
		fk.Name = to
	default:
		ix.Name = to
	}
	return a.update(ctx, next)
}

// rewrite replaces every row by what change makes of it, which is lent for the moment, under the
// next descriptor. It holds the new rows in memory, encoded.
func (a *alteration) rewrite(ctx context.Context, next *table.Desc,
	change func(old []types.Datum) ([]types.Datum, error)) error {
	for i := range next.Columns {
		next.Columns[i].Missing = nil // every row is written with all of its columns
	}
	rows := catalog.NewReplacement(a.env.Catalog, a.d, next)
	err := catalog.Rows(ctx, a.env.Tx, a.d, func(old []types.Datum) error {
		row, err := change(old)
		if err != nil {
			return err
		}
		return rows.Add(ctx, row)
	})
	if err == nil {
		err = rows.Sort(ctx)
	}
	if err == nil {
		err = rows.Write(ctx, a.env.View)
	}
	for i := range next.Indexes {
		if ix := &next.Indexes[i]; err == nil && ix.Exclusion() {
			err = catalog.VerifyExclusion(ctx, a.env.Tx, next, ix)
		}
	}
	if err == nil {
		a.d = next
	}
	return err
}
