package ddl

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/largeobject"
	"github.com/minidb/minidb/txn/rowlock"
)

// reassignOwned is REASSIGN OWNED: what roles own in this database, and the databases that they
// own, get another owner.
func (env *Env) reassignOwned(ctx context.Context, s *ast.ReassignOwned) error {
	a, err := env.authority(ctx)
	if err != nil {
		return err
	}
	from, err := namedRoles(a, s.Roles)
	if err != nil {
		return err
	}
	for _, r := range from {
		if !a.Has(r.ID) {
			return denied("permission denied to reassign objects")
		}
	}
	to, err := namedRole(a, s.To)
	if err != nil {
		return err
	}
	if !a.Has(to.ID) {
		return denied("permission denied to reassign objects")
	}
	for _, r := range from {
		if r.ID < acl.FirstRole {
			return required(r.Name, "reassign ownership of objects owned by role")
		}
		if err := env.reassign(ctx, r.ID, to.ID); err != nil {
			return err
		}
	}
	return nil
}

func (env *Env) reassign(ctx context.Context, from, to acl.RoleID) error {
	refs, err := env.ownReferences(ctx, from)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		if ref.Why != catalog.ByOwner {
			continue
		}
		switch ref.Class {
		case catalog.ClassRelation:
			err = env.changeRelation(ctx, ref.Object, func(d *table.Desc) *table.Desc {
				return ownedBy(d, to)
			})
		case catalog.ClassSchema:
			err = env.changeSchemaByID(ctx, ref.Object, func(sc *catalog.Schema) {
				sc.Give(to)
			})
		case catalog.ClassType:
			err = env.changeType(ctx, ref.Object, func(d *catalog.TypeDesc) {
				d.ACL, d.Owner = d.ACL.Owned(from, to), to.Stored()
			})
		case catalog.ClassExtension:
			err = env.giveExtension(ctx, ref.Object, to)
		case catalog.ClassLargeObject:
			err = env.changeLargeObject(ctx, ref.Object, func(r *largeobject.Record) {
				r.ACL, r.Owner = r.ACL.Owned(from, to), to.Stored()
			})
		case catalog.ClassDatabase:
			err = env.changeDatabase(ctx, ref.Object, func(db *catalog.Database) {
				db.ACL, db.Owner = db.ACL.Owned(from, to), to.Stored()
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ownReferences are the references to a role in this database, and of databases.
func (env *Env) ownReferences(ctx context.Context, role acl.RoleID) ([]catalog.Reference, error) {
	refs, err := env.View.References(ctx, role)
	return slices.DeleteFunc(refs, func(r catalog.Reference) bool {
		return r.Database != 0 && r.Database != env.Database
	}), err
}

func (env *Env) changeRelation(ctx context.Context, id table.ID,
	change func(*table.Desc) *table.Desc) error {
	d, err := env.View.RelationByID(ctx, id)
	if err != nil || d == nil {
		return err
	}
	if err := env.lock(ctx, d, rowlock.AccessExclusive); err != nil {
		return err
	}
	return env.View.RelabelRelation(ctx, d, change(d))
}

func (env *Env) changeSchemaByID(ctx context.Context, id table.ID,
	change func(*catalog.Schema)) error {
	all, err := env.View.Schemas(ctx, env.Database)
	for i := range all {
		if all[i].ID == id && err == nil {
			change(&all[i])
			return env.View.UpdateSchema(ctx, all[i])
		}
	}
	return err
}

func (env *Env) changeDatabase(ctx context.Context, id table.ID,
	change func(*catalog.Database)) error {
	all, err := env.View.Databases(ctx)
	for i := range all {
		if all[i].ID == id && err == nil {
			change(&all[i])
			return env.View.UpdateDatabase(ctx, all[i])
		}
	}
	return err
}

func (env *Env) changeType(ctx context.Context, id table.ID,
	change func(*catalog.TypeDesc)) error {
	d, err := env.View.UserType(ctx, id)
	if err != nil || d == nil {
		return err
	}
	if err := env.lockType(ctx, d, rowlock.AccessExclusive); err != nil {
		return err
	}
	next := d.Clone()
	change(next)
	return env.View.UpdateType(ctx, d, next, false)
}

// changeObject replaces the access list of an object without a descriptor.
func (env *Env) changeObject(ctx context.Context, ref catalog.Reference,
	change func(acl.List) acl.List) error {
	all, err := env.View.ObjectACLs(ctx, env.Database)
	for i := range all {
		if o := all[i]; o.Class == acl.Class(ref.Sub) && o.Object == ref.Object && err == nil {
			o.ACL = change(o.ACL)
			return env.View.PutObjectACL(ctx, o)
		}
	}
	return err
}

// dropOwned is DROP OWNED: what roles own in this database is dropped, and what they were granted
// is revoked.
func (env *Env) dropOwned(ctx context.Context, s *ast.DropOwned) error {
	a, err := env.authority(ctx)
	if err != nil {
		return err
	}
	roles, err := namedRoles(a, s.Roles)
	if err != nil {
		return err
	}
	for _, r := range roles {
		if !a.Has(r.ID) {
			return denied("permission denied to drop objects")
		}
		if r.ID < acl.FirstRole {
			return required(r.Name, "drop objects owned by role")
		}
	}
	dr := newDropper(env)
	schemas, err := env.ownedBy(ctx, dr, roles)
	if err != nil {
		return err
	}
	if err := dr.run(ctx, s.Cascade); err != nil {
		return err
	}
	for _, sc := range schemas {
		if err := env.View.DropSchema(ctx, sc); err != nil {
			return err
		}
	}
	for _, r := range roles {
		if err := env.dropLargeObjects(ctx, r.ID); err != nil {
			return err
		}
		if err := env.forgetRole(ctx, r.ID); err != nil {
			return err
		}
	}
	return nil
}

// ownedBy makes the relations, types and extensions that roles own targets of a dropper, and
// returns their schemas, whose contents are targets too. All that they own is going before
// anything is followed, so that none of it counts as a dependent of the rest.
func (env *Env) ownedBy(ctx context.Context, dr *dropper, roles []*acl.Role) (
	schemas []catalog.Schema, err error) {
	by := func(owner acl.RoleID) bool {
		return slices.ContainsFunc(roles, func(r *acl.Role) bool { return r.ID == owner })
	}
	rels, err := env.View.Relations(ctx, env.Database)
	if err != nil {
		return nil, err
	}
	for _, d := range rels {
		if by(d.OwnedBy()) {
			dr.target(d)
		}
	}
	owned, err := dr.typesOwnedBy(ctx, by)
	if err != nil {
		return nil, err
	}
	all, err := env.View.Schemas(ctx, env.Database)
	if err != nil {
		return nil, err
	}
	for _, sc := range all {
		if !by(sc.OwnedBy()) {
			continue
		}
		schemas = append(schemas, sc)
		dr.what = append(dr.what, "schema "+sqlname.Quote(sc.Name))
		if err := dr.contents(ctx, sc); err != nil {
			return nil, err
		}
	}
	err = dr.extensionsThat(ctx, func(e *catalog.Extension) bool {
		if by(e.OwnedBy()) {
			dr.what = append(dr.what, "extension "+e.Name)
		}
		return by(e.OwnedBy())
	})
	if err != nil {
		return nil, err
	}
	for _, d := range owned {
		if err := dr.followType(ctx, d); err != nil {
			return nil, err
		}
	}
	return schemas, nil
}

// forgetRole takes a role out of the access lists and default privileges of this database, and out
// of the lists of databases.
func (env *Env) forgetRole(ctx context.Context, role acl.RoleID) error {
	defaults, err := env.View.DefaultPrivileges(ctx, env.Database)
	if err != nil {
		return err
	}
	for _, d := range defaults {
		if d.Role == role {
			d.ACL = nil
		} else if d.ACL = without(d.ACL, role); d.ACL == nil {
			d.ACL = acl.List{}
		}
		if d.Schema == 0 && d.ACL.Equal(acl.Default(d.Class, d.Role)) {
			d.ACL = nil
		}
		if err := env.View.PutDefaultPrivileges(ctx, d); err != nil {
			return err
		}
	}
	refs, err := env.ownReferences(ctx, role)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		if ref.Why == catalog.ByOwner {
			continue
		}
		switch ref.Class {
		case catalog.ClassRelation:
			err = env.changeRelation(ctx, ref.Object, func(d *table.Desc) *table.Desc {
				return withoutRole(forgetPolicies(d, role), role)
			})
		case catalog.ClassSchema:
			err = env.changeSchemaByID(ctx, ref.Object, func(sc *catalog.Schema) {
				sc.ACL = without(sc.ACL, role)
			})
		case catalog.ClassDatabase:
			err = env.changeDatabase(ctx, ref.Object, func(db *catalog.Database) {
				db.ACL = without(db.ACL, role)
			})
		case catalog.ClassType:
			err = env.changeType(ctx, ref.Object, func(d *catalog.TypeDesc) {
				d.ACL = without(d.ACL, role)
			})
		case catalog.ClassObject:
			err = env.changeObject(ctx, ref, func(l acl.List) acl.List { return without(l, role) })
		case catalog.ClassLargeObject:
			err = env.changeLargeObject(ctx, ref.Object, func(r *largeobject.Record) {
				r.ACL = without(r.ACL, role)
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// without returns a list without what a role was granted, or has granted.
func without(l acl.List, role acl.RoleID) acl.List {
	return slices.DeleteFunc(slices.Clone(l), func(it acl.Item) bool {
		return it.Grantee == role || it.Grantor == role
	})
}

// withoutRole returns a descriptor whose lists do not name a role. Where one of a column did, the
// relation has a list of its own from then on, as after any REVOKE.
func withoutRole(d *table.Desc, role acl.RoleID) *table.Desc {
	next := d.Clone()
	next.ACL = without(d.ACL, role)
	for i := range next.Columns {
		of := &next.Columns[i].ACL
		*of = without(d.Columns[i].ACL, role)
		if d.ACL == nil && len(*of) < len(d.Columns[i].ACL) {
			next.ACL = acl.Default(acl.Relation, d.OwnedBy())
		}
		if len(*of) == 0 {
			*of = nil
		}
	}
	return next
}

func required(name, what string) error {
	return sqlerr.New(sqlerr.DependentObjectsStillExist,
		"cannot %s %s because they are required by the database system",
		what, name)
}
