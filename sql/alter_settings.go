package sql

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/settings"
	"github.com/minidb/minidb/table/catalog"
)

// ReloadConf is pg_reload_conf (expr.Backends).
func (f *accessor) ReloadConf() error { return f.s.engine.reloadSystem(f.ctx) }

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
	if st.Rename != "" {
		return command, s.renameDatabase(ctx, db, st.Rename)
	}
	if db.Settings, err = s.altered(db.Settings, st); err != nil {
		return "", err
	}
	s.tx.altersDatabase = true
	return command, s.tx.view.UpdateDatabase(ctx, db)
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
	if err := s.engine.databaseUnused(ctx, old); err != nil {
		return err
	}
	s.tx.altersDatabase = true
	return nil
}

// alterSystem stores a setting that all sessions begin with after pg_reload_conf(), or after the
// next start.
func (s utility) alterSystem(ctx context.Context, st *ast.AlterSettings) error {
	if st.Set != nil {
		d := settings.Lookup(st.Set.Name)
		switch {
		case d == nil:
			return settings.Unknown(st.Set.Name)
		case d.Name == "data_directory":
			return sqlerr.New(sqlerr.CantChangeRuntimeParam, "parameter \"%s\" cannot be changed",
				d.Name)
		case d.Context == "postmaster":
			return sqlerr.Unsupported(int(st.Set.Pos), "ALTER SYSTEM SET "+d.Name).
				WithHint("It is an option of the server's command line, and of minidb.Open.")
		}
	}
	entries, err := s.tx.view.SystemSettings(ctx)
	if err == nil {
		entries, err = s.altered(entries, st)
	}
	if err != nil {
		return err
	}
	return s.tx.view.SetSystemSettings(ctx, entries)
}

// altered returns the stored entries as the statement changes them.
func (s utility) altered(entries []string, st *ast.AlterSettings) ([]string, error) {
	set := st.Set
	if set == nil {
		return nil, nil
	}
	name := set.Name
	if d := settings.Lookup(name); d != nil {
		name = d.Name
	}
	if set.Default {
		return settings.DropEntry(entries, name), s.settings.CheckReset(name)
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
	return settings.SetEntry(entries, name, value), s.settings.Check(name, value)
}
