package catalog

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// CreateType adds a user type; 42710 when its name is taken, by a type or the row type of a
// relation. Requires: IDs are drawn, d.Schema is the name of schema d.SchemaID. The name of the
// type of its arrays is chosen here. d is not to be changed after.
func (v *View) CreateType(ctx context.Context, d *TypeDesc) (err error) {
	if err := refuseTemporary(typesOf(d)); err != nil {
		return err
	}
	if err := v.claimType(ctx, d, d.Name, d.ID); err != nil {
		return err
	}
	if err := v.nameArray(ctx, d); err != nil {
		return err
	}
	if err := v.put(typeKey(d.ArrayID), encodeJSON(typeRecord{ArrayOf: d.ID})); err != nil {
		return err
	}
	if err := v.refer(ctx, nil, d.references()); err != nil {
		return err
	}
	return v.putType(ctx, d, 0)
}

// nameArray gives the type of a type's arrays the first free name: an underscore before the name of
// the type, and more of them where that is taken.
func (v *View) nameArray(ctx context.Context, d *TypeDesc) error {
	for name := types.TruncateName("_" + d.Name); ; name = types.TruncateName("_" + name) {
		taken, err := v.TypeTaken(ctx, d.DatabaseID, d.SchemaID, name)
		if err != nil {
			return err
		}
		if !taken {
			d.ArrayName = name
			return v.claimType(ctx, d, name, d.ArrayID)
		}
	}
}

// claimType takes the name of a type, as claim does that of a relation.
func (v *View) claimType(ctx context.Context, d *TypeDesc, name string, id table.ID) error {
	taken, err := v.TypeTaken(ctx, d.DatabaseID, d.SchemaID, name)
	if err != nil {
		return err
	}
	if taken {
		return DuplicateType(name)
	}
	key := typeNameKey(d.DatabaseID, d.SchemaID, name)
	if err := v.reserve(ctx, key); err != nil {
		return err
	}
	// A relation that gets the name at the same time has a row type of it.
	v.validate(nameKey(d.DatabaseID, d.SchemaID, name))
	v.validate(schemaKey(d.DatabaseID, d.Schema))
	return v.put(key, table.AppendID(nil, id))
}

// TypeTaken reports whether a user type, a type of an extension or the row type of a relation has
// the name.
func (v *View) TypeTaken(ctx context.Context, db, schema table.ID, name string) (bool, error) {
	id, err := v.typeNamed(ctx, db, schema, name)
	if err != nil || id != 0 {
		return id != 0, err
	}
	if taken, err := v.memberTaken(ctx, db, schema, name); taken || err != nil {
		return taken, err
	}
	e, err := v.nameIn(ctx, db, schema, name)
	if err != nil || e.relation == 0 || e.index != 0 {
		return false, err
	}
	d, err := v.mustDesc(ctx, e.relation)
	return err == nil && d.Kind != table.KindSequence, err
}

// DuplicateType is 42710 for the name of a type that is taken.
func DuplicateType(name string) *sqlerr.Error {
	return sqlerr.New(sqlerr.DuplicateObject, "type \"%s\" already exists", name)
}

// putType writes a descriptor with a new version.
func (v *View) putType(ctx context.Context, d *TypeDesc, old uint64) error {
	d.Version = v.c.newVersion(max(old, uint64(v.tx.StartTS())))
	v.holdExtensionsOf(d)
	if err := v.dependType(ctx, d, true); err != nil {
		return err
	}
	return v.put(typeKey(d.ID), encodeJSON(typeRecord{Type: d}))
}

// dependType notes or forgets what a type is made of. Whatever drops or changes that meanwhile
// makes the commit fail.
func (v *View) dependType(ctx context.Context, d *TypeDesc, on bool) error {
	for _, id := range typesOf(d) {
		key := dependKey(id, d.ID)
		if !on {
			if err := v.remove(key); err != nil {
				return err
			}
			continue
		}
		if err := v.put(key, nil); err != nil {
			return err
		}
		if err := v.holdType(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// typesOf lists the user types that a type is made of, each once.
func typesOf(d *TypeDesc) []table.ID {
	var ids idSet
	ids.add(d.Uses...)
	ids.add(d.Base.User...)
	for _, a := range d.Attributes {
		ids.add(a.Type.User...)
	}
	return ids
}

// UpdateType replaces a descriptor by another with the same ID, and moves its name where that has
// changed. What rests on the type gets a new version, so that it is read with the new definition
// from then on; exclude makes transactions fail that write rows of those relations by the old one.
// Expressions of theirs are the caller's to mend before.
func (v *View) UpdateType(ctx context.Context, old, d *TypeDesc, exclude bool) error {
	if err := refuseTemporary(typesOf(d)); err != nil {
		return err
	}
	v.tx.Validate(table.PrefixSpan(dependPrefix(d.ID)))
	for i := range d.Labels {
		l := &d.Labels[i]
		if !slices.ContainsFunc(old.Labels, func(o TypeLabel) bool { return o.OID == l.OID }) {
			l.Added = uint64(v.tx.StartTS())
		}
	}
	if old.Name != d.Name || old.SchemaID != d.SchemaID {
		if err := v.renameType(ctx, old, d); err != nil {
			return err
		}
	}
	if err := v.dependType(ctx, old, false); err != nil {
		return err
	}
	if err := v.refer(ctx, old.references(), d.references()); err != nil {
		return err
	}
	if err := v.putType(ctx, d, old.Version); err != nil {
		return err
	}
	return v.renewDependents(ctx, d.ID, exclude, map[table.ID]bool{d.ID: true})
}

func (v *View) renameType(ctx context.Context, old, d *TypeDesc) error {
	for _, name := range []string{old.Name, old.ArrayName} {
		if err := v.remove(typeNameKey(old.DatabaseID, old.SchemaID, name)); err != nil {
			return err
		}
	}
	if err := v.claimType(ctx, d, d.Name, d.ID); err != nil {
		return err
	}
	return v.nameArray(ctx, d)
}

// renewDependents gives what rests on a type a new version: relations at once, types with what
// rests on them in turn.
func (v *View) renewDependents(ctx context.Context, id table.ID, exclude bool,
	seen map[table.ID]bool) error {
	relations, others, err := v.TypeDependents(ctx, id)
	if err != nil {
		return err
	}
	for _, d := range relations {
		if seen[d.ID] {
			continue
		}
		seen[d.ID] = true
		if err := v.RelabelRelation(ctx, d, d.Clone()); err != nil {
			return err
		}
		if exclude && d.HasRows() {
			if err := v.ExcludeWriters(d.ID); err != nil {
				return err
			}
		}
		if d.RowType == 0 {
			continue
		}
		if err := v.renewDependents(ctx, d.RowType, exclude, seen); err != nil {
			return err
		}
	}
	for _, o := range others {
		if seen[o.ID] {
			continue
		}
		seen[o.ID] = true
		if err := v.putType(ctx, o.Clone(), o.Version); err != nil {
			return err
		}
		if err := v.renewDependents(ctx, o.ID, exclude, seen); err != nil {
			return err
		}
	}
	return nil
}

// DropType removes a user type. Requires: nothing rests on it any more.
func (v *View) DropType(ctx context.Context, d *TypeDesc) error {
	v.tx.Validate(table.PrefixSpan(dependPrefix(d.ID)))
	if err := v.dependType(ctx, d, false); err != nil {
		return err
	}
	if err := v.refer(ctx, d.references(), nil); err != nil {
		return err
	}
	for _, key := range [][]byte{
		typeNameKey(d.DatabaseID, d.SchemaID, d.Name),
		typeNameKey(d.DatabaseID, d.SchemaID, d.ArrayName), typeKey(d.ArrayID), typeKey(d.ID),
	} {
		if err := v.remove(key); err != nil {
			return err
		}
	}
	return nil
}

// idSet is a list without repetitions.
type idSet []table.ID

func (s *idSet) add(ids ...table.ID) {
	for _, id := range ids {
		found := false
		for _, have := range *s {
			found = found || have == id
		}
		if !found {
			*s = append(*s, id)
		}
	}
}

// dropTypes removes the user types of a database.
func (v *View) dropTypes(ctx context.Context, db table.ID) error {
	v.tx.Validate(table.PrefixSpan(typeNamePrefix(db)))
	all, err := v.Types(ctx, db)
	if err != nil {
		return err
	}
	for _, d := range all {
		if err := v.DropType(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// rowTypeFree makes sure that a relation may have a row type of its name.
func (v *View) rowTypeFree(ctx context.Context, d *table.Desc, name string, e nameEntry) error {
	if e.index != 0 || d.Kind == table.KindSequence {
		return nil
	}
	id, err := v.typeNamed(ctx, d.DatabaseID, d.SchemaID, name)
	if err != nil {
		return err
	}
	member, err := v.memberTaken(ctx, d.DatabaseID, d.SchemaID, name)
	if err != nil {
		return err
	}
	if id != 0 || member {
		return DuplicateType(name).WithHint("A relation has an associated type of the same name, " +
			"so you must use a name that doesn't conflict with any existing type.")
	}
	v.validate(typeNameKey(d.DatabaseID, d.SchemaID, name))
	return nil
}

// noteTypes sets the user types that a relation's expressions mention.
func (v *View) noteTypes(ctx context.Context, d *table.Desc) (err error) {
	if v.Mentions == nil {
		return nil
	}
	if d.Types, err = v.Mentions(ctx, d); err != nil {
		return err
	}
	if !d.Temporary() {
		if err := refuseTemporary(UserTypes(d)); err != nil {
			return err
		}
	}
	return mentioned(d, v.resolver(ctx))
}

// mentioned resolves the types that a relation's expressions mention.
func mentioned(d *table.Desc, resolve resolveType) error {
	var err error
	d.Mentioned, err = resolveAll(d.Types, resolve)
	return err
}

func resolveAll(ids []table.ID, resolve resolveType) (out []*types.Type, err error) {
	for _, id := range ids {
		t, err := resolve(WireType{OID: types.OID(id), Mod: types.NoMod, Held: types.OIDBytea})
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}
