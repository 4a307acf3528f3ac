package catalog

import (
	"context"

	"github.com/minidb/minidb/table"
)

// owners maps the object IDs of indexes and foreign keys to the tables that have them.
type owners map[table.ID]table.ID

// Owner finds the table of a database that has an index or a foreign key with the object ID; nil,
// nil when there is none. The tables are gone through once for each state of the catalog, not for
// each question; a transaction that has changed the schema keeps what it found until it does not
// fit.
func (v *View) Owner(ctx context.Context, db, id table.ID) (*table.Desc, error) {
	if own, err := v.temporaryOwner(ctx, id); own != nil || err != nil {
		return own, err
	}
	st, err := v.state(ctx)
	if err != nil {
		return nil, err
	}
	if st == nil {
		return v.ownOwner(ctx, db, id)
	}
	m, err := memo(st, func(s *state) map[table.ID]owners { return s.owners }, db,
		func() (owners, error) { return v.findOwners(ctx, db) })
	if err != nil {
		return nil, err
	}
	if t, ok := m[id]; ok {
		return v.RelationByID(ctx, t)
	}
	return nil, nil
}

// temporaryOwner is Owner among the session's temporary tables.
func (v *View) temporaryOwner(ctx context.Context, id table.ID) (*table.Desc, error) {
	if v.temporary == nil || !id.Temporary() {
		return nil, nil
	}
	all, err := v.temporaryRelations(ctx)
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		if has(d, id) {
			return d, nil
		}
	}
	return nil, nil
}

// ownOwner is Owner for a transaction that has changed the schema: what was found before may be
// old.
func (v *View) ownOwner(ctx context.Context, db, id table.ID) (*table.Desc, error) {
	if t, ok := v.ownOwners[db][id]; ok {
		if d, err := v.RelationByID(ctx, t); err != nil || d != nil && has(d, id) {
			return d, err
		}
	}
	m, err := v.findOwners(ctx, db)
	if err != nil {
		return nil, err
	}
	if v.ownOwners == nil {
		v.ownOwners = map[table.ID]owners{}
	}
	v.ownOwners[db] = m
	if t, ok := m[id]; ok {
		return v.RelationByID(ctx, t)
	}
	return nil, nil
}

func (v *View) findOwners(ctx context.Context, db table.ID) (owners, error) {
	v.c.walks.Add(1)
	all, err := v.permanent(ctx, db)
	if err != nil {
		return nil, err
	}
	m := owners{}
	for _, d := range all {
		for i := range d.Indexes {
			m[d.Indexes[i].OID] = d.ID
		}
		for i := range d.ForeignKeys {
			m[d.ForeignKeys[i].OID] = d.ID
		}
	}
	return m, nil
}

// Walks counts how often all tables of a database were gone through to find the owner of an object.
func (c *Catalog) Walks() int64 { return c.walks.Load() }

func has(d *table.Desc, id table.ID) bool {
	return d.IndexByOID(id) != nil || d.ForeignKeyByOID(id) != nil
}
