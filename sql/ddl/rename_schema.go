package ddl

import (
	"context"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/deparse"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
)

// renameSchema is ALTER SCHEMA … RENAME TO.
func (env *Env) renameSchema(ctx context.Context, s *ast.RenameSchema) error {
	sc, err := env.mayRenameSchema(ctx, s)
	if err != nil {
		return err
	}
	r := &schemaRenaming{env: env, was: sc, name: s.NewName}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	if err := env.View.RenameSchema(ctx, sc, s.NewName); err != nil {
		return err
	}
	for _, m := range r.relations {
		if err := env.View.RenameRelation(ctx, m.old, m.next); err != nil {
			return err
		}
	}
	return env.putMendedTypes(ctx, r.types)
}

// mayRenameSchema finds the schema, and checks both names and the privileges of the session.
func (env *Env) mayRenameSchema(ctx context.Context, s *ast.RenameSchema) (sc catalog.Schema,
	err error) {
	a, err := env.authority(ctx)
	if err != nil {
		return sc, err
	}
	if isSystemSchema(s.Name) || s.Name == "pg_toast" {
		return sc, sqlerr.Unsupported(int(s.Pos), "ALTER SCHEMA "+s.Name+" RENAME")
	}
	sc, ok, err := env.View.Schema(ctx, env.Database, s.Name)
	switch {
	case err != nil:
		return sc, err
	case !ok || s.Name == catalog.TemporaryAlias:
		return sc, noSchema(s.Name)
	}
	_, exists, err := env.View.Schema(ctx, env.Database, s.NewName)
	if err != nil {
		return sc, err
	}
	if exists && s.NewName != catalog.TemporaryAlias || isSystemSchema(s.NewName) ||
		s.NewName == "pg_toast" {
		return sc, sqlerr.New(sqlerr.DuplicateSchema, "schema \"%s\" already exists", s.NewName)
	}
	if !a.Has(sc.OwnedBy()) {
		return sc, notOwner(ast.SchemaObject, sc.Name)
	}
	if err := env.mustCreateInDatabase(ctx, a); err != nil {
		return sc, err
	}
	if env.isTemporary(ctx, s.Name) {
		return sc, sqlerr.Unsupported(int(s.Pos), "ALTER SCHEMA "+s.Name+" RENAME")
	}
	return sc, mayNameSchema(s.NewName)
}

// mayNameSchema refuses names that only the system gives.
func mayNameSchema(name string) error {
	if !strings.HasPrefix(name, "pg_") {
		return nil
	}
	return sqlerr.New(sqlerr.ReservedName, "unacceptable schema name \"%s\"", name).
		WithDetail("The prefix \"pg_\" is reserved for system schemas.")
}

// schemaRenaming is what changes with the name of a schema: the relations and types that are in it,
// and whatever has the name in a stored text.
type schemaRenaming struct {
	env  *Env
	was  catalog.Schema
	name string
	// in are the relations of the schema under its new name, inTypes the types.
	in        map[table.ID]*table.Desc
	inTypes   map[types.OID]*types.Type
	relations []mended
	types     []mendedType
}

// prepare lists what is to be stored. Requires: the schema has its old name, by which the texts are
// read.
func (r *schemaRenaming) prepare(ctx context.Context) error {
	relations, err := r.env.View.Relations(ctx, r.env.Database)
	if err != nil {
		return err
	}
	userTypes, err := r.env.View.Types(ctx, r.env.Database)
	if err != nil {
		return err
	}
	r.in, r.inTypes = map[table.ID]*table.Desc{}, map[types.OID]*types.Type{}
	for _, d := range relations {
		if d.SchemaID == r.was.ID {
			next := d.Clone()
			next.Schema = r.name
			r.in[d.ID] = next
		}
	}
	for _, t := range userTypes {
		if t.SchemaID != r.was.ID {
			continue
		}
		next := t.Clone()
		next.Schema = r.name
		if r.inTypes[types.OID(t.ID)], err = r.env.View.Built(ctx, next); err != nil {
			return err
		}
	}
	for _, d := range relations {
		if err := r.relation(ctx, d); err != nil {
			return err
		}
	}
	for _, t := range userTypes {
		if err := r.userType(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// options print names as they are to become.
func (r *schemaRenaming) options() deparse.Options {
	return deparse.Options{Source: true,
		Rename: func(d *table.Desc) *table.Desc {
			if is := r.in[d.ID]; is != nil {
				return is
			}
			return d
		},
		RenameType: func(t *types.Type) *types.Type {
			if is := r.inTypes[t.OID]; is != nil {
				return is
			}
			return t
		},
		RenameSchema: func(name string) string {
			if name == r.was.Name {
				return r.name
			}
			return name
		}}
}

// named reports whether one of the texts might have the schema's name, quoted or not.
func (r *schemaRenaming) named(texts ...string) bool {
	name := strings.Trim(sqlname.Quote(r.was.Name), `"`)
	name = strings.ReplaceAll(name, "'", "''") // as in the text of a constant
	for _, t := range texts {
		if strings.Contains(t, name) || strings.Contains(t, r.was.Name) {
			return true
		}
	}
	return false
}

func (r *schemaRenaming) relation(ctx context.Context, d *table.Desc) error {
	next := d.Clone()
	if r.in[d.ID] != nil {
		next.Schema = r.name
	}
	texts := storedTexts(d)
	if d.View != nil {
		texts = append(texts, d.View.SearchPath...)
	}
	if r.named(texts...) {
		if err := r.env.reprint(ctx, d, next, r.options()); err != nil {
			return err
		}
	} else if r.in[d.ID] == nil {
		return nil
	}
	if next.View != nil {
		next.View.SearchPath = r.path(next.View.SearchPath)
	}
	r.relations = append(r.relations, mended{d, next})
	return nil
}

// path is a search path of a view with the new name.
func (r *schemaRenaming) path(names []string) []string {
	for i := range names {
		if names[i] == r.was.Name {
			names[i] = r.name
		}
	}
	return names
}

func (r *schemaRenaming) userType(ctx context.Context, t *catalog.TypeDesc) error {
	next := t.Clone()
	texts := []string{t.Default}
	for i := range t.Checks {
		texts = append(texts, t.Checks[i].Text)
	}
	if r.named(texts...) {
		list, err := r.env.reprintDomains(ctx, []*catalog.TypeDesc{t}, r.options())
		if err != nil {
			return err
		}
		if len(list) == 1 {
			next = list[0].next
		}
	} else if r.inTypes[types.OID(t.ID)] == nil {
		return nil
	}
	if r.inTypes[types.OID(t.ID)] != nil {
		next.Schema = r.name
	}
	r.types = append(r.types, mendedType{t, next})
	return nil
}
