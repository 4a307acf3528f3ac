package ddl

import (
	"context"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
)

// SystemObjects finds what the server has made: functions, languages, tablespaces and parameters.
type SystemObjects interface {
	// Routines returns the functions, procedures and aggregates of a name in a schema, or with
	// schema "" on the search path.
	Routines(ctx context.Context, schema, name string) ([]Routine, error)
	// RoutinesIn returns all of a schema.
	RoutinesIn(ctx context.Context, schema string) ([]Routine, error)
	// Language returns a language; ok is false when there is none of that name.
	Language(ctx context.Context, name string) (id table.ID, trusted, ok bool, err error)
	// Tablespace returns the ID of a tablespace; 0: there is none of that name.
	Tablespace(name string) table.ID
	// Parameter returns the name of a parameter as it is written in the catalogs; ok is false for
	// one that cannot be.
	Parameter(name string) (string, bool)
	// ObjectText names an object of a class as messages do: "function abs(integer)".
	ObjectText(ctx context.Context, class acl.Class, id table.ID) string
}

// Routine is a function, procedure or aggregate.
type Routine struct {
	ID   table.ID
	Name string
	Args []types.OID
	Kind string   // pg_proc.prokind
	ACL  acl.List // that it has from the beginning; nil: the default
}

// systemObject is an object without a descriptor, whose privileges are changed.
type systemObject struct {
	class   acl.Class
	id      table.ID
	kind    string // in messages
	name    string
	owner   acl.RoleID
	initial acl.List
	shared  bool // it belongs to no database
}

// grantObject changes the access list of an object without a descriptor.
func (env *Env) grantObject(ctx context.Context, g *grantTo, o systemObject) error {
	list, err := env.View.ObjectACL(ctx, env.Database, o.class, o.id)
	if err != nil {
		return err
	}
	if list == nil {
		list = o.initial
	}
	list, err = env.apply(ctx, g, target{class: o.class, kind: o.kind, name: o.name,
		owner: o.owner, list: list, all: g.all, granted: g.whole})
	if err != nil {
		return err
	}
	next := catalog.ObjectACL{Database: env.Database, Class: o.class, Object: o.id,
		Owner: o.owner, ACL: list}
	if o.shared {
		next.Database = 0
	}
	if o.class == acl.Parameter {
		next.Name = o.name
		if next.ACL.Equal(acl.Default(acl.Parameter, acl.Postgres)) {
			next.ACL = nil
		}
	}
	return env.View.PutObjectACL(ctx, next)
}

// changeGrantsOn changes what is granted on an object without a descriptor.
func (env *Env) changeGrantsOn(o systemObject) changeGrants {
	return func(ctx context.Context, g *grantTo) error { return env.grantObject(ctx, g, o) }
}

// grantedRoutines finds functions, procedures and aggregates.
func (env *Env) grantedRoutines(ctx context.Context, s *ast.Grant) (out []changeGrants,
	err error) {
	var all []Routine
	if s.InSchemas {
		for _, n := range s.Names {
			found, err := env.routinesIn(ctx, n.Name, s.Kind)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	for _, r := range s.Routines {
		found, err := env.routine(ctx, r, s.Kind)
		if err != nil {
			return nil, err
		}
		all = append(all, found)
	}
	for _, r := range all {
		kind := "function"
		switch r.Kind {
		case "p":
			kind = "procedure"
		case "a":
			kind = "aggregate"
		}
		out = append(out, env.changeGrantsOn(systemObject{class: acl.Function, id: r.ID,
			kind: kind, name: r.Name, owner: acl.Postgres, initial: r.ACL}))
	}
	return out, nil
}

// routinesIn lists the routines of a schema that ALL FUNCTIONS, PROCEDURES or ROUTINES means.
func (env *Env) routinesIn(ctx context.Context, schema, kind string) ([]Routine, error) {
	if err := env.mustExist(ctx, schema); err != nil {
		return nil, err
	}
	if env.System == nil {
		return nil, nil
	}
	all, err := env.System.RoutinesIn(ctx, schema)
	return slices.DeleteFunc(all, func(r Routine) bool {
		return kind == "functions" && r.Kind == "p" || kind == "procedures" && r.Kind != "p"
	}), err
}

// routine finds the one routine that a statement names. kind is the word before its name:
// "function", "procedure" or "routine".
func (env *Env) routine(ctx context.Context, n ast.Routine, kind string) (r Routine, err error) {
	var args []types.OID
	var names []string
	for _, tn := range n.Args {
		t, err := planner.ResolveType(ctx, env.Planner, tn)
		if err != nil {
			return r, err
		}
		args, names = append(args, t.OID), append(names, t.SQLName())
	}
	if err := env.mustExist(ctx, n.Name.Schema); err != nil {
		return r, err
	}
	var found []Routine
	if env.System != nil {
		if found, err = env.System.Routines(ctx, n.Name.Schema, n.Name.Name); err != nil {
			return r, err
		}
	}
	noun := kind
	if kind == "routine" {
		noun = "function"
	}
	if !n.Given {
		return onlyRoutine(found, n.Name, kind, noun)
	}
	text := display(n.Name) + "(" + strings.Join(names, ", ") + ")"
	for _, f := range found {
		if !slices.Equal(f.Args, args) {
			continue
		}
		if kind == "function" && f.Kind == "p" || kind == "procedure" && f.Kind != "p" {
			return r, sqlerr.New(sqlerr.WrongObjectType, "%s is not a %s", text, kind)
		}
		return f, nil
	}
	return r, sqlerr.New(sqlerr.UndefinedFunction, "%s %s does not exist", noun, text)
}

// mustExist returns 3F000 for a schema that does not exist; "" stands for the search path.
func (env *Env) mustExist(ctx context.Context, schema string) error {
	if schema == "" || isSystemSchema(schema) {
		return nil
	}
	_, ok, err := env.View.Schema(ctx, env.Database, schema)
	if err == nil && !ok {
		err = noSchema(schema)
	}
	return err
}

// onlyRoutine returns the only routine of a name that is written without its arguments.
func onlyRoutine(found []Routine, n ast.Name, kind, noun string) (Routine, error) {
	found = slices.DeleteFunc(found, func(f Routine) bool {
		return kind == "function" && f.Kind == "p" || kind == "procedure" && f.Kind != "p"
	})
	switch len(found) {
	case 0:
		return Routine{}, sqlerr.New(sqlerr.UndefinedFunction, "could not find a %s named \"%s\"",
			noun, display(n))
	case 1:
		return found[0], nil
	}
	return Routine{}, sqlerr.New(sqlerr.AmbiguousFunction, "%s name \"%s\" is not unique", noun,
		display(n)).WithHint("Specify the argument list to select the %s unambiguously.", noun)
}

// grantedNamed finds languages, tablespaces and parameters.
func (env *Env) grantedNamed(ctx context.Context, s *ast.Grant, class acl.Class) (
	out []changeGrants, err error) {
	for _, n := range s.Names {
		o, err := env.systemObject(ctx, class, n)
		if err != nil {
			return nil, err
		}
		out = append(out, env.changeGrantsOn(o))
	}
	return out, nil
}

func (env *Env) systemObject(ctx context.Context, class acl.Class,
	n ast.Name) (o systemObject, err error) {
	o = systemObject{class: class, kind: class.Noun(), name: n.Name, owner: acl.Postgres}
	missing := NoObject(class, n.Name)
	if env.System == nil {
		return o, missing
	}
	switch class {
	case acl.Language:
		id, trusted, ok, err := env.System.Language(ctx, n.Name)
		switch {
		case err != nil:
			return o, err
		case !ok:
			return o, missing
		case !trusted:
			return o, sqlerr.New(sqlerr.WrongObjectType, "language \"%s\" is not trusted", n.Name).
				WithDetail("GRANT and REVOKE are not allowed on untrusted languages, " +
					"because only superusers can use untrusted languages.")
		}
		o.id = id
	case acl.Tablespace:
		if o.id, o.shared = env.System.Tablespace(n.Name), true; o.id == 0 {
			return o, missing
		}
	case acl.Parameter:
		return env.parameter(ctx, o, display(n))
	default:
		return o, missing // there are none of foreign data
	}
	return o, nil
}

// NoObject is the error for an object of a class that does not exist.
func NoObject(class acl.Class, name string) *sqlerr.Error {
	noun := class.Noun()
	if class == acl.ForeignServer {
		noun = "server"
	}
	return sqlerr.New(sqlerr.UndefinedObject, "%s \"%s\" does not exist", noun, name)
}

// parameter finds the entry of a parameter, which has an ID from its first GRANT on.
func (env *Env) parameter(ctx context.Context, o systemObject, name string) (systemObject, error) {
	canonical, ok := env.System.Parameter(name)
	if !ok {
		return o, sqlerr.New(sqlerr.InvalidName, "invalid parameter name \"%s\"", name)
	}
	o.name, o.shared = canonical, true
	all, err := env.View.ObjectACLs(ctx, env.Database)
	if err != nil {
		return o, err
	}
	for i := range all {
		if all[i].Class == acl.Parameter && all[i].Name == canonical {
			o.id = all[i].Object
			return o, nil
		}
	}
	o.id, err = env.View.NewID(ctx)
	return o, err
}
