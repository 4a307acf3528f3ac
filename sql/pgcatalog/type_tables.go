package pgcatalog

import (
	"context"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

func typeTables() []relation {
	const s = "pg_catalog"
	return []relation{
		{schema: s, name: "pg_type", oid: 1247, columns: colsType, fixed: fixedTypes},
		{schema: s, name: "pg_am", oid: 2601, columns: colsAm, rows: amRows},
		{schema: s, name: "pg_collation", oid: 3456, columns: colsCollation, rows: collationRows},
		{schema: s, name: "pg_language", oid: 2612, columns: colsLanguage, rows: languageRows},
		{schema: s, name: "pg_tablespace", oid: 1213, columns: colsTablespace,
			rows: tablespaceRows},
		{schema: s, name: "pg_opclass", oid: 2616, columns: colsOpclass, rows: opclassRows},
		{schema: s, name: "pg_proc", oid: 1255, columns: colsProc},
	}
}

func fixedTypes(emit emitter) error {
	for _, t := range types.All() {
		kind, elem := "b", types.OID(0)
		switch t.OID {
		case types.OIDRecord, types.OIDVoid, types.OIDUnknown:
			kind = "p"
		}
		if t.Elem != nil {
			elem = t.Elem.OID
		}
		f, ok := functionsOfType[t.OID]
		if ok {
			elem = f.elem
		}
		delim := ","
		if err := emit("oid", t.OID, "typname", t.Name, "typnamespace", CatalogSchemaID, "typowner",
			ownerID, "typlen", t.Len,
			"typbyval", byValue(t), "typtype", kind, "typcategory", string(t.Category()),
			"typispreferred", t.Preferred(),
			"typisdefined", true, "typdelim", delim, "typsubscript", f.subscript, "typinput",
			f.input, "typoutput", f.output, "typreceive", f.receive,
			"typsend", f.send, "typmodin", f.modIn, "typmodout", f.modOut, "typanalyze", f.analyze,
			"typelem", elem, "typarray", t.ArrayOID(),
			"typalign", string(t.Align()), "typstorage", storage(t), "typtypmod", -1,
			"typcollation", collationOf(t, "")); err != nil {
			return err
		}
	}
	return nil
}

func amRows(_ context.Context, _ *reader, emit emitter) error {
	if err := emit("oid", 2, "amname", "heap", "amtype", "t"); err != nil {
		return err
	}
	return emit("oid", 403, "amname", "btree", "amtype", "i")
}

func collationRows(_ context.Context, _ *reader, emit emitter) error {
	for _, c := range []struct {
		id             table.ID
		name, provider string
	}{{100, "default", "d"}, {950, "C", "c"}, {951, "POSIX", "c"}} {
		var locale any = c.name
		if c.provider == "d" {
			locale = nil
		}
		if err := emit("oid", c.id, "collname", c.name, "collnamespace", CatalogSchemaID,
			"collowner", ownerID,
			"collprovider", c.provider, "collisdeterministic", true, "collencoding", -1,
			"collcollate", locale, "collctype", locale); err != nil {
			return err
		}
	}
	return nil
}

func languageRows(_ context.Context, _ *reader, emit emitter) error {
	if err := emit("oid", 12, "lanname", "internal", "lanowner", ownerID); err != nil {
		return err
	}
	return emit("oid", 14, "lanname", "sql", "lanowner", ownerID, "lanpltrusted", true)
}

func tablespaceRows(_ context.Context, _ *reader, emit emitter) error {
	if err := emit("oid", 1663, "spcname", "pg_default", "spcowner", ownerID); err != nil {
		return err
	}
	return emit("oid", 1664, "spcname", "pg_global", "spcowner", ownerID)
}

// opclassOf is the default operator class of a type: an ID derived from the type's.
func opclassOf(t *types.Type) table.ID { return table.ID(9000 + uint32(t.OID)) }

func opclassRows(_ context.Context, _ *reader, emit emitter) error {
	for _, t := range types.All() {
		if t.Elem != nil || t.Family == types.Record || t.Family == types.Void {
			continue
		}
		if err := emit("oid", opclassOf(t), "opcmethod", 403, "opcname", t.Name+"_ops",
			"opcnamespace", CatalogSchemaID,
			"opcowner", ownerID, "opcintype", t.OID, "opcdefault", true); err != nil {
			return err
		}
	}
	return nil
}
