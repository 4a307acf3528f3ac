package ddl

import (
	"context"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/largeobject"
	"github.com/minidb/minidb/table/types"
)

// largeID reads the object ID of a large object as a statement has it, any number.
func largeID(n ast.Name) (largeobject.ID, error) {
	d, err := types.ParseText(types.TOid, n.Name, &types.DefaultFormat)
	return largeobject.ID(d.I), err
}

// largeName is what messages call a large object.
func largeName(n ast.Name) string { return "large object " + n.Name }

// grantedLargeObjects finds the objects of GRANT and REVOKE ON LARGE OBJECT.
func (env *Env) grantedLargeObjects(ctx context.Context, s *ast.Grant) (out []changeGrants,
	err error) {
	for _, n := range s.Names {
		id, err := largeID(n)
		if err != nil {
			return nil, err
		}
		r, err := env.View.LargeObject(ctx, env.Database, id)
		if err == nil && r == nil {
			err = largeobject.Missing(id)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, func(ctx context.Context, g *grantTo) error {
			return env.View.ChangeLargeObject(ctx, env.Database, id,
				func(r *largeobject.Record) (err error) {
					r.ACL, err = env.apply(ctx, g, target{class: acl.LargeObject,
						kind: "large object", name: largeName(n), owner: r.OwnedBy(), list: r.ACL,
						all: g.all, granted: g.whole})
					return err
				})
		})
	}
	return out, nil
}

// giveLargeObject is ALTER LARGE OBJECT … OWNER TO.
func (env *Env) giveLargeObject(ctx context.Context, a *acl.Authority, n ast.Name,
	to *acl.Role) error {
	id, err := largeID(n)
	if err != nil {
		return err
	}
	return env.View.ChangeLargeObject(ctx, env.Database, id, func(r *largeobject.Record) error {
		switch {
		case r.OwnedBy() == to.ID:
			return nil
		case !a.Has(r.OwnedBy()):
			return notOwner(ast.LargeObject, n.Name)
		}
		if err := mayGiveTo(a, to); err != nil {
			return err
		}
		r.ACL, r.Owner = r.ACL.Owned(r.OwnedBy(), to.ID), to.ID.Stored()
		return nil
	})
}

// commentLargeObject is COMMENT ON LARGE OBJECT.
func (env *Env) commentLargeObject(ctx context.Context, n ast.Name, text string) error {
	id, err := largeID(n)
	if err != nil {
		return err
	}
	a, err := env.authority(ctx)
	if err != nil {
		return err
	}
	return env.View.ChangeLargeObject(ctx, env.Database, id, func(r *largeobject.Record) error {
		if !a.Has(r.OwnedBy()) {
			return notOwner(ast.LargeObject, n.Name)
		}
		r.Comment = text
		return nil
	})
}

// changeLargeObject changes the record of a large object that names a role.
func (env *Env) changeLargeObject(ctx context.Context, id table.ID,
	change func(r *largeobject.Record)) error {
	return env.View.ChangeLargeObject(ctx, env.Database, largeobject.ID(id),
		func(r *largeobject.Record) error {
			change(r)
			return nil
		})
}

// dropLargeObjects removes the large objects that a role owns.
func (env *Env) dropLargeObjects(ctx context.Context, role acl.RoleID) error {
	refs, err := env.ownReferences(ctx, role)
	if err != nil {
		return err
	}
	objects := largeobject.NewObjects(env.Tx, env.Database, nil)
	for _, ref := range refs {
		if ref.Class != catalog.ClassLargeObject || ref.Why != catalog.ByOwner {
			continue
		}
		id := largeobject.ID(ref.Object)
		err := objects.Unlink(ctx, id, func(r *largeobject.Record) error {
			return env.View.ForgetLargeObject(ctx, env.Database, id, r)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
