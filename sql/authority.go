package sql

import (
	"context"
	"strings"

	"github.com/minidb/minidb/sql/settings"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
)

// identity is whose rights a session has. The settings session_authorization and role say which
// roles those are now, so that SET LOCAL, ROLLBACK and savepoints treat them as any setting. A role
// keeps its rights under a new name: ids has the IDs of names as they were when they were set.
type identity struct {
	login acl.RoleID // the role that connected
	ids   map[string]acl.RoleID

	// authority is what the roles came to when it was last asked for, and known what that rests on.
	authority *acl.Authority
	known     identityBasis
}

type identityBasis struct {
	version       uint64 // of the catalog
	session, role string
}

const noRole = "none" // the value of the setting role when there was no SET ROLE

// authority returns what the session is allowed now. It costs a comparison while neither the roles
// nor the catalog have changed. Requires: the transaction has a snapshot.
func (s *transactor) authority(ctx context.Context) (*acl.Authority, error) {
	version, own, err := s.tx.view.Version(ctx)
	if err != nil {
		return nil, err
	}
	d := s.settings.Derived()
	basis := identityBasis{version, d.SessionAuthorization, d.Role}
	stale := own || s.tx.asOf != 0 || s.tx.view.Outdated()
	if id := &s.identity; !stale && id.authority != nil && id.known == basis {
		return id.authority, nil
	}
	var a *acl.Authority
	if err := s.inPresent(ctx, own, func(v *catalog.View) error {
		a, err = s.authorityIn(ctx, v)
		return err
	}); err != nil {
		return nil, err
	}
	s.identity.authority, s.identity.known = a, basis
	if stale {
		s.identity.known = identityBasis{}
	}
	return a, nil
}

// inPresent calls f with the schema by which rights are judged: the newest, whatever the snapshot
// of the transaction shows. Rights that were revoked are gone at once, also for a transaction that
// keeps its snapshot or reads the past.
//
// A transaction that has changed the schema itself is judged by what it sees of it, as long as no
// other transaction has changed the schema too. After that it cannot commit any more, and must not
// keep its rights until it tries to.
func (s *transactor) inPresent(ctx context.Context, own bool, f func(*catalog.View) error) error {
	if !s.stale() {
		return f(s.tx.view)
	}
	return s.engine.inCatalog(ctx, func(v *catalog.View) error {
		if changed, err := s.tx.view.ChangedIn(ctx, v); err != nil {
			return err
		} else if own && !changed {
			v = s.tx.view
		}
		return f(v)
	})
}

// beforeSnapshot calls f with the schema by which rights are judged, and with what the session is
// allowed. It gives the transaction no snapshot: as in PostgreSQL that of the first query counts,
// not that of a SET or SHOW before it.
func (s *transactor) beforeSnapshot(ctx context.Context,
	f func(*catalog.View, *acl.Authority) error) error {
	if s.tx.tx != nil {
		a, err := s.authority(ctx)
		if err != nil {
			return err
		}
		return s.judge(ctx, func(v *catalog.View) error { return f(v, a) })
	}
	return s.engine.inCatalog(ctx, func(v *catalog.View) error {
		a, err := s.authorityIn(ctx, v)
		if err != nil {
			return err
		}
		return f(v, a)
	})
}

// judge is inPresent for one question about rights.
func (s *transactor) judge(ctx context.Context, f func(*catalog.View) error) error {
	_, own, err := s.tx.view.Version(ctx)
	if err != nil {
		return err
	}
	return s.inPresent(ctx, own, f)
}

// schemaChanged reports whether rights are judged by another state of the catalog than plans are
// made for: a plan that was kept may have been made by rights that were revoked since.
func (s *transactor) schemaChanged(ctx context.Context) (changed bool, err error) {
	if !s.stale() {
		return false, nil
	}
	err = s.engine.inCatalog(ctx, func(v *catalog.View) error {
		changed, err = s.tx.view.ChangedIn(ctx, v)
		return err
	})
	return changed, err
}

// authorityIn is what the session is allowed by its settings and a state of the schema. A role that
// the session may not have is left out.
func (s *client) authorityIn(ctx context.Context, v *catalog.View) (*acl.Authority, error) {
	roles, err := v.Roles(ctx)
	if err != nil {
		return nil, err
	}
	db, ok, err := v.Database(ctx, s.database)
	if err != nil {
		return nil, err
	}
	a := &acl.Authority{Roles: roles, Login: s.identity.login, Session: s.identity.login}
	if ok {
		a.DatabaseOwner = db.OwnedBy()
	}
	d := s.settings.Derived()
	if id, ok := s.roleOf(roles, d.SessionAuthorization); ok && a.MayAuthorize(id) {
		a.Session = id
	}
	a.Current = a.Session
	if d.Role != noRole {
		if id, ok := s.roleOf(roles, d.Role); ok && a.Member(a.Session, id) {
			a.Current = id
		}
	}
	return a, nil
}

// roleOf finds the role that a setting names.
func (s *client) roleOf(roles *acl.Roles, name string) (acl.RoleID, bool) {
	if id, ok := s.identity.ids[name]; ok {
		return id, true
	}
	if r := roles.ByName(name); r != nil {
		return r.ID, true
	}
	return 0, false
}

// roleNames returns the names of the current and the session's role.
func (s *transactor) roleNames(ctx context.Context) (current, session string) {
	if s.tx.view != nil {
		if a, err := s.authority(ctx); err == nil {
			return a.Name(a.Current), a.Name(a.Session)
		}
	}
	d := s.settings.Derived()
	current, session = d.Role, d.SessionAuthorization
	if current == noRole {
		current = session
	}
	return current, session
}

// setIdentity handles SET ROLE and SET SESSION AUTHORIZATION, in whatever spelling. value is nil
// for the default.
func (s *planRunner) setIdentity(ctx context.Context, name string, value *string,
	local bool) (done bool, err error) {
	name = strings.ToLower(name)
	if name != "role" && name != "session_authorization" {
		return false, nil
	}
	return true, s.beforeSnapshot(ctx, func(_ *catalog.View, a *acl.Authority) error {
		if name == "role" {
			return s.setRole(a, value, local)
		}
		return s.setAuthorization(a, value, local)
	})
}

// setRole is SET ROLE, and without a value RESET ROLE.
func (s *planRunner) setRole(a *acl.Authority, value *string, local bool) error {
	name := s.settings.Reset("role")
	if value != nil {
		name = *value
	}
	id, err := mayBecome(a, "role", name)
	switch {
	case err != nil && value != nil:
		return err
	case err != nil: // the role that the session began with is gone, or no longer its own
		name = noRole
	}
	if id != 0 {
		s.identity.ids[name] = id
	} else {
		id = a.Session
	}
	if err := s.settings.PutIdentity("role", name, local); err != nil {
		return err
	}
	return s.announceSuperuser(a.Roles, id, local)
}

// setAuthorization is SET SESSION AUTHORIZATION, which ends SET ROLE, and without a value RESET
// SESSION AUTHORIZATION, which resets the role too.
func (s *planRunner) setAuthorization(a *acl.Authority, value *string, local bool) error {
	name, id, none := s.settings.Reset("session_authorization"), a.Login, noRole
	role := &none
	if value == nil {
		role = nil
	} else {
		var err error
		if id, err = mayBecome(a, "session_authorization", *value); err != nil {
			return err
		}
		name = *value
		s.identity.ids[name] = id
	}
	if err := s.settings.PutIdentity("session_authorization", name, local); err != nil {
		return err
	}
	now := *a
	now.Session = id
	return s.setRole(&now, role, local)
}

// announceSuperuser sets is_superuser, whose changes are sent to the client.
func (s *planRunner) announceSuperuser(roles *acl.Roles, id acl.RoleID, local bool) error {
	return s.settings.PutIdentity("is_superuser", settings.OnOff(roles.Superuser(id)), local)
}

// resetIdentity gives the session back to the role that connected: DISCARD ALL.
func (s *client) resetIdentity() {
	for _, name := range []string{"session_authorization", "role", "is_superuser"} {
		s.settings.ForgetIdentity(name)
	}
}
