package catalog

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/txn"
)

// Roles belong to no database. Their keys:
//
//	c r n {name}                   → role
//	c r m {role}{member}           → membership
//	c r a {database}               → settings of all roles; 0: in every database
//	c r p {database}{role}{schema}{class} → default privileges
//	c r l {database}{class}{object} → access list of an object without a descriptor
//	c r d {role}{database}{class}{object}{sub}{why} → nothing: the object names the role
//
// The roles that there are from the beginning have no record until they are altered. The entries
// under d are what DROP ROLE looks at. A transaction that makes an object name a role validates the
// role's record, and one that drops a role validates the span of its entries, so that no object
// names a role that is gone.
const (
	roleByName     = 'n'
	roleMember     = 'm'
	roleSettings   = 'a'
	rolePrivileges = 'p'
	roleReference  = 'd'
	roleObject     = 'l'
)

func rolePrefix(kind byte) []byte { return []byte{table.PrefixCatalog, tagRole, kind} }

func roleKey(name string) []byte { return append(rolePrefix(roleByName), name...) }

func memberKey(role, member acl.RoleID) []byte {
	return table.AppendID(table.AppendID(rolePrefix(roleMember), table.ID(role)), table.ID(member))
}

func allRolesKey(db table.ID) []byte { return table.AppendID(rolePrefix(roleSettings), db) }

// Roles returns all roles and memberships.
func (v *View) Roles(ctx context.Context) (*acl.Roles, error) {
	st, err := v.state(ctx)
	if err != nil {
		return nil, err
	}
	if st == nil {
		return readRoles(ctx, v.tx)
	}
	st.mu.RLock()
	roles := st.roles
	st.mu.RUnlock()
	if roles != nil {
		return roles, nil
	}
	if roles, err = readRoles(ctx, v.tx); err != nil {
		return nil, err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.roles == nil {
		st.roles = roles
	}
	return st.roles, nil
}

func readRoles(ctx context.Context, tx *txn.Txn) (*acl.Roles, error) {
	roles, err := scanJSON[acl.Role](ctx, tx, rolePrefix(roleByName))
	if err != nil {
		return nil, err
	}
	members, err := scanJSON[acl.Membership](ctx, tx, rolePrefix(roleMember))
	if err != nil {
		return nil, err
	}
	return acl.NewRoles(roles, members), nil
}

// Role finds a role by its name; 42704 when there is none.
func (v *View) Role(ctx context.Context, name string) (*acl.Role, error) {
	roles, err := v.Roles(ctx)
	if err != nil {
		return nil, err
	}
	if r := roles.ByName(name); r != nil {
		return r, nil
	}
	return nil, NoRole(name)
}

// NoRole is the error for a role that does not exist.
func NoRole(name string) *sqlerr.Error {
	return sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", name)
}

// CreateRole makes a role and gives it an ID; 42710 when the name is taken.
func (v *View) CreateRole(ctx context.Context, r acl.Role) (*acl.Role, error) {
	if err := v.freeRole(ctx, r.Name); err != nil {
		return nil, err
	}
	id, err := v.newID(ctx, roleKey(r.Name))
	if err != nil {
		return nil, err
	}
	r.ID = acl.RoleID(id)
	return &r, v.put(roleKey(r.Name), encodeJSON(r))
}

func (v *View) freeRole(ctx context.Context, name string) error {
	roles, err := v.Roles(ctx)
	if err == nil && roles.ByName(name) != nil {
		err = sqlerr.New(sqlerr.DuplicateObject, "role \"%s\" already exists", name)
	}
	return err
}

// UpdateRole writes a role whose name and ID are unchanged.
func (v *View) UpdateRole(_ context.Context, r acl.Role) error {
	return v.put(roleKey(r.Name), encodeJSON(r))
}

// RenameRole gives a role another name; 42710 when it is taken.
func (v *View) RenameRole(ctx context.Context, r acl.Role, name string) error {
	if err := v.freeRole(ctx, name); err != nil {
		return err
	}
	if err := v.reserve(ctx, roleKey(name)); err != nil {
		return err
	}
	if err := v.remove(roleKey(r.Name)); err != nil {
		return err
	}
	r.Name = name
	return v.UpdateRole(ctx, r)
}

// DropRole removes a role with its memberships. Requires: no object names it.
func (v *View) DropRole(ctx context.Context, r *acl.Role) error {
	v.tx.Validate(table.PrefixSpan(referencePrefix(r.ID)))
	v.tx.Validate(table.PrefixSpan(rolePrefix(roleMember)))
	roles, err := v.Roles(ctx)
	if err != nil {
		return err
	}
	for _, m := range roles.Memberships() {
		if m.Role == r.ID || m.Member == r.ID {
			if err := v.RemoveMember(ctx, m); err != nil {
				return err
			}
		}
	}
	return v.remove(roleKey(r.Name))
}

// HoldRoles makes Commit fail if one of the roles is dropped, renamed or altered meanwhile.
func (v *View) HoldRoles(ctx context.Context, ids ...acl.RoleID) error {
	roles, err := v.Roles(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if r := roles.ByID(id); r != nil && id >= acl.FirstRole {
			v.validate(roleKey(r.Name))
		}
	}
	return nil
}

// PutMember makes a role a member of another, or alters how it is one.
func (v *View) PutMember(ctx context.Context, m acl.Membership) error {
	if err := v.HoldRoles(ctx, m.Role, m.Member); err != nil {
		return err
	}
	return v.put(memberKey(m.Role, m.Member), encodeJSON(m))
}

// RemoveMember ends a membership.
func (v *View) RemoveMember(_ context.Context, m acl.Membership) error {
	return v.remove(memberKey(m.Role, m.Member))
}

// AllRolesSettings are what the sessions of all roles begin with in a database, or with 0 in all.
type AllRolesSettings struct {
	Database table.ID
	Entries  []string
}

// AllRoles returns the settings of all roles, which must not be changed.
func (v *View) AllRoles(ctx context.Context) ([]AllRolesSettings, error) {
	st, err := v.state(ctx)
	if err != nil {
		return nil, err
	}
	all := func(s *state) map[struct{}][]AllRolesSettings { return s.allRoles }
	return memo(st, all, struct{}{}, func() ([]AllRolesSettings, error) {
		return scanJSON[AllRolesSettings](ctx, v.tx, rolePrefix(roleSettings))
	})
}

// SetAllRoles replaces the settings of all roles in a database, or with 0 in all.
func (v *View) SetAllRoles(_ context.Context, s AllRolesSettings) error {
	return v.put(allRolesKey(s.Database), encodeJSON(s))
}

// DefaultPrivileges are what new objects of a class get, which a role makes: beside PostgreSQL's
// default in one schema, in its place with schema 0.
type DefaultPrivileges struct {
	OID      table.ID
	Database table.ID
	Role     acl.RoleID
	Schema   table.ID // 0: in all
	Class    acl.Class
	ACL      acl.List
}

func (d *DefaultPrivileges) key() []byte {
	b := table.AppendID(rolePrefix(rolePrivileges), d.Database)
	b = table.AppendID(table.AppendID(b, table.ID(d.Role)), d.Schema)
	return append(b, byte(d.Class))
}

// DefaultPrivileges lists the default privileges of a database.
func (v *View) DefaultPrivileges(ctx context.Context, db table.ID) ([]DefaultPrivileges, error) {
	return scanJSON[DefaultPrivileges](ctx, v.tx,
		table.AppendID(rolePrefix(rolePrivileges), db))
}

// PutDefaultPrivileges writes default privileges, or removes them when they have a nil list.
func (v *View) PutDefaultPrivileges(ctx context.Context, d DefaultPrivileges) error {
	old, err := readJSON[DefaultPrivileges](ctx, v.tx, d.key())
	if err != nil {
		return err
	}
	refs := func(d *DefaultPrivileges) references {
		if d == nil || d.ACL == nil {
			return nil
		}
		to := references{}
		to.add(d.Role, reference{Database: d.Database, Class: ClassDefaultPrivileges,
			Object: d.OID, Why: ByOwner})
		to.addList(d.ACL, d.Role, reference{Database: d.Database, Class: ClassDefaultPrivileges,
			Object: d.OID, Why: ByACL})
		return to
	}
	if d.OID == 0 {
		if old != nil {
			d.OID = old.OID
		} else if d.OID, err = v.NewID(ctx); err != nil {
			return err
		}
	}
	if err := v.refer(ctx, refs(old), refs(&d)); err != nil {
		return err
	}
	if d.ACL == nil {
		return v.remove(d.key())
	}
	return v.put(d.key(), encodeJSON(d))
}

// forgetDefaults removes the default privileges in a schema.
func (v *View) forgetDefaults(ctx context.Context, s Schema) error {
	all, err := v.DefaultPrivileges(ctx, s.Database)
	if err != nil {
		return err
	}
	for _, d := range all {
		if d.Schema != s.ID {
			continue
		}
		d.ACL = nil
		if err := v.PutDefaultPrivileges(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// forgetRolesIn removes what roles have in a database: settings and default privileges.
func (v *View) forgetRolesIn(ctx context.Context, db table.ID) error {
	if err := v.forgetObjects(ctx, db); err != nil {
		return err
	}
	all, err := v.DefaultPrivileges(ctx, db)
	if err != nil {
		return err
	}
	for _, d := range all {
		d.ACL = nil
		if err := v.PutDefaultPrivileges(ctx, d); err != nil {
			return err
		}
	}
	roles, err := v.Roles(ctx)
	if err != nil {
		return err
	}
	for _, r := range roles.All() {
		if r.SettingsIn(uint32(db)) == nil {
			continue
		}
		if err := v.UpdateRole(ctx, r.WithSettings(uint32(db), nil)); err != nil {
			return err
		}
	}
	return nil
}
