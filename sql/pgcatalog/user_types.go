package pgcatalog

import (
	"iter"
	"slices"
	"sync"

	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
)

// The object IDs of the functions of user types.
const (
	enumIn, enumOut, enumRecv, enumSend         types.OID = 3506, 3507, 3532, 3533
	recordIn, recordOut, recordRecv, recordSend types.OID = 2290, 2291, 2402, 2403
	arrayIn, arrayOut, arrayRecv, arraySend     types.OID = 750, 751, 2400, 2401
	domainIn, domainRecv                        types.OID = 2597, 2598
	arrayAnalyze, arraySubscript                types.OID = 3816, 6179
)

// functionsOfUserTypes are the functions that rows of user types refer to.
var functionsOfUserTypes = []types.OID{enumIn, enumOut, enumRecv, enumSend, recordIn, recordOut,
	recordRecv, recordSend, arrayIn, arrayOut, arrayRecv, arraySend, domainIn, domainRecv,
	arrayAnalyze, arraySubscript}

// userTypes yields the domains of information_schema and the types that users made, with their
// descriptors.
func (r *reader) userTypes() iter.Seq2[*catalog.TypeDesc, *types.Type] {
	return func(yield func(*catalog.TypeDesc, *types.Type) bool) {
		for i, d := range systemDomains() {
			if !yield(d, types.SystemDomains()[i]) {
				return
			}
		}
		all, err := r.env.View().Types(r.ctx, r.database())
		r.fail(err)
		for _, d := range all {
			t, err := r.env.View().TypeByOID(r.ctx, types.OID(d.ID))
			r.fail(err)
			if r.err != nil || !yield(d, t) {
				return
			}
		}
	}
}

// builtinType is what a domain takes from the row of the type that it is over.
type builtinType struct {
	output, send, analyze types.OID
	storage               string
}

var builtinTypes = sync.OnceValue(func() map[types.OID]builtinType {
	out := map[types.OID]builtinType{}
	for r := range tuples("pg_type") {
		out[r.oid("oid")] = builtinType{r.oid("typoutput"), r.oid("typsend"),
			r.oid("typanalyze"), r.text("typstorage")}
	}
	return out
})

// typeRows are the rows of pg_type of user types and of the types of their arrays.
func typeRows(r *reader, emit emitter) {
	rowTypeRows(r, emit)
	for d, t := range r.userTypes() {
		common := []any{"oid", d.ID, "typname", d.Name, "typnamespace", d.SchemaID,
			"typowner", d.OwnedBy(), "typacl", r.list(d.ACL),
			"typlen", t.Len, "typbyval", byValue(t.Base()),
			"typcategory", string(t.Category()), "typisdefined", true, "typdelim", ",",
			"typarray", d.ArrayID, "typalign", string(t.Align()), "typtypmod", -1}
		switch d.Kind {
		case types.KindEnum:
			common = append(common, "typtype", "e", "typinput", enumIn, "typoutput", enumOut,
				"typreceive", enumRecv, "typsend", enumSend, "typstorage", "p")
		case types.KindComposite:
			common = append(common, "typtype", "c", "typinput", recordIn, "typoutput", recordOut,
				"typreceive", recordRecv, "typsend", recordSend, "typstorage", "x",
				"typrelid", d.Class)
		case types.KindDomain:
			common = append(common, r.domainColumns(d, t)...)
		}
		emit(common...)
		align := "i"
		if t.Align() == 'd' {
			align = "d"
		}
		emit("oid", d.ArrayID, "typname", d.ArrayName, "typnamespace", d.SchemaID,
			"typowner", d.OwnedBy(), "typlen", -1, "typtype", "b", "typcategory", "A",
			"typisdefined", true, "typdelim", ",", "typsubscript", arraySubscript,
			"typelem", d.ID, "typinput", arrayIn, "typoutput", arrayOut, "typreceive", arrayRecv,
			"typsend", arraySend, "typanalyze", arrayAnalyze, "typalign", align,
			"typstorage", "x", "typtypmod", -1, "typcollation", collationOf(t, d.Collation))
	}
}

// rowTypeRows are the rows of pg_type of the row types of relations and of the types of their
// arrays.
func rowTypeRows(r *reader, emit emitter) {
	for _, e := range registry().all {
		emitRowType(e.desc, e.rowType(), nil, emit)
	}
	rels, err := r.env.View().Relations(r.ctx, r.database())
	r.fail(err)
	granted := r.accessLists(acl.Type)
	for _, d := range rels {
		t := d.Row()
		if t == nil {
			continue
		}
		var list any
		if l, ok := granted[table.ID(t.OID)]; ok {
			list = l
		}
		emitRowType(d, t, list, emit)
	}
}

// emitRowType emits the rows of pg_type of the row type of a relation and of arrays of it.
func emitRowType(d *table.Desc, t *types.Type, list any, emit emitter) {
	emit("oid", t.OID, "typname", t.Name, "typnamespace", d.SchemaID,
		"typowner", table.ID(d.OwnedBy()), "typlen", -1, "typbyval", false, "typtype", "c",
		"typcategory", "C", "typisdefined", true, "typdelim", ",", "typrelid", d.ID,
		"typarray", t.Def.ArrayOID, "typinput", recordIn, "typoutput", recordOut,
		"typreceive", recordRecv, "typsend", recordSend, "typalign", "d", "typstorage", "x",
		"typtypmod", -1, "typacl", list)
	emit("oid", t.Def.ArrayOID, "typname", t.Def.ArrayName, "typnamespace", d.SchemaID,
		"typowner", table.ID(d.OwnedBy()), "typlen", -1, "typtype", "b", "typcategory", "A",
		"typisdefined", true, "typdelim", ",", "typsubscript", arraySubscript,
		"typelem", t.OID, "typinput", arrayIn, "typoutput", arrayOut, "typreceive", arrayRecv,
		"typsend", arraySend, "typanalyze", arrayAnalyze, "typalign", "d", "typstorage", "x",
		"typtypmod", -1)
}

// domainColumns are the columns of pg_type that a domain has in its own way.
func (r *reader) domainColumns(d *catalog.TypeDesc, t *types.Type) []any {
	base := t.Base()
	f := builtinTypes()[base.OID]
	switch {
	case base.Family == types.Enum:
		f = builtinType{output: enumOut, send: enumSend}
	case base.Def != nil:
		f = builtinType{output: recordOut, send: recordSend}
	case base.Nests():
		f = builtinType{output: arrayOut, send: arraySend, analyze: arrayAnalyze}
	}
	dims := 0
	if t.Def.Base.Nests() {
		dims = 1
	}
	var deflt, node any
	if d.Default != "" {
		if deflt = d.DefaultShown; deflt == "" {
			deflt = r.expr(nil, d.Default, t.Def.Base, r.options(""))
		}
		node = nodeText(domainDefaultNode, d.ID, 0)
	}
	return []any{"typtype", "d", "typinput", domainIn, "typoutput", f.output,
		"typreceive", domainRecv, "typsend", f.send, "typanalyze", f.analyze,
		"typstorage", storage(base), "typnotnull", d.NotNull, "typbasetype", d.Base.OID,
		"typtypmod", d.Base.Mod, "typndims", dims, "typcollation", collationOf(t, d.Collation),
		"typdefault", deflt, "typdefaultbin", node}
}

// enumRows are the rows of pg_enum.
func enumRows(r *reader, emit emitter) {
	for d := range r.userTypes() {
		for _, l := range d.Labels {
			emit("oid", l.OID, "enumtypid", d.ID, "enumsortorder", float64(l.Sort),
				"enumlabel", l.Name)
		}
	}
}

// compositeClasses are the rows of pg_class of composite types.
func compositeClasses(r *reader, emit emitter) {
	for d := range r.userTypes() {
		if d.Kind == types.KindComposite {
			emit("oid", d.Class, "relname", d.Name, "relnamespace", d.SchemaID,
				"reltype", d.ID, "relowner", d.OwnedBy(), "relpersistence", "p", "relkind", "c",
				"relnatts", d.LastAttribute, "relispopulated", true, "relreplident", "n")
		}
	}
}

// compositeAttributes are the rows of pg_attribute of composite types.
func compositeAttributes(r *reader, emit emitter) {
	for d, t := range r.userTypes() {
		for i, a := range d.Attributes {
			at := t.Def.Attributes[i].Type
			dims := 0
			if at.Nests() {
				dims = 1
			}
			emit("attrelid", d.Class, "attname", a.Name, "atttypid", at.OID, "attstattarget", -1,
				"attlen", at.Len, "attnum", a.Number, "attndims", dims, "attcacheoff", -1,
				"atttypmod", at.Mod, "attbyval", byValue(at), "attalign", string(at.Align()),
				"attstorage", storage(at), "attislocal", true,
				"attcollation", r.collationOf(at, a.Collation))
		}
	}
}

// typeName is the name of a type as regtype and format_type show it: a user type's with its schema
// unless the search path finds it. mod is NoMod where there is none.
func (r *reader) typeName(id table.ID, mod int32) (string, bool) {
	t, err := TypeByOID(r.ctx, r.env.View(), types.OID(id))
	if r.fail(err); err != nil || t == nil {
		return "", false
	}
	user := t
	if t.Nests() {
		user = t.Elem
	}
	if of := types.ExtensionOf(user); of != "" && r.extension(of) == nil {
		return "", false
	} else if of == "" && user.Def == nil {
		if mod == types.NoMod {
			return t.SQLName(), true
		}
		return t.Apply(mod).String(), true
	}
	name := r.userTypeName(user)
	if t.Nests() {
		name += "[]"
	}
	return name, true
}

// userTypeName is the name of a user type, or of a type of an extension of the database, with its
// schema unless the search path finds it.
func (r *reader) userTypeName(t *types.Type) string {
	schema := r.schemaOfType(t)
	if r.typeIsVisible(schema, t.Name) {
		return sqlname.Quote(t.Name)
	}
	return sqlname.Qualified(schema, t.Name)
}

// schemaOfType is the schema of a type; "": it is of an extension that the database does not have.
func (r *reader) schemaOfType(t *types.Type) string {
	if t.Def != nil {
		return t.Def.Schema
	}
	of := types.ExtensionOf(t)
	if of == "" {
		return "pg_catalog"
	}
	if e := r.extension(of); e != nil {
		return e.Schema
	}
	return ""
}

// typeIsVisible reports whether the plain name of a type finds the one in the schema.
func (r *reader) typeIsVisible(schema, name string) bool {
	path := r.env.SearchPath(r.ctx)
	if !slices.Contains(path, "pg_catalog") {
		path = append([]string{"pg_catalog"}, path...)
	}
	for _, s := range path {
		if s == schema {
			return true
		}
		if s == "pg_catalog" || s == "information_schema" {
			if _, ok := types.ByName(name); ok && s == "pg_catalog" || TypeIn(s, name) != nil {
				return false
			}
			continue
		}
		if t, err := r.env.View().Type(r.ctx, r.database(), s, name); err == nil && t != nil {
			return false
		}
	}
	return false
}

// typeVisible answers pg_type_is_visible.
func (r *reader) typeVisible(id table.ID) (string, bool) {
	t, err := TypeByOID(r.ctx, r.env.View(), types.OID(id))
	if r.fail(err); err != nil || t == nil {
		return "", false
	}
	user := t
	if t.Nests() {
		user = t.Elem
	}
	schema := r.schemaOfType(user)
	switch {
	case schema == "":
		return "", false
	case user.Def == nil && types.ExtensionOf(user) == "", r.typeIsVisible(schema, t.Name):
		return "t", true
	}
	return "f", true
}
