package pgcatalog

import (
	"slices"

	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// regName is the text of a value of the reg* type of a name; false: there is no such object.
func (r *reader) regName(kind string, id table.ID) (string, bool) {
	switch kind {
	case "regclass":
		return r.className(id)
	case "regtype":
		return r.typeName(id, types.NoMod)
	case "regproc":
		return r.routineName(functions(), types.OID(id), sqlname.Quote)
	case "regoper":
		return r.routineName(operators(), types.OID(id), unquoted)
	case "regprocedure":
		return r.routineSignature(functions(), types.OID(id), sqlname.Quote)
	case "regoperator":
		return r.routineSignature(operators(), types.OID(id), unquoted)
	case "regnamespace":
		name, ok := r.namespaceName(id)
		return sqlname.Quote(name), ok
	case "regrole":
		name, ok := r.roleName(id)
		return sqlname.Quote(name), ok
	case "regcollation":
		return r.quotedName("pg_collation", "collname", types.OID(id))
	case "regconfig":
		return r.quotedName("pg_ts_config", "cfgname", types.OID(id))
	case "regdictionary":
		return r.quotedName("pg_ts_dict", "dictname", types.OID(id))
	}
	return "", false
}

// className is the name of a relation or an index, with its schema unless the plain name finds it.
func (r *reader) className(id table.ID) (string, bool) {
	d, ix := r.find(id)
	if d == nil {
		return r.compositeName(id)
	}
	name := nameOf(d, ix)
	if r.isVisible(d.Schema, name) {
		return sqlname.Quote(name), true
	}
	return sqlname.Qualified(d.Schema, name), true
}

// compositeName is the name of a composite type by its OID in pg_class.
func (r *reader) compositeName(class table.ID) (string, bool) {
	for d, t := range r.userTypes() {
		if d.Class == class {
			return r.userTypeName(t), true
		}
	}
	return "", false
}

// routineName is the name of a function or operator, with its schema unless the plain name means
// it alone.
func (r *reader) routineName(all *routines, id types.OID, quote func(string) string) (string,
	bool) {
	f, ok := all.find(id)
	if !ok {
		return "", false
	}
	schema, ok := r.schemaOf(f)
	if !ok {
		return "", false
	}
	if same := r.named(all, "", f.name); len(same) == 1 && same[0].id == id {
		return quote(f.name), true
	}
	return sqlname.Quote(schema) + "." + quote(f.name), true
}

// routineSignature is the name of a function or operator with its types, and with its schema unless
// the name and the types mean it on the search path; false: the database does not have it.
func (r *reader) routineSignature(all *routines, id types.OID, quote func(string) string) (string,
	bool) {
	f, ok := all.find(id)
	if !ok {
		return "", false
	}
	schema, ok := r.schemaOf(f)
	if !ok {
		return "", false
	}
	name := quote(f.name)
	if !r.routineVisible(all, f) {
		name = sqlname.Quote(schema) + "." + name
	}
	return r.signature(f, name), true
}

// routineVisible reports whether the plain name and the types of a routine mean it.
func (r *reader) routineVisible(all *routines, f routine) bool {
	return slices.ContainsFunc(r.named(all, "", f.name),
		func(o routine) bool { return o.id == f.id })
}

func unquoted(name string) string { return name }

// quotedName is the name of a row of data with the ID, with its schema unless the search path finds
// it.
func (r *reader) quotedName(catalog, column string, id types.OID) (string, bool) {
	for t := range tuples(catalog) {
		if t.oid("oid") != id {
			continue
		}
		e, present := r.memberSchemaOf(id)
		if !present {
			return "", false
		}
		if e == 0 || r.reachable(id, "") {
			return sqlname.Quote(t.text(column)), true
		}
		schema, ok := r.namespaceName(e)
		return sqlname.Qualified(schema, t.text(column)), ok
	}
	return "", false
}

// routineIsVisible answers pg_function_is_visible and pg_operator_is_visible.
func (r *reader) routineIsVisible(kind string, id types.OID) (string, bool) {
	all := functions()
	if kind == "operator visible" {
		all = operators()
	}
	f, ok := all.find(id)
	if _, present := r.schemaOf(f); !ok || !present {
		return "", false
	}
	if r.routineVisible(all, f) {
		return "t", true
	}
	return "f", true
}

// memberVisible reports whether the search path finds an object of one of the catalogs of data. All
// names of the extensions' objects in these catalogs are their own.
func (r *reader) memberVisible(catalog string, id types.OID) (string, bool) {
	known := false
	for t := range tuples(catalog) {
		known = known || t.oid("oid") == id
	}
	if !known {
		return "", false
	}
	switch e, present := r.memberSchemaOf(id); {
	case !present:
		return "", false
	case e == 0, r.reachable(id, ""):
		return "t", true
	}
	return "f", true
}
