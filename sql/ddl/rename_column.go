package ddl

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/deparse"
	"github.com/minidb/minidb/table"
)

func (a *alteration) renameColumn(ctx context.Context, act *ast.AlterAction) error {
	if err := a.notTyped("rename column of"); err != nil {
		return err
	}
	o := a.d.Column(act.Column.Name)
	if o < 0 || a.d.Columns[o].Hidden {
		if slices.Contains(builtin.SystemColumnNames, act.Column.Name) && !a.d.IsQuery() {
			return sqlerr.New(sqlerr.FeatureNotSupported, "cannot rename system column \"%s\"",
				act.Column.Name)
		}
		return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist", act.Column.Name)
	}
	to := act.NewName.Name
	if err := refuseSystemName(to); err != nil {
		return err
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
	u, err := a.usersOfRow(ctx)
	if err != nil {
		return err
	}
	users, domains, err := u.reprinted(ctx, renaming(a.d, next))
	if err != nil {
		return err
	}
	if a.d.View != nil { // its query names its columns
		if next.View.Text, err = deparse.View(ctx, a.env.Planner, a.d,
			renaming(a.d, next)); err != nil {
			return err
		}
	}
	list, constants, err := a.env.reprintConstants(ctx, a.d, next,
		joinMended(users, views))
	if err != nil {
		return err
	}
	if err := a.update(ctx, next); err != nil {
		return err
	}
	return a.env.putReprinted(ctx, list, append(domains, constants...))
}

// joinMended joins lists of relations whose texts have been printed anew: of one that is in several
// the first form has all that is new.
func joinMended(lists ...[]mended) (out []mended) {
	seen := map[table.ID]bool{}
	for _, m := range slices.Concat(lists...) {
		if !seen[m.old.ID] {
			seen[m.old.ID] = true
			out = append(out, m)
		}
	}
	return out
}
