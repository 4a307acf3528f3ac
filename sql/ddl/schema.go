package ddl

import (
	"context"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

func (env *Env) createSchema(ctx context.Context, s *ast.CreateSchema) error {
	if s.Owner != "" {
		if err := env.checkRole(s.Owner); err != nil {
			return err
		}
	}
	name := s.Name
	if name == "" {
		name = s.Owner
	}
	if strings.HasPrefix(name, "pg_") {
		return sqlerr.New(sqlerr.ReservedName, "unacceptable schema name \"%s\"", name).
			WithDetail("The prefix \"pg_\" is reserved for system schemas.")
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
	_, err = env.View.CreateSchema(ctx, env.Database, name)
	return err
}

// checkRole accepts the roles that there are: the session's own user, and postgres.
func (env *Env) checkRole(name string) error {
	switch strings.ToLower(name) {
	case "postgres", "current_user", "session_user", "current_role":
		return nil
	}
	if env.Runtime != nil && env.Runtime.Session != nil && env.Runtime.Session.User() == name {
		return nil
	}
	return sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", name)
}

func (env *Env) createDatabase(ctx context.Context, s *ast.CreateDatabase) error {
	for _, o := range s.Options {
		if err := env.databaseOption(ctx, o); err != nil {
			return err
		}
	}
	_, err := env.View.CreateDatabase(ctx, s.Name)
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

func (env *Env) databaseOption(_ context.Context, o ast.Option) error {
	name := strings.ToLower(o.Name)
	if slices.Contains(databaseValues[name], strings.ToLower(o.Value)) {
		return nil
	}
	switch name {
	case "owner":
		return env.checkRole(o.Value)
	case "template", "encoding":
		return sqlerr.Unsupported(int(o.Pos), strings.ToUpper(name)+" \""+o.Value+"\"")
	case "locale", "lc_collate", "lc_ctype", "locale_provider":
		return sqlerr.Unsupported(int(o.Pos), "locale \""+o.Value+"\"")
	case "tablespace":
		return sqlerr.New(sqlerr.UndefinedObject, "tablespace \"%s\" does not exist", o.Value)
	case "connection_limit", "connection limit":
		return sqlerr.Unsupported(int(o.Pos), "CONNECTION LIMIT")
	}
	return sqlerr.Unsupported(int(o.Pos), "database option "+o.Name)
}
