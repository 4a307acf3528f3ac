package catalog

import (
	"fmt"
	"maps"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// A user type is copied when its descriptor can be read. Names and dependencies are made anew. The
// values of a type that is lost are saved as those of a built-in type that holds them.

// readType reads a descriptor of a user type.
func (c *schemaCopy) readType(rest string, value []byte) {
	id, b, ok := table.ReadID([]byte(rest))
	rec, err := decodeType(value)
	if !ok || len(b) > 0 || err != nil || rec.Type != nil && rec.Type.ID != id {
		c.undecodable(append([]byte{table.PrefixCatalog, tagType}, rest...))
		return
	}
	if rec.Type != nil {
		c.types[id] = rec.Type
		c.arrays[rec.Type.ArrayID] = id
	}
}

// typeOf makes the type that a descriptor keeps. A user type that is lost is one that holds its
// values, and is noted in lost.
func (c *schemaCopy) typeOf(lost *idSet) resolveType {
	var resolve resolveType
	resolve = func(w WireType) (*types.Type, error) {
		if t, ok := types.ByOID(w.OID); ok {
			return t.Apply(w.Mod), nil
		}
		id, array := table.ID(w.OID), false
		if elem, ok := c.arrays[id]; ok {
			id, array = elem, true
		}
		if d := c.types[id]; d != nil {
			t, err := buildType(d, 0, resolve)
			if err == nil && array {
				t = types.ArrayOf(t)
			}
			return t, err
		}
		if t := c.rowType(id, resolve); t != nil {
			return t, nil
		}
		lost.add(w.User...)
		return heldType(w)
	}
	return resolve
}

// rowType makes the row type of a relation whose descriptor can be read, or the type of arrays of
// it, by its ID; nil when there is none.
func (c *schemaCopy) rowType(id table.ID, resolve resolveType) *types.Type {
	for back := table.ID(1); back <= 2; back++ {
		value, ok := c.cells[string(table.DescKey(id-back))]
		if !ok {
			continue
		}
		w, err := parseWire(value)
		if err != nil {
			continue
		}
		d, err := w.columns(resolve)
		if err != nil || d.ID != id-back || d.RowType == 0 {
			continue
		}
		if back == 2 {
			return types.ArrayOf(d.Row())
		}
		return d.Row()
	}
	return nil
}

// heldType returns the built-in type by which the values of a type that is gone can be read.
func heldType(w WireType) (*types.Type, error) {
	oid := w.Held
	if oid == 0 {
		oid = w.OID
	}
	if t, ok := types.ByOID(oid); ok {
		return t.Apply(w.Mod), nil
	}
	return nil, fmt.Errorf("catalog: unknown type %d: %w", w.OID, kv.ErrCorruption)
}

// deriveTypes makes the cells of the user types, of those whose parts can be read.
func (c *schemaCopy) deriveTypes() {
	for _, id := range slices.Sorted(maps.Keys(c.types)) {
		d := c.types[id]
		for _, name := range []struct {
			name string
			id   table.ID
		}{{d.Name, d.ID}, {d.ArrayName, d.ArrayID}} {
			key := typeNameKey(d.DatabaseID, d.SchemaID, name.name)
			c.cells[string(key)] = table.AppendID(nil, name.id)
		}
		c.cells[string(typeKey(d.ArrayID))] = encodeJSON(typeRecord{ArrayOf: d.ID})
		c.cells[string(typeKey(d.ID))] = encodeJSON(typeRecord{Type: d})
		for _, on := range typesOf(d) {
			if c.types[on] != nil {
				c.cells[string(dependKey(on, d.ID))] = []byte{}
			}
		}
	}
}

// lostTypes leaves out the types that are made of lost ones, and lists them.
func (c *schemaCopy) lostTypes() {
	for again := true; again; {
		again = false
		for id, d := range c.types {
			gone := slices.ContainsFunc(typesOf(d),
				func(on table.ID) bool { return c.types[on] == nil })
			if gone {
				delete(c.types, id)
				delete(c.arrays, d.ArrayID)
				c.s.opts.Lost(Problem{What: fmt.Sprintf("type %s.%s: what it is made of is lost",
					d.Schema, d.Name)})
				again = true
			}
		}
	}
}
