package sql

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
)

// lastChecked is the plan whose rights were checked last, and what that rests on: a statement that
// runs again and again is checked once.
type lastChecked struct {
	plan  *physical.Plan
	as    acl.RoleID
	basis identityBasis
}

// checkRights returns 42501 if the role that runs a plan lacks a privilege, as may the owner of a
// view that it reads. as is the role that runs it; 0: the session's current one.
func (s *planRunner) checkRights(ctx context.Context, plan *physical.Plan, as acl.RoleID) error {
	if len(plan.Needs) == 0 {
		return nil
	}
	a, err := s.authority(ctx)
	if err != nil {
		return err
	}
	done := lastChecked{plan, as, s.identity.known}
	if done.basis.version != 0 && s.checked == done {
		return nil
	}
	if as == 0 {
		as = a.Current
	}
	err = s.judge(ctx, func(v *catalog.View) error {
		for _, r := range plan.Needs {
			if err := s.checkRight(ctx, v, a, r, as); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		s.checked = done
	}
	return err
}

// checkRight checks one relation of a plan.
func (s *planRunner) checkRight(ctx context.Context, v *catalog.View, a *acl.Authority, r *opt.Need,
	as acl.RoleID) error {
	if r.As != 0 {
		as = r.As
	}
	if a.Roles.Superuser(as) {
		return nil
	}
	if r.Routine != 0 {
		return s.checkExecute(ctx, v, a.As(as), r.Routine)
	}
	d, err := s.judgedRelation(ctx, v, r.Relation)
	if err != nil || d == nil {
		return err
	}
	if mayAll(a.As(as), d, r) {
		return nil
	}
	return deniedRelation(d)
}

// judgedRelation is a relation by whose access list rights are judged in v: one that is gone by now
// is judged by what the transaction sees of it. Its rows can still be read in the past.
func (s *planRunner) judgedRelation(ctx context.Context, v *catalog.View,
	id table.ID) (*table.Desc, error) {
	if d := pgcatalog.ByID(id); d != nil {
		return d, nil
	}
	d, err := v.RelationByID(ctx, id)
	if d == nil && err == nil && v != s.tx.view {
		d, err = s.tx.view.RelationByID(ctx, id)
	}
	return d, err
}

// deniedRelation is the error for a relation that a role may not use so.
func deniedRelation(d *table.Desc) error {
	return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for %s %s",
		pgcatalog.KindName(d), d.Name)
}

// mayAll reports whether the current role of a has all privileges that r wants on d, be it by the
// relation or by each of the columns.
func mayAll(a *acl.Authority, d *table.Desc, r *opt.Need) bool {
	left := r.Want &^ a.Granted(d.Class(), d.OwnedBy(), d.ACL, r.Want)
	if left&^(acl.Select|acl.Insert|acl.Update) != 0 {
		return false
	}
	for _, by := range []struct {
		one     acl.Privileges
		columns []table.ColumnID
	}{{acl.Select, r.Selected}, {acl.Insert, r.Inserted}, {acl.Update, r.Updated}} {
		if left&by.one != 0 && !mayColumns(a, d, by.one, by.columns) {
			return false
		}
	}
	return true
}

// mayColumns reports whether a role has a privilege on each of the columns, or if there are none
// (count(*)) on any one.
func mayColumns(a *acl.Authority, d *table.Desc, want acl.Privileges,
	columns []table.ColumnID) bool {
	may := func(c *table.Column) bool {
		return c.ACL != nil && a.Granted(acl.Column, d.OwnedBy(), c.ACL, want) != 0
	}
	for _, id := range columns {
		if i := d.ColumnByID(id); i < 0 || !may(&d.Columns[i]) {
			return false
		}
	}
	if len(columns) > 0 {
		return true
	}
	for i := range d.Columns {
		if may(&d.Columns[i]) {
			return true
		}
	}
	return false
}

// mayUseSchema returns 42501 if the current role may not use a schema that a statement names.
func (s *planRunner) mayUseSchema(ctx context.Context, name string) error {
	if name == "pg_catalog" || name == "information_schema" {
		return nil
	}
	a, err := s.authority(ctx)
	if err != nil || a.Superuser() {
		return err
	}
	sc, ok, err := s.tx.view.Schema(ctx, s.databaseID, name)
	if err != nil || !ok {
		return err
	}
	if may, err := s.usesSchema(ctx, a, sc); err != nil || may {
		return err
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for schema %s", name)
}

// usesSchema reports whether the current role of a has USAGE on a schema. A schema that is gone by
// now is judged by what the transaction sees of it.
func (s *transactor) usesSchema(ctx context.Context, a *acl.Authority, sc catalog.Schema) (may bool,
	err error) {
	if sc.ID.Temporary() || a.Superuser() {
		return true, nil
	}
	err = s.judge(ctx, func(v *catalog.View) error {
		now, err := v.Schemas(ctx, s.databaseID)
		for i := range now {
			if now[i].ID == sc.ID {
				sc = now[i]
			}
		}
		may = a.Granted(acl.Schema, sc.OwnedBy(), sc.Privileges(), acl.Usage) != 0
		return err
	})
	return may, err
}

// mayOn returns 42501 if the current role lacks what is needed on a relation.
func (s *planRunner) mayOn(ctx context.Context, d *table.Desc, need opt.Need) error {
	a, err := s.authority(ctx)
	if err != nil || a.Superuser() {
		return err
	}
	if d, err = s.presentTable(ctx, d); err != nil || mayAll(a, d, &need) {
		return err
	}
	return deniedRelation(d)
}

// mayAnyOn is mayOn for one of several privileges on the whole relation.
func (s *planRunner) mayAnyOn(ctx context.Context, d *table.Desc, want acl.Privileges) error {
	a, err := s.authority(ctx)
	if err != nil || a.Superuser() {
		return err
	}
	if d, err = s.presentTable(ctx, d); err != nil ||
		a.Granted(d.Class(), d.OwnedBy(), d.ACL, want) != 0 {
		return err
	}
	return deniedRelation(d)
}

// mustBe returns 42501 unless the current role has the privileges of another, as superusers have.
func (s *planRunner) mustBe(ctx context.Context, role acl.RoleID, message string,
	args ...any) error {
	a, err := s.authority(ctx)
	if err != nil || a.Has(role) {
		return err
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, message, args...)
}

// mayCall returns 42501 unless the session may call a function that is for superusers, and for the
// roles that have the privileges of one of others.
func (f *accessor) mayCall(function string, others ...acl.RoleID) error {
	if err := f.s.ensure(f.ctx); err != nil {
		return err
	}
	a, err := f.s.authority(f.ctx)
	if err != nil || a.Superuser() {
		return err
	}
	for _, role := range others {
		if a.Has(role) {
			return nil
		}
	}
	all, err := f.s.objectACLs(f.ctx)
	if err != nil {
		return err
	}
	for i := range all {
		if o := &all[i]; o.Class == acl.Function && a.Granted(o.Class, acl.Postgres, o.ACL,
			acl.Execute) != 0 {
			if r, ok := pgcatalog.RoutineByID(o.Object); ok && r.Name == function {
				return nil
			}
		}
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for function %s", function)
}

// MayAdvance is part of expr.SequenceGuard.
func (f *accessor) MayAdvance(oid types.OID) error {
	d, err := f.sequence(oid)
	if err != nil {
		return err
	}
	return f.s.mayAnyOn(f.ctx, d, acl.Usage|acl.Update)
}

// MaySeeLast is part of expr.SequenceGuard.
func (f *accessor) MaySeeLast(oid types.OID) error {
	d, err := f.sequence(oid)
	if err != nil {
		return err
	}
	return f.s.mayAnyOn(f.ctx, d, acl.Usage|acl.Select)
}

// mayTake returns 42501 unless the current role may take the changes of a table: they show all of
// its rows, and are locked and settled, as by SELECT … FOR UPDATE.
func (s *planRunner) mayTake(ctx context.Context, d *table.Desc) error {
	a, err := s.authority(ctx)
	if err != nil || a.Superuser() {
		return err
	}
	if d, err = s.presentTable(ctx, d); err != nil || d.Open(a) &&
		a.Granted(d.Class(), d.OwnedBy(), d.ACL, acl.Update) != 0 {
		return err
	}
	return deniedRelation(d)
}

// maySignal returns 42501 unless the session may cancel or end the statement of another.
func (f *accessor) maySignal(pid int32, verb string) error {
	f.s.engine.mu.Lock()
	other := f.s.engine.mu.sessions[pid]
	f.s.engine.mu.Unlock()
	if other == nil {
		return nil
	}
	if err := f.s.ensure(f.ctx); err != nil {
		return err
	}
	a, err := f.s.authority(f.ctx)
	if err != nil {
		return err
	}
	role := other.identity.login
	switch {
	case a.Roles.Superuser(role) && !a.Superuser():
		return sqlerr.New(sqlerr.InsufficientPrivilege,
			"must be a superuser to %s superuser %s", verb, signalled[verb])
	case !a.Has(role) && !a.Has(acl.SignalBackend):
		return sqlerr.New(sqlerr.InsufficientPrivilege,
			"must be a member of the role whose %s is being %s or member of pg_signal_backend",
			signalled[verb], participles[verb])
	}
	return nil
}

var (
	signalled   = map[string]string{"cancel": "query", "terminate": "process"}
	participles = map[string]string{"cancel": "canceled", "terminate": "terminated"}
)
