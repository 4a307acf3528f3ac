package pgcatalog

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
)

// statementTime is the clock of pg_timezone_names, whose offsets depend on the season.
func statementTime() time.Time { return time.Now() }

// Describe returns what a system function shows of an object; false if there is nothing. Kinds:
// "class", "namespace", "type" and "role" are names by OID, "reg" a name for the type in extra;
// "indexdef", "constraintdef", "viewdef" and "expr" are definitions (see definition.go), "serial"
// the sequence of the column in extra, "comment" a comment, "size" bytes by the statistics,
// "visible" whether a relation is found by its plain name, "filenode" its storage ID, "last value"
// that of a sequence.
func Describe(ctx context.Context, env Env, kind string, oid types.OID, extra string) (string,
	bool) {
	r := &reader{ctx: ctx, env: env}
	id := table.ID(oid)
	switch kind {
	case "reg":
		return r.regName(extra, id)
	case "class":
		return r.regName("regclass", id)
	case "namespace":
		return r.namespaceName(id)
	case "type":
		mod, err := strconv.ParseInt(extra, 10, 32)
		if err != nil {
			mod = int64(types.NoMod)
		}
		return r.typeName(id, int32(mod))
	case "type visible":
		return r.typeVisible(id)
	case "role":
		return r.roleName(id)
	case "object":
		class, sub, _ := strings.Cut(extra, " ")
		n, _ := strconv.Atoi(sub)
		return r.describeObject(parseOID(class), id, n)
	case "function visible", "operator visible":
		return r.routineIsVisible(kind, oid)
	case "member visible":
		return r.memberVisible(extra, oid)
	case "visible":
		return r.visible(id)
	case "indexdef":
		return r.indexDef(id, extra)
	case "index property":
		return r.indexProperty(id, extra)
	case "constraintdef":
		return r.constraintDef(id, extra)
	case "viewdef":
		return r.viewDef(id, extra)
	case "expr":
		return r.exprDef(extra)
	case "serial":
		return r.serial(id, extra)
	case "comment":
		return r.comment(id, extra)
	case "database":
		db, ok, err := env.View().Database(ctx, extra)
		return strconv.FormatUint(uint64(db.ID), 10), ok && err == nil
	case "database name":
		return r.databaseName(id)
	case "tablespace":
		return tablespaceID(extra)
	case "tablespace name":
		return tablespaceName(id)
	case "function":
		return extra, len(builtin.Functions(extra)) > 0 || len(builtin.Aggregates(extra)) > 0
	case "column", "attribute":
		return r.columnOf(id, kind, extra)
	case "size":
		return r.bytes(id, extra)
	case "scans":
		return r.scans(id, extra)
	case "comment of":
		return r.anyComment(id, extra)
	case "shared comment of":
		return r.sharedComment(id, extra)
	case "filenode":
		return r.filenode(id)
	case "last value":
		return r.lastValue(id)
	case "aggregate":
		return aggregateName(oid)
	case "routine":
		return r.functionText(oid, extra)
	}
	return "", false
}

// find returns the relation with the OID, or the table of the index with it.
func (r *reader) find(id table.ID) (*table.Desc, *table.Index) {
	if d := ByID(id); d != nil {
		return d, nil
	}
	if d, err := r.env.View().RelationByID(r.ctx, id); err == nil && d != nil {
		return d, nil
	}
	d, err := r.env.View().Owner(r.ctx, r.database(), id)
	if err != nil || d == nil {
		return nil, nil
	}
	if ix := d.IndexByOID(id); ix != nil {
		return d, ix
	}
	return nil, nil
}

// filenode is the storage ID of a table or an index, as text; a view has none.
func (r *reader) filenode(id table.ID) (string, bool) {
	d, ix := r.find(id)
	switch {
	case ix != nil:
		return strconv.FormatUint(uint64(ix.Storage()), 10), true
	case d == nil || relfilenode(d) == 0:
		return "", false
	}
	return strconv.FormatUint(uint64(relfilenode(d)), 10), true
}

// lastValue is the value that a sequence returned last, if it has returned one.
func (r *reader) lastValue(id table.ID) (string, bool) {
	d, err := r.env.View().RelationByID(r.ctx, id)
	if err != nil || d == nil || d.Kind != table.KindSequence {
		return "", false
	}
	last, called, err := r.env.SequencePosition(r.ctx, d)
	return strconv.FormatInt(last, 10), called && err == nil
}

func (r *reader) namespaceName(id table.ID) (string, bool) {
	switch id {
	case CatalogSchemaID:
		return "pg_catalog", true
	case InformationSchemaID:
		return "information_schema", true
	case toastSchemaID:
		return "pg_toast", true
	}
	s, ok := r.schema(id)
	return s.Name, ok
}

// schema returns the schema with the OID.
func (r *reader) schema(id table.ID) (s catalog.Schema, ok bool) {
	all := r.schemas()
	i := slices.IndexFunc(all, func(s catalog.Schema) bool { return s.ID == id })
	if i < 0 {
		return s, false
	}
	return all[i], true
}

// isVisible reports whether the plain name finds this relation: no earlier schema of the path has
// the name.
func (r *reader) isVisible(schema, name string) bool {
	path := r.env.SearchPath(r.ctx)
	if !slices.Contains(path, "pg_catalog") {
		path = append([]string{"pg_catalog"}, path...)
	}
	for _, s := range path {
		if s == schema {
			return true
		}
		if Lookup(s, name) != nil {
			return false
		}
		if taken, err := r.env.View().Taken(r.ctx, r.database(), s, name); err == nil && taken {
			return false
		}
	}
	return false
}

func (r *reader) visible(id table.ID) (string, bool) {
	d, ix := r.find(id)
	if d == nil {
		for _, t := range r.userTypes() {
			if t.Def.Class == types.OID(id) {
				return r.typeVisible(table.ID(t.OID))
			}
		}
		return "", false
	}
	if r.isVisible(d.Schema, nameOf(d, ix)) {
		return "t", true
	}
	return "f", true
}

// nameOf returns the name of an index, or without one that of the relation.
func nameOf(d *table.Desc, ix *table.Index) string {
	if ix != nil {
		return ix.Name
	}
	return d.Name
}

// columnOf is the name of a column by its number, or for kind "attribute" its number by its name.
func (r *reader) columnOf(id table.ID, kind, extra string) (string, bool) {
	d, _ := r.find(id)
	if d == nil {
		return "", false
	}
	for i, c := range visibleColumns(d) {
		n := strconv.Itoa(i + 1)
		switch {
		case kind == "attribute" && c.Name == extra:
			return n, true
		case kind == "column" && n == extra:
			return c.Name, true
		}
	}
	return "", false
}

// serial is pg_get_serial_sequence: the sequence that a column owns.
func (r *reader) serial(id table.ID, column string) (string, bool) {
	d, _ := r.find(id)
	if d == nil {
		return "", false
	}
	i := d.Column(column)
	if i < 0 || d.Columns[i].SequenceID == 0 {
		return "", false
	}
	seq, err := r.env.View().RelationByID(r.ctx, d.Columns[i].SequenceID)
	if err != nil || seq == nil {
		return "", false
	}
	return qualified(seq), true
}

// sharedComment is shobj_description: of a database or a role.
func (r *reader) sharedComment(id table.ID, catalog string) (string, bool) {
	if role := r.roles().ByID(acl.RoleID(id)); catalog == "pg_authid" && role != nil {
		return role.Comment, role.Comment != ""
	}
	if catalog != "pg_database" {
		return "", false
	}
	for _, db := range r.databases() {
		if db.ID == id {
			return db.Comment, db.Comment != ""
		}
	}
	return "", false
}

// anyComment is obj_description of an object in a catalog; catalog "" is any catalog.
func (r *reader) anyComment(id table.ID, catalog string) (string, bool) {
	switch catalog {
	case "":
		for _, c := range []string{"pg_class", "pg_namespace", "pg_constraint", "pg_type",
			"pg_extension", "pg_largeobject"} {
			if text, ok := r.anyComment(id, c); ok {
				return text, true
			}
		}
	case "pg_class", "pg_namespace":
		text, ok := r.comment(id, "")
		if ns, found := r.schemaComment(id); found && catalog == "pg_namespace" {
			return ns, true
		}
		return text, ok && catalog != "pg_namespace"
	case "pg_constraint":
		return r.constraintComment(id)
	case "pg_extension":
		for _, e := range r.extensions() {
			if e.ID == id {
				return e.Comment, e.Comment != ""
			}
		}
		return "", false
	case "pg_largeobject":
		if o := r.largeObject(id); o != nil {
			return o.Comment, o.Comment != ""
		}
		return "", false
	case "pg_type":
		if text, ok := r.typeComment(id); ok {
			return text, true
		}
	}
	return builtinComment(id, catalog)
}

// builtinComment is the comment on a built-in object, by the name of the catalog that has it;
// catalog "" is any catalog.
func builtinComment(id table.ID, catalog string) (string, bool) {
	class := Lookup("pg_catalog", catalog)
	if class == nil && catalog != "" {
		return "", false
	}
	for t := range tuples("pg_description") {
		if table.ID(t.oid("objoid")) == id &&
			(class == nil || table.ID(t.oid("classoid")) == class.ID) &&
			builtinObjects().description(t.fields) {
			return unescape(t.text("description")), true
		}
	}
	return "", false
}

func (r *reader) typeComment(id table.ID) (text string, ok bool) {
	d, err := r.env.View().UserType(r.ctx, id)
	if r.fail(err); err != nil || d == nil {
		return "", false
	}
	return d.Comment, d.Comment != ""
}

func (r *reader) constraintComment(id table.ID) (text string, ok bool) {
	d, check := r.constraintOwner(id)
	switch {
	case d == nil:
		if _, c := r.domainOf(id); c != nil {
			text = c.Comment
		}
	case check != nil:
		text = check.Comment
	default:
		if fk := d.ForeignKeyByOID(id); fk != nil {
			text = fk.Comment
		}
		if ix := d.IndexByOID(id); ix != nil {
			text = ix.ConstraintComment
		}
	}
	return text, text != ""
}

// comment is obj_description, and with a column's number col_description.
func (r *reader) comment(id table.ID, column string) (string, bool) {
	d, ix := r.find(id)
	if n, _ := strconv.Atoi(column); d == nil && n > 0 {
		return r.attributeComment(id, n)
	}
	if d == nil {
		return r.schemaComment(id)
	}
	text := d.Comment
	if ix != nil {
		text = ix.Comment
	}
	if n, _ := strconv.Atoi(column); n > 0 {
		cols := visibleColumns(d)
		if n > len(cols) {
			return "", false
		}
		text = cols[n-1].Comment
	}
	return text, text != ""
}

// attributeComment is the comment on an attribute of a composite type, by the type's OID in
// pg_class and the number of the attribute.
func (r *reader) attributeComment(class table.ID, number int) (string, bool) {
	for d := range r.userTypes() {
		if d.Class != class {
			continue
		}
		for _, a := range d.Attributes {
			if a.Number == number {
				return a.Comment, a.Comment != ""
			}
		}
	}
	return "", false
}

// systemSchemaComments are the comments on the schemas of the system.
var systemSchemaComments = map[table.ID]string{CatalogSchemaID: "system catalog schema",
	toastSchemaID: "reserved schema for TOAST tables"}

func (r *reader) schemaComment(id table.ID) (string, bool) {
	if text := systemSchemaComments[id]; text != "" {
		return text, true
	}
	s, _ := r.schema(id)
	return s.Comment, s.Comment != ""
}
