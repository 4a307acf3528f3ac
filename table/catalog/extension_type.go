package catalog

import (
	"context"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// memberType finds a type of the extensions in a schema; nil, nil when there is none.
func (v *View) memberType(ctx context.Context, db table.ID, schema, name string) (*types.Type,
	error) {
	t := types.Member(name)
	if t == nil {
		return nil, nil
	}
	e, err := v.Extension(ctx, db, types.ExtensionOf(t))
	if err != nil || e == nil || e.Schema != schema {
		return nil, err
	}
	return t, nil
}

// memberTaken reports whether an extension has a type of that name in a schema. A change of that
// makes the commit fail.
func (v *View) memberTaken(ctx context.Context, db, schema table.ID, name string) (bool, error) {
	t := types.Member(name)
	if t == nil {
		return false, nil
	}
	of := types.ExtensionOf(t)
	v.validate(extensionKey(db, of))
	e, err := v.Extension(ctx, db, of)
	return e != nil && e.SchemaID == schema, err
}

// claimMembers takes the names of an extension's types in its schema.
func (v *View) claimMembers(ctx context.Context, e Extension) error {
	for _, t := range types.Extended() {
		if types.ExtensionOf(t) != e.Name {
			continue
		}
		taken, err := v.TypeTaken(ctx, e.Database, e.SchemaID, t.Name)
		if err != nil {
			return err
		}
		if taken {
			return DuplicateType(t.Name)
		}
		v.validate(typeNameKey(e.Database, e.SchemaID, t.Name))
		v.validate(nameKey(e.Database, e.SchemaID, t.Name))
	}
	return nil
}

// holdExtensionsOf makes the commit fail if an extension whose type a user type is made of is
// dropped meanwhile.
func (v *View) holdExtensionsOf(d *TypeDesc) {
	hold := func(oid types.OID) {
		if t, ok := types.ByOID(oid); ok && types.ExtensionOf(t) != "" {
			v.validate(extensionKey(d.DatabaseID, types.ExtensionOf(t)))
		}
	}
	hold(d.Base.OID)
	for _, a := range d.Attributes {
		hold(a.Type.OID)
	}
}
