package sql

import (
	"context"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/settings"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
)

func (s utility) execSet(ctx context.Context, st *ast.Set) (string, error) {
	tag := "SET"
	if st.Reset {
		tag = "RESET" // the same statement under another name
	}
	if st.Local && s.tx.state != inBlock && !s.multiStatement && !s.inProgram {
		s.notice("WARNING", sqlerr.NoActiveSQLTransaction,
			"SET LOCAL can only be used in transaction blocks")
	}
	var identity *string
	if len(st.Values) == 1 {
		identity = &st.Values[0]
	}
	if done, err := s.setIdentity(ctx, st.Name, identity, st.Local); done {
		return tag, err
	}
	if err := s.maySet(ctx, st.Name); err != nil {
		return tag, err
	}
	if st.Default {
		return tag, s.settings.SetDefault(st.Name, st.Local)
	}
	if len(st.Values) == 1 {
		if done, err := s.setTransactionSetting(st.Name, st.Values[0]); done {
			return tag, err
		}
	}
	return tag, s.settings.SetList(st.Name, st.Values, st.Local)
}

// maySet refuses to set what only superusers may, and roles that were granted the right.
func (s *planRunner) maySet(ctx context.Context, name string) error {
	if d := settings.Lookup(name); d == nil || d.Context != "superuser" {
		return nil
	}
	return s.mayChange(ctx, name, acl.Set)
}

// mayChange returns 42501 unless the current role has a privilege on a parameter.
func (s *planRunner) mayChange(ctx context.Context, name string, want acl.Privileges) error {
	return s.beforeSnapshot(ctx, func(v *catalog.View, a *acl.Authority) error {
		if a.Superuser() {
			return nil
		}
		all, err := v.ObjectACLs(ctx, s.databaseID)
		if err == nil && !grantsParameter(a, all, name, want) {
			err = deniedSetting(name)
		}
		return err
	})
}

// grantsParameter reports whether the current role of a has a privilege on a parameter, by the
// access lists of all objects.
func grantsParameter(a *acl.Authority, all []catalog.ObjectACL, name string,
	want acl.Privileges) bool {
	for i := range all {
		if o := &all[i]; o.Class == acl.Parameter && strings.EqualFold(o.Name, name) {
			return a.Granted(o.Class, acl.Postgres, o.ACL, want) != 0
		}
	}
	return false
}

// mayShow refuses to show the value of a parameter that is secret.
func (s *planRunner) mayShow(ctx context.Context, name string) error {
	d := settings.Lookup(name)
	if d == nil || !d.Secret {
		return nil
	}
	return s.beforeSnapshot(ctx, func(_ *catalog.View, a *acl.Authority) error {
		if a.Has(acl.ReadAllSettings) {
			return nil
		}
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser or have privileges of "+
			"pg_read_all_settings to examine \"%s\"", d.Name)
	})
}

// listed are the parameters that SHOW ALL and pg_settings show the current role.
func (s *planRunner) listed(ctx context.Context) []settings.Def {
	secrets := s.mayShow(ctx, "data_directory") == nil
	return slices.DeleteFunc(slices.Clone(settings.All()), func(d settings.Def) bool {
		return d.Unlisted || d.Secret && !secrets
	})
}

// deniedSetting is the error for a parameter that the role may not set.
func deniedSetting(name string) error {
	return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to set parameter \"%s\"",
		name)
}

func textColumn(name string) physical.Column {
	return physical.Column{Name: name, Type: types.TText}
}

// showColumns are the columns of SHOW.
func showColumns(name string) []physical.Column {
	if strings.EqualFold(name, "all") {
		return []physical.Column{textColumn("name"), textColumn("setting"),
			textColumn("description")}
	}
	if d := settings.Lookup(name); d != nil {
		name = d.Name
	}
	return []physical.Column{textColumn(name)}
}

func (s utility) openShow(ctx context.Context, st *ast.Show) (source, error) {
	cols := showColumns(st.Name)
	if len(cols) == 1 {
		if err := s.mayShow(ctx, st.Name); err != nil {
			return nil, err
		}
		v, ok := s.setting(st.Name)
		if !ok {
			return nil, settings.Unknown(st.Name)
		}
		return newRows("SHOW", cols, [][]types.Datum{{types.NewString(v)}}), nil
	}
	var rows [][]types.Datum
	for _, d := range s.listed(ctx) {
		v, _ := s.setting(d.Name)
		rows = append(rows, []types.Datum{types.NewString(d.Name), types.NewString(v),
			types.NewString(d.Desc)})
	}
	for _, name := range s.settings.CustomNames() {
		v, _ := s.settings.Get(name)
		rows = append(rows, []types.Datum{types.NewString(name), types.NewString(v), types.Null})
	}
	return newRows("SHOW", cols, rows), nil
}

func (s utility) execDiscard(ctx context.Context, st *ast.Discard) (string, error) {
	what := strings.ToUpper(st.What)
	switch what {
	case "ALL":
		if err := s.alone("DISCARD ALL"); err != nil {
			return "", err
		}
		s.closePortals(true)
		s.forgetAllPrepared()
		s.unlockAll()
		s.settings.ResetAll()
		s.resetIdentity()
		s.tx.notices.UnlistenAll()
		s.forgetSequences()
		if err := s.discardTemporary(ctx); err != nil {
			return "", err
		}
	case "PLANS":
		for _, ps := range s.prepared {
			ps.plan = nil
		}
	case "SEQUENCES":
		s.forgetSequences()
	case "TEMP":
		if err := s.discardTemporary(ctx); err != nil {
			return "", err
		}
	}
	s.sideEffects = true
	return "DISCARD " + what, nil
}

func (s *planRunner) forgetSequences() {
	clear(s.currval)
	clear(s.drawn)
	s.lastSeq = 0
}
