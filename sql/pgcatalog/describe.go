package pgcatalog

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/table"
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
		return types.TypeName(oid), true
	case "role":
		return env.User(), id == ownerID
	case "visible":
		return r.visible(id)
	case "indexdef":
		return r.indexDef(id, extra)
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
	case "function":
		return extra, len(builtin.Functions(extra)) > 0 || len(builtin.Aggregates(extra)) > 0
	case "column", "attribute":
		return r.columnOf(id, kind, extra)
	case "size":
		return r.bytes(id, extra)
	case "comment of":
		return r.anyComment(id, extra)
	case "shared comment of":
		return r.sharedComment(id, extra)
	case "filenode":
		return r.filenode(id)
	case "last value":
		return r.lastValue(id)
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

// regName is the text of a reg* value.
func (r *reader) regName(kind string, id table.ID) (string, bool) {
	switch kind {
	case "regclass":
		d, ix := r.find(id)
		if d == nil {
			return "", false
		}
		name := nameOf(d, ix)
		if r.isVisible(d.Schema, name) {
			return sqlname.Quote(name), true
		}
		return sqlname.Qualified(d.Schema, name), true
	case "regtype":
		if _, ok := types.ByOID(types.OID(id)); ok {
			return types.TypeName(types.OID(id)), true
		}
	case "regproc", "regprocedure":
		return functionName(types.OID(id), kind == "regprocedure")
	case "regnamespace":
		name, ok := r.namespaceName(id)
		return sqlname.Quote(name), ok
	case "regrole":
		return sqlname.Quote(r.env.User()), id == ownerID
	case "regcollation":
		name, ok := map[table.ID]string{100: `"default"`, 950: `"C"`, 951: `"POSIX"`}[id]
		return name, ok
	}
	return "", false
}

// RegOID finds the object that the text of a reg* value names.
func RegOID(ctx context.Context, env Env, typ types.OID, name string) (types.OID, error) {
	r := &reader{ctx: ctx, env: env}
	plain := strings.Trim(name, `"`)
	switch typ {
	case types.OIDRegNamespace:
		for _, id := range []table.ID{CatalogSchemaID, InformationSchemaID} {
			if n, _ := r.namespaceName(id); n == plain {
				return types.OID(id), nil
			}
		}
		for _, s := range r.schemas() {
			if s.Name == plain {
				return types.OID(s.ID), nil
			}
		}
		if r.err != nil {
			return 0, r.err
		}
		return 0, sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", plain)
	case types.TRegRole.OID:
		if plain == env.User() {
			return ownerID, nil
		}
		return 0, sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", plain)
	case types.OIDRegProc, types.TRegProcedure.OID:
		if oid, ok := functionOID(name, typ == types.TRegProcedure.OID); ok {
			return oid, nil
		}
		return 0, sqlerr.New(sqlerr.UndefinedFunction, "function \"%s\" does not exist", name)
	case types.TRegCollation.OID:
		if id, ok := map[string]types.OID{"default": 100, "C": 950, "POSIX": 951}[plain]; ok {
			return id, nil
		}
		return 0, sqlerr.New(sqlerr.UndefinedObject,
			"collation \"%s\" for encoding \"UTF8\" does not exist", plain)
	}
	return 0, sqlerr.New(sqlerr.UndefinedObject, "\"%s\" does not exist", name)
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

// functionName is the text of a regproc, or with arguments of a regprocedure.
func functionName(id types.OID, arguments bool) (string, bool) {
	i, ok := slices.BinarySearchFunc(functions(), id,
		func(f function, id types.OID) int { return int(f.oid) - int(id) })
	switch {
	case !ok:
		return "", false
	case arguments:
		f := functions()[i]
		return sqlname.Quote(f.name) + "(" + f.arguments + ")", true
	}
	return sqlname.Quote(functions()[i].name), true
}

// functionOID finds a function by the text of a regproc or regprocedure.
func functionOID(text string, arguments bool) (types.OID, bool) {
	text = strings.TrimPrefix(text, "pg_catalog.")
	for _, f := range functions() {
		if !arguments && f.name == text || arguments &&
			f.name+"("+f.arguments+")" == strings.ReplaceAll(text, ", ", ",") {
			return f.oid, true
		}
	}
	return 0, false
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
	return sqlname.Qualified(seq.Schema, seq.Name), true
}

// sharedComment is shobj_description: of a database.
func (r *reader) sharedComment(id table.ID, catalog string) (string, bool) {
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
	case "pg_class", "pg_namespace", "":
		text, ok := r.comment(id, "")
		if ns, found := r.schemaComment(id); found && catalog == "pg_namespace" {
			return ns, true
		}
		if !ok && catalog == "" {
			return r.constraintComment(id)
		}
		return text, ok && catalog != "pg_namespace"
	case "pg_constraint":
		return r.constraintComment(id)
	}
	return "", false
}

func (r *reader) constraintComment(id table.ID) (text string, ok bool) {
	d, check := r.constraintOwner(id)
	switch {
	case d == nil:
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

func (r *reader) schemaComment(id table.ID) (string, bool) {
	s, _ := r.schema(id)
	return s.Comment, s.Comment != ""
}
