package catalog

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/types"
)

// A descriptor's value is one byte of format, its version (so that a cached copy can be recognised
// without decoding the rest), and JSON. Types are kept by OID: their families and names are the
// program's, not the store's.
const descFormat = 1

type wireDesc struct {
	table.Desc
	Columns []wireColumn
	Exprs   []wireExpr `json:",omitempty"`
	States  []wireDesc `json:",omitempty"` // of an incremental view
}

type wireColumn struct {
	table.Column
	Type WireType
}

type wireExpr struct {
	table.Expression
	Type WireType
}

// WireType is a type as descriptors keep it. User lists the user types that it mentions, and Held
// is what the values can be read as when these are gone; a built-in type has neither.
type WireType struct {
	OID  types.OID
	Mod  int32
	User []table.ID `json:",omitempty"`
	Held types.OID  `json:",omitempty"`
}

// WireOf returns how a descriptor keeps a type.
func WireOf(t *types.Type) WireType {
	w := WireType{OID: t.OID, Mod: t.Mod}
	t.UserTypes(func(u *types.Type) { w.User = append(w.User, table.ID(u.OID)) })
	if len(w.User) > 0 {
		w.Held = t.Held().OID
	}
	return w
}

// resolveType finds the type that a descriptor keeps.
type resolveType func(WireType) (*types.Type, error)

// resolver resolves types by the schema that the transaction sees.
func (v *View) resolver(ctx context.Context) resolveType {
	return func(w WireType) (*types.Type, error) { return v.wireType(ctx, w) }
}

func (v *View) wireType(ctx context.Context, w WireType) (*types.Type, error) {
	t, err := v.TypeByOID(ctx, w.OID)
	if err == nil && t == nil {
		err = fmt.Errorf("catalog: unknown type %d: %w", w.OID, kv.ErrCorruption)
	}
	if err != nil {
		return nil, err
	}
	return t.Apply(w.Mod), nil
}

func wireOf(d *table.Desc) wireDesc {
	w := wireDesc{Desc: *d, Columns: make([]wireColumn, len(d.Columns))}
	for i, c := range d.Columns {
		w.Columns[i] = wireColumn{Column: c, Type: WireOf(c.Type)}
	}
	for _, e := range d.Exprs {
		w.Exprs = append(w.Exprs,
			wireExpr{Expression: e, Type: WireOf(e.Type)})
	}
	for _, s := range d.States() {
		w.States = append(w.States, wireOf(s))
	}
	return w
}

func encodeDesc(d *table.Desc) ([]byte, error) {
	w := wireOf(d)
	js, err := json.Marshal(&w)
	if err != nil {
		return nil, fmt.Errorf("catalog: relation %q: %w", d.Name, err)
	}
	out := binary.AppendUvarint([]byte{descFormat}, d.Version)
	return append(out, js...), nil
}

// descVersion reads the version alone.
func descVersion(b []byte) (version uint64, rest []byte, err error) {
	if len(b) == 0 || b[0] != descFormat {
		return 0, nil, fmt.Errorf("catalog: unknown format of a descriptor: %w", kv.ErrCorruption)
	}
	v, n := binary.Uvarint(b[1:])
	if n <= 0 {
		return 0, nil, fmt.Errorf("catalog: descriptor: %w", kv.ErrCorruption)
	}
	return v, b[1+n:], nil
}

func (c *Catalog) decodeDesc(b []byte, types resolveType,
	known func(*table.Desc)) (*table.Desc, error) {
	d, err := parseDesc(b, types, known)
	if err != nil {
		return nil, err
	}
	return d, c.prepare(d)
}

// parseDesc is decodeDesc before the encodings of rows and entries are worked out. It calls known,
// which may be nil, once the columns are known: the types of what lies above them may be made of
// rows of the relation.
func parseDesc(b []byte, types resolveType, known func(*table.Desc)) (*table.Desc, error) {
	w, err := parseWire(b)
	if err != nil {
		return nil, err
	}
	d, err := w.desc(types, known)
	if err != nil {
		return nil, err
	}
	for i := range d.ForeignKeys {
		// of a store from before they were numbered: far above all numbers
		if fk := &d.ForeignKeys[i]; fk.OID == 0 {
			fk.OID = 1<<31 + d.ID<<8 + table.ID(i)
		}
	}
	return d, nil
}

func parseWire(b []byte) (*wireDesc, error) {
	_, js, err := descVersion(b)
	if err != nil {
		return nil, err
	}
	w := &wireDesc{}
	if err := json.Unmarshal(js, w); err != nil {
		return nil, fmt.Errorf("catalog: descriptor: %w: %w", kv.ErrCorruption, err)
	}
	return w, nil
}

// columns returns the descriptor that was encoded, up to its columns.
func (w *wireDesc) columns(types resolveType) (*table.Desc, error) {
	d := &w.Desc
	d.Columns, d.Exprs = make([]table.Column, len(w.Columns)), nil
	for i, c := range w.Columns {
		t, err := types(c.Type)
		if err != nil {
			return nil, fmt.Errorf("catalog: relation %q: %w", d.Name, err)
		}
		d.Columns[i] = c.Column
		d.Columns[i].Type = t
	}
	return d, nil
}

// desc returns the descriptor that was encoded.
func (w *wireDesc) desc(types resolveType, known func(*table.Desc)) (*table.Desc, error) {
	d, err := w.columns(types)
	if err != nil {
		return nil, err
	}
	if known != nil {
		known(d)
	}
	for _, e := range w.Exprs {
		t, err := types(e.Type)
		if err != nil {
			return nil, fmt.Errorf("catalog: relation %q: %w", d.Name, err)
		}
		e.Expression.Type = t
		d.Exprs = append(d.Exprs, e.Expression)
	}
	if err := mentioned(d, types); err != nil {
		return nil, err
	}
	for i := range w.States {
		s, err := w.States[i].desc(types, nil)
		if err != nil {
			return nil, err
		}
		d.View.Incremental.States = append(d.View.Incremental.States, s)
	}
	return d, nil
}

// Database is a database.
type Database struct {
	ID      table.ID
	Name    string
	Comment string
	// Settings are what its sessions begin with, "name=value" each.
	Settings []string        `json:",omitempty"`
	Owner    acl.StoredOwner `json:",omitempty"` // 0: the bootstrap superuser
	ACL      acl.List        `json:",omitzero"`
	// ConnectionLimit is one more than the sessions that the database may have; 0: any number.
	ConnectionLimit int `json:",omitempty"`
}

// OwnedBy returns the role that owns the database.
func (d *Database) OwnedBy() acl.RoleID {
	return d.Owner.Or(acl.Postgres)
}

// Schema is a schema of a database.
type Schema struct {
	ID       table.ID
	Database table.ID
	Name     string
	Comment  string
	Owner    acl.StoredOwner `json:",omitempty"` // 0: what OwnedBy returns
	ACL      acl.List        `json:",omitzero"`  // nil: what Privileges returns
}

// OwnedBy returns the role that owns the schema. The schema public of a database belongs to the
// owner of the database, unless it got another one.
func (s *Schema) OwnedBy() acl.RoleID {
	if s.ID == PublicID {
		return s.Owner.Or(acl.DatabaseOwner)
	}
	return s.Owner.Or(acl.Postgres)
}

// Give makes a role the owner of the schema, in what was granted too.
func (s *Schema) Give(to acl.RoleID) {
	s.ACL = s.Privileges().Owned(s.OwnedBy(), to)
	s.Owner = acl.StoredOwner(to)
}

// Privileges returns the list of the schema; nil for the default. Everyone may use the schema
// public at first, and its owner alone may create there.
func (s *Schema) Privileges() acl.List {
	if s.ACL != nil || s.ID != PublicID {
		return s.ACL
	}
	owner := s.OwnedBy()
	return acl.List{
		{Grantee: owner, Grantor: owner, Granted: acl.Schema.All()},
		{Grantee: acl.Public, Grantor: owner, Granted: acl.Usage},
	}
}

func encodeJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain structs of strings and numbers: cannot fail
	}
	return b
}

func decodeJSON(b []byte, v any) error {
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("catalog: %w: %w", kv.ErrCorruption, err)
	}
	return nil
}
