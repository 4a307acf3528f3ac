package sql

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/ddl"
	"github.com/minidb/minidb/sql/settings"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
)

// ReloadConf is pg_reload_conf (expr.Backends).
func (f *accessor) ReloadConf() error {
	if err := f.mayCall("pg_reload_conf"); err != nil {
		return err
	}
	if err := f.s.engine.reloadSystem(f.ctx); err != nil {
		return err
	}
	if f.s.engine.shared {
		f.s.notice("WARNING", "01000", "pg_reload_conf has reloaded the settings in this process "+
			"only, of several that share the store")
	}
	return nil
}

// alterSettings is ALTER DATABASE and ALTER SYSTEM.
func (s utility) alterSettings(ctx context.Context, st *ast.AlterSettings) (string, error) {
	k := kindOf(st)
	command := k.name
	if err := s.writable(command); err != nil {
		return "", err
	}
	if k.alone {
		if err := s.alone(command); err != nil {
			return "", err
		}
	}
	if st.System {
		return command, s.alterSystem(ctx, st)
	}
	db, ok, err := s.tx.view.Database(ctx, st.Database)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", sqlerr.New(sqlerr.InvalidCatalogName, "database \"%s\" does not exist",
			st.Database)
	}
	a, err := s.authority(ctx)
	if err != nil {
		return "", err
	}
	if !a.Has(db.OwnedBy()) {
		return "", sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of database %s",
			db.Name)
	}
	if r := a.Roles.ByID(a.Current); st.Rename != "" && (r == nil || !r.Superuser && !r.CreateDB) {
		return "", sqlerr.New(sqlerr.InsufficientPrivilege,
			"permission denied to rename database")
	}
	if st.Rename != "" {
		return command, s.renameDatabase(ctx, db, st.Rename)
	}
	if db.Settings, err = s.altered(ctx, db.Settings, st); err != nil {
		return "", err
	}
	s.tx.altersDatabase = true
	return command, s.tx.view.UpdateDatabase(ctx, db)
}

// alterRoleSettings is ALTER ROLE … SET and RESET.
func (s utility) alterRoleSettings(ctx context.Context, st *ast.AlterRoleSettings) (string,
	error) {
	const command = "ALTER ROLE"
	if err := s.writable(command); err != nil {
		return "", err
	}
	a, err := s.authority(ctx)
	if err != nil {
		return "", err
	}
	var database table.ID
	if st.Database != "" {
		db, ok, err := s.tx.view.Database(ctx, st.Database)
		if err != nil {
			return "", err
		}
		if !ok {
			return "", sqlerr.New(sqlerr.InvalidCatalogName, "database \"%s\" does not exist",
				st.Database)
		}
		if database = db.ID; st.Role == nil && !a.Has(db.OwnedBy()) {
			return "", sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of database %s",
				db.Name)
		}
	}
	set := &ast.AlterSettings{Pos: st.Pos, Set: st.Set, Current: st.Current}
	s.tx.altersDatabase = true
	if st.Role == nil {
		return command, s.alterAllRoles(ctx, a, database, set)
	}
	r, err := ddl.SettableRole(a, *st.Role)
	if err != nil {
		return "", err
	}
	entries, err := s.altered(ctx, r.SettingsIn(uint32(database)), set)
	if err != nil {
		return "", err
	}
	return command, s.tx.view.UpdateRole(ctx, r.WithSettings(uint32(database), entries))
}

// alterAllRoles changes the settings of all roles, in one database or with 0 in all. Those in one
// are what ALTER DATABASE sets.
func (s utility) alterAllRoles(ctx context.Context, a *acl.Authority, database table.ID,
	set *ast.AlterSettings) error {
	if database != 0 {
		all, err := s.tx.view.Databases(ctx)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(d catalog.Database) bool { return d.ID == database })
		if all[i].Settings, err = s.altered(ctx, all[i].Settings, set); err != nil {
			return err
		}
		return s.tx.view.UpdateDatabase(ctx, all[i])
	}
	if !a.Superuser() {
		return sqlerr.New(sqlerr.InsufficientPrivilege,
			"must be superuser to alter settings globally")
	}
	all, err := s.tx.view.AllRoles(ctx)
	if err != nil {
		return err
	}
	now := catalog.AllRolesSettings{}
	if i := slices.IndexFunc(all, func(x catalog.AllRolesSettings) bool {
		return x.Database == 0
	}); i >= 0 {
		now = all[i]
	}
	if now.Entries, err = s.altered(ctx, now.Entries, set); err != nil {
		return err
	}
	return s.tx.view.SetAllRoles(ctx, now)
}

// renameDatabase is ALTER DATABASE … RENAME TO. The database must have no sessions.
func (s utility) renameDatabase(ctx context.Context, db catalog.Database, name string) error {
	old := db.Name
	if err := s.tx.view.RenameDatabase(ctx, db, name); err != nil {
		return err
	}
	if old == s.database {
		return sqlerr.New(sqlerr.FeatureNotSupported, "current database cannot be renamed")
	}
	if err := s.databaseUnused(ctx, old); err != nil {
		return err
	}
	s.tx.altersDatabase = true
	return nil
}

// alterSystem stores a setting that all sessions begin with after pg_reload_conf(), or after the
// next start.
func (s utility) alterSystem(ctx context.Context, st *ast.AlterSettings) error {
	if err := s.mayAlterSystem(ctx, st.Set); err != nil {
		return err
	}
	if st.Set != nil {
		d := settings.Lookup(st.Set.Name)
		switch {
		case d == nil:
			return settings.Unknown(st.Set.Name)
		case d.Name == "data_directory" || slices.Contains(identityNames, d.Name):
			return sqlerr.New(sqlerr.CantChangeRuntimeParam, "parameter \"%s\" cannot be changed",
				d.Name)
		case d.Context == "postmaster":
			return sqlerr.Unsupported(int(st.Set.Pos), "ALTER SYSTEM SET "+d.Name).
				WithHint("It is an option of the server's command line, and of minidb.Open.")
		}
	}
	entries, err := s.tx.view.SystemSettings(ctx)
	if err == nil && st.Set != nil {
		entries, err = s.edited(ctx, entries, st, settings.BySystem)
	} else {
		entries = nil
	}
	if err != nil {
		return err
	}
	return s.tx.view.SetSystemSettings(ctx, entries)
}

// mayAlterSystem checks the right to ALTER SYSTEM of one parameter, or with nil of all.
func (s utility) mayAlterSystem(ctx context.Context, set *ast.Set) error {
	if set != nil {
		return s.mayChange(ctx, set.Name, acl.AlterSystem)
	}
	if a, err := s.authority(ctx); err != nil || a.Superuser() {
		return err
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege,
		"permission denied to perform ALTER SYSTEM RESET ALL")
}

// altered returns the entries that are stored for a role or a database as the statement changes
// them.
func (s utility) altered(ctx context.Context, entries []string,
	st *ast.AlterSettings) ([]string, error) {
	set := st.Set
	if set == nil {
		return s.kept(ctx, entries)
	}
	if set.Default && len(entries) == 0 {
		return nil, nil // no name is looked at, as in PostgreSQL
	}
	if st.Current {
		if err := s.mayShow(ctx, set.Name); err != nil {
			return nil, err
		}
	}
	if err := s.mayStore(ctx, set.Name); err != nil {
		return nil, err
	}
	return s.edited(ctx, entries, st, settings.ByRole)
}

// mayStore refuses to store for a role or a database what the current role could not set. A custom
// parameter may turn out to be one of those when its extension is there.
func (s utility) mayStore(ctx context.Context, name string) error {
	if settings.Lookup(name) == nil && settings.Custom(name) {
		return s.mayChange(ctx, name, acl.Set)
	}
	return s.maySet(ctx, name)
}

// kept are the entries that RESET ALL leaves: those that the current role may not set.
func (s utility) kept(ctx context.Context, entries []string) (out []string, err error) {
	for _, e := range entries {
		name, _, _ := strings.Cut(e, "=")
		var refused *sqlerr.Error
		switch err := s.mayStore(ctx, name); {
		case errors.As(err, &refused) && refused.Code == sqlerr.InsufficientPrivilege:
			out = append(out, e)
		case err != nil:
			return nil, err
		}
	}
	return out, nil
}

// edited returns the entries of a layer of settings as SET or RESET of one parameter changes them.
func (s utility) edited(ctx context.Context, entries []string, st *ast.AlterSettings,
	in settings.Layer) ([]string, error) {
	set := st.Set
	name := set.Name
	if d := settings.Lookup(name); d != nil {
		name = d.Name
	}
	if set.Default {
		return settings.DropEntry(entries, name), s.settings.CheckReset(name, in)
	}
	var value string
	var err error
	if st.Current {
		var ok bool
		if value, ok = s.setting(name); !ok {
			return nil, settings.Unknown(name)
		}
	} else if value, err = settings.Join(name, set.Values); err != nil {
		return nil, err
	}
	if err := s.noteIdentity(ctx, name, value); err != nil {
		return nil, err
	}
	return settings.SetEntry(entries, name, value), s.settings.Check(name, value, in)
}
