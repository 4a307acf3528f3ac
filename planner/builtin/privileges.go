package builtin

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// privilegeFunctions are has_table_privilege and the like, whose arguments are [role,] object,
// [column,] privileges, and those that read and make access lists.
func privilegeFunctions() []def {
	out := []def{
		hasPrivilege("has_column_privilege(text|oid,text|int2,text) bool", "column", false),
		hasPrivilege("has_column_privilege(name,text|oid,text|int2,text) bool", "column", true),
		hasPrivilege("has_column_privilege(oid,text|oid,text|int2,text) bool", "column", true),
		hasPrivilege("pg_has_role(name|oid,text) bool", "role", false),
		hasPrivilege("pg_has_role(name|oid,name|oid,text) bool", "role", true),
		hasPrivilege("has_parameter_privilege(text,text) bool", "parameter", false),
		hasPrivilege("has_parameter_privilege(name|oid,text,text) bool", "parameter", true),
		f("row_security_active(oid|text) bool", asking(rowSecurityActive)).stable(),
		f("makeaclitem(oid,oid,text,bool) aclitem", asking(makeACLItem)).stable(),
		f("aclcontains(aclitem[],aclitem) bool", asking(aclContains)).stable(),
	}
	for _, kind := range []string{"table", "schema", "database", "sequence", "function", "type",
		"language", "tablespace", "any_column", "foreign_data_wrapper", "server"} {
		name := "has_" + kind + "_privilege"
		out = append(out, hasPrivilege(name+"(text|oid,text) bool", kind, false),
			hasPrivilege(name+"(name|oid,text|oid,text) bool", kind, true))
	}
	return out
}

// rowSecurityActive is row_security_active of a table by its number, or by its name, which must be
// that of a relation.
func rowSecurityActive(s expr.Privileges, rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	oid := types.OID(a[0].I)
	if rt.ArgTypes[0].Family == types.String {
		var err error
		if oid, err = rt.Session.ResolveClass(a[0].S); err != nil {
			return types.Null, err
		}
	}
	active, _, err := s.RowSecurityActive(oid)
	return types.NewBool(active), err
}

// accessOperators compare items of access lists, which have one text each.
var accessOperators = []def{
	f("=(aclitem,aclitem) bool", func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return types.NewBool(a[0].S == a[1].S), nil
	}),
	f("@>(aclitem[],aclitem) bool", asking(aclContains)).stable(),
}

// hasPrivilege makes the function for one kind of object, whose first argument may be a role.
func hasPrivilege(sig, kind string, ofRole bool) def {
	return f(sig, asking(func(s expr.Privileges, rt *expr.Runtime,
		a []types.Datum) (types.Datum, error) {
		q := expr.PrivilegeQuestion{Kind: kind, Privileges: a[len(a)-1].S}
		ts := rt.ArgTypes
		if ofRole {
			role := nameOrOID(ts[0], a[0])
			q.Role, ts, a = &role, ts[1:], a[1:]
		}
		q.Object = nameOrOID(ts[0], a[0])
		if kind == "column" {
			q.Column = nameOrOID(ts[1], a[1])
		}
		has, found, err := s.HasPrivilege(q)
		if err != nil || !found {
			return types.Null, err
		}
		return types.NewBool(has), nil
	})).stable()
}

func nameOrOID(t *types.Type, d types.Datum) expr.NameOrOID {
	if t.Family == types.Int {
		return expr.NameOrOID{OID: d.I}
	}
	return expr.NameOrOID{Named: true, Name: d.S}
}

func makeACLItem(s expr.Privileges, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	item, err := s.MakeAccessItem(types.OID(a[0].I), types.OID(a[1].I), a[2].S, a[3].Bool())
	return types.NewString(item), err
}

// aclContains reports whether a list gives all that an item does.
func aclContains(s expr.Privileges, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	grantor, grantee, names, options, err := s.ExplodeAccess(a[1].S)
	if err != nil {
		return types.Null, err
	}
	want := map[string]bool{}
	for i, n := range names {
		want[n] = options[i]
	}
	for _, item := range a[0].Arr.Elems {
		by, to, has, may, err := s.ExplodeAccess(item.S)
		if err != nil {
			return types.Null, err
		}
		if by != grantor || to != grantee {
			continue
		}
		for i, n := range has {
			if may[i] || !want[n] {
				delete(want, n)
			}
		}
		return types.NewBool(len(want) == 0), nil
	}
	return types.NewBool(false), nil
}
