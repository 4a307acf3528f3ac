package ddl

import (
	"context"
	"fmt"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/incremental"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn/rowlock"
)

// An incremental view is a materialized view that follows its tables by itself: docs/observers.md.

// createIncremental stores a view, which has its ID and its columns, makes its tables notify of
// what it uses, and fills it. Writers of its tables are excluded from its snapshot on, so that
// every later change leaves a notification.
func (env *Env) createIncremental(ctx context.Context, s *ast.CreateMaterializedView,
	d *table.Desc) (tag string, err error) {
	v, err := incremental.Analyze(ctx, env.Planner, s.Query)
	if err != nil {
		return "", err
	}
	d.View.Incremental = &table.Incremental{}
	for _, u := range v.Uses() {
		d.View.Incremental.Uses = append(d.View.Incremental.Uses,
			table.Use{Relation: u.Table.ID, Columns: u.Columns})
	}
	err = v.Describe(d, func() (table.ID, error) { return env.View.NewID(ctx) })
	if err != nil {
		return "", err
	}
	for _, u := range d.View.Incremental.Uses {
		if err := env.lockUsed(ctx, u.Relation); err != nil {
			return "", err
		}
		if err := env.refuseRowSecurity(ctx, u.Relation); err != nil {
			return "", err
		}
	}
	if err := env.create(ctx, d); err != nil {
		return "", err
	}
	if err := env.View.FollowTables(ctx, d); err != nil || s.WithNoData {
		return "CREATE MATERIALIZED VIEW", err
	}
	n, err := env.FillView(ctx, d, true)
	return fmt.Sprintf("SELECT %d", n), err
}

// notIncremental refuses to replace a view that an incremental view reads, by itself or through
// other views: the rows of that would be those of another query.
func (env *Env) notIncremental(ctx context.Context, s *ast.CreateView, old *table.Desc) error {
	groups, err := env.View.ViewGroups(ctx, env.Database)
	if err != nil {
		return err
	}
	for _, g := range groups {
		for _, d := range g.Views {
			reads, err := env.readsThrough(ctx, d.View.DependsOn, old.ID)
			if err != nil {
				return err
			}
			if reads {
				return sqlerr.Unsupported(int(s.Pos),
					"CREATE OR REPLACE VIEW of a view that an incremental view reads").
					WithDetail("Incremental materialized view \"%s\" reads view \"%s\".", d.Name,
						old.Name)
			}
		}
	}
	return nil
}

// refuseRowSecurity refuses an incremental view of a table with row security: all
// roles that may read the view would see rows of it, whatever the policies let its owner see later.
func (env *Env) refuseRowSecurity(ctx context.Context, id table.ID) error {
	d, err := env.View.RelationByID(ctx, id)
	if err != nil || d == nil || !d.RowSecurity {
		return err
	}
	return sqlerr.New(sqlerr.FeatureNotSupported,
		"incremental materialized views of tables with row security are not supported").
		WithDetail("Table \"%s\" has row security enabled.", d.Name)
}

// lockUsed excludes the writers of what a view uses: of a table, or of a view and of those that
// advance together with it.
func (env *Env) lockUsed(ctx context.Context, id table.ID) error {
	d, err := env.View.RelationByID(ctx, id)
	if err != nil {
		return err
	}
	if err := env.lock(ctx, d, rowlock.ShareRowExclusive); err != nil {
		return err
	}
	if err := env.unused("CREATE MATERIALIZED VIEW", d); err != nil || !d.Incremental() {
		return err
	}
	return env.lockRelated(ctx, d, rowlock.ShareRowExclusive)
}

// lockRelated locks the views that show the tables at the same timestamp as a view.
func (env *Env) lockRelated(ctx context.Context, d *table.Desc, mode rowlock.Mode) error {
	g, err := env.View.ViewGroupOf(ctx, env.Database, d.ID)
	if err != nil || g == nil {
		return err
	}
	for _, v := range g.Related(d.ID).Views {
		if err := env.lock(ctx, v, mode); err != nil {
			return err
		}
	}
	return nil
}

// refreshIncremental computes an incremental view anew, and those that are computed from it. A view
// that is broken or was never filled follows its tables again then.
func (env *Env) refreshIncremental(ctx context.Context, s *ast.RefreshMaterializedView,
	d *table.Desc) error {
	if s.Concurrently {
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"cannot refresh incremental materialized view \"%s\" concurrently", d.Name).
			WithHint("It follows its tables by itself. REFRESH without CONCURRENTLY mends one " +
				"that is broken.")
	}
	if err := env.lockRead(ctx, d, map[table.ID]bool{}); err != nil {
		return err
	}
	if err := env.lockRelated(ctx, d, rowlock.ShareRowExclusive); err != nil {
		return err
	}
	if s.WithNoData {
		return env.emptyIncremental(ctx, d)
	}
	_, err := env.FillView(ctx, d, false)
	return err
}

// emptyIncremental takes the rows of a view away. Views that are computed from it break.
func (env *Env) emptyIncremental(ctx context.Context, d *table.Desc) error {
	next := d.Clone()
	next.View.Unpopulated = true
	if err := env.View.Relocate(ctx, next); err != nil {
		return err
	}
	if err := env.View.UpdateRelation(ctx, d, next); err != nil {
		return err
	}
	return env.View.ForgetViewState(ctx, d.ID)
}
