package ddl

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
)

// promotable returns the index of the table that ADD CONSTRAINT … USING INDEX names, if a
// constraint can rest on it.
func (a *alteration) promotable(ctx context.Context, c *ast.TableConstraint) (*table.Index, error) {
	d, ix, err := a.env.lookup(ctx, ast.Name{Schema: a.d.Schema, Name: c.UsingIndex})
	refuse := func(code, format string, args ...any) error {
		return sqlerr.New(code, format, args...).At(int(c.Pos))
	}
	unfit := func(format string, args ...any) error {
		return sqlerr.New(sqlerr.WrongObjectType, format, args...).At(int(c.Pos)).
			WithDetail("Cannot create a primary key or unique constraint using such an index.")
	}
	switch {
	case err != nil:
		return nil, err
	case ix == nil:
		return nil, refuse(sqlerr.UndefinedObject, "index \"%s\" does not exist", c.UsingIndex)
	case ix.Constraint:
		return nil, refuse(sqlerr.ObjectNotInPrerequisiteState,
			"index \"%s\" is already associated with a constraint", ix.Name)
	case d.ID != a.d.ID:
		return nil, refuse(sqlerr.ObjectNotInPrerequisiteState,
			"index \"%s\" does not belong to table \"%s\"", ix.Name, a.d.Name)
	case !ix.Unique:
		return nil, unfit("\"%s\" is not a unique index", ix.Name)
	case d.HasExpr(ix):
		return nil, unfit("index \"%s\" contains expressions", ix.Name)
	case ix.WhereText != "":
		return nil, unfit("\"%s\" is a partial index", ix.Name)
	}
	for i, k := range ix.Columns {
		if k != (table.IndexColumn{ColumnID: k.ColumnID}) {
			return nil, unfit("index \"%s\" column number %d does not have default sorting "+
				"behavior", ix.Name, i+1)
		}
	}
	return ix, nil
}

// takeIndex makes the index that ADD CONSTRAINT … USING INDEX names that of a constraint, under the
// constraint's name. It returns a copy of the table with the index as it was, and one of the index.
func (a *alteration) takeIndex(ctx context.Context,
	c *ast.TableConstraint) (next *table.Desc, ix *table.Index, err error) {
	if ix, err = a.promotable(ctx, c); err != nil {
		return nil, nil, err
	}
	name := ix.Name
	if c.Name != "" && c.Name != name {
		name = c.Name
		if constraintNamed(a.d, name) {
			return nil, nil, duplicateConstraint(a.d, name)
		}
		a.env.notice("00000", "ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"%s\" "+
			"to \"%s\"", ix.Name, name)
	}
	next = a.d.Clone()
	taken := *next.Index(ix.ID)
	taken.Name, taken.Constraint = name, true
	taken.Deferrable, taken.InitiallyDeferred = c.Deferrable, c.InitiallyDeferred
	return next, &taken, nil
}

// addUniqueUsing adds a unique constraint that rests on an index which is there.
func (a *alteration) addUniqueUsing(ctx context.Context, c *ast.TableConstraint) error {
	next, ix, err := a.takeIndex(ctx, c)
	if err != nil {
		return err
	}
	*next.Index(ix.ID) = *ix
	return a.update(ctx, next)
}

// primaryUsing returns a copy of the table without an index, and the primary key that takes its
// place.
func (a *alteration) primaryUsing(ctx context.Context, c *ast.TableConstraint) (*table.Desc,
	*table.Index, error) {
	next, ix, err := a.takeIndex(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	next.Indexes = slices.DeleteFunc(next.Indexes,
		func(o table.Index) bool { return o.ID == ix.ID })
	ix.Primary, ix.NullsNotDistinct = true, false
	return next, ix, nil
}
