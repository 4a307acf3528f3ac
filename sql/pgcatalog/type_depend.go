package pgcatalog

import (
	"strings"

	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// typeDepends shows what user types, and the row types of relations, rest on. pg_dump writes types
// in this order.
func (r *reader) typeDepends(emit emitter) {
	put := func(d dependency) { d.emit(0, emit) }
	for d := range r.relations() {
		if t := d.Row(); t != nil {
			put(dependency{classType, table.ID(t.OID), classRelation, d.ID, 0, "i"})
			put(dependency{classType, table.ID(t.Def.ArrayOID), classType, table.ID(t.OID), 0, "i"})
		}
	}
	for d, t := range r.userTypes() {
		put(dependency{classType, d.ID, classNamespace, d.SchemaID, 0, "n"})
		put(dependency{classType, d.ArrayID, classType, d.ID, 0, "i"})
		switch d.Kind {
		case types.KindComposite:
			put(dependency{classRelation, d.Class, classType, d.ID, 0, "i"})
			for i, a := range t.Def.Attributes {
				useType(dependency{class: classRelation, id: d.Class}, a.Type,
					d.Attributes[i].Number, emit)
			}
		case types.KindDomain:
			useType(dependency{class: classType, id: d.ID}, t.Def.Base, 0, emit)
			r.mentionDepends(classType, d.ID, d.Default, put)
			for _, seq := range r.sequencesIn(d.Default) {
				put(dependency{classType, d.ID, classRelation, seq, 0, "n"})
			}
			for _, c := range d.Checks {
				put(dependency{classConstraint, c.OID, classType, d.ID, 0, "a"})
				r.mentionDepends(classConstraint, c.OID, c.Text, put)
			}
		}
	}
}

// columnDepends shows the user types of a relation's columns.
func columnDepends(d *table.Desc, emit emitter) {
	for i, c := range visibleColumns(d) {
		useType(dependency{class: classRelation, id: d.ID}, c.Type, i+1, emit)
	}
}

// useType shows that an object, or its column of that number, needs a type. Those of the system are
// not shown: they cannot be dropped.
func useType(d dependency, t *types.Type, column int, emit emitter) {
	t.UserTypes(func(*types.Type) {
		d.refClass, d.ref, d.kind = classType, table.ID(t.OID), "n"
		d.emit(column, emit)
	})
}

// mentionDepends shows the user types that a stored expression casts to.
func (r *reader) mentionDepends(class int, id table.ID, text string, put func(dependency)) {
	if !strings.Contains(text, "::") {
		return
	}
	env := r.env.Planner(r.ctx)
	e, err := env.ParseExpr(text)
	if err != nil {
		return // a text that can no longer be read depends on nothing
	}
	ast.Inspect(e, func(n any) bool {
		if c, ok := n.(*ast.Cast); ok {
			if t, err := planner.ResolveType(r.ctx, env, c.Type); err == nil {
				t.UserTypes(func(*types.Type) {
					put(dependency{class, id, classType, table.ID(t.OID), 0, "n"})
				})
			}
		}
		return true
	})
}
