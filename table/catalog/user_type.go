package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/types"
)

// TypeDesc is the descriptor of a user type: an enum, a domain, or what CREATE TYPE … AS made. The
// row types of relations have none: the relation's descriptor is what they are made of.
type TypeDesc struct {
	ID         table.ID
	ArrayID    table.ID // of the type of its arrays
	DatabaseID table.ID
	SchemaID   table.ID
	Schema     string
	Name       string
	ArrayName  string
	Kind       types.Kind
	Version    uint64
	Owner      acl.StoredOwner `json:",omitempty"` // 0: the bootstrap superuser
	ACL        acl.List        `json:",omitzero"`
	Comment    string          `json:",omitempty"`
	Uses       []table.ID      `json:",omitempty"` // user types that its expressions mention

	Labels []TypeLabel `json:",omitempty"` // of an enum, in its order

	// of a domain
	Base      WireType
	Collation string `json:",omitempty"`
	NotNull   bool   `json:",omitempty"`
	Default   string `json:",omitempty"`
	// DefaultShown is Default as it was printed when it was set, by the search path of then, which
	// is what pg_type.typdefault keeps; "" where it is to be printed anew.
	DefaultShown string        `json:",omitempty"`
	Checks       []DomainCheck `json:",omitempty"`

	// of a composite type
	Class      table.ID        `json:",omitempty"` // its OID in pg_class
	Attributes []TypeAttribute `json:",omitempty"`
	// LastAttribute is the greatest Number that an attribute ever had.
	LastAttribute int `json:",omitempty"`
}

// TypeLabel is a label of an enum. Added is the startTS of the transaction that added it to a type
// that was there; 0 for those that the type was made with.
type TypeLabel struct {
	OID   table.ID
	Name  string
	Key   []byte
	Sort  float32 // pg_enum.enumsortorder
	Added uint64
}

// DomainCheck is a CHECK constraint of a domain.
type DomainCheck struct {
	OID      table.ID
	Name     string
	Text     string
	NotValid bool   `json:",omitempty"`
	Comment  string `json:",omitempty"`
}

// TypeAttribute is a field of a composite type. Number is its pg_attribute.attnum.
type TypeAttribute struct {
	Name      string
	Number    int
	Type      WireType
	Collation string `json:",omitempty"`
	Comment   string `json:",omitempty"`
}

// OwnedBy returns the role that owns the type.
func (d *TypeDesc) OwnedBy() acl.RoleID {
	return d.Owner.Or(acl.Postgres)
}

func (d *TypeDesc) references() references {
	r := references{}
	if d == nil {
		return r
	}
	ref := Reference{Database: d.DatabaseID, Class: ClassType, Object: d.ID, Why: ByOwner}
	r.add(d.OwnedBy(), ref)
	ref.Why = ByACL
	r.addList(d.ACL, d.OwnedBy(), ref)
	return r
}

// Clone returns a copy that may be changed.
func (d *TypeDesc) Clone() *TypeDesc {
	c := *d
	c.ACL, c.Uses = slices.Clone(d.ACL), slices.Clone(d.Uses)
	c.Labels, c.Checks = slices.Clone(d.Labels), slices.Clone(d.Checks)
	c.Attributes = slices.Clone(d.Attributes)
	return &c
}

// typeRecord is what is stored under a type's ID: its descriptor, or for the type of its arrays the
// ID of the type.
type typeRecord struct {
	Type    *TypeDesc `json:",omitempty"`
	ArrayOf table.ID  `json:",omitempty"`
}

// userType is a descriptor with the type that it describes.
type userType struct {
	encoded []byte
	desc    *TypeDesc
	t       *types.Type
}

// TypeByOID finds a built-in type, a user type or the type of its arrays; nil, nil when there is
// none.
func (v *View) TypeByOID(ctx context.Context, oid types.OID) (*types.Type, error) {
	if t, ok := types.ByOID(oid); ok {
		return t, nil
	}
	u, array, err := v.userType(ctx, table.ID(oid))
	switch {
	case err != nil:
		return nil, err
	case u == nil:
		return v.rowTypeByOID(ctx, table.ID(oid))
	case array:
		return types.ArrayOf(u.t), nil
	}
	return u.t, nil
}

// UserType finds the descriptor of a user type; nil, nil when there is none. The ID of the type of
// its arrays leads to none.
func (v *View) UserType(ctx context.Context, id table.ID) (*TypeDesc, error) {
	u, array, err := v.userType(ctx, id)
	if err != nil || u == nil || array {
		return nil, err
	}
	return u.desc, nil
}

// Type finds a user type, a type of an extension, or the type of arrays of one, by name; nil, nil
// when there is none.
func (v *View) Type(ctx context.Context, db table.ID, schema, name string) (*types.Type, error) {
	if t, err := v.memberType(ctx, db, schema, name); t != nil || err != nil {
		return t, err
	}
	sc, ok, err := v.Schema(ctx, db, schema)
	if err != nil || !ok {
		return nil, err
	}
	id, err := v.typeNamed(ctx, db, sc.ID, name)
	switch {
	case err != nil:
		return nil, err
	case id == 0:
		return v.rowTypeNamed(ctx, db, schema, name)
	}
	t, err := v.TypeByOID(ctx, types.OID(id))
	if err == nil && t == nil {
		err = fmt.Errorf("catalog: type %q has a name and no descriptor: %w", name,
			kv.ErrCorruption)
	}
	return t, err
}

// typeNamed returns the ID of the type of that name, 0 when there is none.
func (v *View) typeNamed(ctx context.Context, db, schema table.ID, name string) (table.ID, error) {
	st, err := v.state(ctx)
	if err != nil {
		return 0, err
	}
	return memo(st, func(s *state) map[relationName]table.ID { return s.typeNames },
		relationName{db, schema, name}, func() (table.ID, error) {
			b, err := v.tx.GetUnserialized(ctx, typeNameKey(db, schema, name))
			if err != nil || b == nil {
				return 0, err
			}
			id, rest, ok := table.ReadID(b)
			if !ok || len(rest) > 0 {
				return 0, fmt.Errorf("catalog: type name %q: %w", name, kv.ErrCorruption)
			}
			return id, nil
		})
}

// userType finds a user type by its ID or that of the type of its arrays.
func (v *View) userType(ctx context.Context, id table.ID) (u *userType, array bool, err error) {
	if u := v.begunTypes[id]; u != nil {
		return u, false, nil
	}
	st, err := v.state(ctx)
	if err != nil {
		return nil, false, err
	}
	rec, err := memo(st, func(s *state) map[table.ID]*typeEntry { return s.types }, id,
		func() (*typeEntry, error) { return v.loadType(ctx, id, st == nil) })
	switch {
	case err != nil || rec == nil:
		return nil, false, err
	case rec.arrayOf != 0:
		u, _, err = v.userType(ctx, rec.arrayOf)
		return u, true, err
	}
	return rec.userType, false, nil
}

// typeEntry is what an ID leads to.
type typeEntry struct {
	arrayOf  table.ID
	userType *userType
}

func (v *View) loadType(ctx context.Context, id table.ID, own bool) (*typeEntry, error) {
	b, err := v.tx.GetUnserialized(ctx, typeKey(id))
	if err != nil || b == nil {
		return nil, err
	}
	if u := v.ownTypes[id]; own && u != nil && bytes.Equal(u.encoded, b) {
		return &typeEntry{userType: u}, nil
	}
	rec, err := decodeType(b)
	if err != nil {
		return nil, err
	}
	if rec.ArrayOf != 0 {
		return &typeEntry{arrayOf: rec.ArrayOf}, nil
	}
	u := &userType{encoded: bytes.Clone(b), desc: rec.Type}
	if err := v.build(ctx, u); err != nil {
		return nil, err
	}
	if own {
		if v.ownTypes == nil {
			v.ownTypes = map[table.ID]*userType{}
		}
		v.ownTypes[id] = u
	}
	return &typeEntry{userType: u}, nil
}

func decodeType(b []byte) (*typeRecord, error) {
	var rec typeRecord
	if err := json.Unmarshal(b, &rec); err != nil || (rec.Type == nil) == (rec.ArrayOf == 0) {
		return nil, fmt.Errorf("catalog: type: %w", kv.ErrCorruption)
	}
	return &rec, nil
}

// build makes the type that a descriptor describes. The types that it is made of are what they are
// in the same state of the catalog: a change of one gives those that use it another version.
func (v *View) build(ctx context.Context, u *userType) (err error) {
	d, resolve := u.desc, v.resolver(ctx)
	u.t, err = buildType(d, uint64(v.tx.StartTS()), resolve)
	if err != nil || len(d.Checks) == 0 || v.c.programs == nil {
		return err
	}
	if v.begunTypes == nil {
		v.begunTypes = map[table.ID]*userType{}
	}
	v.begunTypes[d.ID] = u
	defer delete(v.begunTypes, d.ID)
	mentioned, err := resolveAll(d.Uses, resolve)
	if err != nil {
		return err
	}
	u.t.Def.Program = v.c.programs.CompileDomain(u.t.Def, mentioned)
	return nil
}

// buildType makes a type of its descriptor. now is the startTS of the transaction that asks.
func buildType(d *TypeDesc, now uint64,
	resolve func(WireType) (*types.Type, error)) (t *types.Type, err error) {
	def := &types.Definition{Kind: d.Kind, Schema: d.Schema, Version: d.Version,
		ArrayOID: types.OID(d.ArrayID), ArrayName: d.ArrayName, NotNull: d.NotNull,
		Collation: d.Collation,
		Default:   d.Default, Class: types.OID(d.Class)}
	for _, l := range d.Labels {
		def.Labels = append(def.Labels, types.Label{OID: types.OID(l.OID), Name: l.Name,
			Key: string(l.Key), Unsafe: l.Added == now && now != 0})
	}
	for _, c := range d.Checks {
		def.Checks = append(def.Checks, types.DomainCheck{OID: types.OID(c.OID), Name: c.Name,
			Text: c.Text, NotValid: c.NotValid})
	}
	if d.Kind == types.KindDomain {
		if def.Base, err = resolve(d.Base); err != nil {
			return nil, err
		}
	}
	for _, a := range d.Attributes {
		at, err := resolve(a.Type)
		if err != nil {
			return nil, err
		}
		def.Attributes = append(def.Attributes,
			types.Attribute{Name: a.Name, Type: at, Number: a.Number,
				Collation: a.Collation})
	}
	return types.NewUserType(&types.Type{OID: types.OID(d.ID), Name: d.Name, Def: def}), nil
}

// Types lists the user types of a database by schema and name.
func (v *View) Types(ctx context.Context, db table.ID) ([]*TypeDesc, error) {
	var ids []table.ID
	err := scan(ctx, v.tx, typeNamePrefix(db), func(_, value []byte) error {
		id, rest, ok := table.ReadID(value)
		if !ok || len(rest) > 0 {
			return fmt.Errorf("catalog: type names: %w", kv.ErrCorruption)
		}
		ids = append(ids, id)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []*TypeDesc
	for _, id := range ids {
		u, array, err := v.userType(ctx, id)
		if err == nil && u == nil {
			err = fmt.Errorf("catalog: type %d has a name and no descriptor: %w", id,
				kv.ErrCorruption)
		}
		if err != nil {
			return nil, err
		}
		if !array {
			out = append(out, u.desc)
		}
	}
	return out, nil
}

// TypeDependents lists what rests on a user type: relations with columns of it, or of arrays of it,
// or whose expressions mention it, and other user types.
func (v *View) TypeDependents(ctx context.Context, id table.ID) (relations []*table.Desc,
	others []*TypeDesc, err error) {
	ids, err := v.dependents(ctx, dependPrefix(id))
	if t := v.temporary; t != nil && err == nil {
		var own []table.ID
		own, err = v.dependents(ctx, ownDependPrefix(t.Schema.ID, id))
		ids = append(ids, own...)
	}
	if err != nil {
		return nil, nil, err
	}
	for _, on := range ids {
		t, err := v.UserType(ctx, on)
		if err != nil {
			return nil, nil, err
		}
		if t != nil {
			others = append(others, t)
			continue
		}
		d, err := v.mustDesc(ctx, on)
		if err != nil {
			return nil, nil, err
		}
		relations = append(relations, d)
	}
	return relations, others, nil
}

// Built returns the type that a descriptor describes, which need not be stored.
func (v *View) Built(ctx context.Context, d *TypeDesc) (*types.Type, error) {
	u := &userType{desc: d}
	err := v.build(ctx, u)
	return u.t, err
}
