package ddl

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn/rowlock"
)

func (env *Env) createView(ctx context.Context, s *ast.CreateView) error {
	switch {
	case s.Materialized:
		return sqlerr.Unsupported(int(s.Pos), "CREATE MATERIALIZED VIEW")
	case s.Temp:
		return sqlerr.Unsupported(int(s.Pos), "CREATE TEMPORARY VIEW")
	case s.CheckOption != "":
		return sqlerr.Unsupported(int(s.Pos), "WITH CHECK OPTION")
	}
	sc, err := env.creationSchema(ctx, s.Name)
	if err != nil {
		return err
	}
	cols, reads, err := env.viewColumns(ctx, s)
	if err != nil {
		return err
	}
	old, err := env.replaced(ctx, s, sc.Name)
	if err != nil {
		return err
	}
	text, err := env.expandStars(ctx, s.QueryText)
	if err != nil {
		return err
	}
	d := &table.Desc{DatabaseID: env.Database, SchemaID: sc.ID, Schema: sc.Name, Name: s.Name.Name,
		Kind: table.KindView, NextColumnID: 1, NextIndexID: 1,
		View: &table.View{Text: text, DependsOn: reads, SearchPath: slices.Clone(env.SearchPath)}}
	for _, c := range cols {
		c.ID = d.NextColumnID
		d.NextColumnID++
		d.Columns = append(d.Columns, c)
	}
	if old != nil {
		d.ID, d.Comment = old.ID, old.Comment
		if err := compatibleView(old, d); err != nil {
			return err
		}
		if slices.Contains(reads, old.ID) {
			return sqlerr.New(sqlerr.InvalidObjectDefinition,
				"infinite recursion detected in rules for relation \"%s\"", old.Name)
		}
		if err := env.lock(ctx, old, rowlock.AccessExclusive); err != nil {
			return err
		}
		return env.View.UpdateRelation(ctx, old, d)
	}
	if d.ID, err = env.View.NewID(ctx); err != nil {
		return err
	}
	return env.View.CreateRelation(ctx, d)
}

// viewColumns plans the view's query: its columns, named as the statement says, and the relations
// that it reads.
func (env *Env) viewColumns(ctx context.Context, s *ast.CreateView) ([]table.Column, []table.ID, error) {
	cols, reads, err := env.queryColumns(ctx, s.Query)
	if err != nil {
		return nil, nil, err
	}
	if len(s.Columns) > len(cols) {
		return nil, nil, sqlerr.New(sqlerr.SyntaxError, "CREATE VIEW specifies more column names than columns")
	}
	for i, id := range s.Columns {
		cols[i].Name = id.Name
	}
	seen := map[string]bool{}
	for _, c := range cols {
		if seen[c.Name] {
			return nil, nil, sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" specified more than once", c.Name)
		}
		seen[c.Name] = true
	}
	reads, err = env.direct(ctx, reads)
	return cols, reads, err
}

// direct leaves out of what a plan reads what it reads through a view that is in the list too, and
// the tables of the system, which are always there and no relations of the catalog.
func (env *Env) direct(ctx context.Context, reads []table.ID) ([]table.ID, error) {
	var out, through []table.ID
	for _, id := range reads {
		d, err := env.View.RelationByID(ctx, id)
		if err != nil {
			return nil, err
		}
		if d == nil || slices.Contains(out, id) {
			continue
		}
		if err := env.lock(ctx, d, rowlock.AccessShare); err != nil {
			return nil, err
		}
		out = append(out, id)
		if d.View != nil {
			through = append(through, d.View.DependsOn...)
		}
	}
	return slices.DeleteFunc(out, func(id table.ID) bool { return slices.Contains(through, id) }), nil
}

// replaced is the view that OR REPLACE replaces, or nil.
func (env *Env) replaced(ctx context.Context, s *ast.CreateView, schema string) (*table.Desc, error) {
	taken, err := env.View.Taken(ctx, env.Database, schema, s.Name.Name)
	if err != nil || !taken {
		return nil, err
	}
	if !s.OrReplace {
		return nil, sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", s.Name.Name)
	}
	old, err := env.View.Relation(ctx, env.Database, schema, s.Name.Name)
	if err != nil {
		return nil, err
	}
	if old == nil || old.Kind != table.KindView {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a view", s.Name.Name)
	}
	return old, nil
}

// compatibleView verifies that a view's replacement only adds columns at the end.
func compatibleView(old, d *table.Desc) error {
	if len(d.Columns) < len(old.Columns) {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot drop columns from view")
	}
	for i := range old.Columns {
		was, is := &old.Columns[i], &d.Columns[i]
		if was.Name != is.Name {
			return sqlerr.New(sqlerr.InvalidTableDefinition,
				"cannot change name of view column \"%s\" to \"%s\"", was.Name, is.Name).
				WithHint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.")
		}
		if was.Type.OID != is.Type.OID || was.Type.Mod != is.Type.Mod {
			return sqlerr.New(sqlerr.InvalidTableDefinition,
				"cannot change data type of view column \"%s\" from %s to %s", was.Name, was.Type, is.Type)
		}
	}
	return nil
}
