package ddl

import (
	"context"
	"strings"

	"github.com/minidb/minidb/internal/scram"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/types"
)

// createRole is CREATE ROLE, CREATE USER and CREATE GROUP.
func (env *Env) createRole(ctx context.Context, s *ast.CreateRole) error {
	a, err := env.authority(ctx)
	if err != nil {
		return err
	}
	r := acl.Role{Name: s.Role.Name, Inherit: true, Login: s.Kind == "user", ConnectionLimit: -1}
	if err := env.applyOptions(&r, s.Options, s.Kind); err != nil {
		return err
	}
	switch {
	case r.Superuser && !a.Superuser():
		return denied("must be superuser to create superusers")
	case r.Replication && !a.Superuser():
		return denied("must be superuser to create replication users")
	case r.BypassRLS && !a.Superuser():
		return denied("must be superuser to create bypassrls users")
	case !a.CreatesRoles():
		return denied("permission denied to create role")
	case acl.Reserved(r.Name):
		return reservedName(r.Name)
	}
	made, err := env.View.CreateRole(ctx, r)
	if err != nil {
		return err
	}
	for _, o := range s.Options {
		if err := env.newMemberships(ctx, made, o); err != nil {
			return err
		}
	}
	return nil
}

// newMemberships makes a new role what IN ROLE, ROLE or ADMIN says.
func (env *Env) newMemberships(ctx context.Context, made *acl.Role, o ast.RoleOption) error {
	if o.Name != "in role" && o.Name != "role" && o.Name != "admin" {
		return nil
	}
	a, err := env.authority(ctx)
	if err != nil {
		return err
	}
	named, err := namedRoles(a, o.Roles)
	if err != nil {
		return err
	}
	for _, r := range named {
		m := membership{role: made, members: []*acl.Role{r}, admin: o.Name == "admin"}
		if o.Name == "in role" {
			m.role, m.members[0] = r, made
		}
		if err := env.addMembers(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func reservedName(name string) *sqlerr.Error {
	return sqlerr.New(sqlerr.ReservedName, "role name \"%s\" is reserved", name).
		WithDetail("Role names starting with \"pg_\" are reserved.")
}

// applyOptions gives a role what a statement says of it.
func (env *Env) applyOptions(r *acl.Role, options []ast.RoleOption, kind string) error {
	flags := map[string]*bool{"superuser": &r.Superuser, "inherit": &r.Inherit,
		"createrole": &r.CreateRole, "createdb": &r.CreateDB, "login": &r.Login,
		"replication": &r.Replication, "bypassrls": &r.BypassRLS}
	for _, o := range options {
		var err error
		switch o.Name {
		case "connection limit":
			if o.Limit < -1 || o.Limit > 1<<31-1 {
				return sqlerr.New(sqlerr.InvalidParameterValue, "invalid connection limit: %d",
					o.Limit)
			}
			r.ConnectionLimit = int(o.Limit)
			env.limited(o.Limit)
		case "password":
			r.Password, err = env.verifier(r.Name, o)
		case "valid until":
			r.ValidUntil, err = env.validUntil(o.Text)
		case "sysid":
			env.notice("00000", "SYSID can no longer be specified")
		default:
			if flag := flags[o.Name]; flag != nil {
				*flag = o.On
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// limited warns of a limit that each process which shares the store applies to its own sessions.
func (env *Env) limited(connections int64) {
	if env.Shared && connections > 0 && env.Notice != nil {
		env.Notice("WARNING", "01000", "CONNECTION LIMIT counts the sessions of each process by "+
			"itself, of several that share the store", "")
	}
}

func (env *Env) validUntil(text string) (*int64, error) {
	format := types.Format{}
	if env.Runtime != nil {
		format = env.Runtime.Format
	}
	d, err := types.ParseText(types.TTimestampTZ, text, &format)
	if err != nil {
		return nil, err
	}
	return &d.I, nil
}

// verifier returns what is stored of a password. One that is a verifier already is kept as it is.
func (env *Env) verifier(role string, o ast.RoleOption) (string, error) {
	if o.Null {
		return "", nil
	}
	if isMD5(o.Text) {
		return o.Text, nil
	}
	if _, ok := scram.Parse(o.Text); ok {
		return o.Text, nil
	}
	if o.Text == "" {
		env.notice("00000", "empty string is not a valid password, clearing password")
		return "", nil
	}
	v, err := scram.Random(o.Text)
	if err != nil {
		return "", err
	}
	return v.String(), nil
}

// isMD5 reports whether a text is the MD5 hash of a password as PostgreSQL stores it.
func isMD5(text string) bool {
	hex, ok := strings.CutPrefix(text, "md5")
	return ok && len(hex) == 32 && strings.Trim(hex, "0123456789abcdef") == ""
}

// unreserved refuses to alter the roles of the system.
func unreserved(r ast.RoleSpec) error {
	if r.Keyword == "" && acl.Reserved(r.Name) {
		return sqlerr.New(sqlerr.ReservedName, "role name \"%s\" is reserved", r.Name).
			WithDetail("Cannot alter reserved roles.")
	}
	return nil
}

// alterRole is ALTER ROLE with options, and ALTER GROUP ADD or DROP USER.
func (env *Env) alterRole(ctx context.Context, s *ast.AlterRole) error {
	if err := unreserved(s.Role); err != nil {
		return err
	}
	a, err := env.authority(ctx)
	if err != nil {
		return err
	}
	r, err := namedRole(a, s.Role)
	if err != nil {
		return err
	}
	if err := mayAlter(a, r, s); err != nil {
		return err
	}
	if s.Members != nil {
		members, err := namedRoles(a, s.Members)
		if err != nil {
			return err
		}
		m := membership{role: r, members: members, specs: s.Members}
		if s.Drop {
			return env.dropMembers(ctx, m)
		}
		return env.addMembers(ctx, m)
	}
	now := *r
	if err := env.applyOptions(&now, s.Options, "role"); err != nil {
		return err
	}
	return env.View.UpdateRole(ctx, now)
}

// mayAlter checks that the session may alter a role as a statement asks.
func mayAlter(a *acl.Authority, r *acl.Role, s *ast.AlterRole) error {
	said := map[string]bool{}
	for _, o := range s.Options {
		said[o.Name] = true
	}
	switch {
	case (r.Superuser || said["superuser"]) && !a.Superuser():
		return denied("must be superuser to alter superuser roles or change superuser attribute")
	case (r.Replication || said["replication"]) && !a.Superuser():
		return denied("must be superuser to alter replication roles or change replication" +
			" attribute")
	case said["bypassrls"] && !a.Superuser():
		return denied("must be superuser to change bypassrls attribute")
	case a.CreatesRoles():
		return nil
	}
	if r.ID == a.Current && len(s.Options) == 1 && said["password"] {
		return nil
	}
	return denied("permission denied")
}

// renameRole is ALTER ROLE … RENAME TO.
func (env *Env) renameRole(ctx context.Context, s *ast.RenameRole) error {
	a, err := env.authority(ctx)
	if err != nil {
		return err
	}
	r, err := namedRole(a, s.Role)
	if err != nil {
		return err
	}
	switch {
	case r.ID == a.Session:
		return sqlerr.New(sqlerr.FeatureNotSupported, "session user cannot be renamed")
	case r.ID == a.Current:
		return sqlerr.New(sqlerr.FeatureNotSupported, "current user cannot be renamed")
	case acl.Reserved(r.Name):
		return reservedName(r.Name)
	case acl.Reserved(s.NewName.Name):
		return reservedName(s.NewName.Name)
	case a.Roles.ByName(s.NewName.Name) != nil:
		return sqlerr.New(sqlerr.DuplicateObject, "role \"%s\" already exists", s.NewName.Name)
	case r.Superuser && !a.Superuser():
		return denied("must be superuser to rename superusers")
	case !a.CreatesRoles():
		return denied("permission denied to rename role")
	}
	now := *r
	if isMD5(now.Password) {
		now.Password = ""
		env.notice("00000", "MD5 password cleared because of role rename")
	}
	return env.View.RenameRole(ctx, now, s.NewName.Name)
}

// dropRole is DROP ROLE.
func (env *Env) dropRole(ctx context.Context, s *ast.DropRole) error {
	for _, spec := range s.Roles {
		a, err := env.authority(ctx)
		if err != nil {
			return err
		}
		if !a.CreatesRoles() {
			return denied("permission denied to drop role")
		}
		if spec.Keyword != "" {
			return sqlerr.New(sqlerr.InvalidParameterValue,
				"cannot use special role specifier in DROP ROLE")
		}
		r, err := namedRole(a, spec)
		if err != nil {
			if !s.IfExists {
				return err
			}
			env.notice("00000", "role \"%s\" does not exist, skipping", spec.Name)
			continue
		}
		if err := env.dropOneRole(ctx, a, r); err != nil {
			return err
		}
	}
	return nil
}

func (env *Env) dropOneRole(ctx context.Context, a *acl.Authority, r *acl.Role) error {
	switch {
	case r.ID == a.Current:
		return sqlerr.New(sqlerr.ObjectInUse, "current user cannot be dropped")
	case r.ID == a.Session:
		return sqlerr.New(sqlerr.ObjectInUse, "session user cannot be dropped")
	case r.Superuser && !a.Superuser():
		return denied("must be superuser to drop superusers")
	case r.ID < acl.FirstRole:
		return sqlerr.New(sqlerr.DependentObjectsStillExist,
			"cannot drop role %s because it is required by the database system", r.Name)
	}
	detail, err := env.referencesTo(ctx, r.ID)
	if err != nil {
		return err
	}
	if detail != "" {
		return sqlerr.New(sqlerr.DependentObjectsStillExist,
			"role \"%s\" cannot be dropped because some objects depend on it", r.Name).
			WithDetail("%s", detail)
	}
	return env.View.DropRole(ctx, r)
}

// SettableRole returns a role whose settings the session may alter.
func SettableRole(a *acl.Authority, spec ast.RoleSpec) (*acl.Role, error) {
	if err := unreserved(spec); err != nil {
		return nil, err
	}
	r, err := namedRole(a, spec)
	switch {
	case err != nil:
		return nil, err
	case r.Superuser && !a.Superuser():
		return nil, denied("must be superuser to alter superusers")
	case !a.CreatesRoles() && r.ID != a.Current:
		return nil, denied("permission denied")
	}
	return r, nil
}
