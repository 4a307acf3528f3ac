package pgcatalog

import (
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

func fixedTypes(emit emitter) {
	for _, t := range types.All() {
		kind, elem := "b", types.OID(0)
		switch t.OID {
		case types.OIDRecord, types.OIDVoid, types.OIDUnknown:
			kind = "p"
		}
		if t.Elem != nil {
			elem = t.Elem.OID
		}
		f, ok := functionsOfType()[t.OID]
		if ok {
			elem = f.elem
		}
		emit("oid", t.OID, "typname", t.Name, "typnamespace", CatalogSchemaID, "typowner", ownerID,
			"typlen", t.Len, "typbyval", byValue(t), "typtype", kind,
			"typcategory", string(t.Category()), "typispreferred", t.Preferred(),
			"typisdefined", true, "typdelim", ",", "typsubscript", f.subscript,
			"typinput", f.input, "typoutput", f.output, "typreceive", f.receive, "typsend", f.send,
			"typmodin", f.modIn, "typmodout", f.modOut, "typanalyze", f.analyze, "typelem", elem,
			"typarray", t.ArrayOID(), "typalign", string(t.Align()), "typstorage", storage(t),
			"typtypmod", -1, "typcollation", collationOf(t, ""))
	}
}

func accessMethods(emit emitter) {
	emit("oid", 2, "amname", "heap", "amtype", "t")
	emit("oid", 403, "amname", "btree", "amtype", "i")
}

func collations(emit emitter) {
	for _, c := range []struct {
		id             table.ID
		name, provider string
	}{{100, "default", "d"}, {950, "C", "c"}, {951, "POSIX", "c"}} {
		var locale any = c.name
		if c.provider == "d" {
			locale = nil
		}
		emit("oid", c.id, "collname", c.name, "collnamespace", CatalogSchemaID,
			"collowner", ownerID, "collprovider", c.provider, "collisdeterministic", true,
			"collencoding", -1, "collcollate", locale, "collctype", locale)
	}
}

func languages(emit emitter) {
	emit("oid", 12, "lanname", "internal", "lanowner", ownerID)
	emit("oid", 14, "lanname", "sql", "lanowner", ownerID, "lanpltrusted", true)
}

func tablespaces(emit emitter) {
	emit("oid", 1663, "spcname", "pg_default", "spcowner", ownerID)
	emit("oid", 1664, "spcname", "pg_global", "spcowner", ownerID)
}

// opclassOf is the default operator class of a type: an ID derived from the type's.
func opclassOf(t *types.Type) table.ID { return table.ID(9000 + uint32(t.OID)) }

func operatorClasses(emit emitter) {
	for _, t := range types.All() {
		if t.Elem != nil || t.Family == types.Record || t.Family == types.Void {
			continue
		}
		emit("oid", opclassOf(t), "opcmethod", 403, "opcname", t.Name+"_ops",
			"opcnamespace", CatalogSchemaID, "opcowner", ownerID, "opcintype", t.OID,
			"opcdefault", true)
	}
}
