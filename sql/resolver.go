package sql

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/extension"
	"github.com/minidb/minidb/table/types"
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
	implied, err := s.impliedSchema(ctx)
	if err != nil {
		return nil, err
	}
	if implied != "" {
		if d, err := r.inSchema(ctx, implied, name.Name); d != nil || err != nil {
			return d, err
		}
	}
	path, err := s.namedPath(ctx)
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

// named is Relation for a name in a statement, whose schema the role must be allowed to use.
func (r resolver) named(ctx context.Context, name ast.Name) (*table.Desc, error) {
	if name.Schema != "" {
		if err := r.s.mayUseSchema(ctx, name.Schema); err != nil {
			return nil, err
		}
	}
	return r.Relation(ctx, name)
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

// Type finds a type by its own schema, or along the search path.
func (r resolver) Type(ctx context.Context, name ast.Name) (*types.Type, error) {
	s := r.s
	if name.Schema != "" {
		t, err := r.typeIn(ctx, name.Schema, name.Name)
		if t != nil || err != nil {
			return t, err
		}
		return nil, r.schemaExists(ctx, name.Schema)
	}
	path, err := s.path(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(path, "pg_catalog") {
		if t, err := r.typeIn(ctx, "pg_catalog", name.Name); t != nil || err != nil {
			return t, err
		}
	}
	for _, schema := range path {
		if t, err := r.typeIn(ctx, schema, name.Name); t != nil || err != nil {
			return t, err
		}
	}
	return nil, nil
}

// TypeByOID finds a type by its object ID.
func (r resolver) TypeByOID(ctx context.Context, oid types.OID) (*types.Type, error) {
	return pgcatalog.TypeByOID(ctx, r.s.tx.view, oid)
}

func (r resolver) typeIn(ctx context.Context, schema, name string) (*types.Type, error) {
	switch schema {
	case "pg_catalog":
		if t, ok := types.ByName(name); ok {
			return t, nil
		}
		if t := pgcatalog.TypeIn(schema, name); t != nil {
			return t, nil
		}
	case "information_schema":
		return pgcatalog.TypeIn(schema, name), nil
	}
	if of := extension.Stored(schema); of != "" {
		t, _ := types.ByNameIn(of, name)
		return t, nil
	}
	return r.s.tx.view.Type(ctx, r.s.databaseID, schema, name)
}

// schemaExists returns 3F000 unless there is a schema of that name.
func (r resolver) schemaExists(ctx context.Context, name string) error {
	if name == "pg_catalog" || name == "information_schema" {
		return nil
	}
	_, ok, err := r.s.tx.view.Schema(ctx, r.s.databaseID, name)
	if err == nil && !ok {
		err = sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", name)
	}
	return err
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

// path lists the schemas in which relations are looked up: the temporary one, unless it is named
// elsewhere, and those of the search path.
func (s *planRunner) path(ctx context.Context) ([]string, error) {
	implied, err := s.impliedSchema(ctx)
	if err != nil {
		return nil, err
	}
	named, err := s.namedPath(ctx)
	if implied == "" || err != nil {
		return named, err
	}
	return append([]string{implied}, named...), nil
}

// implied is how many of the first schemas of path are not named in the search path.
func (s *planRunner) implied(ctx context.Context) int {
	if name, err := s.impliedSchema(ctx); err != nil || name == "" {
		return 0
	}
	return 1
}

// namedPath lists the schemas of the search path that exist, in order, "$user" resolved. pg_catalog
// comes before all others unless it is named. The catalog is read like any table, which may fail.
// pg_temp is the session's temporary schema, and itself as long as there is none.
func (s *planRunner) namedPath(ctx context.Context) (out []string, err error) {
	if s.creating.schema != "" {
		out = append(out, s.creating.schema)
	}
	for _, name := range s.settings.Derived().SearchPath {
		if name == "$user" {
			name, _ = s.roleNames(ctx)
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
		sc, ok, err := s.tx.view.Schema(ctx, s.databaseID, name)
		if err != nil {
			return out, err
		}
		if ok {
			a, err := s.authority(ctx)
			if err != nil {
				return out, err
			}
			if may, err := s.usesSchema(ctx, a, sc); err != nil {
				return out, err
			} else if may {
				out = append(out, sc.Name)
			}
		} else if name == catalog.TemporaryAlias {
			out = append(out, name)
		}
	}
	return out, nil
}
