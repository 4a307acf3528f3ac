package table

import (
	"github.com/minidb/minidb/table/types"
)

// RowTypeOf returns the ID of the row type of a relation, and of the type of arrays of it: they
// are those behind the relation's own. A sequence has none.
func RowTypeOf(relation ID) (row, array ID) { return relation + 1, relation + 2 }

// Row returns the type of the relation's rows; nil if it has none. Its fields are the columns that
// * means.
func (d *Desc) Row() *types.Type {
	if p := d.prepared; p != nil && p.owner == d {
		return p.row
	}
	return d.rowType()
}

// rowType makes the type of the relation's rows.
func (d *Desc) rowType() *types.Type {
	if d.RowType == 0 {
		return nil
	}
	def := &types.Definition{Kind: types.KindComposite, Schema: d.Schema, Version: d.Version,
		ArrayOID: types.OID(d.RowType + 1), ArrayName: types.TruncateName("_" + d.Name),
		Class: types.OID(d.ID), RowType: true, Of: types.OID(d.OfType),
		System: d.Kind == KindVirtual}
	for i := range d.Columns {
		c := &d.Columns[i]
		if !c.Hidden {
			def.Attributes = append(def.Attributes,
				types.Attribute{Name: c.Name, Type: c.Type, Number: int(c.ID),
					Collation: c.Collation})
		}
	}
	return types.NewUserType(&types.Type{OID: types.OID(d.RowType), Name: d.Name, Def: def})
}
