package pgcatalog

import (
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/table/types"
)

func namespaceRows(r *reader, emit emitter) {
	for _, n := range []struct {
		id   table.ID
		name string
	}{{CatalogSchemaID, "pg_catalog"}, {InformationSchemaID, "information_schema"}} {
		emit("oid", n.id, "nspname", n.name, "nspowner", ownerID)
	}
	for _, s := range r.schemas() {
		emit("oid", s.ID, "nspname", s.Name, "nspowner", ownerID)
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
		emitClass(d, tuples, pages, emit)
	}
	for d, ix := range r.indexes() {
		var t *stats.Table
		if sized {
			t = r.statistics(d)
		}
		tuples, pages := size(t, entryBytes(ix))
		tuples = max(tuples, 0)
		emit("oid", ix.OID, "relname", ix.Name, "relnamespace", d.SchemaID, "relowner", ownerID,
			"relam", 403, "relfilenode", table.ID(ix.Storage()), "reltuples", tuples,
			"relpages", pages, "relpersistence", "p", "relkind", "i",
			"relnatts", len(ix.Columns)+len(ix.Include), "relispopulated", true,
			"relreplident", "n")
	}
}

func emitClass(d *table.Desc, tuples float64, pages int64, emit emitter) {
	kind, am := relkind(d), 0
	if kind == "r" || kind == "m" {
		am = 2
	}
	var options any
	if d.Incremental() {
		options = []string{"incremental=true"}
	}
	rules, populated := kind == "v" || kind == "m", d.View == nil || !d.View.Unpopulated
	emit("oid", d.ID, "relname", d.Name, "relnamespace", d.SchemaID, "relowner", ownerID,
		"relam", am, "relfilenode", relfilenode(d), "reltuples", tuples, "relpages", pages,
		"relhasindex", len(d.Indexes) > 0, "relpersistence", "p", "relkind", kind,
		"relnatts", len(visibleColumns(d)), "relchecks", len(d.Checks), "relhasrules", rules,
		"relhastriggers", d.References(), "relispopulated", populated, "relreplident", "d",
		"reloptions", options)
}

func fixedClasses(emit emitter) {
	for _, e := range registry().all {
		emitClass(e.desc, -1, 0, emit)
	}
}

// collationOf is pg_attribute.attcollation: the default collation if the type has one at all.
func collationOf(t *types.Type, name string) table.ID {
	e := t
	if t.Elem != nil {
		e = t.Elem
	}
	switch {
	case name == "C", e.OID == types.OIDName:
		return 950
	case name == "POSIX":
		return 951
	case e.OID == types.OIDText, e.OID == types.OIDVarchar, e.OID == types.OIDBPChar:
		return 100
	}
	return 0
}

func attributeRows(r *reader, emit emitter) {
	for d := range r.relations() {
		emitAttributes(d, emit)
	}
	for d, ix := range r.indexes() {
		for i, id := range append(indexColumnIDs(ix), ix.Include...) {
			name, t := "expr", types.TText
			if n := d.ColumnByID(id); n >= 0 {
				name, t = d.Columns[n].Name, d.Columns[n].Type
			}
			emit("attrelid", ix.OID, "attname", name, "atttypid", t.OID, "attstattarget", -1,
				"attlen", t.Len, "attnum", i+1, "attcacheoff", -1, "atttypmod", t.Mod,
				"attbyval", byValue(t), "attalign", string(t.Align()), "attstorage", storage(t),
				"attislocal", true, "attcollation", collationOf(t, ""))
		}
	}
}

func fixedAttributes(emit emitter) {
	for _, e := range registry().all {
		emitAttributes(e.desc, emit)
	}
}

func emitAttributes(d *table.Desc, emit emitter) {
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
		emit("attrelid", d.ID, "attname", c.Name, "atttypid", c.Type.OID, "attstattarget", -1,
			"attlen", c.Type.Len, "attnum", i+1, "attndims", dims, "attcacheoff", -1,
			"atttypmod", c.Type.Mod, "attbyval", byValue(c.Type),
			"attalign", string(c.Type.Align()), "attstorage", storage(c.Type),
			"attnotnull", c.NotNull, "atthasdef", hasDefault(&c), "attidentity", identity,
			"attgenerated", generated, "attislocal", true,
			"attcollation", collationOf(c.Type, c.Collation))
	}
}

func byValue(t *types.Type) bool { return t.Len > 0 && t.Len <= 8 && t.Len != 6 }

func storage(t *types.Type) string {
	switch {
	case t.Len > 0:
		return "p"
	case t.Family == types.Decimal:
		return "m"
	}
	return "x"
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
			coll, class := 0, 0
			if n := d.ColumnByID(c.ColumnID); n >= 0 {
				coll = int(collationOf(d.Columns[n].Type, d.Columns[n].Collation))
				class = int(opclassOf(d.Columns[n].Type))
			}
			colls, classes = append(colls, coll), append(classes, class)
			if c.ExprText != "" {
				exprs = nodeText(indexKeysNode, ix.OID, 0)
			}
		}
		if ix.WhereText != "" {
			where = nodeText(indexWhereNode, ix.OID, 0)
		}
		emit("indexrelid", ix.OID, "indrelid", d.ID, "indnatts", len(keys),
			"indnkeyatts", len(ix.Columns), "indisunique", ix.Unique,
			"indnullsnotdistinct", ix.NullsNotDistinct, "indisprimary", ix.Primary,
			"indimmediate", true, "indisvalid", true, "indisready", true, "indislive", true,
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
			if ix.Primary {
				kind = "p"
			}
			emit("oid", ix.OID, "conname", ix.Name, "connamespace", d.SchemaID, "contype", kind,
				"convalidated", true, "conrelid", d.ID, "conindid", ix.OID, "confupdtype", " ",
				"confdeltype", " ", "confmatchtype", " ", "conislocal", true, "connoinherit", true,
				"conkey", attnums(d, indexColumnIDs(ix)))
		}
		for i, c := range d.Checks {
			emit("oid", derivedID(checkBase, d.ID, i), "conname", c.Name,
				"connamespace", d.SchemaID, "contype", "c", "convalidated", !c.NotValid,
				"conrelid", d.ID, "confupdtype", " ", "confdeltype", " ", "confmatchtype", " ",
				"conislocal", true, "conbin", nodeText(checkNode, d.ID, i))
		}
		r.foreignKeys(d, emit)
	}
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
		emit("oid", fk.OID, "conname", fk.Name, "connamespace", d.SchemaID, "contype", "f",
			"condeferrable", fk.Deferrable, "condeferred", fk.InitiallyDeferred,
			"convalidated", !fk.NotValid, "conrelid", d.ID, "conindid", index,
			"confrelid", fk.RefTable, "confupdtype", actionLetters[fk.OnUpdate],
			"confdeltype", actionLetters[fk.OnDelete], "confmatchtype", match, "conislocal", true,
			"connoinherit", true, "conkey", attnums(d, fk.Columns),
			"confkey", attnums(ref, fk.RefColumns))
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
	}
}

func databaseRows(r *reader, emit emitter) {
	for _, db := range r.databases() {
		emit("oid", db.ID, "datname", db.Name, "datdba", ownerID, "encoding", 6,
			"datlocprovider", "c", "datallowconn", true, "datconnlimit", -1, "dattablespace", 1663,
			"datcollate", "C", "datctype", "C")
	}
}

// databaseSettingRows are the settings that ALTER DATABASE … SET stored.
func databaseSettingRows(r *reader, emit emitter) {
	for _, db := range r.databases() {
		if len(db.Settings) == 0 {
			continue
		}
		emit("setdatabase", db.ID, "setrole", 0, "setconfig", db.Settings)
	}
}

// dependRows lists which column owns which sequence, and what views are built on.
func dependRows(r *reader, emit emitter) {
	for d := range r.relations() {
		if q := d.Sequence; q != nil && q.OwnerTable != 0 {
			owner := r.relation(q.OwnerTable)
			if owner == nil {
				continue
			}
			kind := "a"
			if i := owner.ColumnByID(q.OwnerColumn); i >= 0 && owner.Columns[i].Identity != "" {
				kind = "i"
			}
			emit("classid", 1259, "objid", d.ID, "refclassid", 1259, "refobjid", q.OwnerTable,
				"refobjsubid", attnum(owner, q.OwnerColumn), "deptype", kind)
			continue
		}
		if d.View != nil {
			for _, id := range d.View.DependsOn {
				emit("classid", 2618, "objid", d.ID, "refclassid", 1259, "refobjid", id,
					"deptype", "n")
			}
		}
	}
}

func rewriteRows(r *reader, emit emitter) {
	for d := range r.relations() {
		if d.View == nil {
			continue
		}
		emit("oid", d.ID, "rulename", "_RETURN", "ev_class", d.ID, "ev_type", "1",
			"ev_enabled", "O", "is_instead", true)
	}
}

func authidRows(r *reader, emit emitter) {
	emit("oid", ownerID, "rolname", r.env.User(), "rolsuper", true, "rolinherit", true,
		"rolcreaterole", true, "rolcreatedb", true, "rolcanlogin", true, "rolconnlimit", -1)
}
