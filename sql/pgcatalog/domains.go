package pgcatalog

import (
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/deparse"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
)

// domainConstraintRows are the rows of pg_constraint of domains.
func domainConstraintRows(r *reader, emit emitter) {
	for d := range r.userTypes() {
		for i, c := range d.Checks {
			emit("oid", c.OID, "conname", c.Name, "connamespace", d.SchemaID, "contype", "c",
				"convalidated", !c.NotValid, "contypid", d.ID, "confupdtype", " ",
				"confdeltype", " ", "confmatchtype", " ", "conislocal", true,
				"conbin", nodeText(domainCheckNode, d.ID, i))
		}
	}
}

// domainOf finds the domain of a constraint; nil, nil when there is none.
func (r *reader) domainOf(id table.ID) (*catalog.TypeDesc, *catalog.DomainCheck) {
	for d := range r.userTypes() {
		for i := range d.Checks {
			if d.Checks[i].OID == id {
				return d, &d.Checks[i]
			}
		}
	}
	return nil, nil
}

// domainConstraintDef is pg_get_constraintdef of the constraint of a domain.
func (r *reader) domainConstraintDef(id table.ID, opts deparse.Options) (string, bool) {
	d, c := r.domainOf(id)
	if d == nil {
		return "", false
	}
	text := "CHECK (" + r.domainCheckText(d, c, opts) + ")"
	if c.NotValid {
		text += " NOT VALID"
	}
	return text, true
}

func (r *reader) domainCheckText(d *catalog.TypeDesc, c *catalog.DomainCheck,
	opts deparse.Options) string {
	t, err := r.env.View().TypeByOID(r.ctx, types.OID(d.ID))
	if r.fail(err); err != nil || t == nil {
		return c.Text
	}
	opts.Value = true
	return r.expr(planner.DomainValue(t.Def.Base), c.Text, nil, opts)
}

// domainExpr resolves a reference to the default or a constraint of a domain.
func (r *reader) domainExpr(id table.ID, kind nodeKind, n int, opts deparse.Options) (string,
	bool) {
	d := r.userType(id)
	if d == nil {
		return "", false
	}
	switch {
	case kind == domainCheckNode && n < len(d.Checks):
		return r.domainCheckText(d, &d.Checks[n], opts), true
	case kind == domainDefaultNode && d.Default != "":
		t, err := TypeByOID(r.ctx, r.env.View(), types.OID(id))
		if r.fail(err); err != nil || t == nil {
			return "", false
		}
		return r.expr(nil, d.Default, t.Def.Base, opts), true
	}
	return "", false
}
