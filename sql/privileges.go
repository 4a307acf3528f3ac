package sql

import (
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/sql/ddl"
	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
)

// asked is a question for privileges that is being answered.
type asked struct {
	*accessor
	a    *acl.Authority // of the role that is asked about
	q    expr.PrivilegeQuestion
	view *catalog.View // by which rights are judged
}

// HasPrivilege is part of expr.Privileges.
func (f *accessor) HasPrivilege(q expr.PrivilegeQuestion) (has, found bool, err error) {
	if err := f.s.ensure(f.ctx); err != nil {
		return false, false, err
	}
	a, err := f.s.authority(f.ctx)
	if err != nil {
		return false, false, err
	}
	if q.Role != nil {
		role, err := roleAsked(a, q.Role, q.Kind != "role")
		if err != nil {
			return false, false, err
		}
		a = a.As(role)
	}
	err = f.s.judge(f.ctx, func(v *catalog.View) error {
		has, found, err = (&asked{f, a, q, v}).answer()
		return err
	})
	return has, found, err
}

func (k *asked) answer() (has, found bool, err error) {
	switch k.q.Kind {
	case "role":
		return k.role()
	case "table", "any_column", "column", "sequence":
		return k.relation()
	case "schema":
		return k.schema()
	case "database":
		return k.database()
	}
	return k.builtIn()
}

// roleAsked finds the role of a question. One that is given by a number need not exist.
func roleAsked(a *acl.Authority, r *expr.NameOrOID, public bool) (acl.RoleID, error) {
	if !r.Named {
		return acl.RoleID(r.OID), nil
	}
	if public && r.Name == "public" {
		return acl.Public, nil
	}
	if role := a.Roles.ByName(r.Name); role != nil {
		return role.ID, nil
	}
	return 0, catalog.NoRole(r.Name)
}

// wanted are privileges of a question: any of them is enough.
type wanted struct{ granted, options acl.Privileges }

// read reads the privileges of a question on a class of objects.
func (k *asked) read(valid acl.Privileges) (w wanted, err error) {
	for p := range strings.SplitSeq(k.q.Privileges, ",") {
		word := strings.TrimSpace(p)
		name, option := strings.CutSuffix(strings.ToUpper(word), " WITH GRANT OPTION")
		one := acl.Named(name)
		if one&valid == 0 && !(name == "RULE" && k.q.Kind == "table") {
			return w, sqlerr.New(sqlerr.InvalidParameterValue,
				"unrecognized privilege type: \"%s\"", word)
		}
		if option {
			w.options |= one
		} else {
			w.granted |= one
		}
	}
	return w, nil
}

// allowed reports whether the role has any of the privileges on an object.
func (k *asked) allowed(w wanted, c acl.Class, owner acl.RoleID, l acl.List) bool {
	return k.a.Granted(c, owner, l, w.granted) != 0 || k.a.Options(c, owner, l, w.options) != 0
}

func (k *asked) role() (has, found bool, err error) {
	var id acl.RoleID
	if id, err = roleAsked(k.a, &k.q.Object, false); err != nil {
		return false, false, err
	}
	for p := range strings.SplitSeq(k.q.Privileges, ",") {
		word := strings.TrimSpace(p)
		switch strings.ToUpper(word) {
		case "USAGE":
			has = has || k.a.Has(id)
		case "MEMBER":
			has = has || k.a.Member(k.a.Current, id)
		case "MEMBER WITH GRANT OPTION", "MEMBER WITH ADMIN OPTION", "USAGE WITH GRANT OPTION",
			"USAGE WITH ADMIN OPTION":
			has = has || k.a.Administers(k.a.Current, id)
		default:
			return false, false, sqlerr.New(sqlerr.InvalidParameterValue,
				"unrecognized privilege type: \"%s\"", word)
		}
	}
	return has, true, nil
}

// relation answers for tables, their columns, and sequences.
func (k *asked) relation() (has, found bool, err error) {
	d, err := k.described()
	if err != nil {
		return false, false, err
	}
	if k.q.Kind == "sequence" && d != nil && d.Kind != table.KindSequence {
		if k.q.Object.Named {
			return false, false, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a sequence",
				d.Name)
		}
		d = nil
	}
	valid := map[string]acl.Privileges{"table": acl.Relation.All(), "sequence": acl.Sequence.All(),
		"any_column": acl.Column.All(), "column": acl.Column.All()}[k.q.Kind]
	column := -1
	if k.q.Kind == "column" && d != nil {
		var ok bool
		if column, ok, err = k.column(d); err != nil {
			return false, false, err
		} else if !ok {
			d = nil
		}
	}
	w, err := k.read(valid)
	if err != nil || d == nil {
		return false, false, err
	}
	if k.allowed(w, d.Class(), d.OwnedBy(), d.ACL) {
		return true, true, nil
	}
	for i := range d.Columns {
		c := &d.Columns[i]
		if (k.q.Kind == "any_column" || i == column) && c.ACL != nil &&
			k.allowed(w, acl.Column, d.OwnedBy(), c.ACL) {
			return true, true, nil
		}
	}
	return false, true, nil
}

// described finds the relation of the question; nil for a number that none has.
func (k *asked) described() (*table.Desc, error) {
	oid := types.OID(k.q.Object.OID)
	if k.q.Object.Named {
		var err error
		if oid, err = k.ResolveClass(k.q.Object.Name); err != nil {
			return nil, err
		}
	}
	if d := pgcatalog.ByID(table.ID(oid)); d != nil {
		return d, nil
	}
	d, err := k.view.RelationByID(k.ctx, table.ID(oid))
	if d != nil || err != nil {
		return d, err
	}
	return k.view.Owner(k.ctx, k.s.databaseID, table.ID(oid)) // of an index
}

// column finds the column of the question: by its name, which must exist, or by its number.
func (k *asked) column(d *table.Desc) (i int, ok bool, err error) {
	if k.q.Column.Named {
		i = d.Column(k.q.Column.Name)
		if i < 0 || d.Columns[i].Hidden {
			return 0, false, sqlerr.New(sqlerr.UndefinedColumn,
				"column \"%s\" of relation \"%s\" does not exist", k.q.Column.Name, d.Name)
		}
		return i, true, nil
	}
	n := int64(0)
	for i := range d.Columns {
		if d.Columns[i].Hidden {
			continue
		}
		if n++; n == k.q.Column.OID {
			return i, true, nil
		}
	}
	return 0, false, nil
}

func (k *asked) schema() (has, found bool, err error) {
	all, err := k.view.Schemas(k.ctx, k.s.databaseID)
	if err != nil {
		return false, false, err
	}
	w, werr := k.read(acl.Schema.All())
	for i := range all {
		s := &all[i]
		if k.is(s.Name, int64(s.ID)) {
			return k.allowed(w, acl.Schema, s.OwnedBy(), s.Privileges()), true, werr
		}
	}
	for name, id := range map[string]table.ID{"pg_catalog": pgcatalog.CatalogSchemaID,
		"information_schema": pgcatalog.InformationSchemaID} {
		if k.is(name, int64(id)) {
			return k.allowed(w, acl.Schema, acl.Postgres, pgcatalog.SystemSchemaList()), true, werr
		}
	}
	if k.q.Object.Named {
		return false, false, sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist",
			k.q.Object.Name)
	}
	return false, false, werr
}

// is reports whether the question is about the object of a name and number.
func (k *asked) is(name string, id int64) bool {
	if k.q.Object.Named {
		return k.q.Object.Name == name
	}
	return k.q.Object.OID == id
}

func (k *asked) database() (has, found bool, err error) {
	all, err := k.view.Databases(k.ctx)
	if err != nil {
		return false, false, err
	}
	w, werr := k.read(acl.Database.All())
	for i := range all {
		if db := &all[i]; k.is(db.Name, int64(db.ID)) {
			return k.allowed(w, acl.Database, db.OwnedBy(), db.ACL), true, werr
		}
	}
	if k.q.Object.Named {
		return false, false, sqlerr.New(sqlerr.InvalidCatalogName,
			"database \"%s\" does not exist", k.q.Object.Name)
	}
	return false, false, werr
}

// builtIn answers for objects without descriptors, and for types.
func (k *asked) builtIn() (has, found bool, err error) {
	class := map[string]acl.Class{"function": acl.Function, "type": acl.Type,
		"language": acl.Language, "tablespace": acl.Tablespace, "parameter": acl.Parameter,
		"foreign_data_wrapper": acl.ForeignDataWrapper, "server": acl.ForeignServer}[k.q.Kind]
	id, err := k.objectID(class)
	if err != nil {
		return false, false, err
	}
	w, err := k.read(class.All())
	if err != nil || id == 0 {
		return class == acl.Parameter && err == nil && k.a.Superuser(), class == acl.Parameter, err
	}
	owner, list, found, err := k.accessList(class, id)
	if err != nil || !found {
		return false, false, err
	}
	return k.allowed(w, class, owner, list), true, nil
}

// objectID finds the object of the question by its name; it is 0 for a parameter without a list.
func (k *asked) objectID(class acl.Class) (table.ID, error) {
	name := k.q.Object.Name
	if !k.q.Object.Named {
		return table.ID(k.q.Object.OID), nil
	}
	var id types.OID
	var err error
	objects := systemObjects{catalogEnv{k.s}}
	switch class {
	case acl.Type:
		id, err = k.RegOID(types.OIDRegType, name)
	case acl.Function:
		// Without its arguments a name may be that of several functions.
		typ := types.TRegProcedure.OID
		if !strings.Contains(name, "(") {
			typ = types.OIDRegProc
		}
		id, err = k.RegOID(typ, name)
	case acl.Language:
		var lang table.ID
		lang, _, _, err = objects.Language(k.ctx, name)
		id = types.OID(lang)
	case acl.Tablespace:
		id = types.OID(objects.Tablespace(name))
	case acl.Parameter:
		return k.parameterID(objects, name)
	}
	if err == nil && id == 0 {
		err = ddl.NoObject(class, name)
	}
	return table.ID(id), err
}

// parameterID finds the entry of a parameter. It has none before the first GRANT on it.
func (k *asked) parameterID(objects systemObjects, name string) (table.ID, error) {
	canonical, _ := objects.Parameter(name)
	all, err := k.view.ObjectACLs(k.ctx, 0)
	for i := range all {
		if all[i].Class == acl.Parameter && all[i].Name == canonical {
			return all[i].Object, err
		}
	}
	return 0, err
}

// accessList returns the owner and the access list of an object; found is false for a number that
// no object has.
func (k *asked) accessList(class acl.Class, id table.ID) (owner acl.RoleID, l acl.List, found bool,
	err error) {
	owner = acl.Postgres
	var initial acl.List
	switch class {
	case acl.Type:
		t, err := pgcatalog.TypeByOID(k.ctx, k.view, types.OID(id))
		if err != nil || t == nil {
			return 0, nil, false, err
		}
		for t.Nests() {
			t = t.Elem
		}
		id = table.ID(t.OID)
		if d, err := k.view.UserType(k.ctx, id); err != nil {
			return 0, nil, false, err
		} else if d != nil {
			return d.OwnedBy(), d.ACL.Or(class, d.OwnedBy()), true, nil
		}
		if t.Def != nil && t.Def.Class != 0 {
			d := pgcatalog.ByID(table.ID(t.Def.Class))
			if d == nil {
				d, err = k.view.RelationByID(k.ctx, table.ID(t.Def.Class))
			}
			if d != nil {
				owner = d.OwnedBy()
			} else if err != nil {
				return 0, nil, false, err
			}
		}
	case acl.Function:
		r, ok := pgcatalog.RoutineByID(id)
		if !ok {
			return 0, nil, false, nil
		}
		initial = r.ACL
	default:
		if !k.exists(class, id) {
			return 0, nil, false, nil
		}
	}
	list, err := k.view.ObjectACL(k.ctx, k.s.databaseID, class, id)
	if list == nil {
		list = initial
	}
	return owner, list.Or(class, owner), err == nil, err
}

// exists reports whether there is a language, tablespace or parameter with a number.
func (k *asked) exists(class acl.Class, id table.ID) bool {
	switch class {
	case acl.Language:
		all, _ := pgcatalog.Languages(k.ctx, catalogEnv{k.s})
		return slices.ContainsFunc(all, func(l pgcatalog.Language) bool { return l.ID == id })
	case acl.Tablespace:
		for _, s := range pgcatalog.Tablespaces {
			if s.ID == id {
				return true
			}
		}
	}
	return class == acl.Parameter
}

// AccessItem is part of types.AccessItems.
func (f *accessor) AccessItem(text string) (string, error) {
	roles, err := f.roles()
	if err != nil {
		return "", err
	}
	it, grantor, err := roles.Read(text)
	if err != nil {
		return "", err
	}
	if !grantor {
		f.s.notice("WARNING", sqlerr.InvalidGrantOperation, "defaulting grantor to user ID %d",
			acl.Postgres)
	}
	return roles.Text(it), nil
}

func (f *accessor) roles() (*acl.Roles, error) {
	if err := f.s.ensure(f.ctx); err != nil {
		return nil, err
	}
	return f.s.tx.view.Roles(f.ctx)
}

// MakeAccessItem is part of expr.Privileges.
func (f *accessor) MakeAccessItem(grantee, grantor types.OID, privilege string,
	option bool) (string, error) {
	roles, err := f.roles()
	if err != nil {
		return "", err
	}
	it := acl.Item{Grantee: acl.RoleID(grantee), Grantor: acl.RoleID(grantor)}
	if it.Granted = acl.Named(privilege); it.Granted == 0 {
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized privilege type: \"%s\"",
			privilege)
	}
	if option {
		it.Options = it.Granted
	}
	return roles.Text(it), nil
}

// ExplodeAccess is part of expr.Privileges.
func (f *accessor) ExplodeAccess(item string) (grantor, grantee types.OID, names []string,
	options []bool, err error) {
	roles, err := f.roles()
	if err != nil {
		return 0, 0, nil, nil, err
	}
	it, _, err := roles.Read(item)
	if err != nil {
		return 0, 0, nil, nil, err
	}
	it.Granted.Each(func(one acl.Privileges) {
		names = append(names, one.String())
		options = append(options, it.Options&one != 0)
	})
	return types.OID(it.Grantor), types.OID(it.Grantee), names, options, nil
}
