package pgcatalog

import (
	"strings"

	"github.com/minidb/minidb/planner/deparse"
	"github.com/minidb/minidb/table"
)

// classes are the object IDs of the catalogs that pg_depend names.
const (
	classConstraint = 2606
	classDefault    = 2604
	classRule       = 2618
)

// dependency is a row of pg_depend: object, with a column's number or 0, needs another one. Its
// kind is 'n' (normal: DROP needs CASCADE), 'a' (automatic: dropped together) or 'i' (internal: a
// part of the other).
type dependency struct {
	class    int
	id       table.ID
	refClass int
	ref      table.ID
	column   int // of ref
	kind     string
}

// emit emits the row for a column of the object, or with 0 for the object itself.
func (d dependency) emit(column int, emit emitter) {
	emit("classid", d.class, "objid", d.id, "objsubid", column, "refclassid", d.refClass,
		"refobjid", d.ref, "refobjsubid", d.column, "deptype", d.kind)
}

func dependRows(r *reader, emit emitter) {
	put := func(d dependency) { d.emit(0, emit) }
	r.extensionDepends(put)
	r.typeDepends(emit)
	for d := range r.relations() {
		put(dependency{classRelation, d.ID, classNamespace, d.SchemaID, 0, "n"})
		if d.OfType != 0 {
			put(dependency{classRelation, d.ID, classType, d.OfType, 0, "n"})
		}
		columnDepends(d, emit)
		r.sequenceDepends(d, put)
		r.viewDepends(d, put)
		r.defaultDepends(d, put)
		r.constraintDepends(d, put)
		r.indexDepends(d, put)
		for i := range d.Policies {
			p := &d.Policies[i]
			put(dependency{classPolicy, p.OID, classRelation, d.ID, 0, "a"})
			r.mentionDepends(classPolicy, p.OID, p.Using, put)
			r.mentionDepends(classPolicy, p.OID, p.Check, put)
			for _, id := range p.DependsOn {
				put(dependency{classPolicy, p.OID, classRelation, id, 0, "n"})
			}
		}
	}
}

// sequenceDepends shows which column owns a sequence.
func (r *reader) sequenceDepends(d *table.Desc, put func(dependency)) {
	q := d.Sequence
	if q == nil || q.OwnerTable == 0 {
		return
	}
	owner := r.relation(q.OwnerTable)
	if owner == nil {
		return
	}
	kind := "a"
	if i := owner.ColumnByID(q.OwnerColumn); i >= 0 && owner.Columns[i].Identity != "" &&
		owner.Columns[i].SequenceID == d.ID {
		kind = "i"
	}
	put(dependency{classRelation, d.ID, classRelation, q.OwnerTable,
		attnum(owner, q.OwnerColumn), kind})
}

// viewDepends shows what the rule that is a view reads. Its columns are not known.
func (r *reader) viewDepends(d *table.Desc, put func(dependency)) {
	if d.View == nil {
		return
	}
	for _, kind := range []string{"i", "n"} {
		put(dependency{classRule, d.ID, classRelation, d.ID, 0, kind})
	}
	for _, id := range d.View.DependsOn {
		put(dependency{classRule, d.ID, classRelation, id, 0, "n"})
	}
	for _, id := range d.Types {
		put(dependency{classRule, d.ID, classType, id, 0, "n"})
	}
	for _, key := range d.View.DependsOnKeys {
		put(dependency{classRule, d.ID, classConstraint, key, 0, "n"})
	}
}

// defaultDepends shows the column of each default, and the sequences that it draws from.
func (r *reader) defaultDepends(d *table.Desc, put func(dependency)) {
	for i, c := range visibleColumns(d) {
		if !hasDefault(&c) {
			continue
		}
		id := derivedID(defaultBase, d.ID, i)
		put(dependency{classDefault, id, classRelation, d.ID, i + 1, "a"})
		r.mentionDepends(classDefault, id, c.DefaultText+c.Generated, put)
		for _, seq := range r.sequencesIn(c.DefaultText) {
			put(dependency{classDefault, id, classRelation, seq, 0, "n"})
		}
	}
}

// sequencesIn returns the relations that a DEFAULT refers to: the sequences that it draws from. A
// text that can no longer be read depends on nothing.
func (r *reader) sequencesIn(text string) []table.ID {
	if !strings.Contains(text, "regclass") {
		return nil
	}
	env := r.env.Planner(r.ctx)
	e, err := env.ParseExpr(text)
	if err != nil {
		return nil
	}
	named, err := deparse.Relations(r.ctx, env, nil, e)
	if err != nil {
		return nil
	}
	return named
}

func (r *reader) constraintDepends(d *table.Desc, put func(dependency)) {
	on := func(id table.ID, t *table.Desc, columns []table.ColumnID, kind string) {
		for _, c := range columns {
			put(dependency{classConstraint, id, classRelation, t.ID, attnum(t, c), kind})
		}
	}
	for i := range d.Checks {
		id := derivedID(checkBase, d.ID, i)
		columns := attnums(d, r.readColumns(d, d.Checks[i].Text))
		r.mentionDepends(classConstraint, id, d.Checks[i].Text, put)
		if len(columns) == 0 {
			put(dependency{classConstraint, id, classRelation, d.ID, 0, "a"})
		}
		for _, n := range columns { // it goes with them, and reads them
			put(dependency{classConstraint, id, classRelation, d.ID, n, "a"})
			put(dependency{classConstraint, id, classRelation, d.ID, n, "n"})
		}
	}
	for i := range d.Indexes {
		if ix := &d.Indexes[i]; ix.Primary || ix.Constraint {
			on(ix.OID, d, indexColumnIDs(ix), "a")
		}
	}
	for _, fk := range d.ForeignKeys {
		on(fk.OID, d, fk.Columns, "a")
		ref := r.relation(fk.RefTable)
		if ref == nil {
			continue
		}
		on(fk.OID, ref, fk.RefColumns, "n")
		if ix := ref.ReferencedIndex(fk.RefColumns); ix != nil {
			put(dependency{classConstraint, fk.OID, classRelation, ix.OID, 0, "n"})
		}
	}
}

// indexDepends shows that an index is a part of its constraint, or goes with its columns.
func (r *reader) indexDepends(d *table.Desc, put func(dependency)) {
	for i := range d.Indexes {
		ix := &d.Indexes[i]
		r.mentionDepends(classRelation, ix.OID, ix.WhereText, put)
		for _, c := range ix.Columns {
			if e := d.Expr(d.Part(c.ColumnID)); e != nil {
				r.mentionDepends(classRelation, ix.OID, e.Text, put)
			}
		}
		if ix.Primary || ix.Constraint {
			put(dependency{classRelation, ix.OID, classConstraint, ix.OID, 0, "i"})
			continue
		}
		for _, n := range attnums(d, append(indexColumnIDs(ix), ix.Include...)) {
			put(dependency{classRelation, ix.OID, classRelation, d.ID, n, "a"})
		}
	}
}

// initialPrivilegeRows are the access lists that system objects have from the start, so that dumps
// leave them out.
func initialPrivilegeRows(r *reader, emit emitter) {
	put := func(id table.ID, class, column int, list any) {
		if list != nil {
			emit("objoid", id, "classoid", class, "objsubid", column, "privtype", "i",
				"initprivs", list)
		}
	}
	for _, id := range []table.ID{CatalogSchemaID, InformationSchemaID} {
		put(id, classNamespace, 0, r.list(SystemSchemaList()))
	}
	for _, e := range registry().all {
		put(e.desc.ID, classRelation, 0, r.list(e.desc.ACL))
		for i := range e.desc.Columns {
			put(e.desc.ID, classRelation, i+1, r.list(e.desc.Columns[i].ACL))
		}
	}
	for t := range tuples("pg_proc") {
		if list := t.text("proacl"); list != `\N` && builtinObjects().function(t.oid("oid")) {
			put(table.ID(t.oid("oid")), int(procCatalog), 0, elements(list))
		}
	}
}
