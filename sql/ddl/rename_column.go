package ddl

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/deparse"
	"github.com/minidb/minidb/table"
)

func (a *alteration) renameColumn(ctx context.Context, act *ast.AlterAction) error {
	o := a.d.Column(act.Column.Name)
	if o < 0 || a.d.Columns[o].Hidden {
		return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist", act.Column.Name)
	}
	to := act.NewName.Name
	if slices.Contains(systemColumns, to) {
		return sqlerr.New(sqlerr.DuplicateColumn, "column name \"%s\" conflicts with a system "+
			"column name", to)
	}
	if a.d.Column(to) >= 0 {
		return sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" of relation \"%s\" already exists",
			to, a.d.Name)
	}
	next := a.d.Clone()
	next.Columns[o].Name = to
	return a.replaceNames(ctx, next)
}

// replaceNames stores the descriptor under its new names, with all stored expressions and views
// that contain the old names.
func (a *alteration) replaceNames(ctx context.Context, next *table.Desc) error {
	if err := a.env.reprintRow(ctx, a.d, next); err != nil {
		return err
	}
	views, err := a.env.reprintViews(ctx, a.d, next)
	if err != nil {
		return err
	}
	if a.d.View != nil { // its query names its columns
		if next.View.Text, err = deparse.View(ctx, a.env.Planner, a.d,
			renaming(a.d, next)); err != nil {
			return err
		}
	}
	defaults, err := a.env.reprintDefaults(ctx, a.d, next)
	if err != nil {
		return err
	}
	if err := a.update(ctx, next); err != nil {
		return err
	}
	return a.env.putMended(ctx, append(views, defaults...))
}
