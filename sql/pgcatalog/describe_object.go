package pgcatalog

import (
	"fmt"
	"strconv"

	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// describeObject is pg_describe_object: an object as messages name it, by the object IDs of its
// catalog and of itself, and the number of a column or 0; false: there is no such object.
func (r *reader) describeObject(class types.OID, id table.ID, sub int) (string, bool) {
	switch int(class) {
	case classRelation:
		return r.describeRelation(id, sub)
	case int(procCatalog):
		name, ok := r.routineSignature(functions(), types.OID(id), sqlname.Quote)
		return "function " + name, ok
	case int(operatorCatalog):
		name, ok := r.routineSignature(operators(), types.OID(id), unquoted)
		return "operator " + name, ok
	case classType:
		name, ok := r.typeName(id, types.NoMod)
		return "type " + name, ok
	case classNamespace:
		name, ok := r.namespaceName(id)
		return "schema " + sqlname.Quote(name), ok
	case classAuthID:
		name, ok := r.roleName(id)
		return "role " + name, ok
	case classConstraint:
		return r.describeConstraint(id)
	case classExtension:
		for _, e := range r.extensions() {
			if e.ID == id {
				return "extension " + e.Name, true
			}
		}
		return "", false
	case classLargeObject:
		return fmt.Sprintf("large object %d", id), r.largeObject(id) != nil
	case classLanguage:
		return r.describeNamed("pg_language", "lanname", "language ", id)
	case classCast:
		return r.describeCast(id)
	case classOpclass:
		return r.describeClass("pg_opclass", "opc", "operator class ", id)
	case classOpfamily:
		return r.describeClass("pg_opfamily", "opf", "operator family ", id)
	case classTemplate:
		return r.describeNamed("pg_ts_template", "tmplname", "text search template ", id)
	case classDictionary:
		return r.describeNamed("pg_ts_dict", "dictname", "text search dictionary ", id)
	}
	return "", false
}

// describeRelation names a relation or a column of it.
func (r *reader) describeRelation(id table.ID, sub int) (string, bool) {
	d, ix := r.find(id)
	name, ok := r.className(id)
	if !ok {
		return "", false
	}
	kind := "index "
	if ix == nil {
		kind = relationKinds[d.Kind]
	}
	if sub == 0 {
		return kind + name, true
	}
	column, ok := r.columnOf(id, "column", strconv.Itoa(sub))
	return "column " + sqlname.Quote(column) + " of " + kind + name, ok
}

var relationKinds = map[table.Kind]string{table.KindTable: "table ",
	table.KindSequence: "sequence ", table.KindView: "view ",
	table.KindMaterializedView: "materialized view ", table.KindVirtual: "table "}

// describeConstraint names a constraint of a table.
func (r *reader) describeConstraint(id table.ID) (string, bool) {
	d, check := r.constraintOwner(id)
	if d == nil {
		return "", false
	}
	name := ""
	if check != nil {
		name = check.Name
	} else if fk := d.ForeignKeyByOID(id); fk != nil {
		name = fk.Name
	} else if ix := d.IndexByOID(id); ix != nil {
		name = ix.Name
	}
	of, ok := r.describeRelation(d.ID, 0)
	return "constraint " + sqlname.Quote(name) + " on " + of, ok
}

// describeNamed names an object by the column of its row that has its name.
func (r *reader) describeNamed(catalog, column, kind string, id table.ID) (string, bool) {
	row, ok := builtinTuple(catalog, types.OID(id))
	schema, present := r.memberSchemaOf(types.OID(id))
	if !ok || !present {
		return "", false
	}
	return kind + r.inSchema(schema, row.text(column)), true
}

// inSchema is the name of a member of an extension in a schema, 0 for pg_catalog: with the schema
// unless the search path has it.
func (r *reader) inSchema(schema table.ID, name string) string {
	if schema == 0 {
		return sqlname.Quote(name)
	}
	of, _ := r.namespaceName(schema)
	if r.placeOnPath(of) >= 0 {
		return sqlname.Quote(name)
	}
	return sqlname.Qualified(of, name)
}

func (r *reader) describeCast(id table.ID) (string, bool) {
	row, ok := builtinTuple("pg_cast", types.OID(id))
	if _, present := r.memberSchemaOf(types.OID(id)); !ok || !present {
		return "", false
	}
	from, known := r.typeName(table.ID(row.oid("castsource")), types.NoMod)
	to, too := r.typeName(table.ID(row.oid("casttarget")), types.NoMod)
	return "cast from " + from + " to " + to, known && too
}

// describeClass names an operator class or family, with its access method.
func (r *reader) describeClass(catalog, prefix, kind string, id table.ID) (string, bool) {
	name, ok := r.describeNamed(catalog, prefix+"name", kind, id)
	if !ok {
		return "", false
	}
	row, _ := builtinTuple(catalog, types.OID(id))
	method, ok := builtinTuple("pg_am", row.oid(prefix+"method"))
	return name + " for access method " + method.text("amname"), ok
}
