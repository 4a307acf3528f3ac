package sql

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/table"
)

// resolver looks up the schema for the planner, in one session's transaction.
type resolver struct{ s *planRunner }

// Relation finds a relation by its own schema, or along the search path.
func (r resolver) Relation(ctx context.Context, name ast.Name) (*table.Desc, error) {
	s := r.s
	if name.Database != "" && name.Database != s.database {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported,
			"cross-database references are not implemented: \"%s.%s.%s\"",
			name.Database, name.Schema, name.Name).At(int(name.Pos))
	}
	if name.Schema != "" {
		return r.inSchema(ctx, name.Schema, name.Name)
	}
	path, err := s.path(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(path, "pg_catalog") {
		if d := pgcatalog.Lookup("pg_catalog", name.Name); d != nil {
			return d, nil
		}
	}
	for _, schema := range path {
		if d, err := r.inSchema(ctx, schema, name.Name); d != nil || err != nil {
			return d, err
		}
	}
	return nil, nil
}

func (r resolver) inSchema(ctx context.Context, schema, name string) (*table.Desc, error) {
	if schema == "pg_catalog" || schema == "information_schema" {
		return pgcatalog.Lookup(schema, name), nil
	}
	d, err := r.s.tx.view.Relation(ctx, r.s.databaseID, schema, name)
	if d != nil && d.Kind == table.KindSequence {
		return pgcatalog.SequenceTable(d), nil
	}
	return d, err
}

// RelationByID finds a relation by its ID.
func (r resolver) RelationByID(ctx context.Context, id table.ID) (*table.Desc, error) {
	if d := pgcatalog.ByID(id); d != nil {
		return d, nil
	}
	return r.s.tx.view.RelationByID(ctx, id)
}

// searchPath is path for showing or writing names only. It ignores an error of reading the catalog:
// the next use of the catalog returns it.
func (s *planRunner) searchPath(ctx context.Context) []string {
	out, _ := s.path(ctx)
	return out
}

// path lists the schemas of the search path that exist, in order, "$user" resolved. pg_catalog
// comes before all others unless it is named. The catalog is read like any table, which may fail.
func (s *planRunner) path(ctx context.Context) (out []string, err error) {
	for _, name := range s.settings.Derived().SearchPath {
		if name == "$user" {
			name = s.user
		}
		if slices.Contains(out, name) {
			continue
		}
		if name == "pg_catalog" || name == "information_schema" {
			out = append(out, name)
			continue
		}
		if s.tx.view == nil {
			continue
		}
		_, ok, err := s.tx.view.Schema(ctx, s.databaseID, name)
		if err != nil {
			return out, err
		}
		if ok {
			out = append(out, name)
		}
	}
	return out, nil
}
