package pgcatalog

import (
	"sync"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// accessMethod is the OID in pg_am of the method that an index was made with.
func accessMethod(ix *table.Index) int {
	switch ix.Method {
	case "hash":
		return 405
	case "gist":
		return 783
	case table.MethodGIN:
		return 2742
	case "spgist":
		return 4000
	case "brin":
		return 3580
	}
	return int(btreeMethod)
}

// attributeType is the type that pg_attribute shows of key column i of an index over values of type
// t: that of its keys, where these are no values of the column.
func attributeType(ix *table.Index, i int, t *types.Type) *types.Type {
	if i >= len(ix.Columns) {
		return t
	}
	switch ix.Method {
	case "hash":
		return types.TInt4
	case table.MethodGIN:
		switch {
		case t.Elem != nil:
			return t.Elem.WithMod(types.NoMod)
		case ix.Columns[i].OpClass != "":
			return types.TInt4 // hashes of paths, trigrams
		}
		return types.TText
	case "gist":
		return gistKeyType(indexClass(ix, &ix.Columns[i], t), t)
	}
	return t
}

// gistKeyType is the type of the keys that PostgreSQL has in a gist index over values of type t.
func gistKeyType(class table.ID, t *types.Type) *types.Type {
	for r := range tuples("pg_opclass") {
		if key := r.oid("opckeytype"); table.ID(r.oid("oid")) == class && key != 0 {
			if of, ok := types.ByOID(key); ok {
				return of
			}
		}
	}
	return t
}

// classKey names an operator class.
type classKey struct {
	method int
	name   string // "" for the default class of a type
	of     types.OID
}

// classesByName are the operator classes of all access methods.
var classesByName = sync.OnceValue(func() map[classKey]table.ID {
	out := map[classKey]table.ID{}
	for r := range tuples("pg_opclass") {
		k := classKey{method: int(r.oid("opcmethod")), of: r.oid("opcintype")}
		id := table.ID(r.oid("oid"))
		if r.text("opcdefault") == "t" {
			out[k] = id
		}
		k.name = r.text("opcname")
		out[k] = id
	}
	return out
})

// indexClass is the operator class of a key column of an index over values of type t.
func indexClass(ix *table.Index, c *table.IndexColumn, t *types.Type) table.ID {
	method := accessMethod(ix)
	if method == int(btreeMethod) && c.OpClass == "" {
		return opclassOf(t)
	}
	all := classesByName()
	of := []types.OID{t.Base().OID}
	if t.Elem != nil {
		of = append(of, types.TAnyArray.OID)
	}
	switch t.Base().Family {
	case types.String:
		of = append(of, types.OIDText)
	case types.Range:
		of = append(of, oidAnyRange)
	case types.MultiRange:
		of = append(of, oidAnyMultiRange)
	case types.Inet:
		of = append(of, types.OIDInet)
	case types.Enum:
		of = append(of, types.TAnyEnum.OID)
	}
	for _, oid := range of {
		if id := all[classKey{method, c.OpClass, oid}]; id != 0 {
			return id
		}
	}
	return opclassOf(t)
}

// The pseudo-types for which operator classes of ranges are declared.
const (
	oidAnyRange      types.OID = 3831
	oidAnyMultiRange types.OID = 4537
)

// operatorKey names an operator between values of one type.
type operatorKey struct {
	name string
	of   types.OID
}

var operatorsByName = sync.OnceValue(func() map[operatorKey]types.OID {
	out := map[operatorKey]types.OID{}
	for r := range tuples("pg_operator") {
		if left := r.oid("oprleft"); left == r.oid("oprright") {
			out[operatorKey{r.text("oprname"), left}] = r.oid("oid")
		}
	}
	return out
})

// exclusionOperators are the OIDs of the operators of an EXCLUDE constraint: those of the types for
// which the operator classes of its columns are declared.
func exclusionOperators(d *table.Desc, ix *table.Index) []int {
	declared := map[types.OID]types.OID{}
	for r := range tuples("pg_opclass") {
		declared[r.oid("oid")] = r.oid("opcintype")
	}
	ids := make([]int, len(ix.Columns))
	for i := range ix.Columns {
		c := &ix.Columns[i]
		class := indexClass(ix, c, d.PartType(d.Part(c.ColumnID)))
		ids[i] = int(operatorsByName()[operatorKey{c.Operator, declared[types.OID(class)]}])
	}
	return ids
}
