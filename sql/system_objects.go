package sql

import (
	"context"
	"fmt"
	"strings"

	"github.com/minidb/minidb/sql/ddl"
	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/sql/settings"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/types"
)

// systemObjects finds the objects that the server has made (ddl.SystemObjects).
type systemObjects struct{ env catalogEnv }

// Routines is part of ddl.SystemObjects.
func (o systemObjects) Routines(ctx context.Context, schema, name string) ([]ddl.Routine, error) {
	return routinesOf(pgcatalog.Routines(ctx, o.env, schema, name))
}

// RoutinesIn is part of ddl.SystemObjects.
func (o systemObjects) RoutinesIn(ctx context.Context, schema string) ([]ddl.Routine, error) {
	return routinesOf(pgcatalog.RoutinesIn(ctx, o.env, schema))
}

func routinesOf(found []pgcatalog.Routine, err error) ([]ddl.Routine, error) {
	out := make([]ddl.Routine, len(found))
	for i, r := range found {
		out[i] = ddl.Routine(r)
	}
	return out, err
}

// Language is part of ddl.SystemObjects.
func (o systemObjects) Language(ctx context.Context, name string) (id table.ID, trusted, ok bool,
	err error) {
	all, err := pgcatalog.Languages(ctx, o.env)
	for _, l := range all {
		if l.Name == name {
			return l.ID, l.Trusted, true, err
		}
	}
	return 0, false, false, err
}

// Tablespace is part of ddl.SystemObjects.
func (systemObjects) Tablespace(name string) table.ID {
	for _, s := range pgcatalog.Tablespaces {
		if s.Name == name {
			return s.ID
		}
	}
	return 0
}

// Parameter is part of ddl.SystemObjects.
func (systemObjects) Parameter(name string) (string, bool) {
	if d := settings.Lookup(name); d != nil {
		return strings.ToLower(d.Name), true
	}
	return strings.ToLower(name), settings.Custom(name)
}

// ObjectText is part of ddl.SystemObjects.
func (o systemObjects) ObjectText(ctx context.Context, class acl.Class, id table.ID) string {
	name := fmt.Sprint(id)
	switch class {
	case acl.Function:
		if text := pgcatalog.RoutineText(ctx, o.env, id); text != "" {
			name = text
		}
	case acl.Type:
		f := &accessor{o.env.s, ctx}
		if text, ok := f.RegName(types.OIDRegType, types.OID(id)); ok {
			name = text
		}
	case acl.Language:
		all, _ := pgcatalog.Languages(ctx, o.env)
		for _, l := range all {
			if l.ID == id {
				name = l.Name
			}
		}
	case acl.Tablespace:
		for _, s := range pgcatalog.Tablespaces {
			if s.ID == id {
				name = s.Name
			}
		}
	case acl.Parameter:
		all, _ := o.env.s.tx.view.ObjectACLs(ctx, 0)
		for i := range all {
			if all[i].Object == id {
				name = all[i].Name
			}
		}
	}
	return class.Noun() + " " + name
}
