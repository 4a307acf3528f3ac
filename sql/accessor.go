package sql

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/rowlock"
)

// accessor is what functions such as current_user, nextval and pg_get_expr may ask of the session
// that runs them (expr.Session). It is made for one statement.
type accessor struct {
	s   *planRunner
	ctx context.Context
}

func (f *accessor) Database() string  { return f.s.database }
func (f *accessor) BackendPID() int32 { return f.s.pid }

func (f *accessor) User() string {
	current, _ := f.s.roleNames(f.ctx)
	return current
}

func (f *accessor) SessionUser() string {
	_, session := f.s.roleNames(f.ctx)
	return session
}

// SearchPath lists the schemas that the search path names and that exist.
func (f *accessor) SearchPath() []string {
	// The next use of the catalog returns an error of reading it.
	path, _ := f.s.namedPath(f.ctx)
	return slices.DeleteFunc(path, func(n string) bool { return n == catalog.TemporaryAlias })
}

// TemporarySchema implements expr.Temporaries.
func (f *accessor) TemporarySchema() (types.OID, string, error) {
	if f.s.temporary == nil {
		return 0, "", nil
	}
	if err := f.s.ensure(f.ctx); err != nil {
		return 0, "", err
	}
	made, err := f.s.tx.view.HasTemporary(f.ctx)
	if err != nil || !made {
		return 0, "", err
	}
	sc := f.s.temporary.schema.Schema
	return types.OID(sc.ID), sc.Name, nil
}

// ClientAddress is one end of the connection (expr.Connection).
func (f *accessor) ClientAddress() string { return f.s.address }

// ServerAddress is the other end (expr.Connection).
func (f *accessor) ServerAddress() string { return f.s.server }

// Generator is part of expr.Seeded.
func (f *accessor) Generator() *rand.Rand { return f.s.random }

// Seed is part of expr.Seeded.
func (f *accessor) Seed(r *rand.Rand) { f.s.random = r }

// CurrentQuery is part of expr.ClientText.
func (f *accessor) CurrentQuery() (string, error) { return f.s.currentActivity().Query, nil }

func (f *accessor) Setting(name string) (string, bool) { return f.s.setting(name) }

// MayShow is part of expr.SettingGuard.
func (f *accessor) MayShow(name string) error { return f.s.mayShow(f.ctx, name) }

func (f *accessor) SetSetting(name, value string, local bool) error {
	if done, err := f.s.setTransactionSetting(name, value); done {
		return err
	}
	if done, err := f.s.setIdentity(f.ctx, name, &value, local); done {
		return err
	}
	if err := f.s.maySet(f.ctx, name); err != nil {
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
	if !d.Temporary() {
		if err := f.s.writable("nextval()"); err != nil {
			return 0, err
		}
	}
	if d, err = f.lockSequence(d); err != nil {
		return 0, err
	}
	v, err := f.s.drawValue(f.ctx, d)
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
	if err := f.s.mayAnyOn(f.ctx, d, acl.Usage|acl.Select); err != nil {
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
		if ok = d != nil; ok {
			if err := f.s.mayAnyOn(f.ctx, d, acl.Usage|acl.Select); err != nil {
				return 0, err
			}
		}
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
	if err := f.s.mayAnyOn(f.ctx, d, acl.Update); err != nil {
		return err
	}
	if !d.Temporary() {
		if err := f.s.writable("setval()"); err != nil {
			return err
		}
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
	delete(f.s.drawn, d.ID)
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
	d, err := resolver{f.s}.named(f.ctx, name)
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
	if t, err := (resolver{f.s}).Type(f.ctx, name); err != nil {
		return 0, err
	} else if t != nil && t.IsComposite() {
		return t.Def.Class, nil
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
	case 0:
	default:
		return ast.Name{}, sqlerr.New(sqlerr.SyntaxError,
			"improper relation name (too many dotted names): %s", strings.Join(parts, "."))
	}
	return ast.Name{}, sqlerr.New(sqlerr.InvalidName, "invalid name syntax")
}

// Describe returns what system functions show of the catalog.
func (f *accessor) Describe(kind string, oid types.OID, extra string) (string, bool) {
	if err := f.s.ensure(f.ctx); err != nil {
		return "", false
	}
	if kind == "updatable" {
		return f.updatable(oid, extra)
	}
	text, ok := pgcatalog.Describe(f.ctx, catalogEnv{f.s}, kind, oid, extra)
	if ok && f.s.settings.Derived().Format.QuoteAll && printed[kind] {
		text = sqlname.QuoteAll(text)
	}
	return text, ok
}

// printed are the kinds of Describe whose texts are SQL, the names of types and of what the types
// regclass and its like stand for. quote_all_identifiers puts all names in them into quotes.
var printed = map[string]bool{"class": true, "constraintdef": true, "expr": true, "indexdef": true,
	"reg": true, "routine": true, "serial": true, "type": true, "viewdef": true}

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
		return f.typeOID(name)
	}
	if err := f.s.ensure(f.ctx); err != nil {
		return 0, err
	}
	return pgcatalog.RegOID(f.ctx, catalogEnv{f.s}, typ, name)
}

// typeOID reads a type as it is written in SQL. Its errors have no position, which would be one in
// the text and not in the statement.
func (f *accessor) typeOID(text string) (types.OID, error) {
	name, err := parse.ParseTypeName(text)
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return 0, sqlerr.New(e.Code, "%s", e.Message).WithContext("invalid type name \"%s\"", text)
	}
	if err := f.s.ensure(f.ctx); err != nil {
		return 0, err
	}
	if name.Schema != "" {
		if err := f.s.mayUseSchema(f.ctx, name.Schema); err != nil {
			return 0, err
		}
	}
	t, err := planner.ResolveType(f.ctx, f.s.plannerEnv(f.ctx), name)
	if errors.As(err, &e) {
		return 0, sqlerr.New(e.Code, "%s", e.Message)
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
