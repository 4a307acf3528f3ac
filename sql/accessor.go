package sql

import (
	"context"
	"errors"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/rowlock"
)

// accessor is what functions such as current_user, nextval and pg_get_expr may ask of the session
// that runs them (expr.Session). It is made for one statement.
type accessor struct {
	s   *planRunner
	ctx context.Context
}

func (f *accessor) User() string        { return f.s.user }
func (f *accessor) SessionUser() string { return f.s.user }
func (f *accessor) Database() string    { return f.s.database }
func (f *accessor) BackendPID() int32   { return f.s.pid }

func (f *accessor) SearchPath() []string { return f.s.searchPath(f.ctx) }

func (f *accessor) Setting(name string) (string, bool) { return f.s.setting(name) }

func (f *accessor) SetSetting(name, value string, local bool) error {
	if done, err := f.s.setTransactionSetting(name, value); done {
		return err
	}
	return f.s.settings.Set(name, value, local)
}

// sequence finds a sequence by OID.
func (f *accessor) sequence(oid types.OID) (*table.Desc, error) {
	if err := f.s.ensure(f.ctx); err != nil {
		return nil, err
	}
	d, err := f.s.tx.view.RelationByID(f.ctx, table.ID(oid))
	if err != nil {
		return nil, err
	}
	if d == nil {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "could not open relation with OID %d", oid)
	}
	if d.Kind != table.KindSequence {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a sequence", d.Name)
	}
	return d, nil
}

// lockSequence keeps a sequence from being altered until the transaction's end, and returns its
// present definition. Positions are no part of a snapshot, so an older definition would not fit
// them.
func (f *accessor) lockSequence(d *table.Desc) (*table.Desc, error) {
	s := f.s
	out, err := s.lockTable(f.ctx, d.ID, rowlock.RowExclusive, false)
	if err != nil {
		return nil, err
	}
	if now := s.tx.sequences[d.ID]; now != nil && now.Version > d.Version {
		return now, nil
	}
	if out == rowlock.Held || out == rowlock.Granted && s.tx.statements <= 1 {
		return d, nil
	}
	tx, err := s.engine.store.Begin(f.ctx, beginReadOnly)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback(f.ctx) }()
	now, err := s.engine.catalog.View(tx).RelationByID(f.ctx, d.ID)
	switch {
	case err != nil || now != nil && now.Version <= d.Version:
		return d, err
	case now == nil && out == rowlock.Waited:
		return nil, sqlerr.New(sqlerr.UndefinedTable, "could not open relation with OID %d", d.ID)
	case now == nil:
		return d, nil // made by this transaction
	}
	if s.tx.sequences == nil {
		s.tx.sequences = map[table.ID]*table.Desc{}
	}
	s.tx.sequences[d.ID] = now
	return now, nil
}

func (f *accessor) NextVal(oid types.OID) (int64, error) {
	d, err := f.sequence(oid)
	if err != nil {
		return 0, err
	}
	if err := f.s.writable("nextval()"); err != nil {
		return 0, err
	}
	if d, err = f.lockSequence(d); err != nil {
		return 0, err
	}
	v, err := f.s.engine.catalog.NextVal(f.ctx, d)
	if err != nil {
		return 0, err
	}
	f.s.currval[oid], f.s.lastSeq = v, oid
	return v, nil
}

func (f *accessor) CurrVal(oid types.OID) (int64, error) {
	d, err := f.sequence(oid)
	if err != nil {
		return 0, err
	}
	v, ok := f.s.currval[oid]
	if !ok {
		return 0, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
			"currval of sequence \"%s\" is not yet defined in this session", d.Name)
	}
	return v, nil
}

func (f *accessor) LastVal() (int64, error) {
	v, ok := f.s.currval[f.s.lastSeq]
	if ok { // unless the sequence is gone
		d, err := f.s.tx.view.RelationByID(f.ctx, table.ID(f.s.lastSeq))
		if err != nil {
			return 0, err
		}
		ok = d != nil
	}
	if !ok {
		return 0, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
			"lastval is not yet defined in this session")
	}
	return v, nil
}

func (f *accessor) SetVal(oid types.OID, value int64, called bool) error {
	d, err := f.sequence(oid)
	if err != nil {
		return err
	}
	if err := f.s.writable("setval()"); err != nil {
		return err
	}
	if d, err = f.lockSequence(d); err != nil {
		return err
	}
	if q := d.Sequence; value < q.Min || value > q.Max {
		return sqlerr.New(sqlerr.NumericValueOutOfRange,
			"setval: value %d is out of bounds for sequence \"%s\" (%d..%d)",
			value, d.Name, q.Min, q.Max)
	}
	if err := f.s.engine.catalog.SetVal(f.ctx, d, value, called); err != nil {
		return err
	}
	if called {
		f.s.currval[oid] = value
	}
	return nil
}

// ResolveClass finds the OID of a relation or an index by its name as text.
func (f *accessor) ResolveClass(text string) (types.OID, error) {
	name, err := splitName(text)
	if err != nil {
		return 0, err
	}
	if err := f.s.ensure(f.ctx); err != nil {
		return 0, err
	}
	d, err := resolver{f.s}.Relation(f.ctx, name)
	if err != nil {
		return 0, err
	}
	if d != nil {
		return types.OID(d.ID), nil
	}
	schemas := []string{name.Schema}
	if name.Schema == "" {
		if schemas, err = f.s.path(f.ctx); err != nil {
			return 0, err
		}
	}
	for _, schema := range schemas {
		_, ix, err := f.s.tx.view.Index(f.ctx, f.s.databaseID, schema, name.Name)
		if err != nil {
			return 0, err
		}
		if ix != nil {
			return types.OID(ix.OID), nil
		}
	}
	return 0, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", plainName(name))
}

func plainName(n ast.Name) string {
	if n.Schema != "" {
		return n.Schema + "." + n.Name
	}
	return n.Name
}

// splitName reads a possibly qualified name, quoted as in SQL.
func splitName(text string) (ast.Name, error) {
	parts, _ := sqlname.SplitQualified(text)
	switch len(parts) {
	case 1:
		return ast.Name{Name: parts[0]}, nil
	case 2:
		return ast.Name{Schema: parts[0], Name: parts[1]}, nil
	case 3:
		return ast.Name{Database: parts[0], Schema: parts[1], Name: parts[2]}, nil
	}
	return ast.Name{}, sqlerr.New(sqlerr.InvalidName, "invalid name syntax")
}

// Describe returns what system functions show of the catalog.
func (f *accessor) Describe(kind string, oid types.OID, extra string) (string, bool) {
	if err := f.s.ensure(f.ctx); err != nil {
		return "", false
	}
	return pgcatalog.Describe(f.ctx, catalogEnv{f.s}, kind, oid, extra)
}

// RegName and RegOID serve the text forms of regclass and its like (types.RegResolver).
func (f *accessor) RegName(typ, oid types.OID) (string, bool) {
	return f.Describe("reg", oid, regKind(typ))
}

// RegOID finds the object that a name stands for.
func (f *accessor) RegOID(typ types.OID, name string) (types.OID, error) {
	switch typ {
	case types.OIDRegClass:
		return f.ResolveClass(name)
	case types.OIDRegType:
		return typeOID(name)
	}
	if err := f.s.ensure(f.ctx); err != nil {
		return 0, err
	}
	return pgcatalog.RegOID(f.ctx, catalogEnv{f.s}, typ, name)
}

// typeOID reads a type as it is written in SQL.
func typeOID(text string) (types.OID, error) {
	name, err := parse.ParseTypeName(text)
	if err != nil {
		return 0, err
	}
	t, err := planner.ResolveType(name)
	var e *sqlerr.Error
	if errors.As(err, &e) {
		err = e.At(0) // the position is one in the value, not in the statement
	}
	if err != nil {
		return 0, err
	}
	return t.OID, nil
}

func regKind(typ types.OID) string {
	if t, ok := types.ByOID(typ); ok {
		return t.Name
	}
	return ""
}
