package ddl

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
)

// defaultList returns the list that a new object of an owner gets in a schema: nil, PostgreSQL's
// own default, unless ALTER DEFAULT PRIVILEGES said otherwise.
func (env *Env) defaultList(ctx context.Context, c acl.Class, owner acl.RoleID,
	schema table.ID) (acl.List, error) {
	all, err := env.View.DefaultPrivileges(ctx, env.Database)
	if err != nil {
		return nil, err
	}
	var global, local *catalog.DefaultPrivileges
	for i := range all {
		switch d := &all[i]; {
		case d.Role != owner || d.Class != c:
		case d.Schema == 0:
			global = d
		case d.Schema == schema:
			local = d
		}
	}
	if global == nil && local == nil {
		return nil, nil
	}
	var list acl.List
	if global != nil {
		list = global.ACL
	}
	list = list.Or(c, owner)
	if local != nil {
		list = list.Merged(local.ACL)
	}
	if list.Equal(acl.Default(c, owner)) {
		return nil, nil
	}
	return list.Sorted(), nil
}

// alterDefaultPrivileges is ALTER DEFAULT PRIVILEGES.
func (env *Env) alterDefaultPrivileges(ctx context.Context, s *ast.AlterDefaultPrivileges) error {
	a, err := env.authority(ctx)
	if err != nil {
		return err
	}
	class := map[string]acl.Class{"tables": acl.Relation, "sequences": acl.Sequence,
		"types": acl.Type, "schemas": acl.Schema, "functions": acl.Function,
		"routines": acl.Function}[s.Grant.Kind]
	g, err := resolveGrant(a, &s.Grant, class)
	if err != nil {
		return err
	}
	if class == acl.Schema && s.Schemas != nil {
		return sqlerr.New(sqlerr.InvalidGrantOperation,
			"cannot use IN SCHEMA clause when using GRANT/REVOKE ON SCHEMAS")
	}
	if len(g.columns) > 0 {
		return sqlerr.New(sqlerr.InvalidGrantOperation,
			"default privileges cannot be set for columns")
	}
	makers := []*acl.Role{a.Roles.ByID(a.Current)}
	if s.Roles != nil {
		if makers, err = namedRoles(a, s.Roles); err != nil {
			return err
		}
	}
	schemas := []table.ID{0}
	if s.Schemas != nil {
		schemas = schemas[:0]
		for _, id := range s.Schemas {
			sc, ok, err := env.View.Schema(ctx, env.Database, id.Name)
			if err != nil {
				return err
			}
			if !ok {
				return noSchema(id.Name)
			}
			schemas = append(schemas, sc.ID)
		}
	}
	for _, maker := range makers {
		if err := mayGiveTo(a, maker); err != nil {
			return err
		}
		for _, schema := range schemas {
			if err := env.setDefaultPrivileges(ctx, g, class, maker.ID, schema); err != nil {
				return err
			}
		}
	}
	return nil
}

// setDefaultPrivileges changes the default privileges of what a role makes in a schema, or with 0
// anywhere.
func (env *Env) setDefaultPrivileges(ctx context.Context, g *grantTo, class acl.Class,
	maker acl.RoleID, schema table.ID) error {
	all, err := env.View.DefaultPrivileges(ctx, env.Database)
	if err != nil {
		return err
	}
	// What belongs to one schema is added to the default, so that it begins with nothing.
	start := acl.List{}
	if schema == 0 {
		start = acl.Default(class, maker)
	}
	d := catalog.DefaultPrivileges{Database: env.Database, Role: maker, Schema: schema,
		Class: class}
	for i := range all {
		if o := &all[i]; o.Role == maker && o.Schema == schema && o.Class == class {
			d = *o
		}
	}
	old := d.ACL
	if old == nil {
		old = start
	}
	a, err := env.authority(ctx)
	if err != nil {
		return err
	}
	rules, list := a.Object(maker), old
	for _, grantee := range g.grantees {
		it := acl.Item{Grantee: grantee, Grantor: maker, Granted: g.whole}
		switch {
		case !g.Revoke:
			if err := g.mayHaveOptions(grantee); err != nil {
				return err
			}
			if g.Option {
				it.Options = g.whole
			}
			list, err = rules.Grant(list, it)
		case g.Option:
			it.Granted, it.Options = 0, g.whole
			list, err = rules.Revoke(list, it, g.Cascade)
		default:
			it.Options = g.whole
			list, err = rules.Revoke(list, it, g.Cascade)
		}
		if err != nil {
			return err
		}
	}
	if d.ACL = append(acl.List{}, list.Sorted()...); list.Equal(start) {
		if d.OID == 0 {
			return nil
		}
		d.ACL = nil
	}
	return env.View.PutDefaultPrivileges(ctx, d)
}
