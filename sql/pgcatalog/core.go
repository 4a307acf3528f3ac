package pgcatalog

import (
	"context"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/table/types"
)

func coreTables() []relation {
	const s = "pg_catalog"
	return []relation{
		{schema: s, name: "pg_namespace", oid: 2615, columns: colsNamespace, rows: namespaceRows},
		{schema: s, name: "pg_class", oid: 1259, columns: colsClass, rows: classRows,
			fixed: fixedClasses},
		{schema: s, name: "pg_attribute", oid: 1249, columns: colsAttribute, rows: attributeRows,
			fixed: fixedAttributes},
		{schema: s, name: "pg_attrdef", oid: 2604, columns: colsAttrdef, rows: attrdefRows},
		{schema: s, name: "pg_index", oid: 2610, columns: colsIndex, rows: indexRows},
		{schema: s, name: "pg_constraint", oid: 2606, columns: colsConstraint,
			rows: constraintRows},
		{schema: s, name: "pg_sequence", oid: 2224, columns: colsSequence, rows: sequenceRows},
		{schema: s, name: "pg_description", oid: 2609, columns: colsDescription,
			rows: descriptionRows},
		{schema: "pg_catalog", name: "pg_db_role_setting", oid: 2964, rows: databaseSettingRows,
			columns: "setdatabase oid, setrole oid, setconfig text[]"},
		{schema: s, name: "pg_database", oid: 1262, columns: colsDatabase, rows: databaseRows},
		{schema: s, name: "pg_depend", oid: 2608, columns: colsDepend, rows: dependRows},
		{schema: s, name: "pg_rewrite", oid: 2618, columns: colsRewrite, rows: rewriteRows},
		{schema: s, name: "pg_authid", oid: 1260, columns: colsAuthid, rows: authidRows},
		{schema: s, name: "pg_extension", oid: 3079, columns: colsExtension},
	}
}

func namespaceRows(_ context.Context, r *reader, emit emitter) error {
	for _, n := range []struct {
		id   table.ID
		name string
	}{{CatalogSchemaID, "pg_catalog"}, {InformationSchemaID, "information_schema"}} {
		if err := emit("oid", n.id, "nspname", n.name, "nspowner", ownerID); err != nil {
			return err
		}
	}
	schemas, err := r.schemas()
	if err != nil {
		return err
	}
	for _, s := range schemas {
		if err := emit("oid", s.ID, "nspname", s.Name, "nspowner", ownerID); err != nil {
			return err
		}
	}
	return nil
}

// IsTable reports whether a relation is made by the server and stands for a table of PostgreSQL's.
func IsTable(d *table.Desc) bool { return d.Kind == table.KindVirtual && relkind(d) == "r" }

// relkind is pg_class.relkind.
func relkind(d *table.Desc) string {
	switch d.Kind {
	case table.KindView:
		return "v"
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

func classRows(_ context.Context, r *reader, emit emitter) error {
	sized := r.wants("reltuples", "relpages")
	err := r.eachRelation(func(d *table.Desc) error {
		tuples, pages := -1.0, int64(0)
		if d.Kind == table.KindTable && sized {
			t, err := r.env.TableStatistics(r.ctx, d)
			if err != nil {
				return err
			}
			tuples, pages = size(t, rowBytes)
		}
		return emitClass(d, tuples, pages, emit)
	})
	if err != nil {
		return err
	}
	return r.eachIndex(func(d *table.Desc, ix *table.Index) (err error) {
		var t *stats.Table
		if sized {
			if t, err = r.env.TableStatistics(r.ctx, d); err != nil {
				return err
			}
		}
		tuples, pages := size(t, entryBytes(ix))
		tuples = max(tuples, 0)
		return emit("oid", ix.OID, "relname", ix.Name, "relnamespace", d.SchemaID, "relowner",
			ownerID, "relam", 403,
			"relfilenode", table.ID(ix.Storage()), "reltuples", tuples, "relpages", pages,
			"relpersistence", "p", "relkind", "i", "relnatts", len(ix.Columns)+len(ix.Include),
			"relispopulated", true, "relreplident", "n")
	})
}

func emitClass(d *table.Desc, tuples float64, pages int64, emit emitter) error {
	kind, am := relkind(d), 0
	if kind == "r" {
		am = 2
	}
	return emit("oid", d.ID, "relname", d.Name, "relnamespace", d.SchemaID, "relowner", ownerID,
		"relam", am, "relfilenode", relfilenode(d), "reltuples", tuples, "relpages", pages,
		"relhasindex", len(d.Indexes) > 0, "relpersistence", "p", "relkind", kind,
		"relnatts", len(visibleColumns(d)), "relchecks", len(d.Checks), "relhasrules", kind == "v",
		"relhastriggers", d.References(), "relispopulated", true, "relreplident", "d")
}

func fixedClasses(emit emitter) error {
	for _, e := range registry().all {
		if err := emitClass(e.desc, -1, 0, emit); err != nil {
			return err
		}
	}
	return nil
}

// collationOf is pg_attribute.attcollation: the default one for what has a collation at all.
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

func attributeRows(_ context.Context, r *reader, emit emitter) error {
	err := r.eachRelation(func(d *table.Desc) error { return emitAttributes(d, emit) })
	if err != nil {
		return err
	}
	return r.eachIndex(func(d *table.Desc, ix *table.Index) error {
		for i, id := range append(indexColumnIDs(ix), ix.Include...) {
			name, t := "expr", types.TText
			if n := d.ColumnByID(id); n >= 0 {
				name, t = d.Columns[n].Name, d.Columns[n].Type
			}
			if err := emit("attrelid", ix.OID, "attname", name, "atttypid", t.OID, "attstattarget",
				-1, "attlen", t.Len,
				"attnum", i+1, "attcacheoff", -1, "atttypmod", t.Mod, "attbyval", byValue(t),
				"attalign", string(t.Align()),
				"attstorage", storage(t), "attislocal", true, "attcollation", collationOf(t,
					"")); err != nil {
				return err
			}
		}
		return nil
	})
}

func fixedAttributes(emit emitter) error {
	for _, e := range registry().all {
		if err := emitAttributes(e.desc, emit); err != nil {
			return err
		}
	}
	return nil
}

func emitAttributes(d *table.Desc, emit emitter) error {
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
		if err := emit("attrelid", d.ID, "attname", c.Name, "atttypid", c.Type.OID, "attstattarget",
			-1,
			"attlen", c.Type.Len, "attnum", i+
				1, "attndims", dims, "attcacheoff", -1, "atttypmod", c.Type.Mod,
			"attbyval", byValue(c.Type), "attalign", string(c.Type.Align()), "attstorage",
			storage(c.Type),
			"attnotnull", c.NotNull, "atthasdef", hasDefault(&c), "attidentity", identity,
			"attgenerated", generated, "attislocal", true,
			"attcollation", collationOf(c.Type, c.Collation)); err != nil {
			return err
		}
	}
	return nil
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

func attrdefRows(_ context.Context, r *reader, emit emitter) error {
	return r.eachRelation(func(d *table.Desc) error {
		for i, c := range visibleColumns(d) {
			if !hasDefault(&c) {
				continue
			}
			if err := emit("oid", derivedID(defaultBase, d.ID, i), "adrelid", d.ID, "adnum", i+1,
				"adbin", nodeText(defaultNode, d.ID, i)); err != nil {
				return err
			}
		}
		return nil
	})
}

func indexRows(_ context.Context, r *reader, emit emitter) error {
	return r.eachIndex(func(d *table.Desc, ix *table.Index) error {
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
		return emit("indexrelid", ix.OID, "indrelid", d.ID, "indnatts", len(keys), "indnkeyatts",
			len(ix.Columns),
			"indisunique", ix.Unique, "indnullsnotdistinct", ix.NullsNotDistinct, "indisprimary",
			ix.Primary,
			"indimmediate", true, "indisvalid", true, "indisready", true, "indislive", true,
			"indkey", keys,
			"indcollation", colls, "indclass", classes, "indoption", options, "indexprs",
			orNull(exprs), "indpred", orNull(where))
	})
}

func constraintRows(_ context.Context, r *reader, emit emitter) error {
	return r.eachRelation(func(d *table.Desc) error {
		for i := range d.Indexes {
			ix := &d.Indexes[i]
			if !ix.Primary && !ix.Constraint {
				continue
			}
			kind := "u"
			if ix.Primary {
				kind = "p"
			}
			if err := emit("oid", ix.OID, "conname", ix.Name, "connamespace", d.SchemaID, "contype",
				kind, "convalidated", true,
				"conrelid", d.ID, "conindid", ix.OID, "confupdtype", " ", "confdeltype", " ",
				"confmatchtype", " ",
				"conislocal", true, "connoinherit", true, "conkey", attnums(d,
					indexColumnIDs(ix))); err != nil {
				return err
			}
		}
		for i, c := range d.Checks {
			if err := emit("oid", derivedID(checkBase, d.ID, i), "conname", c.Name, "connamespace",
				d.SchemaID, "contype", "c",
				"convalidated", !c.NotValid, "conrelid", d.ID, "confupdtype", " ", "confdeltype",
				" ", "confmatchtype", " ",
				"conislocal", true, "conbin", nodeText(checkNode, d.ID, i)); err != nil {
				return err
			}
		}
		return r.foreignKeys(d, emit)
	})
}

var actionLetters = map[string]string{"": "a", "no action": "a", "restrict": "r", "cascade": "c",
	"set null": "n", "set default": "d"}

func (r *reader) foreignKeys(d *table.Desc, emit emitter) error {
	for _, fk := range d.ForeignKeys {
		ref, err := r.env.View().RelationByID(r.ctx, fk.RefTable)
		if err != nil || ref == nil {
			return err
		}
		index, match := any(nil), "s"
		if ix := ref.ReferencedIndex(fk.RefColumns); ix != nil {
			index = ix.OID
		}
		if fk.MatchFull {
			match = "f"
		}
		if err := emit("oid", fk.OID, "conname", fk.Name, "connamespace", d.SchemaID, "contype",
			"f",
			"condeferrable", fk.Deferrable, "condeferred", fk.InitiallyDeferred, "convalidated",
			!fk.NotValid, "conrelid", d.ID, "conindid", index,
			"confrelid", fk.RefTable, "confupdtype", actionLetters[fk.OnUpdate], "confdeltype",
			actionLetters[fk.OnDelete],
			"confmatchtype", match, "conislocal", true, "connoinherit", true, "conkey", attnums(d,
				fk.Columns),
			"confkey", attnums(ref, fk.RefColumns)); err != nil {
			return err
		}
	}
	return nil
}

func sequenceRows(_ context.Context, r *reader, emit emitter) error {
	return r.eachRelation(func(d *table.Desc) error {
		if d.Kind != table.KindSequence {
			return nil
		}
		q := d.Sequence
		return emit("seqrelid", d.ID, "seqtypid", q.Type, "seqstart", q.Start, "seqincrement",
			q.Increment, "seqmax", q.Max,
			"seqmin", q.Min, "seqcache", q.Cache, "seqcycle", q.Cycle)
	})
}

func descriptionRows(_ context.Context, r *reader, emit emitter) error {
	put := func(id table.ID, class, sub int, text string) error {
		if text == "" {
			return nil
		}
		return emit("objoid", id, "classoid", class, "objsubid", sub, "description", text)
	}
	schemas, err := r.schemas()
	if err != nil {
		return err
	}
	for _, s := range schemas {
		if err := put(s.ID, 2615, 0, s.Comment); err != nil {
			return err
		}
	}
	return r.eachRelation(func(d *table.Desc) error {
		if err := put(d.ID, 1259, 0, d.Comment); err != nil {
			return err
		}
		for i, c := range visibleColumns(d) {
			if err := put(d.ID, 1259, i+1, c.Comment); err != nil {
				return err
			}
		}
		for _, ix := range d.Indexes {
			err := put(ix.OID, 1259, 0, ix.Comment)
			if err == nil {
				err = put(ix.OID, 2606, 0, ix.ConstraintComment)
			}
			if err != nil {
				return err
			}
		}
		for i, c := range d.Checks {
			if err := put(derivedID(checkBase, d.ID, i), 2606, 0, c.Comment); err != nil {
				return err
			}
		}
		for _, fk := range d.ForeignKeys {
			if err := put(fk.OID, 2606, 0, fk.Comment); err != nil {
				return err
			}
		}
		return nil
	})
}

func databaseRows(_ context.Context, r *reader, emit emitter) error {
	dbs, err := r.env.View().Databases(r.ctx)
	if err != nil {
		return err
	}
	for _, db := range dbs {
		if err := emit("oid", db.ID, "datname", db.Name, "datdba", ownerID, "encoding", 6,
			"datlocprovider", "c",
			"datallowconn", true, "datconnlimit", -1, "dattablespace", 1663, "datcollate", "C",
			"datctype", "C"); err != nil {
			return err
		}
	}
	return nil
}

// databaseSettingRows are what ALTER DATABASE … SET gave the sessions of databases.
func databaseSettingRows(_ context.Context, r *reader, emit emitter) error {
	dbs, err := r.env.View().Databases(r.ctx)
	if err != nil {
		return err
	}
	for _, db := range dbs {
		if len(db.Settings) == 0 {
			continue
		}
		if err := emit("setdatabase", db.ID, "setrole", 0, "setconfig", db.Settings); err != nil {
			return err
		}
	}
	return nil
}

// dependRows tells which column owns which sequence, and what views are built on.
func dependRows(_ context.Context, r *reader, emit emitter) error {
	return r.eachRelation(func(d *table.Desc) error {
		if q := d.Sequence; q != nil && q.OwnerTable != 0 {
			owner, err := r.env.View().RelationByID(r.ctx, q.OwnerTable)
			if err != nil || owner == nil {
				return err
			}
			kind := "a"
			if i := owner.ColumnByID(q.OwnerColumn); i >= 0 && owner.Columns[i].Identity != "" {
				kind = "i"
			}
			return emit("classid", 1259, "objid", d.ID, "refclassid", 1259, "refobjid",
				q.OwnerTable,
				"refobjsubid", attnum(owner, q.OwnerColumn), "deptype", kind)
		}
		if d.View != nil {
			for _, id := range d.View.DependsOn {
				if err := emit("classid", 2618, "objid", d.ID, "refclassid", 1259, "refobjid", id,
					"deptype", "n"); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func rewriteRows(_ context.Context, r *reader, emit emitter) error {
	return r.eachRelation(func(d *table.Desc) error {
		if d.Kind != table.KindView {
			return nil
		}
		return emit("oid", d.ID, "rulename", "_RETURN", "ev_class", d.ID, "ev_type", "1",
			"ev_enabled", "O", "is_instead", true)
	})
}

func authidRows(_ context.Context, r *reader, emit emitter) error {
	return emit("oid", ownerID, "rolname", r.env.User(), "rolsuper", true, "rolinherit", true,
		"rolcreaterole", true,
		"rolcreatedb", true, "rolcanlogin", true, "rolconnlimit", -1)
}
