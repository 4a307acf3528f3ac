package ddl

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn/rowlock"
)

// mayGiveTo checks that the session may make another role the owner of something.
func mayGiveTo(a *acl.Authority, to *acl.Role) error {
	if !a.Member(a.Current, to.ID) {
		return denied("must be member of role \"%s\"", to.Name)
	}
	return nil
}

// alterOwner is ALTER SCHEMA, ALTER DATABASE and ALTER LARGE OBJECT … OWNER TO.
func (env *Env) alterOwner(ctx context.Context, s *ast.AlterOwner) error {
	a, err := env.authority(ctx)
	if err != nil {
		return err
	}
	to, err := namedRole(a, s.Owner)
	if err != nil {
		return err
	}
	switch s.Kind {
	case ast.DatabaseObject:
		return env.giveDatabase(ctx, a, s.Name.Name, to)
	case ast.LargeObject:
		return env.giveLargeObject(ctx, a, s.Name, to)
	}
	sc, ok, err := env.View.Schema(ctx, env.Database, s.Name.Name)
	switch {
	case err != nil:
		return err
	case !ok:
		return noSchema(s.Name.Name)
	case sc.OwnedBy() == to.ID:
		return nil
	case !a.Has(sc.OwnedBy()):
		return notOwner(ast.SchemaObject, sc.Name)
	}
	if err := mayGiveTo(a, to); err != nil {
		return err
	}
	if err := env.mustCreateInDatabase(ctx, a); err != nil {
		return err
	}
	sc.Give(to.ID)
	return env.View.UpdateSchema(ctx, sc)
}

// mustCreateInDatabase checks the privilege to make schemas in the session's database.
func (env *Env) mustCreateInDatabase(ctx context.Context, a *acl.Authority) error {
	db, _, err := env.View.Database(ctx, env.DatabaseName)
	if err != nil {
		return err
	}
	if a.Granted(acl.Database, db.OwnedBy(), db.ACL, acl.Create) == 0 {
		return permission(acl.Database, env.DatabaseName)
	}
	return nil
}

func (env *Env) giveDatabase(ctx context.Context, a *acl.Authority, name string,
	to *acl.Role) error {
	db, err := env.database(ctx, name)
	switch {
	case err != nil:
		return err
	case db.OwnedBy() == to.ID:
		return nil
	case !a.Has(db.OwnedBy()):
		return notOwner(ast.DatabaseObject, name)
	}
	if err := mayGiveTo(a, to); err != nil {
		return err
	}
	if r := a.Roles.ByID(a.Current); r == nil || !r.Superuser && !r.CreateDB {
		return denied("permission denied to change owner of database")
	}
	db.ACL = db.ACL.Owned(db.OwnedBy(), to.ID)
	db.Owner = to.ID.Stored()
	return env.View.UpdateDatabase(ctx, db)
}

// database finds a database by name; 3D000 when there is none.
func (env *Env) database(ctx context.Context, name string) (catalog.Database, error) {
	db, ok, err := env.View.Database(ctx, name)
	if err == nil && !ok {
		err = sqlerr.New(sqlerr.InvalidCatalogName, "database \"%s\" does not exist", name)
	}
	return db, err
}

// changeOwner is ALTER … OWNER TO of a relation.
func (a *alteration) changeOwner(ctx context.Context, spec ast.RoleSpec) error {
	who, err := a.env.authority(ctx)
	if err != nil {
		return err
	}
	to, err := namedRole(who, spec)
	if err != nil || to.ID == a.d.OwnedBy() {
		return err
	}
	if err := a.ownsSequence(ctx); err != nil {
		return err
	}
	if !who.Superuser() {
		if !who.Has(a.d.OwnedBy()) {
			return notOwner(kindOf(a.d), a.d.Name)
		}
		if err := mayGiveTo(who, to); err != nil {
			return err
		}
		sc, _, err := a.env.View.Schema(ctx, a.env.Database, a.d.Schema)
		if err != nil {
			return err
		}
		if who.As(to.ID).Granted(acl.Schema, sc.OwnedBy(), sc.Privileges(), acl.Create) == 0 {
			return permission(acl.Schema, sc.Name)
		}
	}
	next := ownedBy(a.d, to.ID)
	if err := a.env.View.RelabelRelation(ctx, a.d, next); err != nil {
		return err
	}
	a.d = next
	return a.env.giveSequences(ctx, next)
}

// ownsSequence refuses to give away a sequence that belongs to a column.
func (a *alteration) ownsSequence(ctx context.Context) error {
	q := a.d.Sequence
	if q == nil || q.OwnerTable == 0 {
		return nil
	}
	t, err := a.env.View.RelationByID(ctx, q.OwnerTable)
	if err != nil || t == nil {
		return err
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "cannot change owner of sequence \"%s\"",
		a.d.Name).WithDetail("Sequence \"%s\" is linked to table \"%s\".", a.d.Name, t.Name)
}

// ownedBy returns a relation's descriptor with another owner, which takes the place of the old one
// in what was granted.
func ownedBy(d *table.Desc, to acl.RoleID) *table.Desc {
	was := d.OwnedBy()
	next := d.Clone()
	next.Owner, next.ACL = to.Stored(), d.ACL.Owned(was, to)
	for i := range next.Columns {
		next.Columns[i].ACL = d.Columns[i].ACL.Owned(was, to)
	}
	return next
}

// giveSequences gives the sequences that belong to a table's columns the owner of the table.
func (env *Env) giveSequences(ctx context.Context, d *table.Desc) error {
	for i := range d.Columns {
		id := d.Columns[i].SequenceID
		if id == 0 {
			continue
		}
		q, err := env.View.RelationByID(ctx, id)
		if err != nil {
			return err
		}
		if q == nil || q.OwnedBy() == d.OwnedBy() {
			continue
		}
		if err := env.lock(ctx, q, rowlock.AccessExclusive); err != nil {
			return err
		}
		if err := env.View.RelabelRelation(ctx, q, ownedBy(q, d.OwnedBy())); err != nil {
			return err
		}
	}
	return nil
}

// giveType is ALTER TYPE … OWNER TO.
func (env *Env) giveType(ctx context.Context, d *catalog.TypeDesc, spec ast.RoleSpec) error {
	who, err := env.authority(ctx)
	if err != nil {
		return err
	}
	to, err := namedRole(who, spec)
	if err != nil || to.ID == d.OwnedBy() {
		return err
	}
	if err := env.ownsType(ctx, d); err != nil {
		return err
	}
	if !who.Superuser() {
		if err := mayGiveTo(who, to); err != nil {
			return err
		}
		sc, _, err := env.View.Schema(ctx, env.Database, d.Schema)
		if err != nil {
			return err
		}
		if who.As(to.ID).Granted(acl.Schema, sc.OwnedBy(), sc.Privileges(), acl.Create) == 0 {
			return permission(acl.Schema, sc.Name)
		}
	}
	next := d.Clone()
	next.Owner, next.ACL = to.ID.Stored(), d.ACL.Owned(d.OwnedBy(), to.ID)
	return env.View.UpdateType(ctx, d, next, false)
}

// ownsType refuses a change of a type that the session does not own.
func (env *Env) ownsType(ctx context.Context, d *catalog.TypeDesc) error {
	who, err := env.authority(ctx)
	if err != nil || who.Has(d.OwnedBy()) {
		return err
	}
	return denied("must be owner of type %s", env.visibleTypeName(d))
}
