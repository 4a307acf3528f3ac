package sql

import (
	"context"
	"errors"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn/rowlock"
)

// tableModes are the modes of LOCK TABLE in the lock table.
var tableModes = map[ast.TableLockMode]rowlock.Mode{
	ast.AccessShare:          rowlock.AccessShare,
	ast.RowShare:             rowlock.RowShare,
	ast.RowExclusive:         rowlock.RowExclusive,
	ast.ShareUpdateExclusive: rowlock.ShareUpdateExclusive,
	ast.Share:                rowlock.TableShare,
	ast.ShareRowExclusive:    rowlock.ShareRowExclusive,
	ast.Exclusive:            rowlock.Exclusive,
	ast.AccessExclusive:      rowlock.AccessExclusive,
}

// execLockTable is LOCK TABLE. It takes no snapshot of its own, so that a transaction which begins
// with it sees the table as it is once the lock is there.
func (s utility) execLockTable(ctx context.Context, st *ast.LockTable) (string, error) {
	if s.tx.state != inBlock && !s.multiStatement && !s.inProgram {
		return "", sqlerr.New(sqlerr.NoActiveSQLTransaction,
			"LOCK TABLE can only be used in transaction blocks")
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
		if fresh && !s.engine.shared {
			if err := s.dropSnapshot(ctx); err != nil {
				return "", err
			}
		}
		if !waited || !fresh {
			return "LOCK TABLE", nil
		}
		// While the lock was waited for, the table may have been dropped or replaced.
	}
}

func (s utility) lockNamed(ctx context.Context, st *ast.LockTable) (waited bool, err error) {
	for _, name := range st.Tables {
		d, err := resolver{&s.planRunner}.named(ctx, name)
		switch {
		case err != nil:
			return false, err
		case d == nil && s.isIndex(ctx, name):
			return false, cannotLock(name.Name, "indexes")
		case d == nil:
			return false, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist",
				plainName(name))
		case d.ID < catalog.FirstID:
			return false, sqlerr.Unsupported(int(name.Pos), "LOCK TABLE of a system catalog")
		}
		if real, err := s.tx.view.RelationByID(ctx, d.ID); err != nil {
			return false, err
		} else if real != nil && real.Kind == table.KindSequence {
			return false, cannotLock(d.Name, "sequences")
		} else if d.Kind == table.KindMaterializedView {
			return false, cannotLock(d.Name, "materialized views")
		}
		if err := s.mayLock(ctx, d, st.Mode); err != nil {
			return false, err
		}
		again, err := s.lockDeep(ctx, d, st, name.Pos)
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
		if _, ix, err := s.tx.view.Index(ctx, s.databaseID, schema, name.Name); err == nil &&
			ix != nil {
			return true
		}
	}
	return false
}

// keepsTables reports whether the transaction's snapshot holds what a lock promises, whatever other
// processes do: in ACCESS SHARE mode that the table is there and stays as it is. pg_dump takes such
// locks.
func (s utility) keepsTables(mode ast.TableLockMode) bool {
	return mode == ast.AccessShare && !s.tx.perStatement()
}

// lockDeep locks a table, or a view with the tables and views that it reads.
func (s utility) lockDeep(ctx context.Context, d *table.Desc, st *ast.LockTable,
	pos ast.Pos) (waited bool, err error) {
	if !d.ID.Temporary() && !s.keepsTables(st.Mode) {
		if err := s.engine.unlessShared("LOCK TABLE", insteadOfTableLock); err != nil {
			return false, withPosition(err, pos)
		}
	}
	out, err := s.lockTable(ctx, d.ID, tableModes[st.Mode], st.NoWait)
	if errors.Is(err, rowlock.ErrNotAvailable) {
		err = sqlerr.New(sqlerr.LockNotAvailable, "could not obtain lock on relation \"%s\"",
			d.Name)
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
		if below == nil || below.Kind != table.KindTable && !below.IsQuery() {
			continue
		}
		again, err := s.lockDeep(ctx, below, st, pos)
		if err != nil {
			return false, err
		}
		waited = waited || again
	}
	return waited, nil
}

// mayLock returns 42501 if the current role may not lock a table in a mode: the privilege to read
// it is enough for ACCESS SHARE, to insert for ROW EXCLUSIVE, to change rows for any mode.
func (s utility) mayLock(ctx context.Context, d *table.Desc, mode ast.TableLockMode) error {
	want := acl.Update | acl.Delete | acl.Truncate
	switch tableModes[mode] {
	case rowlock.AccessShare:
		want |= acl.Select
	case rowlock.RowShare, rowlock.RowExclusive:
		want |= acl.Insert
	}
	return s.mayAnyOn(ctx, d, want)
}
