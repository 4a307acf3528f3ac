package ddl

import (
	"context"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/extension"
)

// createExtension adds an extension to the database.
func (env *Env) createExtension(ctx context.Context, s *ast.CreateExtension) error {
	if err := checkExtensionName(s.Name); err != nil {
		return err
	}
	old, err := env.View.Extension(ctx, env.Database, s.Name)
	switch {
	case err != nil:
		return err
	case old != nil && s.IfNotExists:
		env.notice(sqlerr.DuplicateObject, "extension \"%s\" already exists, skipping", s.Name)
		return nil
	case old != nil:
		return catalog.DuplicateExtension(s.Name)
	}
	def := extension.Find(s.Name)
	if def == nil {
		return notAvailable(s.Name)
	}
	if s.Version != "" && s.Version != def.Version {
		return sqlerr.New(sqlerr.InvalidParameterValue, "extension \"%s\" has no installation "+
			"script nor update path for version \"%s\"", s.Name, s.Version)
	}
	e := catalog.Extension{Database: env.Database, Name: s.Name, Comment: def.Comment}
	if err := env.mayCreateExtension(ctx, s.Name); err != nil {
		return err
	}
	if e.Owner, err = env.owner(ctx); err != nil {
		return err
	}
	if err := env.placeExtension(ctx, &e, def, s); err != nil {
		return err
	}
	return env.View.CreateExtension(ctx, e)
}

// checkExtensionName refuses names that could not be those of files.
func checkExtensionName(name string) error {
	detail := ""
	switch {
	case name == "":
		detail = "Extension names must not be empty."
	case strings.Contains(name, "--"):
		detail = "Extension names must not contain \"--\"."
	case name[0] == '-' || name[len(name)-1] == '-':
		detail = "Extension names must not begin or end with \"-\"."
	case strings.ContainsAny(name, "/\\"):
		detail = "Extension names must not contain directory separator characters."
	default:
		return nil
	}
	return sqlerr.New(sqlerr.InvalidParameterValue, "invalid extension name: \"%s\"", name).
		WithDetail("%s", detail)
}

func notAvailable(name string) error {
	var names []string
	for _, e := range extension.All() {
		names = append(names, e.Name)
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "extension \"%s\" is not available", name).
		WithDetail("An extension is a part of the server program.").
		WithHint("Available are %s.", strings.Join(names, ", "))
}

func (env *Env) mayCreateExtension(ctx context.Context, name string) error {
	a, err := env.authority(ctx)
	if err != nil {
		return err
	}
	if env.mustCreateInDatabase(ctx, a) != nil {
		return denied("permission denied to create extension \"%s\"", name).
			WithHint("Must have CREATE privilege on current database to create this extension.")
	}
	return nil
}

// placeExtension chooses the schema of a new extension.
func (env *Env) placeExtension(ctx context.Context, e *catalog.Extension,
	def *extension.Extension, s *ast.CreateExtension) error {
	if def.Schema != "" {
		if s.Schema != "" && s.Schema != def.Schema {
			return sqlerr.New(sqlerr.FeatureNotSupported,
				"extension \"%s\" must be installed in schema \"%s\"", e.Name, def.Schema)
		}
		e.Schema = def.Schema
		return nil
	}
	if s.Schema != "" {
		return env.moveExtension(ctx, e, s.Schema)
	}
	for i, name := range env.SearchPath {
		if i < env.Implied || isSystemSchema(name) {
			continue
		}
		return env.moveExtension(ctx, e, name)
	}
	return sqlerr.New(sqlerr.InvalidSchemaName, "no schema has been selected to create in")
}

// moveExtension sets the schema of an extension.
func (env *Env) moveExtension(ctx context.Context, e *catalog.Extension, schema string) error {
	if schema == "pg_catalog" {
		e.SchemaID, e.Schema = catalog.SystemSchemaID, schema
		return nil
	}
	if isSystemSchema(schema) || env.isTemporary(ctx, schema) {
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"an extension in schema %s is not supported", schema)
	}
	sc, ok, err := env.View.Schema(ctx, env.Database, schema)
	switch {
	case err != nil:
		return err
	case !ok:
		return noSchema(schema)
	}
	e.SchemaID, e.Schema = sc.ID, sc.Name
	return nil
}

// alterExtension is ALTER EXTENSION … UPDATE and SET SCHEMA.
func (env *Env) alterExtension(ctx context.Context, s *ast.AlterExtension) error {
	old, err := env.extension(ctx, s.Name)
	if err != nil {
		return err
	}
	if s.Schema == "" {
		if err := env.ownsExtension(ctx, old); err != nil {
			return err
		}
		return env.updateExtension(old, s.Version)
	}
	next := *old
	if err := env.moveExtension(ctx, &next, s.Schema); err != nil {
		return err
	}
	if err := env.ownsExtension(ctx, old); err != nil {
		return err
	}
	if extension.Find(old.Name).Schema != "" {
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"extension \"%s\" does not support SET SCHEMA", old.Name)
	}
	sc, _, err := env.View.Schema(ctx, env.Database, next.Schema)
	if err != nil {
		return err
	}
	if err := env.mustCreateIn(ctx, sc); err != nil {
		return err
	}
	if next.SchemaID == old.SchemaID {
		return nil
	}
	return env.View.UpdateExtension(ctx, *old, next)
}

func (env *Env) updateExtension(e *catalog.Extension, to string) error {
	now := extension.Find(e.Name).Version
	if to != "" && to != now {
		return sqlerr.New(sqlerr.InvalidParameterValue,
			"extension \"%s\" has no update path from version \"%s\" to version \"%s\"", e.Name,
			now, to)
	}
	env.notice("00000", "version \"%s\" of extension \"%s\" is already installed", now, e.Name)
	return nil
}

// extension finds an extension of the database; 42704 when it has none of the name.
func (env *Env) extension(ctx context.Context, name string) (*catalog.Extension, error) {
	e, err := env.View.Extension(ctx, env.Database, name)
	if err == nil && e == nil {
		err = sqlerr.New(sqlerr.UndefinedObject, "extension \"%s\" does not exist", name)
	}
	return e, err
}

func (env *Env) ownsExtension(ctx context.Context, e *catalog.Extension) error {
	a, err := env.authority(ctx)
	if err == nil && !a.Has(e.OwnedBy()) {
		err = notOwner(ast.ExtensionObject, e.Name)
	}
	return err
}

func (env *Env) commentExtension(ctx context.Context, s *ast.Comment, text string) error {
	old, err := env.extension(ctx, s.Name.Name)
	if err != nil {
		return err
	}
	if err := env.ownsExtension(ctx, old); err != nil {
		return err
	}
	next := *old
	next.Comment = text
	return env.View.UpdateExtension(ctx, *old, next)
}

// giveExtension makes a role the owner of the extension with an ID.
func (env *Env) giveExtension(ctx context.Context, id table.ID, to acl.RoleID) error {
	all, err := env.View.Extensions(ctx, env.Database)
	if err != nil {
		return err
	}
	for _, e := range all {
		if e.ID == id {
			next := e
			next.Owner = to.Stored()
			return env.View.UpdateExtension(ctx, e, next)
		}
	}
	return nil
}
