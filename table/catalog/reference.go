package catalog

import (
	"context"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
)

// Reference is that an object names a role.
type Reference struct {
	Database table.ID // 0: the object belongs to no database
	Class    ObjectClass
	Object   table.ID
	Sub      table.ID // of a column of Object; 0: Object itself
	Why      ReferenceKind
}

type reference = Reference

// ObjectClass is a kind of object that names roles.
type ObjectClass byte

// The classes of objects.
const (
	ClassRelation          ObjectClass = 'c'
	ClassSchema            ObjectClass = 'n'
	ClassDatabase          ObjectClass = 'b'
	ClassType              ObjectClass = 't'
	ClassDefaultPrivileges ObjectClass = 'D'
	ClassExtension         ObjectClass = 'x'
	// ClassObject is an object without a descriptor. Sub is its acl.Class.
	ClassObject      ObjectClass = 'l'
	ClassLargeObject ObjectClass = 'L'
)

// ReferenceKind is why an object names a role.
type ReferenceKind byte

// The reasons, by pg_shdepend's letters.
const (
	ByOwner ReferenceKind = 'o'
	ByACL   ReferenceKind = 'a'
	// ByPolicy: the policy is for the role.
	ByPolicy ReferenceKind = 'r'
)

// referenceTo is a reference, and the role that it is to.
type referenceTo struct {
	role acl.RoleID
	ref  Reference
}

// references are what one object names.
type references map[referenceTo]struct{}

// add notes a reference. The bootstrap superuser, and PUBLIC, cannot be dropped.
func (r references) add(role acl.RoleID, ref Reference) {
	if role >= acl.FirstRole {
		r[referenceTo{role, ref}] = struct{}{}
	}
}

// addList notes the roles of a list, but for the owner of the object.
func (r references) addList(l acl.List, owner acl.RoleID, ref Reference) {
	for _, role := range l.Roles() {
		if role != owner {
			r.add(role, ref)
		}
	}
}

// referencesOf returns what a relation names. What a temporary one names is its session's affair:
// nothing of it is in the catalog that all sessions share.
func referencesOf(d *table.Desc) references {
	r := references{}
	if d == nil || d.Temporary() {
		return r
	}
	ref := Reference{Database: d.DatabaseID, Class: ClassRelation, Object: d.ID, Why: ByOwner}
	r.add(d.OwnedBy(), ref)
	ref.Why = ByACL
	r.addList(d.ACL, d.OwnedBy(), ref)
	for i := range d.Columns {
		ref.Sub = table.ID(d.Columns[i].ID)
		r.addList(d.Columns[i].ACL, d.OwnedBy(), ref)
	}
	ref.Why = ByPolicy
	for i := range d.Policies {
		ref.Sub = d.Policies[i].OID
		for _, role := range d.Policies[i].Roles {
			r.add(role, ref)
		}
	}
	return r
}

func (s *Schema) references() references {
	r := references{}
	if s == nil {
		return r
	}
	ref := Reference{Database: s.Database, Class: ClassSchema, Object: s.ID, Why: ByOwner}
	r.add(s.OwnedBy(), ref)
	ref.Why = ByACL
	r.addList(s.ACL, s.OwnedBy(), ref)
	return r
}

func (d *Database) references() references {
	r := references{}
	if d == nil {
		return r
	}
	ref := Reference{Class: ClassDatabase, Object: d.ID, Why: ByOwner}
	r.add(d.OwnedBy(), ref)
	ref.Why = ByACL
	r.addList(d.ACL, d.OwnedBy(), ref)
	return r
}

func referencePrefix(role acl.RoleID) []byte {
	return table.AppendID(rolePrefix(roleReference), table.ID(role))
}

func (r Reference) key(role acl.RoleID) []byte {
	b := append(table.AppendID(referencePrefix(role), r.Database), byte(r.Class))
	return append(table.AppendID(table.AppendID(b, r.Object), r.Sub), byte(r.Why))
}

// refer replaces the entries of what an object named before by those of what it names.
func (v *View) refer(ctx context.Context, was, is references) error {
	put := func(key []byte) error { return v.put(key, nil) }
	return v.referBy(ctx, was, is, put, v.remove)
}

// referBy is refer that writes the entries by put and removes them by remove.
func (v *View) referBy(ctx context.Context, was, is references,
	put, remove func(key []byte) error) error {
	for to := range was {
		if _, still := is[to]; !still {
			if err := remove(to.ref.key(to.role)); err != nil {
				return err
			}
		}
	}
	for to := range is {
		if _, before := was[to]; before {
			continue
		}
		if err := v.HoldRoles(ctx, to.role); err != nil {
			return err
		}
		if err := put(to.ref.key(to.role)); err != nil {
			return err
		}
	}
	return nil
}

// References lists the objects that name a role, by database and object.
func (v *View) References(ctx context.Context, role acl.RoleID) (out []Reference, err error) {
	prefix := referencePrefix(role)
	err = scan(ctx, v.tx, prefix, func(key, _ []byte) error {
		r, ok := readReference(key[len(prefix):])
		if !ok {
			return fmt.Errorf("catalog: reference to a role: %w", kv.ErrCorruption)
		}
		out = append(out, r)
		return nil
	})
	return out, err
}

func readReference(b []byte) (r Reference, ok bool) {
	if r.Database, b, ok = table.ReadID(b); !ok || len(b) == 0 {
		return r, false
	}
	r.Class, b = ObjectClass(b[0]), b[1:]
	if r.Object, b, ok = table.ReadID(b); !ok {
		return r, false
	}
	if r.Sub, b, ok = table.ReadID(b); !ok || len(b) != 1 {
		return r, false
	}
	r.Why = ReferenceKind(b[0])
	return r, true
}
