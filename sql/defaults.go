package sql

import (
	"context"
	"maps"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql/settings"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
)

// defaults are what sessions begin with, beside the engine's options: the settings of ALTER SYSTEM
// as last loaded. Sessions compare the numbers of changes with those that they have seen.
type defaults struct {
	load      sync.Mutex
	system    atomic.Pointer[map[string]string] // nil: not loaded yet
	loads     atomic.Uint64                     // of system
	databases atomic.Uint64                     // changes by ALTER DATABASE in this process
}

// defaultsSeen is what a session has taken over.
type defaultsSeen struct{ loads, databases uint64 }

// reloadSystem reads the settings of ALTER SYSTEM: pg_reload_conf().
func (e *Engine) reloadSystem(ctx context.Context) error {
	e.defaults.load.Lock()
	defer e.defaults.load.Unlock()
	return e.inCatalog(ctx, func(v *catalog.View) error {
		entries, err := v.SystemSettings(ctx)
		if err != nil {
			return err
		}
		system := settings.Entries(entries)
		e.defaults.system.Store(&system)
		e.defaults.loads.Add(1)
		return nil
	})
}

// inCatalog runs f on the schema as it is now.
func (e *Engine) inCatalog(ctx context.Context, f func(*catalog.View) error) error {
	tx, err := e.store.Begin(ctx, beginReadOnly)
	if err != nil {
		return toSQL(ctx, err)
	}
	defer func() { _ = tx.Rollback(ctx) }()
	return toSQL(ctx, f(e.catalog.View(tx)))
}

// startSettings finds the session's database and sets the settings that the session begins with.
// Those that its client asked for must be valid.
func (s *client) startSettings(ctx context.Context, o SessionOptions, role *acl.Role) error {
	server := map[string]string{"session_authorization": role.Name,
		"is_superuser": settings.OnOff(role.Superuser)}
	maps.Copy(server, s.engine.opts.Settings)
	if _, port, err := net.SplitHostPort(o.Server); err == nil {
		server["port"] = port
	}
	s.settings = settings.New(server)
	if s.engine.defaults.system.Load() == nil {
		if err := s.engine.reloadSystem(ctx); err != nil {
			return err
		}
	}
	s.followSystem()
	if err := s.followDatabase(ctx); err != nil {
		return err
	}
	if err := s.startAsked(ctx, o, role); err != nil {
		if several, ok := err.(interface{ Unwrap() []error }); ok {
			return several.Unwrap()[0]
		}
		return err
	}
	return s.startSuperuser(ctx)
}

// startAsked sets what the client asks for in its start-up packet.
func (s *client) startAsked(ctx context.Context, o SessionOptions, role *acl.Role) error {
	if len(o.Settings) == 0 {
		return nil
	}
	var a *acl.Authority
	var lists []catalog.ObjectACL
	if needsRights(o.Settings) {
		if err := s.engine.inCatalog(ctx, func(v *catalog.View) (err error) {
			if a, err = s.authorityIn(ctx, v); err == nil {
				lists, err = v.ObjectACLs(ctx, s.databaseID)
			}
			return err
		}); err != nil {
			return err
		}
	}
	asked := make(map[string]string, len(o.Settings))
	for name, value := range o.Settings {
		if d := settings.Lookup(name); d != nil && d.Guarded() && !role.Superuser &&
			!grantsParameter(a.As(role.ID), lists, name, acl.Set) {
			return deniedSetting(name)
		}
		asked[name] = strings.TrimSuffix(strings.TrimPrefix(value, "'"), "'") // asyncpg quotes
	}
	if err := s.ownIdentities(a, asked); err != nil {
		return err
	}
	return s.settings.SetLayer(settings.ByClient, asked)
}

// needsRights reports whether it depends on the session's rights if it may have the settings. Most
// clients ask for what every role may have.
func needsRights(asked map[string]string) bool {
	for name := range asked {
		if d := settings.Lookup(name); d != nil && d.Guarded() || isIdentity(name) {
			return true
		}
	}
	return false
}

// followSystem takes over what pg_reload_conf() loaded since.
func (s *client) followSystem() {
	loads := s.engine.defaults.loads.Load()
	if loads == s.defaults.loads {
		return
	}
	s.defaults.loads = loads
	// Identities are none of these settings: ALTER SYSTEM refuses them.
	s.setLayer(settings.BySystem, *s.engine.defaults.system.Load())
}

// followDatabase finds the session's database, and takes over its settings.
func (s *client) followDatabase(ctx context.Context) error {
	s.defaults.databases = s.engine.defaults.databases.Load()
	db, err := s.engine.findDatabase(ctx, s.database)
	if err != nil {
		return err
	}
	s.databaseID = db.ID
	return s.engine.inCatalog(ctx, func(v *catalog.View) error {
		if err := s.takeOver(ctx, v, settings.ByDatabase, db.Settings); err != nil {
			return err
		}
		return s.followRole(ctx, v)
	})
}

// followRole takes over the settings of the session's role, and those of all roles.
func (s *client) followRole(ctx context.Context, v *catalog.View) error {
	all, err := v.AllRoles(ctx)
	if err != nil {
		return err
	}
	for _, a := range all {
		if a.Database != 0 {
			continue
		}
		if err := s.takeOver(ctx, v, settings.ByAllRoles, a.Entries); err != nil {
			return err
		}
	}
	roles, err := v.Roles(ctx)
	if err != nil {
		return err
	}
	r := roles.ByID(s.identity.login)
	if r == nil {
		return nil
	}
	if err := s.takeOver(ctx, v, settings.ByRole, r.SettingsIn(0)); err != nil {
		return err
	}
	return s.takeOver(ctx, v, settings.ByRoleInDatabase, r.SettingsIn(uint32(s.databaseID)))
}

func (e *Engine) findDatabase(ctx context.Context, name string) (db catalog.Database, err error) {
	err = e.inCatalog(ctx, func(v *catalog.View) error {
		var ok bool
		if db, ok, err = v.Database(ctx, name); err == nil && !ok {
			err = sqlerr.New(sqlerr.InvalidCatalogName, "database \"%s\" does not exist", name)
		}
		return err
	})
	return db, err
}

// takeOver sets the values of a layer of settings that are stored as entries. An identity that the
// session may not have is logged and left out.
func (s *client) takeOver(ctx context.Context, v *catalog.View, l settings.Layer,
	entries []string) error {
	if len(entries) == 0 {
		s.setLayer(l, nil)
		return nil
	}
	values := settings.Entries(entries)
	a, err := s.authorityIn(ctx, v)
	if err != nil {
		return err
	}
	if err := s.ownIdentities(a, values); err != nil {
		s.engine.log.Warn("settings of new sessions", "role", s.user, "error", err)
	}
	s.setLayer(l, values)
	return nil
}

// setLayer sets the values of a layer of settings. They were valid when they were stored; one that
// this version of the program does not know is logged and left out.
func (s *client) setLayer(l settings.Layer, values map[string]string) {
	if err := s.settings.SetLayer(l, values); err != nil {
		s.engine.log.Warn("settings of new sessions", "database", s.database, "error", err)
	}
}
