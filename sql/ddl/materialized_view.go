package ddl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn/rowlock"
)

// A materialized view is a table without primary key whose descriptor has a query beside: what it
// depends on is noted as for a view, its rows and indexes are those of a table.

func (env *Env) createMaterializedView(ctx context.Context,
	s *ast.CreateMaterializedView) (tag string, err error) {
	const created = "CREATE MATERIALIZED VIEW"
	if s.Unlogged {
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "materialized views cannot be unlogged")
	}
	incremental, parameters, err := viewOptions(s.Options)
	if err != nil {
		return "", err
	}
	if err := readsOnly(s.Query,
		"materialized views must not use data-modifying statements in WITH"); err != nil {
		return "", err
	}
	sc, err := env.creationSchema(ctx, s.Name)
	if err != nil {
		return "", err
	}
	if there, err := env.present(ctx, sc, s.Name.Name, s.IfNotExists); there || err != nil {
		return created, err
	}
	q, err := env.viewQuery(ctx, s.Query, s.Columns, viewRefusals{
		names:     "too many column names were specified",
		collation: "no collation was derived for column \"%[1]s\" with collatable type %[2]s"})
	if err != nil {
		return "", err
	}
	switch {
	case readsTemporary(q.reads):
		return "", sqlerr.New(sqlerr.FeatureNotSupported,
			"materialized views must not use temporary tables or views")
	case sc.ID.Temporary():
		return "", sqlerr.New(sqlerr.InsufficientPrivilege,
			"cannot create temporary table within security-restricted operation")
	}
	if err := env.hold(ctx, q.reads); err != nil {
		return "", err
	}
	d := &table.Desc{DatabaseID: env.Database, SchemaID: sc.ID, Schema: sc.Name, Name: s.Name.Name,
		Kind: table.KindMaterializedView, NextColumnID: 1, NextIndexID: table.RowIndexID + 1,
		View: &table.View{Text: q.text, DependsOn: q.reads, DependsOnKeys: q.keys,
			Unpopulated: s.WithNoData}, Options: parameters}
	for _, c := range q.columns {
		if err := refuseSystemName(c.Name); err != nil {
			return "", err
		}
	}
	q.addColumns(d)
	if err := env.View.NameRelation(ctx, d); err != nil {
		return "", err
	}
	if incremental {
		return env.createIncremental(ctx, s, d)
	}
	addRowID(d)
	if err := env.create(ctx, d); err != nil || s.WithNoData {
		return created, err
	}
	n, err := env.RunQuery(ctx, s.Query, d)
	return fmt.Sprintf("SELECT %d", n), err
}

// viewOptions is tableParameters for a materialized view, which may be incremental too.
func viewOptions(opts []ast.Option) (incremental bool, parameters []string, err error) {
	said, others := splitIncremental(opts)
	for _, o := range said {
		if incremental, err = boolOption(o); err != nil {
			return false, nil, err
		}
	}
	parameters, err = tableParameters(others)
	return incremental, parameters, err
}

// splitIncremental separates the option incremental from storage parameters.
func splitIncremental(opts []ast.Option) (said, others []ast.Option) {
	for _, o := range opts {
		if o.Name == "incremental" {
			said = append(said, o)
		} else {
			others = append(others, o)
		}
	}
	return said, others
}

// alterViewOptions refuses to make a view incremental, or no longer so: that is decided when it is
// created. reset means that the options go back to their defaults, and have no values.
func alterViewOptions(d *table.Desc, opts []ast.Option, reset bool) error {
	incremental := d.Incremental()
	for _, o := range opts {
		if o.Name != "incremental" {
			continue
		}
		is, err := boolOption(o)
		if err != nil {
			return err
		}
		if is = is && !reset; is != incremental {
			return sqlerr.Unsupported(int(o.Pos), "change of whether a view is incremental")
		}
	}
	return nil
}

// boolOption reads the value of a storage parameter: a parameter without one is on.
func boolOption(o ast.Option) (bool, error) {
	switch strings.ToLower(o.Value) {
	case "", "true", "on", "yes", "1":
		return true, nil
	case "false", "off", "no", "0":
		return false, nil
	}
	return false, sqlerr.New(sqlerr.InvalidParameterValue,
		"invalid value for boolean option \"%s\": %s", o.Name, o.Value)
}

// refresh computes the rows of a materialized view anew. They go under a new storage ID, where
// every key is new, and the old ones are dropped as a whole: the cost is that of the new rows.
// CONCURRENTLY leaves the rows where they are and writes those that differ, so that readers need
// not wait.
func (env *Env) refresh(ctx context.Context, s *ast.RefreshMaterializedView) error {
	d, err := env.refreshed(ctx, s)
	if err != nil {
		return err
	}
	if d.Incremental() {
		return env.refreshIncremental(ctx, s, d)
	}
	q, err := env.Planner.ParseQuery(d.View.Text)
	if err != nil {
		return err
	}
	if err := env.lockRead(ctx, d, map[table.ID]bool{}); err != nil {
		return err
	}
	if s.Concurrently {
		// Of two that refresh the view at once, the second to commit fails: the rows would be part
		// of the one result and part of the other.
		if err := env.View.ExcludeWriters(d.ID); err != nil {
			return err
		}
		return env.RefreshRows(ctx, q, d)
	}
	next := d.Clone()
	next.View.Unpopulated = s.WithNoData
	if err := env.View.Relocate(ctx, next); err != nil {
		return err
	}
	if err := env.View.UpdateRelation(ctx, d, next); err != nil {
		return err
	}
	if env.Cleared != nil {
		env.Cleared(d.ID)
	}
	if s.WithNoData {
		return nil
	}
	_, err = env.RunQuery(ctx, q, next)
	return notBuilt(next, err)
}

// refreshed finds the materialized view of a REFRESH, locks it, and verifies that it may be
// refreshed in that way.
func (env *Env) refreshed(ctx context.Context, s *ast.RefreshMaterializedView) (*table.Desc,
	error) {
	d, ix, err := env.lookup(ctx, s.Name)
	switch {
	case err != nil:
		return nil, err
	case d == nil:
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist",
			display(s.Name))
	case ix != nil || !d.HasRows():
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a table or materialized view",
			s.Name.Name)
	case d.Kind != table.KindMaterializedView:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "\"%s\" is not a materialized view",
			d.Name)
	}
	if err := env.mustOwn(ctx, d); err != nil {
		return nil, err
	}
	mode := rowlock.AccessExclusive
	if s.Concurrently {
		mode = rowlock.Exclusive
	}
	if err := env.lock(ctx, d, mode); err != nil {
		return nil, err
	}
	if err := concurrently(s, d); err != nil {
		return nil, err
	}
	return d, env.unused("REFRESH MATERIALIZED VIEW", d)
}

// concurrently verifies what CONCURRENTLY needs: rows, and a unique index of columns.
func concurrently(s *ast.RefreshMaterializedView, d *table.Desc) error {
	identifies := func(ix table.Index) bool {
		return ix.Unique && ix.WhereText == "" && !d.HasExpr(&ix)
	}
	switch {
	case !s.Concurrently:
		return nil
	case d.View.Unpopulated:
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"CONCURRENTLY cannot be used when the materialized view is not populated")
	case s.WithNoData:
		return sqlerr.New(sqlerr.SyntaxError,
			"CONCURRENTLY and WITH NO DATA options cannot be used together")
	case !slices.ContainsFunc(d.Indexes, identifies):
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
			"cannot refresh materialized view \"%s\" concurrently",
			sqlname.Qualified(d.Schema, d.Name)).
			WithHint("Create a unique index with no WHERE clause on one or more columns of the " +
				"materialized view.")
	}
	return nil
}

// lockRead locks the relations that the query of a view reads, those below views included: a
// statement that had to wait for one begins again, before the query is planned.
func (env *Env) lockRead(ctx context.Context, view *table.Desc, done map[table.ID]bool) error {
	for _, id := range view.View.DependsOn {
		if done[id] {
			continue
		}
		done[id] = true
		d, err := env.View.RelationByID(ctx, id)
		if err != nil {
			return err
		}
		if d == nil {
			continue
		}
		if err := env.lock(ctx, d, rowlock.AccessShare); err != nil {
			return err
		}
		if d.IsQuery() {
			if err := env.lockRead(ctx, d, done); err != nil {
				return err
			}
		}
	}
	return nil
}

// notBuilt is the error for rows of a new storage that violate a unique index of d: PostgreSQL
// builds the indexes once the rows are there.
func notBuilt(d *table.Desc, err error) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Code != sqlerr.UniqueViolation ||
		d.IndexByName(e.Constraint) == nil {
		return err
	}
	built := *e
	built.Message = fmt.Sprintf("could not create unique index \"%s\"", e.Constraint)
	built.Detail = strings.TrimSuffix(e.Detail, " already exists.") + " is duplicated."
	return &built
}
