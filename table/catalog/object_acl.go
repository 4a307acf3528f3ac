package catalog

import (
	"context"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
)

// ObjectACL is the access list of an object that has no descriptor in the catalog: a built-in type,
// function or language, the row type of a relation, a tablespace, or a parameter. There is none
// while the object has the list that it had from the beginning.
type ObjectACL struct {
	Database table.ID // 0: of a tablespace or a parameter, which belong to no database
	Class    acl.Class
	Object   table.ID
	Name     string // of a parameter
	Owner    acl.RoleID
	ACL      acl.List
}

func objectACLPrefix(db table.ID) []byte { return table.AppendID(rolePrefix(roleObject), db) }

func (o *ObjectACL) key() []byte {
	return table.AppendID(append(objectACLPrefix(o.Database), byte(o.Class)), o.Object)
}

func (o *ObjectACL) references() references {
	r := references{}
	if o != nil {
		r.addList(o.ACL, o.Owner, reference{Database: o.Database, Class: ClassObject,
			Object: o.Object, Sub: table.ID(o.Class), Why: ByACL})
	}
	return r
}

// ObjectACLs lists the access lists of a database's objects without descriptors, and those of the
// objects that belong to no database.
func (v *View) ObjectACLs(ctx context.Context, db table.ID) ([]ObjectACL, error) {
	st, err := v.state(ctx)
	if err != nil {
		return nil, err
	}
	if st == nil {
		return v.readObjectACLs(ctx, db)
	}
	st.mu.RLock()
	lists, known := st.objects[db]
	st.mu.RUnlock()
	if known {
		return lists, nil
	}
	if lists, err = v.readObjectACLs(ctx, db); err != nil {
		return nil, err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.objects == nil {
		st.objects = map[table.ID][]ObjectACL{}
	}
	st.objects[db] = lists
	return lists, nil
}

func (v *View) readObjectACLs(ctx context.Context, db table.ID) ([]ObjectACL, error) {
	own, err := scanJSON[ObjectACL](ctx, v.tx, objectACLPrefix(db))
	if err != nil || db == 0 {
		return own, err
	}
	shared, err := scanJSON[ObjectACL](ctx, v.tx, objectACLPrefix(0))
	return append(own, shared...), err
}

// ObjectACL returns the access list of an object without a descriptor; nil: that which it had from
// the beginning.
func (v *View) ObjectACL(ctx context.Context, db table.ID, class acl.Class,
	object table.ID) (acl.List, error) {
	all, err := v.ObjectACLs(ctx, db)
	for i := range all {
		if all[i].Class == class && all[i].Object == object {
			return all[i].ACL, err
		}
	}
	return nil, err
}

// PutObjectACL replaces the access list of an object without a descriptor; a nil list is removed.
func (v *View) PutObjectACL(ctx context.Context, o ObjectACL) error {
	old, err := readJSON[ObjectACL](ctx, v.tx, o.key())
	if err != nil {
		return err
	}
	if err := v.refer(ctx, old.references(), o.references()); err != nil {
		return err
	}
	if o.ACL == nil {
		return v.remove(o.key())
	}
	return v.put(o.key(), encodeJSON(o))
}

// forgetObjects removes the access lists of a database that is dropped.
func (v *View) forgetObjects(ctx context.Context, db table.ID) error {
	own, err := scanJSON[ObjectACL](ctx, v.tx, objectACLPrefix(db))
	if err != nil {
		return err
	}
	for _, o := range own {
		o.ACL = nil
		if err := v.PutObjectACL(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// forgetObject removes the access list of a type that is dropped.
func (v *View) forgetObject(ctx context.Context, db table.ID, class acl.Class,
	object table.ID) error {
	list, err := v.ObjectACL(ctx, db, class, object)
	if err != nil || list == nil {
		return err
	}
	return v.PutObjectACL(ctx, ObjectACL{Database: db, Class: class, Object: object})
}
