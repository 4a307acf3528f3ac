package pgcatalog

import (
	"context"
	"strings"
	"sync"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
)

// rowTypeIDs are the row types of the catalogs that PostgreSQL gives numbers of their own. That of
// arrays of one follows.
var rowTypeIDs = map[string]table.ID{"pg_type": 71, "pg_attribute": 75, "pg_proc": 81,
	"pg_class": 83}

// firstRowType is the first ID of the other row types of system relations.
const firstRowType table.ID = 10000

// giveRowType sets the row type of a system relation and makes it known.
func (g *registered) giveRowType(e *entry) {
	id, ok := rowTypeIDs[e.name]
	if !ok {
		id = firstRowType + table.ID(2*len(g.all))
	}
	e.desc.RowType = id
	g.rows[types.OID(id)] = e
}

// TypeByOID finds any type: that of the rows of a system relation, of arrays of it, or one that the
// catalog has; nil, nil when there is none.
func TypeByOID(ctx context.Context, v *catalog.View, oid types.OID) (*types.Type, error) {
	if t := systemRow(oid); t != nil {
		return t, nil
	}
	return v.TypeByOID(ctx, oid)
}

func systemRow(oid types.OID) *types.Type {
	g := registry()
	if e := g.rows[oid]; e != nil {
		return e.rowType()
	}
	if e := g.rows[oid-1]; e != nil {
		return types.ArrayOf(e.rowType())
	}
	return nil
}

// TypeIn finds a type that pg_catalog or information_schema has beside the built-in ones, by
// pg_type.typname; nil when there is none.
func TypeIn(schema, name string) *types.Type {
	if schema == "information_schema" {
		if t := types.InformationSchema(name); t != nil {
			return t
		}
	}
	g := registry()
	if e := g.byName[schema+"."+name]; e != nil {
		return e.rowType()
	}
	if elem, isArray := strings.CutPrefix(name, "_"); isArray {
		if e := g.byName[schema+"."+elem]; e != nil {
			return types.ArrayOf(e.rowType())
		}
	}
	return nil
}

// systemDomains are the descriptors of the domains of information_schema.
var systemDomains = sync.OnceValue(func() (all []*catalog.TypeDesc) {
	for _, t := range types.SystemDomains() {
		d := &catalog.TypeDesc{ID: table.ID(t.OID), ArrayID: table.ID(t.Def.ArrayOID),
			SchemaID: InformationSchemaID, Schema: t.Def.Schema, Name: t.Name,
			ArrayName: t.Def.ArrayName, Kind: t.Def.Kind, Version: t.Def.Version,
			Base: catalog.WireOf(t.Def.Base), Default: t.Def.Default}
		if d.Base.OID == types.OIDName || d.Base.OID == types.OIDVarchar {
			d.Collation = "C"
		}
		for _, c := range t.Def.Checks {
			d.Checks = append(d.Checks, catalog.DomainCheck{OID: table.ID(c.OID), Name: c.Name,
				Text: c.Text})
		}
		all = append(all, d)
	}
	return all
})

// userType finds the descriptor of a user type or of a domain of information_schema; nil when there
// is none.
func (r *reader) userType(id table.ID) *catalog.TypeDesc {
	for _, d := range systemDomains() {
		if d.ID == id {
			return d
		}
	}
	d, err := r.env.View().UserType(r.ctx, id)
	if r.fail(err); err != nil {
		return nil
	}
	return d
}
