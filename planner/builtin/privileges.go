package builtin

import (
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// There is one role, which may do everything. The functions of privileges still refuse roles,
// objects and privileges that do not exist, as clients expect.

// privileges lists the privileges that can be granted on each kind of object.
var privileges = map[string][]string{
	"table": {"select", "insert", "update", "delete", "truncate", "references", "trigger",
		"rule"},
	"any_column": {"select", "insert", "update", "references"},
	"column":     {"select", "insert", "update", "references"},
	"schema":     {"create", "usage"},
	"database":   {"create", "temporary", "temp", "connect"},
	"sequence":   {"usage", "select", "update"},
	"function":   {"execute"},
	"type":       {"usage"},
	"language":   {"usage"},
	"tablespace": {"create"},
	"role":       {"usage", "member"},
}

// forAll lists the kinds of objects that PUBLIC may use without a grant.
var forAll = []string{"function", "type", "language"}

// privilegeFunctions are has_table_privilege and the like. Their arguments are [role,] object,
// [column,] privilege.
func privilegeFunctions() []def {
	out := []def{
		hasPrivilege("has_column_privilege(text|oid,text|int2,text) bool", "column", false),
		hasPrivilege("has_column_privilege(name,text|oid,text|int2,text) bool", "column", true),
		hasPrivilege("pg_has_role(name|oid,text) bool", "role", false),
		hasPrivilege("pg_has_role(name|oid,name|oid,text) bool", "role", true),
	}
	for _, kind := range []string{"table", "schema", "database", "sequence", "function", "type",
		"language", "tablespace", "any_column"} {
		name := "has_" + kind + "_privilege"
		out = append(out, hasPrivilege(name+"(text|oid,text) bool", kind, false),
			hasPrivilege(name+"(name|oid,text|oid,text) bool", kind, true))
	}
	return out
}

// hasPrivilege makes the function for one kind of object, whose first argument may be a role.
func hasPrivilege(sig, kind string, ofRole bool) def {
	return f(sig, asking(func(s expr.Session, rt *expr.Runtime,
		a []types.Datum) (_ types.Datum, err error) {
		granted := true
		ts := rt.ArgTypes
		if ofRole {
			if granted, err = roleMay(s, kind, ts[0], a[0]); err != nil {
				return types.Null, err
			}
			ts, a = ts[1:], a[1:]
		}
		oid, found, err := grantable(rt, s, kind, ts[0], a[0])
		if err != nil {
			return types.Null, err
		}
		if kind == "column" && found {
			if found, err = hasColumn(s, oid, ts[1], a[1]); err != nil {
				return types.Null, err
			}
		}
		if err := knownPrivileges(kind, a[len(a)-1].S); err != nil {
			return types.Null, err
		}
		if !found {
			return types.Null, nil
		}
		return types.NewBool(granted), nil
	})).stable()
}

// roleMay checks the role in the first argument. A role given as a number need not exist.
func roleMay(s expr.Session, kind string, t *types.Type, role types.Datum) (bool, error) {
	if t.Family == types.Int {
		_, ok := s.Describe("role", types.OID(role.I), "")
		return ok, nil
	}
	switch role.S {
	case s.User():
		return true, nil
	case "public":
		return slices.Contains(forAll, kind), nil
	}
	return false, noRole(role.S)
}

func noRole(name string) error {
	return sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", name)
}

// grantable looks up an object by its name, which must exist, or by its OID.
func grantable(rt *expr.Runtime, s expr.Session, kind string, t *types.Type,
	object types.Datum) (types.OID, bool, error) {
	if t.Family == types.Int {
		oid := types.OID(object.I)
		switch kind {
		case "table", "any_column", "column", "sequence":
			_, ok := s.Describe("class", oid, "")
			return oid, ok, nil
		case "schema":
			_, ok := s.Describe("namespace", oid, "")
			return oid, ok, nil
		}
		return oid, true, nil
	}
	name := object.S
	missing := func(ok bool, code, what string) (types.OID, bool, error) {
		if ok {
			return 0, true, nil
		}
		return 0, false, sqlerr.New(code, "%s \"%s\" does not exist", what, name)
	}
	switch kind {
	case "schema":
		d, err := types.ParseText(types.TRegNamespace, name, &rt.Format)
		return types.OID(d.I), err == nil, err
	case "type":
		d, err := types.ParseText(types.TRegType, name, &rt.Format)
		return types.OID(d.I), err == nil, err
	case "database":
		_, ok := s.Describe("database", 0, name)
		return missing(ok, sqlerr.InvalidCatalogName, "database")
	case "function":
		plain, _, _ := strings.Cut(strings.TrimPrefix(name, "pg_catalog."), "(")
		_, ok := s.Describe("function", 0, plain)
		return missing(ok, sqlerr.UndefinedFunction, "function")
	case "language":
		return missing(name == "sql" || name == "internal", sqlerr.UndefinedObject, "language")
	case "tablespace":
		return missing(name == "pg_default" || name == "pg_global", sqlerr.UndefinedObject,
			"tablespace")
	case "role":
		return missing(name == s.User(), sqlerr.UndefinedObject, "role")
	}
	oid, err := s.ResolveClass(name)
	return oid, err == nil, err
}

// hasColumn looks up a column by its name, which must exist, or by its number.
func hasColumn(s expr.Session, oid types.OID, t *types.Type, column types.Datum) (bool, error) {
	if t.Family == types.Int {
		_, ok := s.Describe("column", oid, number(0)([]types.Datum{column}))
		return ok, nil
	}
	if _, ok := s.Describe("attribute", oid, column.S); !ok {
		name, _ := s.Describe("class", oid, "")
		return false, sqlerr.New(sqlerr.UndefinedColumn,
			"column \"%s\" of relation \"%s\" does not exist", column.S, name)
	}
	return true, nil
}

// knownPrivileges checks a list of privileges, each optionally WITH GRANT OPTION.
func knownPrivileges(kind, list string) error {
	for p := range strings.SplitSeq(list, ",") {
		word := strings.ToLower(strings.TrimSpace(p))
		word = strings.TrimSuffix(word, " with grant option")
		if kind == "role" {
			word = strings.TrimSuffix(word, " with admin option")
		}
		if !slices.Contains(privileges[kind], word) {
			return sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized privilege type: \"%s\"",
				strings.TrimSpace(p))
		}
	}
	return nil
}
