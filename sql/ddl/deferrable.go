package ddl

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
)

// addDeferrablePrimary adds a deferrable primary key to the table, which is an index beside the
// rows. next is a copy of the table. It does not have the index, also where that is there already.
func (a *alteration) addDeferrablePrimary(ctx context.Context, next *table.Desc,
	ix *table.Index) error {
	setKeyNotNull(next, ix)
	if a.d.Index(ix.ID) != nil {
		next.Indexes = append([]table.Index{*ix}, next.Indexes...)
		if err := a.update(ctx, next); err != nil {
			return err
		}
	} else if err := a.env.addIndexTo(ctx, a.d, next, ix); err != nil {
		return err
	}
	if err := a.reload(ctx); err != nil {
		return err
	}
	a.exclude(a.d)
	return catalog.Rows(ctx, a.env.Tx, a.d, func(row []types.Datum) error {
		for _, k := range ix.Columns {
			if o := a.d.ColumnByID(k.ColumnID); row[o].Null {
				return a.containsNull(a.d.Columns[o].Name)
			}
		}
		return nil
	})
}

// alterForeignKey is ALTER CONSTRAINT, which changes when a foreign key is checked.
func (a *alteration) alterForeignKey(ctx context.Context, act *ast.AlterAction) error {
	name := act.Name.Name
	next := a.d.Clone()
	fk := next.ForeignKey(name)
	switch {
	case fk == nil && constraintNamed(a.d, name):
		return sqlerr.New(sqlerr.WrongObjectType,
			"constraint \"%s\" of relation \"%s\" is not a foreign key constraint", name, a.d.Name)
	case fk == nil:
		return noConstraint(a.d, name)
	}
	c := act.Constraint
	if fk.Deferrable == c.Deferrable && fk.InitiallyDeferred == c.InitiallyDeferred {
		return nil
	}
	fk.Deferrable, fk.InitiallyDeferred = c.Deferrable, c.InitiallyDeferred
	return a.update(ctx, next)
}
