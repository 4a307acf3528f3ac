package sql

import (
	"context"
	"slices"
	"strconv"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
)

// rowSecurity returns the function by which a plan asks for the policies of a table. by is the role
// that runs the plan; 0: the session's current one. As all rights, policies are those of the newest
// state of the catalog, whatever the transaction's snapshot shows.
func (s *planRunner) rowSecurity(by acl.RoleID) func(context.Context, *table.Desc,
	acl.RoleID) (*opt.RowSecurity, error) {
	return func(ctx context.Context, d *table.Desc, as acl.RoleID) (*opt.RowSecurity, error) {
		if as == 0 {
			as = by
		}
		present, err := s.presentTable(ctx, d)
		if err != nil || !present.RowSecurity {
			return nil, err
		}
		a, err := s.authority(ctx)
		if err != nil {
			return nil, err
		}
		if as == 0 {
			as = a.Current
		}
		return s.policiesFor(a.As(as), present, false)
	}
}

// policiesFor returns the policies of a table with row security that bind the current role of a. If
// they do, and the setting row_security is off, it is 42501 unless quiet.
func (s *transactor) policiesFor(a *acl.Authority, d *table.Desc, quiet bool) (*opt.RowSecurity,
	error) {
	if !d.RowSecurity {
		return nil, nil
	}
	if !d.Secured(a) {
		return &opt.RowSecurity{}, nil
	}
	if !s.settings.Derived().RowSecurity && !quiet {
		err := sqlerr.New(sqlerr.InsufficientPrivilege,
			"query would be affected by row-level security policy for table \"%s\"", d.Name)
		if a.Has(d.OwnedBy()) {
			err = err.WithHint("To disable the policy for the table's owner, use ALTER TABLE NO " +
				"FORCE ROW LEVEL SECURITY.")
		}
		return nil, err
	}
	out := &opt.RowSecurity{Bound: true}
	for i := len(d.Policies) - 1; i >= 0; i-- {
		if slices.ContainsFunc(d.Policies[i].Roles, func(r acl.RoleID) bool {
			return r == acl.Public || a.Has(r)
		}) {
			out.Policies = append(out.Policies, d.Policies[i])
		}
	}
	return out, nil
}

// stale reports whether rights are judged by another state of the catalog than plans are made for.
func (s *transactor) stale() bool { return s.tx.asOf != 0 || s.tx.view.Outdated() }

// presentTable returns the newest descriptor of a table, or d if there is none any more.
func (s *transactor) presentTable(ctx context.Context, d *table.Desc) (*table.Desc, error) {
	if !s.stale() || d.Temporary() {
		return d, nil
	}
	err := s.judge(ctx, func(v *catalog.View) error {
		now, err := v.RelationByID(ctx, d.ID)
		if now != nil {
			d = now
		}
		return err
	})
	return d, err
}

// planSettings are the settings that plans depend on. They name the session's roles; where a role
// was chosen by SET, its ID follows, since it may have another name by now.
func (s *transactor) planSettings() string {
	d := s.settings.Derived()
	if len(s.identity.ids) <= 1 {
		return d.PlanKey
	}
	b := append([]byte(d.PlanKey), 0)
	for _, name := range []string{d.SessionAuthorization, d.Role} {
		b = append(strconv.AppendUint(b, uint64(s.identity.ids[name]), 10), ',')
	}
	return string(b)
}

// RowSecurityActive is part of expr.Privileges.
func (f *accessor) RowSecurityActive(oid types.OID) (active, found bool, err error) {
	if err := f.s.ensure(f.ctx); err != nil {
		return false, false, err
	}
	d, err := f.s.tx.view.RelationByID(f.ctx, table.ID(oid))
	if err != nil || d == nil {
		return false, false, err
	}
	if d, err = f.s.presentTable(f.ctx, d); err != nil {
		return false, false, err
	}
	a, err := f.s.authority(f.ctx)
	if err != nil {
		return false, false, err
	}
	r, err := f.s.policiesFor(a, d, true)
	return r != nil && r.Bound, true, err
}
