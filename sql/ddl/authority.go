package ddl

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
)

// authority returns what the session is allowed, its own changes of roles included.
func (env *Env) authority(ctx context.Context) (*acl.Authority, error) {
	if env.Authority != nil {
		return env.Authority(ctx)
	}
	roles, err := env.View.Roles(ctx)
	if err != nil {
		return nil, err
	}
	return &acl.Authority{Roles: roles, Login: acl.Postgres, Session: acl.Postgres,
		Current: acl.Postgres, DatabaseOwner: acl.Postgres}, nil
}

// namedRole returns the role that a statement names; 42704 when there is none. PUBLIC is no role.
func namedRole(a *acl.Authority, r ast.RoleSpec) (*acl.Role, error) {
	var found *acl.Role
	switch r.Keyword {
	case "":
		found = a.Roles.ByName(r.Name)
	case "public":
		return nil, catalog.NoRole("public")
	case "session_user":
		found = a.Roles.ByID(a.Session)
	default:
		found = a.Roles.ByID(a.Current)
	}
	if found == nil {
		return nil, catalog.NoRole(r.Name)
	}
	return found, nil
}

func namedRoles(a *acl.Authority, specs []ast.RoleSpec) ([]*acl.Role, error) {
	out := make([]*acl.Role, len(specs))
	for i, r := range specs {
		var err error
		if out[i], err = namedRole(a, r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func denied(format string, args ...any) *sqlerr.Error {
	return sqlerr.New(sqlerr.InsufficientPrivilege, format, args...)
}

// permission is the error for an object on which the session lacks a privilege.
func permission(c acl.Class, name string) *sqlerr.Error {
	return denied("permission denied for %s %s", c.Noun(), name)
}

// notOwner is the error for an object that the session does not own.
func notOwner(kind ast.ObjectKind, name string) *sqlerr.Error {
	return denied("must be owner of %s %s", kind, name)
}

// mustOwn refuses what only the owner of a relation may do.
func (env *Env) mustOwn(ctx context.Context, d *table.Desc) error {
	a, err := env.authority(ctx)
	if err != nil || a.Has(d.OwnedBy()) {
		return err
	}
	return notOwner(kindOf(d), d.Name)
}

// mustSelect checks the privilege to read all of a relation.
func (env *Env) mustSelect(ctx context.Context, d *table.Desc) error {
	a, err := env.authority(ctx)
	if err != nil || a.Granted(d.Class(), d.OwnedBy(), d.ACL, acl.Select) != 0 {
		return err
	}
	return denied("permission denied for %s %s", kindOf(d), d.Name)
}

// mustCreateIn checks the privilege to make something in a schema.
func (env *Env) mustCreateIn(ctx context.Context, s catalog.Schema) error {
	if s.ID.Temporary() {
		return nil // the session's own
	}
	a, err := env.authority(ctx)
	if err != nil {
		return err
	}
	if a.Granted(acl.Schema, s.OwnedBy(), s.Privileges(), acl.Create) == 0 {
		return permission(acl.Schema, s.Name)
	}
	return nil
}

// owner returns the role that new objects belong to; 0 for the bootstrap superuser.
func (env *Env) owner(ctx context.Context) (acl.StoredOwner, error) {
	a, err := env.authority(ctx)
	if err != nil {
		return 0, err
	}
	return a.Current.Stored(), nil
}

// mayUse checks the privilege to name things in a schema.
func (env *Env) mayUse(ctx context.Context, schema string) error {
	if env.Planner == nil || env.Planner.MayUse == nil {
		return nil
	}
	return env.Planner.MayUse(ctx, schema)
}

// create stores a new relation, which belongs to the current role and has the privileges that
// ALTER DEFAULT PRIVILEGES gives it.
func (env *Env) create(ctx context.Context, d *table.Desc) error {
	a, err := env.authority(ctx)
	if err != nil {
		return err
	}
	return env.createFor(ctx, d, a.Current)
}

// createFor is create for a relation that belongs to another role.
func (env *Env) createFor(ctx context.Context, d *table.Desc, owner acl.RoleID) (err error) {
	d.Owner = owner.Stored()
	if d.ACL, err = env.defaultList(ctx, d.Class(), d.OwnedBy(), d.SchemaID); err != nil {
		return err
	}
	for i := range d.Columns { // those that a query makes
		if err := env.mayUseType(ctx, d.Columns[i].Type); err != nil {
			return err
		}
	}
	return env.View.CreateRelation(ctx, d)
}

// mustReference checks the privilege to refer to columns of a table by a foreign key.
func (env *Env) mustReference(ctx context.Context, d *table.Desc, columns []table.ColumnID) error {
	a, err := env.authority(ctx)
	if err != nil || a.Granted(acl.Relation, d.OwnedBy(), d.ACL, acl.References) != 0 {
		return err
	}
	for _, id := range columns {
		i := d.ColumnByID(id)
		if d.Columns[i].ACL == nil || a.Granted(acl.Column, d.OwnedBy(), d.Columns[i].ACL,
			acl.References) == 0 {
			return permissionOn(d)
		}
	}
	return nil
}

// permissionOn is the error for a relation on which the session lacks a privilege.
func permissionOn(d *table.Desc) error {
	return denied("permission denied for %s %s", kindOf(d), d.Name)
}

// mustDrop refuses to drop a relation, or an index of it, to roles that own neither the relation
// nor its schema.
func (env *Env) mustDrop(ctx context.Context, d *table.Desc, ix *table.Index) error {
	a, err := env.authority(ctx)
	if err != nil || a.Has(d.OwnedBy()) {
		return err
	}
	if owns, err := env.ownsSchema(ctx, a, d.Schema); err != nil || owns {
		return err
	}
	if ix != nil {
		return notOwner(ast.IndexObject, ix.Name)
	}
	return notOwner(kindOf(d), d.Name)
}

// ownsSchema reports whether the session owns a schema, and so may drop what is in it.
func (env *Env) ownsSchema(ctx context.Context, a *acl.Authority, name string) (bool, error) {
	sc, ok, err := env.View.Schema(ctx, env.Database, name)
	return err == nil && ok && a.Has(sc.OwnedBy()), err
}

// mustDropType is mustDrop for a type.
func (env *Env) mustDropType(ctx context.Context, d *catalog.TypeDesc) error {
	refused := env.ownsType(ctx, d)
	if refused == nil {
		return nil
	}
	a, err := env.authority(ctx)
	if err != nil {
		return err
	}
	if owns, err := env.ownsSchema(ctx, a, d.Schema); err != nil || owns {
		return err
	}
	return refused
}
