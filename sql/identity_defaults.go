package sql

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql/settings"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
)

// identityNames are the settings that say whose rights a session has, in the order in which they
// take effect.
var identityNames = []string{"session_authorization", "role"}

func isIdentity(name string) bool {
	return slices.ContainsFunc(identityNames, func(n string) bool {
		return strings.EqualFold(n, name)
	})
}

// ownIdentities takes out of the settings that a session begins with the roles that it may not
// have, and returns why: each role may store such settings for itself, and send them in the
// start-up packet. A session_authorization is checked but has no effect, as in PostgreSQL: the
// session is that of the role which connected.
func (s *client) ownIdentities(a *acl.Authority, values map[string]string) error {
	var refused []error
	for _, name := range identityNames {
		for k, value := range values {
			if !strings.EqualFold(k, name) {
				continue
			}
			id, err := mayBecome(a, name, value)
			if err != nil {
				refused = append(refused, err)
			}
			if err != nil || name == "session_authorization" {
				delete(values, k)
			} else if id != 0 {
				s.identity.ids[value] = id
			}
		}
	}
	return errors.Join(refused...)
}

// mayBecome finds the role that a setting of identity names, and returns an error unless the
// session may have its rights. The role is 0 for "none".
func mayBecome(a *acl.Authority, setting, name string) (acl.RoleID, error) {
	if setting == "role" && name == noRole {
		return 0, nil
	}
	r := a.Roles.ByName(name)
	if r == nil {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "role \"%s\" does not exist", name)
	}
	may, words := a.Member(a.Session, r.ID), "role"
	if setting == "session_authorization" {
		may, words = a.MayAuthorize(r.ID), "session authorization"
	}
	if !may {
		return 0, sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to set %s \"%s\"",
			words, name)
	}
	return r.ID, nil
}

// noteIdentity warns of an identity that is stored for sessions which may not be able to have it,
// as PostgreSQL does: the statement goes on.
func (s *planRunner) noteIdentity(ctx context.Context, name, value string) error {
	if !slices.Contains(identityNames, name) {
		return nil
	}
	a, err := s.authority(ctx)
	if err != nil {
		return err
	}
	var e *sqlerr.Error
	if _, err := mayBecome(a, name, value); !errors.As(err, &e) {
		return err
	}
	if e.Code == sqlerr.InvalidParameterValue {
		e.Code = sqlerr.UndefinedObject
	}
	s.notice("NOTICE", e.Code, "%s", strings.Replace(e.Message, "permission denied",
		"permission will be denied", 1))
	return nil
}

// startSuperuser makes is_superuser say what the settings that the session began with come to.
func (s *client) startSuperuser(ctx context.Context) error {
	return s.engine.inCatalog(ctx, func(v *catalog.View) error {
		a, err := s.authorityIn(ctx, v)
		if err == nil {
			s.settings.SetServer("is_superuser", settings.OnOff(a.Superuser()))
		}
		return err
	})
}
