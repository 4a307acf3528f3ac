package sql

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
)

// NotifyObserver is part of expr.Takes.
func (f *accessor) NotifyObserver(name, key string) error {
	if err := f.s.writable("minidb_notify()"); err != nil {
		return err
	}
	o, err := f.s.notifiable(f.ctx, name)
	if err != nil {
		return err
	}
	if err := f.s.mayAnyOn(f.ctx, o.Table, acl.Update); err != nil {
		return err
	}
	values, err := f.keyValues(o.Table, key)
	if err != nil {
		return err
	}
	row, err := table.RowKey(o.Table, values)
	if err != nil {
		return err
	}
	f.s.tx.view.HoldObserver(o)
	target := o.Target()
	return target.NotifyWeakly(f.s.tx.tx, row)
}

// notifiable finds an observer of a table with a primary key.
func (s *planRunner) notifiable(ctx context.Context, name string) (o catalog.Observed, err error) {
	if err := s.ensure(ctx); err != nil {
		return o, err
	}
	o, ok, err := s.tx.view.Observer(ctx, s.databaseID, name)
	switch {
	case err != nil:
		return o, err
	case !ok:
		return o, sqlerr.New(sqlerr.UndefinedObject, "observer \"%s\" does not exist", name)
	case o.Table.RowPrimaryKey() == nil:
		return o, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
			"observer \"%s\" cannot be notified because table \"%s\" has no primary key", name,
			o.Table.Name)
	}
	return o, nil
}

// keyValues reads a primary key from an object of JSON, in the form that minidb_take gives it.
func (f *accessor) keyValues(d *table.Desc, key string) (values []types.Datum, err error) {
	object, err := types.ParseJSON(key, f.s)
	if err != nil {
		return nil, err
	}
	pk := d.RowPrimaryKey().Columns
	wrong := func(what, column string) error {
		return sqlerr.New(sqlerr.InvalidParameterValue, "the key of a row of table \"%s\" %s "+
			"\"%s\"", d.Name, what, column)
	}
	for _, c := range pk {
		col := &d.Columns[d.ColumnByID(c.ColumnID)]
		text := types.JSONTextValue(object.Get(col.Name))
		if text.Null {
			return nil, wrong("lacks column", col.Name)
		}
		v, err := types.ParseText(col.Type, text.S, f.s.Format())
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	if len(object.Keys) > len(pk) {
		for _, name := range object.Keys {
			in := func(c table.IndexColumn) bool {
				return d.Columns[d.ColumnByID(c.ColumnID)].Name == name
			}
			if !slices.ContainsFunc(pk, in) {
				return nil, wrong("has no column", name)
			}
		}
	}
	return values, nil
}

// ObserverKey returns the columns of the primary key of an observer's table.
func (s *Session) ObserverKey(ctx context.Context, name string) (cols []physical.Column,
	err error) {
	o, err := s.notifiable(ctx, name)
	if err != nil {
		return nil, err
	}
	for _, c := range o.Table.RowPrimaryKey().Columns {
		col := &o.Table.Columns[o.Table.ColumnByID(c.ColumnID)]
		cols = append(cols, physical.Column{Name: col.Name, Type: col.Type})
	}
	return cols, nil
}
