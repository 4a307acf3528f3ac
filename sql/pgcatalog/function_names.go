package pgcatalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// routine is what names need of a row of pg_proc or pg_operator.
type routine struct {
	id, schema types.OID
	name       string
	args       []types.OID // of an operator left and right, 0 for none
}

// routines are all built-in functions or operators, the listed and the others, so that a name is
// ambiguous when it is so in PostgreSQL.
type routines struct {
	byID   []routine // in order of their IDs
	byName map[string][]int32
	listed func(*builtins, types.OID) bool
}

var functions = sync.OnceValue(func() *routines {
	f := &routines{byName: map[string][]int32{}, listed: (*builtins).function}
	for r := range tuples("pg_proc") {
		f.add(routine{r.oid("oid"), r.oid("pronamespace"), r.text("proname"),
			r.oids("proargtypes")})
	}
	for _, o := range ownFunctions() {
		r := routine{o.id, types.OID(CatalogSchemaID), o.fn.Name, nil}
		for _, a := range o.fn.Args {
			r.args = append(r.args, a.OID)
		}
		f.add(r)
	}
	return f.index()
})

var operators = sync.OnceValue(func() *routines {
	o := &routines{byName: map[string][]int32{}, listed: (*builtins).operator}
	for r := range tuples("pg_operator") {
		o.add(routine{r.oid("oid"), r.oid("oprnamespace"), r.text("oprname"),
			[]types.OID{r.oid("oprleft"), r.oid("oprright")}})
	}
	return o.index()
})

// add adds a routine; index must follow.
func (f *routines) add(r routine) {
	f.byID = append(f.byID, r)
}

func (f *routines) index() *routines {
	slices.SortFunc(f.byID, func(a, b routine) int { return cmp.Compare(a.id, b.id) })
	for i, r := range f.byID {
		f.byName[r.name] = append(f.byName[r.name], int32(i))
	}
	return f
}

// find returns the listed routine with an ID.
func (f *routines) find(id types.OID) (routine, bool) {
	i, ok := slices.BinarySearchFunc(f.byID, id,
		func(r routine, id types.OID) int { return int(r.id) - int(id) })
	if !ok || !f.listed(builtinObjects(), id) {
		return routine{}, false
	}
	return f.byID[i], true
}

// named returns the routines of a name in a schema, listed or not; schema "" is any on the search
// path. Of two with the same arguments it is the one that is found first.
func (r *reader) named(f *routines, schema, name string) (out []routine) {
	at := map[string]int{} // place of a routine's schema on the path, by the routine's arguments
	for _, i := range f.byName[name] {
		x := f.byID[i]
		in, ok := r.schemaOf(x)
		if !ok || schema != "" && schema != in {
			continue
		}
		place := 0
		if schema == "" {
			if place = r.placeOnPath(in); place < 0 {
				continue
			}
		}
		key := fmt.Sprint(x.args)
		earlier, twice := at[key]
		if twice && place > earlier {
			continue
		}
		at[key] = place
		if twice {
			out = slices.DeleteFunc(out,
				func(o routine) bool { return slices.Equal(o.args, x.args) })
		}
		out = append(out, x)
	}
	return out
}

// placeOnPath is where the search path has a schema, -1 if it has not.
func (r *reader) placeOnPath(schema string) int {
	path := r.env.SearchPath(r.ctx)
	if !slices.Contains(path, "pg_catalog") {
		path = append([]string{"pg_catalog"}, path...)
	}
	return slices.Index(path, schema)
}

// signature is the routine with its types in parentheses; NONE is a side that an operator lacks.
func (r *reader) signature(f routine, name string) string {
	args := make([]string, len(f.args))
	for i, a := range f.args {
		if args[i] = "NONE"; a != 0 {
			args[i], _ = r.typeName(table.ID(a), types.NoMod)
		}
	}
	return name + "(" + strings.Join(args, ",") + ")"
}

// schemaOf is the schema of a routine; false: it is a member of an extension that the database has
// not.
func (r *reader) schemaOf(x routine) (string, bool) {
	if name := extensionOf(x.id); name != "" {
		e := r.extension(name)
		if e == nil {
			return "", false
		}
		return e.Schema, true
	}
	if table.ID(x.schema) == InformationSchemaID {
		return "information_schema", true
	}
	return "pg_catalog", true
}
