package pgcatalog

import (
	"strconv"
	"sync"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/types"
)

func tablespaceRows(r *reader, emit emitter) {
	granted := r.accessLists(acl.Tablespace)
	for _, s := range Tablespaces {
		var list any
		if l, ok := granted[s.ID]; ok {
			list = l
		}
		emit("oid", s.ID, "spcname", s.Name, "spcowner", ownerID, "spcacl", list)
	}
}

// Tablespaces are those that PostgreSQL has from the beginning; there are no others.
var Tablespaces = []struct {
	ID   table.ID
	Name string
}{{defaultTablespace, "pg_default"}, {1664, "pg_global"}}

// defaultTablespace is the object ID of the tablespace of all databases.
const defaultTablespace table.ID = 1663

func tablespaceID(name string) (string, bool) {
	for _, s := range Tablespaces {
		if s.Name == name {
			return strconv.FormatUint(uint64(s.ID), 10), true
		}
	}
	return "", false
}

func tablespaceName(id table.ID) (string, bool) {
	for _, s := range Tablespaces {
		if s.ID == id {
			return s.Name, true
		}
	}
	return "", false
}

// btreeMethod is the object ID of the access method of indexes.
const btreeMethod types.OID = 403

// defaultClasses are the default operator classes of btree indexes, by the type that they are for.
var defaultClasses = sync.OnceValue(func() map[types.OID]types.OID {
	out := map[types.OID]types.OID{}
	for r := range tuples("pg_opclass") {
		if r.oid("opcmethod") == btreeMethod && r.text("opcdefault") == "t" {
			out[r.oid("opcintype")] = r.oid("oid")
		}
	}
	for r := range tuples("pg_cast") { // a type with the same bytes as another has its class
		from, to := r.oid("castsource"), r.oid("casttarget")
		if _, ok := out[from]; !ok && r.text("castmethod") == "b" && r.text("castcontext") == "i" &&
			out[to] != 0 {
			out[from] = out[to]
		}
	}
	return out
})

// opclassOf is the default operator class of a type in an index.
func opclassOf(t *types.Type) table.ID {
	if class, ok := defaultClasses()[t.OID]; ok {
		return table.ID(class)
	}
	like := types.TRecord
	if t.Elem != nil {
		like = types.TAnyArray
	}
	return table.ID(defaultClasses()[like.OID])
}
