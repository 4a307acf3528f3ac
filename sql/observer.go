package sql

import (
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// ObserverOptions are how an observer is registered.
type ObserverOptions struct {
	Name    string
	Version int64
	// Table names the table as SQL does: with its schema, or found by the search path.
	Table    string
	Columns  []string // as they are stored, not folded to lower case; nil: all
	Backfill bool
}

// ObserverStatement is the statement that registers an observer, to be bound and executed like any
// other: inside a transaction block or outside, where it is run again after a conflict. It writes
// nothing if the observer is registered already. Errors are
//
//	22023, 42622    the name is empty or too long, the version is negative
//	42602           the table's name is none
//	42P01, 42809    there is no such table, or it is a view, a sequence, an index or the system's
//	42703, 42701    a column is not there, or comes twice
//	55000           a higher version is registered: this program is too old
//	42710           the same version is registered with another definition, or on another table
//	55006           the session itself is not done with the table
func ObserverStatement(o ObserverOptions) (*Prepared, error) {
	stmt, err := observerStatement(o)
	if err != nil {
		return nil, err
	}
	text := "CREATE OBSERVER " + sqlname.Quote(o.Name) + " ON " + o.Table // for pg_stat_activity
	return &Prepared{Text: text, Stmt: stmt}, nil
}

func observerStatement(o ObserverOptions) (*ast.CreateObserver, error) {
	name, err := splitName(o.Table)
	if err != nil {
		return nil, err
	}
	stmt := &ast.CreateObserver{Name: o.Name, Version: o.Version, Table: name, Backfill: o.Backfill}
	for _, c := range o.Columns {
		stmt.Columns = append(stmt.Columns, ast.Ident{Name: c})
	}
	return stmt, nil
}

// CreateObserver is part of expr.Observers.
func (f *accessor) CreateObserver(o expr.Observer) (types.OID, error) {
	if err := f.s.writable("minidb_create_observer()"); err != nil {
		return 0, err
	}
	stmt, err := observerStatement(ObserverOptions(o))
	if err != nil {
		return 0, err
	}
	if err := f.s.ensure(f.ctx); err != nil {
		return 0, err
	}
	id, err := f.s.ddlEnv(f.ctx).CreateObserver(f.ctx, stmt)
	return types.OID(id), err
}

// DropObserver is part of expr.Observers.
func (f *accessor) DropObserver(name string) error {
	if err := f.s.writable("minidb_drop_observer()"); err != nil {
		return err
	}
	if err := f.s.ensure(f.ctx); err != nil {
		return err
	}
	return f.s.ddlEnv(f.ctx).DropObserver(f.ctx, name)
}
