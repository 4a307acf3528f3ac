package pgcatalog

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/largeobject"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/table/types"
)

func namespaceRows(r *reader, emit emitter) {
	for _, n := range []struct {
		id   table.ID
		name string
	}{{CatalogSchemaID, "pg_catalog"}, {InformationSchemaID, "information_schema"}} {
		emit("oid", n.id, "nspname", n.name, "nspowner", ownerID,
			"nspacl", r.list(SystemSchemaList()))
	}
	emit("oid", toastSchemaID, "nspname", "pg_toast", "nspowner", ownerID)
	for _, s := range r.schemas() {
		emit("oid", s.ID, "nspname", s.Name, "nspowner", table.ID(s.OwnedBy()),
			"nspacl", r.list(s.Privileges()))
	}
}

// IsTable reports whether a relation's rows are made by the server: it is a table of PostgreSQL's
// catalogs.
func IsTable(d *table.Desc) bool { return d.Kind == table.KindVirtual && relkind(d) == "r" }

// relkind is pg_class.relkind.
func relkind(d *table.Desc) string {
	switch d.Kind {
	case table.KindView:
		return "v"
	case table.KindMaterializedView:
		return "m"
	case table.KindSequence:
		return "S"
	case table.KindVirtual:
		if e := registry().byID[d.ID]; d.View != nil || e != nil && e.view {
			return "v"
		}
	}
	return "r"
}

// persistence is pg_class.relpersistence.
func persistence(d *table.Desc) string {
	switch {
	case d.Temporary():
		return "t"
	case d.Unlogged:
		return "u"
	}
	return "p"
}

// relfilenode is pg_class.relfilenode: the storage ID, zero for a view.
func relfilenode(d *table.Desc) table.ID {
	if relkind(d) == "v" {
		return 0
	}
	return table.ID(d.Storage())
}

func classRows(r *reader, emit emitter) {
	sized := r.wants("reltuples", "relpages")
	for d := range r.relations() {
		tuples, pages := -1.0, int64(0)
		if d.HasRows() && sized {
			tuples, pages = size(r.statistics(d), rowBytes)
		}
		emitClass(d, tuples, pages, r.list(d.ACL), emit)
	}
	for d, ix := range r.indexes() {
		var t *stats.Table
		if sized {
			t = r.statistics(d)
		}
		tuples, pages := size(t, entryBytes(ix))
		tuples = max(tuples, 0)
		emit("oid", ix.OID, "relname", ix.Name, "relnamespace", d.SchemaID,
			"relowner", table.ID(d.OwnedBy()), "relam", accessMethod(ix),
			"relfilenode", table.ID(ix.Storage()), "reltuples", tuples,
			"relpages", pages, "relpersistence", persistence(d), "relkind", "i",
			"relnatts", len(ix.Columns)+len(ix.Include), "relispopulated", true,
			"relreplident", "n", "reloptions", orNone(ix.Options))
	}
	compositeClasses(r, emit)
}

func emitClass(d *table.Desc, tuples float64, pages int64, list any, emit emitter) {
	kind, am := relkind(d), 0
	if kind == "r" || kind == "m" {
		am = 2
	}
	options := d.Options
	if d.Incremental() {
		options = append([]string{"incremental=true"}, options...)
	}
	identity := "n" // of what has no rows of its own, and of the catalogs
	if kind == "r" && d.SchemaID != CatalogSchemaID || kind == "m" {
		identity = identities[d.ReplicaIdentity]
	}
	rules, populated := kind == "v" || kind == "m", d.View == nil || !d.View.Unpopulated
	emit("oid", d.ID, "relname", d.Name, "relnamespace", d.SchemaID,
		"reltype", d.RowType, "reloftype", d.OfType, "relowner", table.ID(d.OwnedBy()),
		"relacl", list, "relam", am, "relfilenode", relfilenode(d), "reltuples", tuples,
		"relpages", pages,
		"relhasindex", len(d.Indexes) > 0, "relpersistence", persistence(d), "relkind", kind,
		"relnatts", len(visibleColumns(d)), "relchecks", len(d.Checks), "relhasrules", rules,
		"relhastriggers", d.ChecksLater(), "relispopulated", populated,
		"relrowsecurity", d.RowSecurity, "relforcerowsecurity", d.ForceRowSecurity,
		"relreplident", identity, "reloptions", orNone(options))
}

// identities are the letters of pg_class.relreplident.
var identities = map[string]string{"": "d", "nothing": "n", "full": "f", "index": "i"}

func fixedClasses(emit emitter) {
	for _, e := range registry().all {
		emitClass(e.desc, -1, 0, fixedReader{}.list(e.desc.ACL), emit)
	}
}

// collationOf is pg_attribute.attcollation. Without a name it is that of the type: a domain may
// have another than what it is over.
func (r *reader) collationOf(t *types.Type, name string) table.ID {
	e := t
	if t.Nests() {
		e = t.Elem
	}
	if name == "" && e.IsDomain() {
		if d := r.userType(table.ID(e.OID)); d != nil {
			name = d.Collation
		}
	}
	return collationOf(t, name)
}

// defaultCollation is the object ID of the collation "default".
const defaultCollation table.ID = 100

// collationOf is the collation of a type and a name; without one the default collation, if the type
// has any.
func collationOf(t *types.Type, name string) table.ID {
	e := t
	if t.Elem != nil {
		e = t.Elem
	}
	e = e.Base()
	switch {
	case name == "C", e.OID == types.OIDName:
		return 950
	case name == "POSIX":
		return 951
	case e.OID == types.OIDText, e.OID == types.OIDVarchar, e.OID == types.OIDBPChar,
		e.OID == types.OIDCIText, e == types.TNodeTree:
		return defaultCollation
	}
	return 0
}

func attributeRows(r *reader, emit emitter) {
	compositeAttributes(r, emit)
	for d := range r.relations() {
		emitAttributes(d, r, emit)
	}
	for d, ix := range r.indexes() {
		var taken []string
		for i, id := range append(indexColumnIDs(ix), ix.Include...) {
			n := d.Part(id)
			t, collation := d.PartType(n), ""
			if i < len(ix.Columns) {
				collation = ix.Columns[i].Collation
			}
			name, kept, statistics := "", "", (*int32)(nil)
			if e := d.Expr(n); e != nil {
				name, statistics = e.Name, e.Statistics
			} else {
				c := &d.Columns[n]
				name, collation = c.Name, cmp.Or(collation, c.Collation)
				kept = c.Storage
			}
			name = freeAttribute(name, taken)
			taken = append(taken, name)
			of := r.collationOf(t, collation)
			t = attributeType(ix, i, t)
			emit("attrelid", ix.OID, "attname", name, "atttypid", t.OID,
				"attstattarget", target(statistics),
				"attlen", t.Len, "attnum", i+1, "attcacheoff", -1, "atttypmod", t.Mod,
				"attbyval", byValue(t), "attalign", string(t.Align()),
				"attstorage", cmp.Or(kept, storage(t)), "attislocal", true, "attcollation", of)
		}
	}
}

// freeAttribute returns a name that no earlier column of an index has: the given one, or that with
// a number behind it.
func freeAttribute(name string, taken []string) string {
	free := name
	for n := 1; slices.Contains(taken, free); n++ {
		free = name + strconv.Itoa(n)
	}
	return free
}

func fixedAttributes(emit emitter) {
	for _, e := range registry().all {
		emitAttributes(e.desc, fixedReader{}, emit)
	}
}

// columnReader is what the rows of columns need of the catalog.
type columnReader interface {
	list(acl.List) any
	collationOf(t *types.Type, name string) table.ID
}

// fixedReader is for the columns of the catalogs themselves.
type fixedReader struct{}

func (fixedReader) list(l acl.List) any {
	if l == nil {
		return nil
	}
	return acl.NewRoles(nil, nil).Texts(l)
}

func (fixedReader) collationOf(t *types.Type, name string) table.ID { return collationOf(t, name) }

// emitAttributes emits the columns of a relation.
func emitAttributes(d *table.Desc, r columnReader, emit emitter) {
	for i, c := range visibleColumns(d) {
		identity, generated := "", ""
		switch c.Identity {
		case "always":
			identity = "a"
		case "by default":
			identity = "d"
		}
		if c.Generated != "" {
			generated = "s"
		}
		dims := 0
		if c.Type.Family == types.Array {
			dims = 1
		}
		emit("attrelid", d.ID, "attname", c.Name, "atttypid", c.Type.OID,
			"attstattarget", target(c.Statistics), "attlen", c.Type.Len, "attnum", i+1,
			"attndims", dims, "attcacheoff", -1,
			"atttypmod", c.Type.Mod, "attbyval", byValue(c.Type),
			"attalign", string(c.Type.Align()),
			"attstorage", cmp.Or(c.Storage, storage(c.Type)), "attcompression", c.Compression,
			"attoptions", orNone(c.Options),
			"attnotnull", c.NotNull, "atthasdef", hasDefault(&c), "attidentity", identity,
			"attgenerated", generated, "attislocal", true,
			"attcollation", r.collationOf(c.Type, c.Collation), "attacl", r.list(c.ACL))
	}
	if d.IsQuery() {
		return
	}
	for i, name := range builtin.SystemColumnNames {
		t := builtin.SystemColumnType(name)
		emit("attrelid", d.ID, "attname", name, "atttypid", t.OID, "attstattarget", 0, "attlen",
			t.Len, "attnum", -1-i, "attcacheoff", -1, "atttypmod", t.Mod, "attbyval", byValue(t),
			"attalign", string(t.Align()), "attstorage", storage(t), "attnotnull", true,
			"attislocal", true, "attcollation", 0)
	}
}

// target is pg_attribute.attstattarget.
func target(statistics *int32) int32 {
	if statistics == nil {
		return -1
	}
	return *statistics
}

func byValue(t *types.Type) bool { return t.Len > 0 && t.Len <= 8 && t.Len != 6 }

func storage(t *types.Type) string {
	if t.Len > 0 {
		return "p"
	}
	return cmp.Or(builtinTypes()[t.Base().OID].storage, "x")
}

func attrdefRows(r *reader, emit emitter) {
	for d := range r.relations() {
		for i, c := range visibleColumns(d) {
			if !hasDefault(&c) {
				continue
			}
			emit("oid", derivedID(defaultBase, d.ID, i), "adrelid", d.ID, "adnum", i+1,
				"adbin", nodeText(defaultNode, d.ID, i))
		}
	}
}

func indexRows(r *reader, emit emitter) {
	for d, ix := range r.indexes() {
		keys := vector(attnums(d, append(indexColumnIDs(ix), ix.Include...)))
		options, colls, classes := vector{}, vector{}, vector{}
		var exprs, where string
		for _, c := range ix.Columns {
			o := 0
			if c.Desc {
				o |= 1
			}
			if c.NullsFirst {
				o |= 2
			}
			options = append(options, o)
			n := d.Part(c.ColumnID)
			t, collation := d.PartType(n), c.Collation
			if d.Expr(n) != nil {
				exprs = nodeText(indexKeysNode, ix.OID, 0)
			} else if collation == "" {
				collation = d.Columns[n].Collation
			}
			coll, class := int(r.collationOf(t, collation)), int(indexClass(ix, &c, t))
			colls, classes = append(colls, coll), append(classes, class)
		}
		if ix.WhereText != "" {
			where = nodeText(indexWhereNode, ix.OID, 0)
		}
		emit("indexrelid", ix.OID, "indrelid", d.ID, "indnatts", len(keys),
			"indnkeyatts", len(ix.Columns), "indisunique", ix.Unique,
			"indnullsnotdistinct", ix.NullsNotDistinct, "indisprimary", ix.Primary,
			"indisexclusion", ix.Exclusion(), "indimmediate", !ix.Deferrable,
			"indisclustered", ix.Clustered,
			"indisreplident", ix.ReplicaIdentity, "indisvalid", true, "indisready", true,
			"indislive", true,
			"indkey", keys, "indcollation", colls, "indclass", classes, "indoption", options,
			"indexprs", orNull(exprs), "indpred", orNull(where))
	}
}

func constraintRows(r *reader, emit emitter) {
	for d := range r.relations() {
		for i := range d.Indexes {
			ix := &d.Indexes[i]
			if !ix.Primary && !ix.Constraint {
				continue
			}
			kind := "u"
			operators := any(nil)
			switch {
			case ix.Primary:
				kind = "p"
			case ix.Exclusion():
				kind, operators = "x", exclusionOperators(d, ix)
			}
			emit("oid", ix.OID, "conname", ix.Name, "connamespace", d.SchemaID, "contype", kind,
				"condeferrable", ix.Deferrable, "condeferred", ix.InitiallyDeferred,
				"convalidated", true, "conrelid", d.ID, "conindid", ix.OID, "confupdtype", " ",
				"confdeltype", " ", "confmatchtype", " ", "conislocal", true, "connoinherit", true,
				"conkey", attnums(d, indexColumnIDs(ix)), "conexclop", operators)
		}
		for i, c := range d.Checks {
			emit("oid", derivedID(checkBase, d.ID, i), "conname", c.Name,
				"connamespace", d.SchemaID, "contype", "c", "convalidated", !c.NotValid,
				"conrelid", d.ID, "confupdtype", " ", "confdeltype", " ", "confmatchtype", " ",
				"conislocal", true, "connoinherit", c.NoInherit,
				"conbin", nodeText(checkNode, d.ID, i),
				"conkey", attnums(d, r.readColumns(d, c.Text)))
		}
		r.foreignKeys(d, emit)
	}
	domainConstraintRows(r, emit)
}

var actionLetters = map[string]string{"": "a", "no action": "a", "restrict": "r", "cascade": "c",
	"set null": "n", "set default": "d"}

func (r *reader) foreignKeys(d *table.Desc, emit emitter) {
	for _, fk := range d.ForeignKeys {
		ref := r.relation(fk.RefTable)
		if ref == nil {
			continue
		}
		index, match := any(nil), "s"
		if ix := ref.ReferencedIndex(fk.RefColumns); ix != nil {
			index = ix.OID
		}
		if fk.MatchFull {
			match = "f"
		}
		setColumns := any(nil)
		if fk.OnDeleteColumns != nil {
			setColumns = attnums(d, fk.OnDeleteColumns)
		}
		emit("oid", fk.OID, "conname", fk.Name, "connamespace", d.SchemaID, "contype", "f",
			"condeferrable", fk.Deferrable, "condeferred", fk.InitiallyDeferred,
			"convalidated", !fk.NotValid, "conrelid", d.ID, "conindid", index,
			"confrelid", fk.RefTable, "confupdtype", actionLetters[fk.OnUpdate],
			"confdeltype", actionLetters[fk.OnDelete], "confmatchtype", match, "conislocal", true,
			"connoinherit", true, "conkey", attnums(d, fk.Columns),
			"confkey", attnums(ref, fk.RefColumns), "confdelsetcols", setColumns)
	}
}

func sequenceRows(r *reader, emit emitter) {
	for d := range r.relations() {
		if d.Kind != table.KindSequence {
			continue
		}
		q := d.Sequence
		emit("seqrelid", d.ID, "seqtypid", q.Type, "seqstart", q.Start, "seqincrement", q.Increment,
			"seqmax", q.Max, "seqmin", q.Min, "seqcache", q.Cache, "seqcycle", q.Cycle)
	}
}

func descriptionRows(r *reader, emit emitter) {
	put := func(id table.ID, class, sub int, text string) {
		if text != "" {
			emit("objoid", id, "classoid", class, "objsubid", sub, "description", text)
		}
	}
	for _, id := range []table.ID{CatalogSchemaID, toastSchemaID} {
		put(id, 2615, 0, systemSchemaComments[id])
	}
	for _, s := range r.schemas() {
		put(s.ID, 2615, 0, s.Comment)
	}
	for d := range r.relations() {
		put(d.ID, 1259, 0, d.Comment)
		for i, c := range visibleColumns(d) {
			put(d.ID, 1259, i+1, c.Comment)
		}
		for _, ix := range d.Indexes {
			put(ix.OID, 1259, 0, ix.Comment)
			put(ix.OID, 2606, 0, ix.ConstraintComment)
		}
		for i, c := range d.Checks {
			put(derivedID(checkBase, d.ID, i), 2606, 0, c.Comment)
		}
		for _, fk := range d.ForeignKeys {
			put(fk.OID, 2606, 0, fk.Comment)
		}
		for _, p := range d.Policies {
			put(p.OID, classPolicy, 0, p.Comment)
		}
	}
	for _, e := range r.extensions() {
		put(e.ID, classExtension, 0, e.Comment)
	}
	r.largeObjects(func(id largeobject.ID, o *largeobject.Record) {
		put(table.ID(id), classLargeObject, 0, o.Comment)
	})
	for d := range r.userTypes() {
		put(d.ID, int(typeCatalog), 0, d.Comment)
		for _, c := range d.Checks {
			put(c.OID, 2606, 0, c.Comment)
		}
		for _, a := range d.Attributes {
			put(d.Class, 1259, a.Number, a.Comment)
		}
	}
}

func databaseRows(r *reader, emit emitter) {
	for _, db := range r.databases() {
		emit("oid", db.ID, "datname", db.Name, "datdba", table.ID(db.OwnedBy()), "encoding", 6,
			"datlocprovider", "c", "datallowconn", true, "datconnlimit", db.ConnectionLimit-1,
			"dattablespace", 1663, "datcollate", "C", "datctype", "C", "datacl", r.list(db.ACL))
	}
}

func rewriteRows(r *reader, emit emitter) {
	for d := range r.relations() {
		if d.View == nil {
			continue
		}
		emit("oid", d.ID, "rulename", "_RETURN", "ev_class", d.ID, "ev_type", "1",
			"ev_enabled", "O", "is_instead", true, "ev_qual", "<>",
			"ev_action", nodeText(queryNode, d.ID, 0))
	}
}
