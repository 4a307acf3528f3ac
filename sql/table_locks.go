package sql

import (
	"context"
	"errors"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/ddl"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
)

// A statement locks every table that it names, as in PostgreSQL: in a weak mode, which hinders nobody
// but those who want to change the table's schema or ask for a strong lock. One that had to wait, or came
// right after a change, looks at the schema again, through a snapshot as new as its lock wherever the transaction may have one.

var useModes = [...]rowlock.Mode{
	opt.Reads: rowlock.AccessShare, opt.LocksRows: rowlock.RowShare, opt.Modifies: rowlock.RowExclusive,
}

// tableModes are the modes of LOCK TABLE, by their words.
var tableModes = map[string]rowlock.Mode{
	"access share": rowlock.AccessShare, "row share": rowlock.RowShare, "row exclusive": rowlock.RowExclusive,
	"share update exclusive": rowlock.ShareUpdateExclusive, "share": rowlock.TableShare,
	"share row exclusive": rowlock.ShareRowExclusive, "exclusive": rowlock.Exclusive, "access exclusive": rowlock.AccessExclusive,
}

// lockTable takes the lock of one relation until the transaction's end.
func (s *transactor) lockTable(ctx context.Context, id table.ID, mode rowlock.Mode, noWait bool) (rowlock.Outcome, error) {
	if id < catalog.FirstID || s.tx.asOf != 0 {
		return rowlock.Held, nil // the system's own tables never change, and neither does the past
	}
	return s.engine.store.RowLocks().LockRelation(ctx, s.locks, uint32(id),
		rowlock.Request{Mode: mode, NoWait: noWait, Timeout: s.settings.Derived().LockTimeout})
}

// lockTables takes the locks of what a plan reads and writes; again says that the schema may have
// changed since it was made: while a lock was waited for, or before it was there.
func (s *transactor) lockTables(ctx context.Context, tables []opt.TableVersion) (again bool, err error) {
	fresh := false
	for i := range tables {
		out, err := s.lockTable(ctx, tables[i].ID, useModes[tables[i].Use], false)
		if err != nil {
			return false, err
		}
		again, fresh = again || out == rowlock.Waited, fresh || out == rowlock.Granted
	}
	return again || fresh && s.tx.view.Outdated(), nil
}

// lockedPlan is planFor with the tables of the plan locked.
func (s *planRunner) lockedPlan(ctx context.Context, ps *Prepared, stmt ast.Statement) (*physical.Plan, error) {
	for {
		plan, err := s.planFor(ctx, ps, stmt)
		var changed bool
		if err == nil {
			changed, err = s.lockTables(ctx, plan.Tables)
		} else if changing := s.awaitChanges(ctx, ps, stmt); changing {
			changed, err = true, nil
		}
		if err != nil || !changed {
			return plan, err
		}
		if again, err := s.lookAgain(ctx); err != nil || !again {
			return plan, err
		}
	}
}

// lookAgain comes after the wait for a table's lock. It shows the statement the schema as it is now, as far
// as that goes, and says whether anything may have changed.
func (s *transactor) lookAgain(ctx context.Context) (bool, error) {
	if !s.refreshable() {
		return s.renewSchema(ctx)
	}
	return true, s.refresh(ctx)
}

// awaitChanges waits for those who are changing a table of a statement that cannot be planned, and says
// whether there were any: what is not there may be there now. PostgreSQL locks a table before it looks
// for its columns.
func (s *planRunner) awaitChanges(ctx context.Context, ps *Prepared, stmt ast.Statement) bool {
	if !s.refreshable() {
		return false
	}
	env, waited := s.plannerEnv(ctx), false
	env.Catalog = lockingResolver{resolver: resolver{s}, waited: &waited}
	_, _ = planner.Plan(ctx, env, stmt, ps.declared) // the error is known
	return waited
}

// lockingResolver locks what it finds.
type lockingResolver struct {
	resolver
	waited *bool
}

func (r lockingResolver) Relation(ctx context.Context, name ast.Name) (*table.Desc, error) {
	d, err := r.resolver.Relation(ctx, name)
	if d == nil || err != nil {
		return d, err
	}
	out, err := r.s.lockTable(ctx, d.ID, rowlock.AccessShare, false)
	*r.waited = *r.waited || err == nil && out == rowlock.Waited
	return d, err
}

// refreshable says whether the statement may have a newer snapshot: always in READ COMMITTED,
// otherwise when it is the transaction's first.
func (s *transactor) refreshable() bool {
	return s.tx.perStatement() || s.tx.statements <= 1 && len(s.tx.savepoints) == 0 && !s.tx.tx.Dirty()
}

// refresh gives the statement a new snapshot. Requires: refreshable.
func (s *transactor) refresh(ctx context.Context) error {
	if s.tx.perStatement() {
		return s.advance(ctx)
	}
	if err := s.dropSnapshot(ctx); err != nil {
		return err
	}
	return s.ensure(ctx)
}

// dropSnapshot lets go of a snapshot through which only the schema was read. Locks stay the session's.
func (s *transactor) dropSnapshot(ctx context.Context) error {
	tx := s.tx.tx
	if tx == nil {
		return nil
	}
	s.tx.tx, s.tx.view = nil, nil
	tx.SetLocking(txn.Locking{Owner: s.engine.store.RowLocks().NewOwner(0)})
	return tx.Rollback(ctx)
}

// execLockTable is LOCK TABLE. It takes no snapshot of its own, so that a transaction which begins
// with it sees the table as it is once the lock is there.
func (s utility) execLockTable(ctx context.Context, st *ast.LockTable) (string, error) {
	if s.tx.state != inBlock && !s.several {
		return "", sqlerr.New(sqlerr.NoActiveSQLTransaction, "LOCK TABLE can only be used in transaction blocks")
	}
	fresh := s.tx.tx == nil
	for {
		if err := s.ensure(ctx); err != nil {
			return "", err
		}
		waited, err := s.lockNamed(ctx, st)
		if err != nil {
			return "", err
		}
		if fresh {
			if err := s.dropSnapshot(ctx); err != nil {
				return "", err
			}
		}
		if !waited || !fresh {
			return "LOCK TABLE", nil
		}
		// A table that was waited for may have gone, or be another one by now.
	}
}

func (s utility) lockNamed(ctx context.Context, st *ast.LockTable) (waited bool, err error) {
	for _, name := range st.Tables {
		d, err := resolver{&s.planRunner}.Relation(ctx, name)
		switch {
		case err != nil:
			return false, err
		case d == nil && s.isIndex(ctx, name):
			return false, cannotLock(name.Name, "indexes")
		case d == nil:
			return false, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", plainName(name))
		case d.ID < catalog.FirstID:
			return false, sqlerr.Unsupported(int(name.Pos), "LOCK TABLE of a system catalog")
		}
		if real, err := s.tx.view.RelationByID(ctx, d.ID); err != nil {
			return false, err
		} else if real != nil && real.Kind == table.KindSequence {
			return false, cannotLock(d.Name, "sequences")
		}
		again, err := s.lockDeep(ctx, d, tableModes[st.Mode], st.NoWait)
		if err != nil {
			return false, err
		}
		waited = waited || again
	}
	return waited, nil
}

func cannotLock(name, kind string) error {
	return sqlerr.New(sqlerr.WrongObjectType, "cannot lock relation \"%s\"", name).
		WithDetail("This operation is not supported for %s.", kind)
}

func (s *planRunner) isIndex(ctx context.Context, name ast.Name) bool {
	schemas := []string{name.Schema}
	if name.Schema == "" {
		schemas = s.searchPath(ctx)
	}
	for _, schema := range schemas {
		if _, ix, err := s.tx.view.Index(ctx, s.databaseID, schema, name.Name); err == nil && ix != nil {
			return true
		}
	}
	return false
}

// lockDeep locks a table, or a view with all that it reads.
func (s utility) lockDeep(ctx context.Context, d *table.Desc, mode rowlock.Mode, noWait bool) (waited bool, err error) {
	out, err := s.lockTable(ctx, d.ID, mode, noWait)
	if errors.Is(err, rowlock.ErrNotAvailable) {
		err = sqlerr.New(sqlerr.LockNotAvailable, "could not obtain lock on relation \"%s\"", d.Name)
	}
	if err != nil || d.View == nil {
		return out == rowlock.Waited, err
	}
	waited = out == rowlock.Waited
	for _, id := range d.View.DependsOn {
		below, err := s.tx.view.RelationByID(ctx, id)
		if err != nil {
			return false, err
		}
		if below == nil || below.Kind == table.KindSequence {
			continue
		}
		again, err := s.lockDeep(ctx, below, mode, noWait)
		if err != nil {
			return false, err
		}
		waited = waited || again
	}
	return waited, nil
}

// errLockedAnew leaves a schema change that got a lock: it begins again on a snapshot that shows what
// the lock now keeps as it is.
var errLockedAnew = errors.New("a table was locked")

// locker is how a schema change locks its tables. Where the snapshot must stay, it goes on with the one that
// it has, and conflicts at commit with what that does not show.
func (s utility) locker() func(context.Context, table.ID, rowlock.Mode) error {
	return func(ctx context.Context, id table.ID, mode rowlock.Mode) error {
		out, err := s.lockTable(ctx, id, mode, false)
		anew := out == rowlock.Waited || out == rowlock.Granted &&
			(mode != rowlock.AccessShare || s.tx.view.Outdated()) // such a lock is for the schema alone
		if err == nil && anew && s.refreshable() {
			return errLockedAnew
		}
		return err
	}
}

// changeSchema runs a statement that changes the schema, with the locks that it needs. One that had to
// wait for a table or for a name is undone and begins again, with the locks that it has got.
func (s utility) changeSchema(ctx context.Context, stmt ast.Statement) (string, error) {
	refreshable := s.refreshable()
	for {
		if _, err := s.path(ctx); err != nil {
			return "", err
		}
		tx, at, checks, changes := s.tx.tx, s.tx.tx.Savepoint(), s.references.Mark(), slices.Clone(s.tx.changes)
		var notices [][4]string
		env := s.ddlEnv(ctx)
		env.Lock = s.locker()
		env.Notice = func(severity, code, message, detail string) {
			notices = append(notices, [4]string{severity, code, message, detail})
		}
		tag, err := ddl.Execute(ctx, env, stmt)
		if refreshable && isOutdated(err) {
			tx.UndoTo(at)
			s.references.ReleaseTo(checks)
			s.tx.changes = changes
			if err := s.refresh(ctx); err != nil {
				return "", err
			}
			continue
		}
		for _, n := range notices {
			s.say(n[0], n[1], n[2], n[3])
		}
		return tag, err
	}
}

// isOutdated reports whether a change of the schema has got a lock that it has to look behind.
func isOutdated(err error) bool {
	var stale *txn.StaleError
	return errors.Is(err, errLockedAnew) || errors.As(err, &stale)
}
