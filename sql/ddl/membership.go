package ddl

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table/acl"
)

// membership is a role, and the roles that are to be members of it, or no longer.
type membership struct {
	role    *acl.Role
	members []*acl.Role
	specs   []ast.RoleSpec // of members, as they were written; nil: by their names
	admin   bool
	by      *acl.Role // GRANTED BY; nil: the current role
}

// memberName is the name of the i-th member in messages.
func (m *membership) memberName(i int) string { return m.members[i].Name }

// grantRole is GRANT role TO role, and REVOKE.
func (env *Env) grantRole(ctx context.Context, s *ast.GrantRole) error {
	a, err := env.authority(ctx)
	if err != nil {
		return err
	}
	m := membership{specs: s.Members, admin: s.Admin}
	if s.By != nil {
		if m.by, err = namedRole(a, *s.By); err != nil {
			return err
		}
	}
	if m.members, err = namedRoles(a, s.Members); err != nil {
		return err
	}
	for _, id := range s.Roles {
		m.role, err = namedRole(a, ast.RoleSpec{Pos: id.Pos, Name: id.Name})
		if err != nil {
			return err
		}
		change := env.addMembers
		if s.Revoke {
			change = env.dropMembers
		}
		if err := change(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// mayChangeMembers checks that the session may give or take memberships of a role.
func mayChangeMembers(a *acl.Authority, m *membership) error {
	switch {
	case m.role.Superuser && !a.Superuser():
		return denied("must be superuser to alter superusers")
	case !m.role.Superuser && !a.CreatesRoles() && !a.Administers(a.Current, m.role.ID):
		return denied("must have admin option on role \"%s\"", m.role.Name)
	case m.by != nil && m.by.ID != a.Current && !a.Superuser():
		return denied("must be superuser to set grantor")
	}
	return nil
}

// addMembers makes roles members of another, or gives members the admin option.
func (env *Env) addMembers(ctx context.Context, m membership) error {
	a, err := env.authority(ctx)
	if err != nil {
		return err
	}
	if err := mayChangeMembers(a, &m); err != nil {
		return err
	}
	if m.role.ID == acl.DatabaseOwner {
		return sqlerr.New(sqlerr.InternalError, "role \"%s\" cannot have explicit members",
			m.role.Name)
	}
	grantor := a.Current
	if m.by != nil {
		grantor = m.by.ID
	}
	for i, member := range m.members {
		if a, err = env.authority(ctx); err != nil { // with the members before
			return err
		}
		if member.ID == acl.DatabaseOwner {
			return sqlerr.New(sqlerr.InternalError,
				"role \"%s\" cannot be a member of any role", member.Name)
		}
		if a.InGroup(m.role.ID, member.ID) {
			return sqlerr.New(sqlerr.InvalidGrantOperation,
				"role \"%s\" is a member of role \"%s\"", m.role.Name, m.memberName(i))
		}
		old, is := a.Roles.Membership(m.role.ID, member.ID)
		if is && (!m.admin || old.Admin) {
			env.notice("00000", "role \"%s\" is already a member of role \"%s\"",
				m.memberName(i), m.role.Name)
			continue
		}
		err := env.View.PutMember(ctx, acl.Membership{Role: m.role.ID, Member: member.ID,
			Grantor: grantor, Admin: m.admin})
		if err != nil {
			return err
		}
	}
	return nil
}

// dropMembers ends memberships, or takes the admin option away.
func (env *Env) dropMembers(ctx context.Context, m membership) error {
	a, err := env.authority(ctx)
	if err != nil {
		return err
	}
	if err := mayChangeMembers(a, &m); err != nil {
		return err
	}
	for i, member := range m.members {
		old, is := a.Roles.Membership(m.role.ID, member.ID)
		if !is {
			if env.Notice != nil {
				env.Notice("WARNING", "01000", sqlerr.New("", "role \"%s\" is not a member of"+
					" role \"%s\"", m.memberName(i), m.role.Name).Message, "")
			}
			continue
		}
		if m.admin {
			old.Admin = false
			err = env.View.PutMember(ctx, old)
		} else {
			err = env.View.RemoveMember(ctx, old)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
