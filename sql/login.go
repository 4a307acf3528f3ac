package sql

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
)

// Login is what decides whether a client may come in as a role. NewSession checks MayLogin and the
// limits itself; the password, and until when it is valid, are the caller's.
type Login struct {
	// Known is false for a name that no role has.
	Known bool
	// Open: no other role than the bootstrap superuser may log in, and it has no password. A client
	// that the caller trusts without a password may come in by any name then, as that superuser: a
	// first `minidb serve` needs no preparation. The first CREATE ROLE … LOGIN ends it.
	Open      bool
	MayLogin  bool
	Superuser bool
	// Verifier is the password's: a text of package scram, or PostgreSQL's "md5…", which no client
	// can come in with; "" when the role has no password.
	Verifier string
	// ValidUntil is when the password expires, in microseconds since 1970; nil: never.
	ValidUntil *int64
	// ConnectionLimit is how many sessions the role may have; -1: any number.
	ConnectionLimit int

	role  *acl.Role
	roles *acl.Roles
}

// Member reports whether the role is a member of another one, directly or not, or is that one.
func (l *Login) Member(of string) bool {
	r := l.roles.ByName(of)
	return r != nil && l.role != nil &&
		slices.Contains(l.roles.Closure(l.role.ID, 0, false), r.ID)
}

// Login returns what is known of the role that a client names, as it is now.
func (e *Engine) Login(ctx context.Context, user string) (l Login, err error) {
	err = e.inCatalog(ctx, func(v *catalog.View) error {
		roles, err := v.Roles(ctx)
		if err != nil {
			return err
		}
		l.Open, l.roles = openToAll(roles), roles
		if r := roles.ByName(user); r != nil {
			l.role = r
			l.Known, l.MayLogin, l.Superuser = true, r.Login, r.Superuser
			l.Verifier, l.ValidUntil = r.Password, r.ValidUntil
			l.ConnectionLimit = r.ConnectionLimit
		}
		return nil
	})
	return l, err
}

// openToAll reports whether the roles are as they were at the beginning (Login.Open).
func openToAll(roles *acl.Roles) bool {
	for _, r := range roles.All() {
		if r.ID == acl.Postgres && r.Password != "" || r.ID != acl.Postgres && r.Login {
			return false
		}
	}
	return true
}

// identify finds the role that a client comes in as, and checks that it may.
func (s *Session) identify(ctx context.Context, o SessionOptions) (*acl.Role, error) {
	var role *acl.Role
	err := s.engine.inCatalog(ctx, func(v *catalog.View) error {
		roles, err := v.Roles(ctx)
		if err != nil {
			return err
		}
		role = roles.ByName(o.User)
		if o.User == "" || role == nil && !o.Embedded && openToAll(roles) {
			role = roles.ByID(acl.Postgres)
		}
		switch {
		case role == nil:
			return sqlerr.New(sqlerr.InvalidAuthorization, "role \"%s\" does not exist", o.User)
		case o.Embedded:
			return nil
		case !role.Login:
			return sqlerr.New(sqlerr.InvalidAuthorization,
				"role \"%s\" is not permitted to log in", role.Name)
		}
		return s.mayEnter(ctx, v, roles, role)
	})
	return role, err
}

// mayEnter checks the limits of the role and of the session's database, and the privilege CONNECT.
func (s *Session) mayEnter(ctx context.Context, v *catalog.View, roles *acl.Roles,
	role *acl.Role) error {
	if role.Superuser {
		return nil
	}
	inRole, inDatabase := s.engine.sessionsOf(role.ID, s.database)
	if role.ConnectionLimit >= 0 && inRole >= role.ConnectionLimit {
		return sqlerr.New(sqlerr.TooManyConnections, "too many connections for role \"%s\"",
			role.Name)
	}
	db, ok, err := v.Database(ctx, s.database)
	if err != nil || !ok {
		return err // that it does not exist is found after this
	}
	a := &acl.Authority{Roles: roles, Current: role.ID, DatabaseOwner: db.OwnedBy()}
	if a.Granted(acl.Database, db.OwnedBy(), db.ACL, acl.Connect) == 0 {
		return sqlerr.New(sqlerr.InsufficientPrivilege,
			"permission denied for database \"%s\"", db.Name).
			WithDetail("User does not have CONNECT privilege.")
	}
	if db.ConnectionLimit > 0 && inDatabase >= db.ConnectionLimit-1 {
		return sqlerr.New(sqlerr.TooManyConnections, "too many connections for database \"%s\"",
			db.Name)
	}
	return nil
}

// sessionsOf counts the sessions that clients have by a role, and in a database.
func (e *Engine) sessionsOf(role acl.RoleID, database string) (ofRole, inDatabase int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.mu.sessions {
		if s.background {
			continue
		}
		if s.identity.login == role {
			ofRole++
		}
		if s.database == database {
			inDatabase++
		}
	}
	return ofRole, inDatabase
}
