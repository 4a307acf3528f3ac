package pgcatalog

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/types"
)

// grantedClasses are the classes of the objects whose rows are among the data.
var grantedClasses = map[string]acl.Class{"pg_proc": acl.Function, "pg_type": acl.Type,
	"pg_language": acl.Language}

// accessLists returns the access lists of objects of a class that have no descriptor, where GRANT
// or REVOKE has changed them.
func (r *reader) accessLists(class acl.Class) map[table.ID]any {
	all, err := r.env.View().ObjectACLs(r.ctx, r.database())
	r.fail(err)
	var out map[table.ID]any
	for i := range all {
		if all[i].Class != class {
			continue
		}
		if out == nil {
			out = map[table.ID]any{}
		}
		out[all[i].Object] = r.list(all[i].ACL)
	}
	return out
}

func parameterRows(r *reader, emit emitter) {
	all, err := r.env.View().ObjectACLs(r.ctx, r.database())
	r.fail(err)
	for i := range all {
		if all[i].Class == acl.Parameter {
			emit("oid", all[i].Object, "parname", all[i].Name, "paracl", r.list(all[i].ACL))
		}
	}
}

// Routine is a function, procedure or aggregate of the catalogs, as GRANT and COMMENT name it.
type Routine struct {
	ID   table.ID
	Name string
	Args []types.OID
	Kind string // pg_proc.prokind
	// ACL is the access list that it has from the beginning; nil: the default.
	ACL acl.List
}

// Routines returns the listed routines of a name in a schema, or with schema "" on the search path.
func Routines(ctx context.Context, env Env, schema, name string) ([]Routine, error) {
	r := &reader{ctx: ctx, env: env}
	var out []Routine
	for _, f := range r.named(functions(), schema, name) {
		if builtinObjects().function(f.id) {
			out = append(out, routineOf(f))
		}
	}
	return out, r.err
}

// RoutinesIn returns all listed routines of a schema.
func RoutinesIn(ctx context.Context, env Env, schema string) ([]Routine, error) {
	r := &reader{ctx: ctx, env: env}
	var out []Routine
	for _, f := range functions().byID {
		in, ok := r.schemaOf(f)
		if ok && in == schema && builtinObjects().function(f.id) {
			out = append(out, routineOf(f))
		}
	}
	return out, r.err
}

// RoutineByID returns a listed routine.
func RoutineByID(id table.ID) (Routine, bool) {
	f, ok := functions().find(types.OID(id))
	if !ok {
		return Routine{}, false
	}
	return routineOf(f), true
}

func routineOf(f routine) Routine {
	out := Routine{ID: table.ID(f.id), Name: f.name, Args: f.args, Kind: "f"}
	special := specialRoutines()
	if kind, ok := special.kinds[f.id]; ok {
		out.Kind = kind
	}
	out.ACL = special.lists[f.id]
	return out
}

// specialRoutines are the kinds of the routines that are no plain functions, and the lists of those
// that not everyone may call.
var specialRoutines = sync.OnceValue(func() (out struct {
	kinds map[types.OID]string
	lists map[types.OID]acl.List
}) {
	out.kinds, out.lists = map[types.OID]string{}, map[types.OID]acl.List{}
	initial := acl.NewRoles(nil, nil)
	for t := range tuples("pg_proc") {
		if kind := t.text("prokind"); kind != "f" {
			out.kinds[t.oid("oid")] = kind
		}
		text := t.text("proacl")
		if text == `\N` {
			continue
		}
		list := acl.List{}
		for item := range strings.SplitSeq(strings.Trim(text, "{}"), ",") {
			it, _, err := initial.Read(item)
			if err != nil {
				panic("pgcatalog: " + err.Error())
			}
			list = append(list, it)
		}
		out.lists[t.oid("oid")] = list
	}
	return out
})

// RoutineText is a routine with its types of arguments, as messages name it.
func RoutineText(ctx context.Context, env Env, id table.ID) string {
	r := &reader{ctx: ctx, env: env}
	text, _ := r.routineSignature(functions(), types.OID(id), sqlname.Quote)
	return text
}

// Language is a procedural language.
type Language struct {
	ID      table.ID
	Name    string
	Trusted bool
}

// Languages lists the languages that a database has.
func Languages(ctx context.Context, env Env) ([]Language, error) {
	r := &reader{ctx: ctx, env: env}
	var out []Language
	for t := range tuples("pg_language") {
		if _, present := r.memberSchema(t.fields); present {
			out = append(out, Language{table.ID(t.oid("oid")), t.text("lanname"),
				t.text("lanpltrusted") == "t"})
		}
	}
	slices.SortFunc(out, func(a, b Language) int { return cmp.Compare(a.ID, b.ID) })
	return out, r.err
}

// Provided returns the function or aggregate behind a routine (builtin.Provided), nil if it is only
// listed.
func Provided(id table.ID) any {
	if known, ok := provided.Load(id); ok {
		return known
	}
	var found any
	for t := range tuples("pg_proc") {
		if t.oid("oid") == types.OID(id) {
			found = builtin.Provided(prototype(t), t.text("prokind") == "a")
			break
		}
	}
	provided.Store(id, found)
	return found
}

var provided sync.Map // by the routine's ID
