package catalog

import (
	"context"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// rowTypeByOID finds the row type of a relation, or the type of arrays of it, by its ID, which is
// one of the two behind that of the relation; nil, nil when there is none.
func (v *View) rowTypeByOID(ctx context.Context, id table.ID) (*types.Type, error) {
	for back := table.ID(1); back <= 2 && id >= back+FirstID; back++ {
		d := v.begun[id-back]
		if d == nil {
			var err error
			if d, err = v.RelationByID(ctx, id-back); err != nil {
				return nil, err
			}
		}
		if d == nil || d.RowType == 0 {
			continue
		}
		row, array := table.RowTypeOf(d.ID)
		switch id {
		case row:
			return d.Row(), nil
		case array:
			return types.ArrayOf(d.Row()), nil
		}
	}
	return nil, nil
}

// rowTypeNamed finds the row type of a relation, or the type of arrays of it, by name; nil, nil
// when there is none.
func (v *View) rowTypeNamed(ctx context.Context, db table.ID, schema,
	name string) (*types.Type, error) {
	d, err := v.Relation(ctx, db, schema, name)
	if err != nil {
		return nil, err
	}
	if d != nil && d.RowType != 0 {
		return d.Row(), nil
	}
	elem, isArray := strings.CutPrefix(name, "_")
	if !isArray {
		return nil, nil
	}
	if d, err = v.Relation(ctx, db, schema, elem); err != nil || d == nil || d.RowType == 0 {
		return nil, err
	}
	return types.ArrayOf(d.Row()), nil
}

// RowTypeRelation returns the relation of which a type is the row type; nil when it is none.
func (v *View) RowTypeRelation(ctx context.Context, id table.ID) (*table.Desc, error) {
	d, err := v.RelationByID(ctx, id-1)
	if err != nil || d == nil || d.RowType != id {
		return nil, err
	}
	return d, nil
}

// holdType makes Commit fail if a type that something comes to rest on is changed or dropped
// meanwhile. That of a relation's rows is kept with the relation. 42704 for one that is gone, but
// that a session's temporary table has values of.
func (v *View) holdType(ctx context.Context, id table.ID) error {
	d, err := v.RowTypeRelation(ctx, id)
	if err != nil {
		return err
	}
	if d != nil {
		v.validate(table.DescKey(d.ID))
		return nil
	}
	u, _, err := v.userType(ctx, id)
	if err == nil && u == nil {
		err = sqlerr.New(sqlerr.UndefinedObject, "type with OID %d does not exist", id)
	}
	v.validate(typeKey(id))
	return err
}

// refuseTemporary refuses to store what is made of the row type of a temporary relation outside its
// session's schema: it goes with the session.
func refuseTemporary(ids []table.ID) error {
	if slices.ContainsFunc(ids, table.ID.Temporary) {
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"the row type of a temporary relation is not supported in other objects")
	}
	return nil
}
