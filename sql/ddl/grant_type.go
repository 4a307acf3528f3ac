package ddl

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/rowlock"
)

// grantedTypes finds types and domains.
func (env *Env) grantedTypes(ctx context.Context, s *ast.Grant) (out []changeGrants, err error) {
	for _, n := range s.Names {
		if err := env.mustExist(ctx, n.Schema); err != nil {
			return nil, err
		}
		t, err := planner.ResolveType(ctx, env.Planner, ast.TypeName{Schema: n.Schema,
			Name: n.Name})
		if isUndefined(err) {
			err = sqlerr.New(sqlerr.UndefinedObject, "type \"%s\" does not exist", display(n))
		}
		if err != nil {
			return nil, err
		}
		out = append(out, func(ctx context.Context, g *grantTo) error {
			return env.grantType(ctx, g, t)
		})
	}
	return out, nil
}

func (env *Env) grantType(ctx context.Context, g *grantTo, t *types.Type) error {
	switch {
	case t.Nests():
		return sqlerr.New(sqlerr.InvalidGrantOperation, "cannot set privileges of array types").
			WithHint("Set the privileges of the element type instead.")
	case g.Kind == "domain" && !t.IsDomain():
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a domain", t.Name)
	}
	d, err := env.View.UserType(ctx, table.ID(t.OID))
	if err != nil {
		return err
	}
	if d != nil {
		if err := env.lockType(ctx, d, rowlock.ShareUpdateExclusive); err != nil {
			return err
		}
		next := d.Clone()
		next.ACL, err = env.apply(ctx, g, target{class: acl.Type, kind: "type", name: d.Name,
			owner: d.OwnedBy(), list: d.ACL, all: g.all, granted: g.whole})
		if err != nil {
			return err
		}
		return env.View.UpdateType(ctx, d, next, false)
	}
	owner, temporary, err := env.typeOwner(ctx, t)
	if err != nil {
		return err
	}
	if temporary {
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"%s ON the row type of a temporary table is not supported", verb(g.Revoke))
	}
	return env.grantObject(ctx, g, systemObject{class: acl.Type, id: table.ID(t.OID), name: t.Name,
		kind: "type", owner: owner})
}

// typeOwner returns the owner of a type that has no descriptor: that of the relation of a row type,
// or else the bootstrap superuser.
func (env *Env) typeOwner(ctx context.Context, t *types.Type) (owner acl.RoleID, temporary bool,
	err error) {
	if t.Def == nil || t.Def.Class == 0 {
		return acl.Postgres, false, nil
	}
	d, err := env.View.RelationByID(ctx, table.ID(t.Def.Class))
	if err != nil || d == nil {
		return acl.Postgres, false, err
	}
	return d.OwnedBy(), d.Temporary(), nil
}

// mayUseType checks the privilege to make a column, a domain or an attribute of a type. Of an array
// type it is that of its elements.
func (env *Env) mayUseType(ctx context.Context, t *types.Type) error {
	for t.Nests() {
		t = t.Elem
	}
	a, err := env.authority(ctx)
	if err != nil || a.Superuser() {
		return err
	}
	d, err := env.View.UserType(ctx, table.ID(t.OID))
	if err != nil {
		return err
	}
	var list acl.List
	owner := acl.Postgres
	if d != nil {
		owner, list = d.OwnedBy(), d.ACL
	} else if owner, _, err = env.typeOwner(ctx, t); err != nil {
		return err
	} else if list, err = env.View.ObjectACL(ctx, env.Database, acl.Type,
		table.ID(t.OID)); err != nil {
		return err
	}
	if list == nil || a.Granted(acl.Type, owner, list, acl.Usage) != 0 {
		return nil
	}
	return denied("permission denied for type %s", t.SQLName())
}
