package acl

import "slices"

// Authority is what a session is allowed, by one state of the roles.
type Authority struct {
	Roles         *Roles
	Login         RoleID // the role that connected
	Session       RoleID // SET SESSION AUTHORIZATION
	Current       RoleID // SET ROLE: whose privileges count
	DatabaseOwner RoleID // of the session's database
}

// As returns the authority of another role in the same session.
func (a *Authority) As(role RoleID) *Authority {
	b := *a
	b.Current = role
	return &b
}

// Superuser reports whether the current role is one.
func (a *Authority) Superuser() bool { return a.Roles.Superuser(a.Current) }

// Has reports whether the current role has the privileges of another.
func (a *Authority) Has(role RoleID) bool { return a.has(a.Current, role) }

func (a *Authority) has(role, of RoleID) bool {
	return role == of || a.Roles.Superuser(role) ||
		slices.Contains(a.Roles.Closure(role, a.DatabaseOwner, true), of)
}

// Member reports whether a role is a member of another: it may become it.
func (a *Authority) Member(role, of RoleID) bool {
	return a.Roles.Superuser(role) || a.InGroup(role, of)
}

// MayAuthorize reports whether the session may become another one, as SET SESSION AUTHORIZATION
// does: what counts is the role that connected.
func (a *Authority) MayAuthorize(id RoleID) bool {
	return id == a.Login || a.Roles.Superuser(a.Login)
}

// InGroup is Member without the rights of a superuser.
func (a *Authority) InGroup(role, of RoleID) bool {
	return role == of || slices.Contains(a.Roles.Closure(role, a.DatabaseOwner, false), of)
}

// Administers reports whether a role may make others members of another role.
func (a *Authority) Administers(role, of RoleID) bool {
	if a.Roles.Superuser(role) {
		return true
	}
	if role == of {
		return false
	}
	for _, member := range a.Roles.Closure(role, a.DatabaseOwner, false) {
		if m, ok := a.Roles.Membership(of, member); ok && m.Admin {
			return true
		}
	}
	return false
}

// CreatesRoles reports whether the current role may create and alter roles.
func (a *Authority) CreatesRoles() bool {
	r := a.Roles.ByID(a.Current)
	return r != nil && (r.Superuser || r.CreateRole)
}

// Object returns the rules for an object of an owner.
func (a *Authority) Object(owner RoleID) Object {
	return Object{Owner: owner, Has: a.has}
}

// Granted returns which of the wanted privileges the current role has on an object. A superuser has
// all.
func (a *Authority) Granted(c Class, owner RoleID, l List, want Privileges) Privileges {
	if a.Superuser() {
		return want
	}
	has := a.Object(owner).Granted(l.Or(c, owner), a.Current, want)
	if has != want {
		has |= a.byPredefined(c) & want
	}
	return has
}

// byPredefined returns what pg_read_all_data and pg_write_all_data give on every object of a class.
func (a *Authority) byPredefined(c Class) (p Privileges) {
	reads, writes := a.Has(ReadAllData), a.Has(WriteAllData)
	switch {
	case c == Schema && (reads || writes):
		p = Usage
	case c == Relation || c == Sequence:
		if reads {
			p |= Select
		}
		if writes {
			p |= Insert | Update | Delete
		}
	}
	return p
}

// Options returns which of the wanted privileges the current role may grant.
func (a *Authority) Options(c Class, owner RoleID, l List, want Privileges) Privileges {
	if a.Superuser() {
		return want
	}
	return a.Object(owner).options(l.Or(c, owner), a.Current, want)
}

// Grantor chooses by whose right the current role grants privileges on an object.
func (a *Authority) Grantor(owner RoleID, l List, want Privileges) (by RoleID, has Privileges) {
	if a.Current == owner || a.Superuser() {
		return owner, want
	}
	return a.Object(owner).Grantor(l, a.Roles.Closure(a.Current, a.DatabaseOwner, true), want)
}

// Name returns the name of a role, or of one that is gone its number.
func (a *Authority) Name(id RoleID) string { return a.Roles.Name(id) }
