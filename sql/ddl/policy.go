package ddl

import (
	"context"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/planner/deparse"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/txn/rowlock"
)

func (env *Env) createPolicy(ctx context.Context, s *ast.CreatePolicy) error {
	switch {
	case (s.Command == "select" || s.Command == "delete") && s.Check != nil:
		return sqlerr.New(sqlerr.SyntaxError, "WITH CHECK cannot be applied to SELECT or DELETE")
	case s.Command == "insert" && s.Using != nil:
		return sqlerr.New(sqlerr.SyntaxError, "only WITH CHECK expression allowed for INSERT")
	}
	roles, err := env.policyRoles(ctx, s.Roles)
	if err != nil {
		return err
	}
	d, err := env.policyTable(ctx, s.Table)
	if err != nil {
		return err
	}
	if d.Policy(s.Name.Name) != nil {
		return duplicatePolicy(s.Name.Name, d)
	}
	p := table.Policy{Name: s.Name.Name, Command: s.Command, Restrictive: s.Restrictive,
		Roles: roles}
	if err := env.policyRules(ctx, d, &p, s.Using, s.Check); err != nil {
		return err
	}
	if p.OID, err = env.View.NewIDIn(ctx, d.SchemaID); err != nil {
		return err
	}
	next := d.Clone()
	next.Policies = append(next.Policies, p)
	return env.View.RelabelRelation(ctx, d, next)
}

func duplicatePolicy(name string, d *table.Desc) error {
	return sqlerr.New(sqlerr.DuplicateObject, "policy \"%s\" for table \"%s\" already exists", name,
		d.Name)
}

func noPolicy(name, of string) error {
	return sqlerr.New(sqlerr.UndefinedObject, "policy \"%s\" for table \"%s\" does not exist", name,
		of)
}

// policyRoles finds the roles that a policy is for. Beside PUBLIC the others have no effect.
func (env *Env) policyRoles(ctx context.Context, specs []ast.RoleSpec) ([]acl.RoleID, error) {
	if specs == nil {
		return []acl.RoleID{acl.Public}, nil
	}
	if slices.ContainsFunc(specs, func(r ast.RoleSpec) bool { return r.Keyword == "public" }) {
		if len(specs) > 1 && env.Notice != nil {
			env.Notice("WARNING", sqlerr.InvalidParameterValue,
				"ignoring specified roles other than PUBLIC", "")
		}
		return []acl.RoleID{acl.Public}, nil
	}
	a, err := env.authority(ctx)
	if err != nil {
		return nil, err
	}
	named, err := namedRoles(a, specs)
	if err != nil {
		return nil, err
	}
	out := make([]acl.RoleID, len(named))
	for i, r := range named {
		out[i] = r.ID
	}
	return out, nil
}

// policyTable finds the table of a policy that is to be made or changed, and locks it.
func (env *Env) policyTable(ctx context.Context, n ast.Name) (*table.Desc, error) {
	d, ix, err := env.lookupStored(ctx, n)
	if err != nil {
		return nil, err
	}
	if d == nil {
		if n.Schema == "" || isSystemSchema(n.Schema) {
			if sys, err := env.Planner.Catalog.Relation(ctx, n); err != nil {
				return nil, err
			} else if sys != nil {
				return nil, denied("permission denied: \"%s\" is a system catalog", sys.Name)
			}
		}
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", display(n))
	}
	if ix != nil {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a table", ix.Name)
	}
	if err := env.mustOwn(ctx, d); err != nil {
		return nil, err
	}
	if d.Kind != table.KindTable {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a table", d.Name)
	}
	return d, env.lock(ctx, d, rowlock.AccessExclusive)
}

// policyRules sets the conditions of a policy that are given.
func (env *Env) policyRules(ctx context.Context, d *table.Desc, p *table.Policy,
	using, check ast.Expr) error {
	for _, c := range []struct {
		e  ast.Expr
		to *string
	}{{using, &p.Using}, {check, &p.Check}} {
		if c.e == nil {
			continue
		}
		notes, err := bind.PolicyExpr(ctx, env.Planner, d, c.e, nil)
		if err != nil {
			return err
		}
		text, err := deparse.Policy(ctx, env.Planner, d, c.e, notes,
			deparse.Options{Source: true})
		if err != nil {
			return err
		}
		*c.to = strings.TrimSpace(text)
	}
	return env.policyReads(ctx, d, p)
}

// policyReads sets the relations that a policy reads, and keeps them from being changed by others
// until the transaction's end.
func (env *Env) policyReads(ctx context.Context, d *table.Desc, p *table.Policy) error {
	var reads []table.ID
	for _, text := range []string{p.Using, p.Check} {
		notes, err := env.policyNotes(ctx, d, text)
		if err != nil {
			return err
		}
		if notes != nil {
			reads = append(reads, notes.Reads...)
		}
	}
	kept, err := env.stored(ctx, slices.DeleteFunc(reads,
		func(id table.ID) bool { return id == d.ID }))
	if err != nil {
		return err
	}
	if !d.Temporary() && readsTemporary(kept) {
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"policies of permanent tables cannot read temporary relations")
	}
	p.DependsOn = kept
	return env.hold(ctx, kept)
}

// policyNotes binds a stored condition, with the relations among its constants; nil for no
// condition.
func (env *Env) policyNotes(ctx context.Context, d *table.Desc, text string) (*bind.Notes, error) {
	if text == "" {
		return nil, nil
	}
	e, err := env.Planner.ParseExpr(text)
	if err != nil {
		return nil, err
	}
	notes, err := bind.PolicyExpr(ctx, env.Planner, d, e, []string{})
	if err != nil {
		return nil, err
	}
	_, err = deparse.Policy(ctx, env.Planner, d, e, notes, deparse.Options{Source: true})
	return notes, err
}

func (env *Env) alterPolicy(ctx context.Context, s *ast.AlterPolicy) error {
	var roles []acl.RoleID
	var err error
	if s.Roles != nil {
		if roles, err = env.policyRoles(ctx, s.Roles); err != nil {
			return err
		}
	}
	d, err := env.policyTable(ctx, s.Table)
	if err != nil {
		return err
	}
	next := d.Clone()
	p := next.Policy(s.Name.Name)
	switch {
	case p == nil:
		return noPolicy(s.Name.Name, d.Name)
	case (p.Command == "select" || p.Command == "delete") && s.Check != nil:
		return sqlerr.New(sqlerr.SyntaxError,
			"only USING expression allowed for SELECT, DELETE")
	case p.Command == "insert" && s.Using != nil:
		return sqlerr.New(sqlerr.SyntaxError, "only WITH CHECK expression allowed for INSERT")
	}
	if roles != nil {
		p.Roles = roles
	}
	if err := env.policyRules(ctx, d, p, s.Using, s.Check); err != nil {
		return err
	}
	return env.View.RelabelRelation(ctx, d, next)
}

func (env *Env) renamePolicy(ctx context.Context, s *ast.RenamePolicy) error {
	d, err := env.policyTable(ctx, s.Table)
	if err != nil {
		return err
	}
	if d.Policy(s.NewName.Name) != nil {
		return duplicatePolicy(s.NewName.Name, d)
	}
	next := d.Clone()
	p := next.Policy(s.Name.Name)
	if p == nil {
		return noPolicy(s.Name.Name, d.Name)
	}
	p.Name = s.NewName.Name
	return env.View.RelabelRelation(ctx, d, next)
}

func (env *Env) dropPolicy(ctx context.Context, s *ast.DropPolicy) error {
	if s.IfExists {
		if gone, err := env.policyTableGone(ctx, s.Table); gone || err != nil {
			return err
		}
	}
	d, ix, err := env.lookup(ctx, s.Table)
	switch {
	case err != nil:
		return err
	case d == nil:
		return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist",
			display(s.Table))
	case ix == nil && d.Policy(s.Name.Name) == nil || ix != nil:
		name := d.Name
		if ix != nil {
			name = ix.Name
		}
		if s.IfExists {
			env.notice("00000", "policy \"%s\" for relation \"%s\" does not exist, skipping",
				s.Name.Name, display(s.Table))
			return nil
		}
		return noPolicy(s.Name.Name, name)
	}
	if a, err := env.authority(ctx); err != nil {
		return err
	} else if !a.Has(d.OwnedBy()) {
		return denied("must be owner of relation %s", d.Name)
	}
	if err := env.lock(ctx, d, rowlock.AccessExclusive); err != nil {
		return err
	}
	next := d.Clone()
	next.RemovePolicies(func(p *table.Policy) bool { return p.Name == s.Name.Name })
	return env.View.RelabelRelation(ctx, d, next)
}

// policyTableGone says that the table of DROP POLICY IF EXISTS does not exist, if it does not.
func (env *Env) policyTableGone(ctx context.Context, n ast.Name) (bool, error) {
	if n.Schema != "" && !isSystemSchema(n.Schema) {
		if _, ok, err := env.View.Schema(ctx, env.Database, n.Schema); err != nil {
			return false, err
		} else if !ok {
			env.notice("00000", "schema \"%s\" does not exist, skipping", n.Schema)
			return true, nil
		}
	}
	d, _, err := env.lookup(ctx, n)
	if err == nil && d == nil {
		env.notice("00000", "relation \"%s\" does not exist, skipping", display(n))
	}
	return err == nil && d == nil, err
}

// setRowSecurity turns row security of a table on or off, or for its owner.
func (a *alteration) setRowSecurity(ctx context.Context, kind string) error {
	next := a.d.Clone()
	switch kind {
	case "enable row security":
		// An incremental view shows its rows to all roles that may read it, whatever the policies
		// let its owner see.
		if a.d.ViewObserver() != nil {
			return sqlerr.New(sqlerr.FeatureNotSupported,
				"cannot enable row security on table \"%s\" because incremental materialized "+
					"views are computed from it", a.d.Name)
		}
		next.RowSecurity = true
	case "disable row security":
		next.RowSecurity = false
	case "force row security":
		next.ForceRowSecurity = true
	default:
		next.ForceRowSecurity = false
	}
	if err := a.env.View.RelabelRelation(ctx, a.d, next); err != nil {
		return err
	}
	a.d = next
	return nil
}

// describePolicy names a policy in messages about dependencies.
func (env *Env) describePolicy(d *table.Desc, p *table.Policy) string {
	return "policy " + sqlname.Quote(p.Name) + " on " + env.describe(d)
}
