package sql

import (
	"context"

	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn/rowlock"
)

// A statement locks every table that it names, as in PostgreSQL, in a weak mode: this conflicts
// only with changes of the table's schema and with strong locks. A statement that had to wait for a
// lock, or got it just after a schema change, reads the schema again, through a snapshot as new as
// the lock if the transaction may have one.

var useModes = [...]rowlock.Mode{
	opt.Reads: rowlock.AccessShare, opt.LocksRows: rowlock.RowShare,
	opt.Modifies: rowlock.RowExclusive,
}

// lockTable takes the lock of one relation until the transaction's end.
func (s *transactor) lockTable(ctx context.Context, id table.ID, mode rowlock.Mode,
	noWait bool) (rowlock.Outcome, error) {
	s.tx.temporary = s.tx.temporary || id.Temporary()
	if id < catalog.FirstID || id.Temporary() || s.tx.asOf != 0 {
		// Neither the system's own tables nor the past ever change, and no other session uses a
		// temporary table.
		return rowlock.Held, nil
	}
	return s.engine.store.RowLocks().LockRelation(ctx, s.locks, uint32(id),
		rowlock.Request{Mode: mode, NoWait: noWait, Timeout: s.settings.Derived().LockTimeout})
}

// lockTables takes the locks of the tables that a plan reads and writes. again reports that the
// schema may have changed since the plan was made: while a lock was waited for, or before.
func (s *transactor) lockTables(ctx context.Context, tables []opt.TableVersion) (again bool,
	err error) {
	fresh := false
	for i := range tables {
		if tables[i].ID.Temporary() && s.tx.asOf != 0 {
			return false, noPast()
		}
		out, err := s.lockTable(ctx, tables[i].ID, useModes[tables[i].Use], false)
		if err != nil {
			return false, err
		}
		again, fresh = again || out == rowlock.Waited, fresh || out == rowlock.Granted
	}
	return again || fresh && s.tx.view.Outdated(), nil
}

// recheckSchema is called after the wait for a table's lock. It shows the statement the newest
// schema that it may see, and reports whether anything may have changed.
func (s *transactor) recheckSchema(ctx context.Context) (bool, error) {
	if !s.refreshable() {
		return s.renewSchema(ctx)
	}
	return true, s.refresh(ctx)
}
