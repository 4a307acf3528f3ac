package ddl

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
)

func (env *Env) createSchema(ctx context.Context, s *ast.CreateSchema) error {
	a, err := env.authority(ctx)
	if err != nil {
		return err
	}
	owner := a.Roles.ByID(a.Current)
	if s.Owner != nil {
		if owner, err = namedRole(a, *s.Owner); err != nil {
			return err
		}
	}
	name := s.Name
	if name == "" {
		name = owner.Name
	}
	if err := env.mustCreateInDatabase(ctx, a); err != nil {
		return err
	}
	if s.Owner != nil {
		if err := mayGiveTo(a, owner); err != nil {
			return err
		}
	}
	if err := mayNameSchema(name); err != nil {
		return err
	}
	_, exists, err := env.View.Schema(ctx, env.Database, name)
	if err != nil {
		return err
	}
	if exists || isSystemSchema(name) {
		if s.IfNotExists {
			env.notice(sqlerr.DuplicateSchema, "schema \"%s\" already exists, skipping", name)
			return nil
		}
		return sqlerr.New(sqlerr.DuplicateSchema, "schema \"%s\" already exists", name)
	}
	made := catalog.Schema{Database: env.Database, Name: name}
	if owner != nil {
		made.Owner = owner.ID.Stored()
		if made.ACL, err = env.defaultList(ctx, acl.Schema, owner.ID, 0); err != nil {
			return err
		}
	}
	_, err = env.View.CreateSchema(ctx, made)
	return err
}

func (env *Env) createDatabase(ctx context.Context, s *ast.CreateDatabase) error {
	a, err := env.authority(ctx)
	if err != nil {
		return err
	}
	db := catalog.Database{Name: s.Name, Owner: a.Current.Stored()}
	for _, o := range s.Options {
		if err := env.databaseOption(a, &db, o); err != nil {
			return err
		}
	}
	r := a.Roles.ByID(a.Current)
	if r == nil || !r.Superuser && !r.CreateDB {
		return denied("permission denied to create database")
	}
	if owner := a.Roles.ByID(db.OwnedBy()); owner != nil {
		if err := mayGiveTo(a, owner); err != nil {
			return err
		}
	}
	_, err = env.View.CreateDatabase(ctx, db)
	return err
}

// databaseValues are the values of database options, in lower case, that describe a database as all
// are here: UTF-8, ordered by bytes, made from an empty template.
var databaseValues = map[string][]string{
	"template":          {"template0", "template1", "default"},
	"encoding":          {"utf8", "utf-8", "unicode", "default", "6"},
	"locale":            localeValues,
	"lc_collate":        localeValues,
	"lc_ctype":          localeValues,
	"locale_provider":   localeValues,
	"tablespace":        {"pg_default", "default"},
	"connection_limit":  {"-1", "default"},
	"connection limit":  {"-1", "default"},
	"allow_connections": {"true", "default"},
	"is_template":       {"false", "default"},
}

var localeValues = []string{"c", "posix", "c.utf-8", "c.utf8", "en_us.utf-8", "en_us.utf8",
	"default", "libc"}

func (env *Env) databaseOption(a *acl.Authority, db *catalog.Database, o ast.Option) error {
	name := strings.ToLower(o.Name)
	if slices.Contains(databaseValues[name], strings.ToLower(o.Value)) {
		return nil
	}
	switch name {
	case "owner":
		r, err := namedRole(a, ownerSpec(o))
		if err == nil {
			db.Owner = r.ID.Stored()
		}
		return err
	case "template", "encoding":
		return sqlerr.Unsupported(int(o.Pos), strings.ToUpper(name)+" \""+o.Value+"\"")
	case "locale", "lc_collate", "lc_ctype", "locale_provider":
		return sqlerr.Unsupported(int(o.Pos), "locale \""+o.Value+"\"")
	case "tablespace":
		return sqlerr.New(sqlerr.UndefinedObject, "tablespace \"%s\" does not exist", o.Value)
	case "connection_limit", "connection limit":
		n, err := strconv.ParseInt(o.Value, 10, 32)
		if err != nil || n < 0 {
			return sqlerr.New(sqlerr.InvalidParameterValue, "invalid connection limit: %s", o.Value)
		}
		db.ConnectionLimit = int(n) + 1
		env.limited(n)
		return nil
	}
	return sqlerr.Unsupported(int(o.Pos), "database option "+o.Name)
}

// ownerSpec is the role that the option OWNER names.
func ownerSpec(o ast.Option) ast.RoleSpec {
	switch word := strings.ToLower(o.Value); word {
	case "current_user", "current_role", "session_user":
		return ast.RoleSpec{Pos: o.Pos, Keyword: word}
	case "default":
		return ast.RoleSpec{Pos: o.Pos, Keyword: "current_user"}
	}
	return ast.RoleSpec{Pos: o.Pos, Name: o.Value}
}
