package ddl

import (
	"context"
	"slices"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
)

// dropObjects removes the relations and types that go, and what goes of types that stay. A
// descriptor can be read only while there are the types that it is made of. So a type goes after
// all that is made of it, and so does a relation whose row type something is made of.
func (dr *dropper) dropObjects(ctx context.Context) error {
	relations, err := dr.dropUnused(ctx, dr.order)
	if err != nil {
		return err
	}
	if err := dr.dropParts(ctx); err != nil {
		return err
	}
	list := dr.types
	for len(relations)+len(list) > 0 {
		n := len(relations) + len(list)
		if list, err = dr.dropUnusedTypes(ctx, list); err != nil {
			return err
		}
		if relations, err = dr.dropUnused(ctx, relations); err != nil {
			return err
		}
		if len(relations)+len(list) == n {
			return dr.dropTogether(ctx, relations, list)
		}
	}
	return nil
}

// dropUnused drops those of some relations whose row types nothing is made of, and returns the
// others.
func (dr *dropper) dropUnused(ctx context.Context, relations []*table.Desc) (left []*table.Desc,
	err error) {
	for _, r := range relations {
		if r.RowType != 0 {
			used, err := dr.isMadeOf(ctx, r.RowType)
			if err != nil {
				return nil, err
			}
			if used {
				left = append(left, r)
				continue
			}
		}
		if err := dr.drop(ctx, r); err != nil {
			return nil, err
		}
	}
	return left, nil
}

// dropUnusedTypes is dropUnused of types.
func (dr *dropper) dropUnusedTypes(ctx context.Context,
	list []*catalog.TypeDesc) (left []*catalog.TypeDesc, err error) {
	for _, d := range list {
		used, err := dr.isMadeOf(ctx, d.ID)
		if err != nil {
			return nil, err
		}
		if used {
			left = append(left, d)
			continue
		}
		now, err := dr.env.View.UserType(ctx, d.ID)
		if err != nil {
			return nil, err
		}
		if now == nil {
			continue
		}
		if err := dr.env.View.DropType(ctx, now); err != nil {
			return nil, err
		}
	}
	return left, nil
}

// isMadeOf reports whether something is made of a type.
func (dr *dropper) isMadeOf(ctx context.Context, id table.ID) (bool, error) {
	relations, others, err := dr.env.View.TypeDependents(ctx, id)
	return len(relations)+len(others) > 0, err
}

// dropParts removes what goes of types that stay. Constraints go first, which name attributes.
func (dr *dropper) dropParts(ctx context.Context) error {
	slices.SortStableFunc(dr.parts,
		func(a, b typePart) int { return compareBool(a.check == "", b.check == "") })
	for _, p := range dr.parts {
		old, err := dr.env.View.UserType(ctx, p.of)
		if err != nil {
			return err
		}
		if old == nil || dr.going[old.ID] {
			continue
		}
		if p.check == "" {
			if err := dr.env.removeAttribute(ctx, old, p.attribute); err != nil {
				return err
			}
			continue
		}
		next := old.Clone()
		i := domainCheck(next, p.check)
		next.Checks = slices.Delete(next.Checks, i, i+1)
		if err := dr.env.putDomain(ctx, old, next, false); err != nil {
			return err
		}
	}
	return nil
}

// dropTogether drops what is left once nothing more is unused: relations and types of which the
// expressions of each other, or their own, are made. That they can be read no more in between does
// not matter, as all of them go.
func (dr *dropper) dropTogether(ctx context.Context, relations []*table.Desc,
	list []*catalog.TypeDesc) error {
	left, ids := map[table.ID]bool{}, []table.ID(nil)
	for _, r := range relations {
		left[r.ID], ids = true, append(ids, r.RowType)
	}
	for _, d := range list {
		left[d.ID], ids = true, append(ids, d.ID)
	}
	for _, id := range ids {
		relationsOf, typesOf, err := dr.env.View.TypeDependents(ctx, id)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(relationsOf, func(r *table.Desc) bool { return !left[r.ID] }) ||
			slices.ContainsFunc(typesOf, func(d *catalog.TypeDesc) bool { return !left[d.ID] }) {
			return dr.stuck(relations, list)
		}
	}
	for _, r := range relations {
		if err := dr.drop(ctx, r); err != nil {
			return err
		}
	}
	for _, d := range list {
		if d.Class != 0 && left[d.Class] {
			continue // went with its relation
		}
		if err := dr.env.View.DropType(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// stuck is the error when what goes is made of what stays, which nothing else has noted.
func (dr *dropper) stuck(relations []*table.Desc, list []*catalog.TypeDesc) error {
	for _, r := range relations {
		dr.what = []string{dr.env.describe(r)}
	}
	for _, d := range list {
		dr.what = []string{dr.env.describeType(d)}
	}
	return dr.refuse()
}
