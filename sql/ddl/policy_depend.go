package ddl

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn/rowlock"
)

// tablePolicy is a policy that rests on something which is to be changed or dropped.
type tablePolicy struct {
	table  *table.Desc
	policy string
}

// policy notes a policy of a table that stays, which rests on on.
func (dr *dropper) policy(t tablePolicy, on string) {
	dr.depends(dr.env.describePolicy(t.table, t.table.Policy(t.policy)), on)
	dr.columns = append(dr.columns,
		tableColumn{table: t.table.ID, part: "policy", name: t.policy})
}

// followPolicies notes the policies of other tables that read d.
func (dr *dropper) followPolicies(ctx context.Context, d *table.Desc) error {
	tables, err := dr.env.View.Guarded(ctx, d.ID)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if dr.going[t.ID] {
			continue
		}
		if err := dr.env.lock(ctx, t, rowlock.AccessExclusive); err != nil {
			return err
		}
		for i := range t.Policies {
			if p := &t.Policies[i]; slices.Contains(p.DependsOn, d.ID) {
				dr.policy(tablePolicy{t, p.Name}, dr.env.describe(d))
			}
		}
	}
	return nil
}

// policiesOf lists the policies that read a column: those whose conditions fail without it.
func (a *alteration) policiesOf(ctx context.Context, col string) (out []tablePolicy, err error) {
	tables, err := a.env.View.Guarded(ctx, a.d.ID)
	if err != nil || len(tables)+len(a.d.Policies) == 0 {
		return nil, err
	}
	sp := a.env.Tx.Savepoint()
	defer a.env.Tx.RollbackTo(sp)
	without := a.d.Clone()
	without.Columns[without.Column(col)].Name = "minidb.dropped"
	if err := a.env.View.UpdateRelation(ctx, a.d, without); err != nil {
		return nil, err
	}
	reads := func(t, row *table.Desc) error {
		for i := range t.Policies {
			p := &t.Policies[i]
			holds, err := a.env.policyHolds(ctx, row, p)
			if err != nil {
				return err
			}
			if !holds {
				out = append(out, tablePolicy{t, p.Name})
			}
		}
		return nil
	}
	if err := reads(a.d, without); err != nil {
		return nil, err
	}
	for _, t := range tables {
		if err := reads(t, t); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// policyHolds reports whether the conditions of a policy can be bound over a row of d.
func (env *Env) policyHolds(ctx context.Context, d *table.Desc, p *table.Policy) (bool, error) {
	for _, text := range []string{p.Using, p.Check} {
		if _, err := env.policyNotes(ctx, d, text); err != nil {
			return false, onlySQL(err)
		}
	}
	return true, nil
}

// unusedByPolicies refuses to change a column that a policy reads.
func (a *alteration) unusedByPolicies(ctx context.Context, col string) error {
	policies, err := a.policiesOf(ctx, col)
	if err != nil || len(policies) == 0 {
		return err
	}
	t := policies[0].table
	return sqlerr.New(sqlerr.FeatureNotSupported,
		"cannot alter type of a column used in a policy definition").
		WithDetail("%s depends on column \"%s\"",
			a.env.describePolicy(t, t.Policy(policies[0].policy)), col)
}

// dropPolicies removes policies of the table.
func (a *alteration) dropPolicies(ctx context.Context, list []tablePolicy) error {
	next := a.d.Clone()
	next.RemovePolicies(func(p *table.Policy) bool {
		return slices.ContainsFunc(list, func(t tablePolicy) bool {
			return t.table.ID == a.d.ID && t.policy == p.Name
		})
	})
	if len(next.Policies) == len(a.d.Policies) {
		return nil
	}
	return a.update(ctx, next)
}

// forgetPolicies takes a role out of the policies of a table. A policy for no other role is
// dropped.
func forgetPolicies(d *table.Desc, role acl.RoleID) *table.Desc {
	next := d.Clone()
	next.RemovePolicies(func(p *table.Policy) bool {
		return !slices.ContainsFunc(p.Roles, func(r acl.RoleID) bool { return r != role })
	})
	for i := range next.Policies {
		p := &next.Policies[i]
		p.Roles = slices.DeleteFunc(p.Roles, func(r acl.RoleID) bool { return r == role })
	}
	return next
}

// describePolicyTarget names the policy of a reference.
func (env *Env) describePolicyTarget(d *table.Desc, r catalog.Reference) string {
	for i := range d.Policies {
		if d.Policies[i].OID == r.Sub {
			return env.describePolicy(d, &d.Policies[i])
		}
	}
	return "policy of " + sqlname.Quote(d.Name)
}
