package sql

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
)

// guardedRoutines returns the functions and aggregates whose access lists GRANT or REVOKE has
// changed (opt.Env.Routines).
func (s *planRunner) guardedRoutines(ctx context.Context) (map[any]table.ID, error) {
	if s.tx.view == nil {
		return nil, nil
	}
	all, err := s.objectACLs(ctx)
	if err != nil {
		return nil, err
	}
	var out map[any]table.ID
	for i := range all {
		if all[i].Class != acl.Function {
			continue
		}
		if fn := pgcatalog.Provided(all[i].Object); fn != nil {
			if out == nil {
				out = map[any]table.ID{}
			}
			out[fn] = all[i].Object
		}
	}
	return out, nil
}

// objectACLs are the access lists of objects without descriptors by which rights are judged now.
func (s *transactor) objectACLs(ctx context.Context) (all []catalog.ObjectACL, err error) {
	err = s.judge(ctx, func(v *catalog.View) error {
		all, err = v.ObjectACLs(ctx, s.databaseID)
		return err
	})
	return all, err
}

// checkExecute returns 42501 if the current role of a may not call a function or aggregate.
func (s *planRunner) checkExecute(ctx context.Context, v *catalog.View, a *acl.Authority,
	id table.ID) error {
	r, ok := pgcatalog.RoutineByID(id)
	if !ok {
		return nil
	}
	list, err := v.ObjectACL(ctx, s.databaseID, acl.Function, id)
	if err != nil {
		return err
	}
	if list == nil {
		list = r.ACL
	}
	if a.Granted(acl.Function, acl.Postgres, list, acl.Execute) != 0 {
		return nil
	}
	kind := "function"
	if r.Kind == "a" {
		kind = "aggregate"
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for %s %s", kind, r.Name)
}
