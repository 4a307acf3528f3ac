package pgcatalog

import (
	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/planner/deparse"
	"github.com/minidb/minidb/table"
)

// policyCommands are the letters of pg_policy.polcmd.
var policyCommands = map[string]string{"": "*", "select": "r", "insert": "a", "update": "w",
	"delete": "d"}

func policyRows(r *reader, emit emitter) {
	for d := range r.relations() {
		for i := range d.Policies {
			p := &d.Policies[i]
			roles := make([]table.ID, len(p.Roles))
			for k, id := range p.Roles {
				roles[k] = table.ID(id)
			}
			emit("oid", p.OID, "polname", p.Name, "polrelid", d.ID,
				"polcmd", policyCommands[p.Command], "polpermissive", !p.Restrictive,
				"polroles", roles, "polqual", policyNode(usingNode, d, i, p.Using),
				"polwithcheck", policyNode(withCheckNode, d, i, p.Check))
		}
	}
}

// policyNode is a reference to a condition of policy n; nil for none.
func policyNode(kind nodeKind, d *table.Desc, n int, text string) any {
	if text == "" {
		return nil
	}
	return nodeText(kind, d.ID, n)
}

// policyExpr prints a condition of a policy. One that can no longer be bound is shown as it is
// stored.
func (r *reader) policyExpr(d *table.Desc, text string, opts deparse.Options) string {
	env := r.env.Planner(r.ctx)
	e, err := env.ParseExpr(text)
	if err != nil {
		return text
	}
	notes, err := bind.PolicyExpr(r.ctx, env, d, e, []string{})
	if err != nil {
		return text
	}
	opts.Stored = true
	out, err := deparse.Policy(r.ctx, env, d, e, notes, opts)
	if err != nil {
		return text
	}
	return out
}
