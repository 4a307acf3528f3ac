package builtin

import (
	"strconv"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// sizeFunctions are the functions that give the sizes of relations, databases and tablespaces in
// bytes, NULL for an object ID that nothing has.
func sizeFunctions() []def {
	return []def{
		f("pg_relation_size(regclass) int8", sizeOf("")).volatile(),
		f("pg_relation_size(regclass,text) int8", forkSize).volatile(),
		f("pg_table_size(regclass) int8", sizeOf("")).volatile(),
		f("pg_indexes_size(regclass) int8", sizeOf("indexes")).volatile(),
		f("pg_total_relation_size(regclass) int8", sizeOf("total")).volatile(),
		f("pg_database_size(oid|name) int8", asking(databaseSize)).volatile(),
		f("pg_tablespace_size(oid|name) int8", asking(tablespaceSize)).volatile(),
	}
}

// sizeOf looks up a size in the catalog.
func sizeOf(what string) scalar {
	return describeNumber("size", func([]types.Datum) string { return what })
}

// forkSize is pg_relation_size of one of the files that a relation has in PostgreSQL. Here all of
// it counts as the main one.
func forkSize(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	size, err := sizeOf("")(rt, a[:1])
	if err != nil || size.Null {
		return types.Null, err
	}
	switch a[1].S {
	case "main":
		return size, nil
	case "fsm", "vm", "init":
		return types.NewInt(0), nil
	}
	return types.Null, sqlerr.New(sqlerr.InvalidParameterValue, "invalid fork name").
		WithHint(`Valid fork names are "main", "fsm", "vm", and "init".`)
}

// sizeAccess is what the session must offer to functions of the sizes of databases and tablespaces.
type sizeAccess interface {
	expr.Session
	expr.Privileges
}

// databaseSize needs the privilege to connect, or the role pg_read_all_stats.
func databaseSize(s sizeAccess, rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return sizeIfAllowed(s, rt, a[0], guarded{kind: "database", privilege: "CONNECT",
		unknown: sqlerr.InvalidCatalogName})
}

// tablespaceSize needs the privilege to create there, or the role pg_read_all_stats, except for the
// tablespace of the database.
func tablespaceSize(s sizeAccess, rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return sizeIfAllowed(s, rt, a[0], guarded{kind: "tablespace", privilege: "CREATE",
		unknown: sqlerr.UndefinedObject, open: "pg_default"})
}

// guarded is a kind of objects whose size needs a privilege.
type guarded struct {
	kind, privilege string
	unknown         string // the SQLSTATE of an object that there is not
	open            string // the name of one whose size needs none
}

func sizeIfAllowed(s sizeAccess, rt *expr.Runtime, object types.Datum, g guarded) (types.Datum,
	error) {
	id, name, found := object.I, object.S, false
	if rt.ArgTypes[0].Family == types.String {
		var text string
		if text, found = s.Describe(g.kind, 0, name); !found {
			return types.Null, sqlerr.New(g.unknown, "%s \"%s\" does not exist", g.kind, name)
		}
		id, _ = strconv.ParseInt(text, 10, 64)
	} else {
		name, found = s.Describe(g.kind+" name", types.OID(id), "")
	}
	allowed, _, err := s.HasPrivilege(expr.PrivilegeQuestion{Kind: "role", Privileges: "USAGE",
		Object: expr.NameOrOID{Named: true, Name: "pg_read_all_stats"}})
	if err != nil {
		return types.Null, err
	}
	if !allowed && (!found || name != g.open) {
		has, found, err := s.HasPrivilege(expr.PrivilegeQuestion{Kind: g.kind,
			Object: expr.NameOrOID{OID: id}, Privileges: g.privilege})
		switch {
		case err != nil:
			return types.Null, err
		case !found:
			return types.Null, sqlerr.New(g.unknown, "%s with OID %d does not exist", g.kind, id)
		case !has:
			return types.Null, sqlerr.New(sqlerr.InsufficientPrivilege,
				"permission denied for %s %s", g.kind, name)
		}
	}
	return sizeOf(g.kind)(rt, []types.Datum{types.NewInt(id)})
}
