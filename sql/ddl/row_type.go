package ddl

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/deparse"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// Other relations may have columns of a table's row type. Their values are kept by the IDs of the
// table's columns, as those of a composite type are by the numbers of its attributes: new columns
// are NULL in them, dropped ones are passed over.

// unstoredRows refuses what would change values of the table's columns, which other relations have
// in their columns of its row type.
func (a *alteration) unstoredRows(ctx context.Context) error {
	if a.d.RowType == 0 {
		return nil
	}
	used, err := a.env.storingColumn(ctx, a.d.RowType)
	if err != nil || used == "" {
		return err
	}
	return sqlerr.New(sqlerr.FeatureNotSupported,
		"cannot alter table \"%s\" because column \"%s\" uses its row type", a.d.Name, used)
}

// refuseItself refuses a column of the table's own row type.
func (a *alteration) refuseItself(ctx context.Context, t *types.Type) error {
	within, err := a.env.madeOf(ctx, t, a.d.RowType)
	if err == nil && within {
		err = sqlerr.New(sqlerr.InvalidTableDefinition,
			"composite type %s cannot be made a member of itself", a.d.Name)
	}
	return err
}

// usersOfRow lists what is made of the table's row type.
func (a *alteration) usersOfRow(ctx context.Context) (*users, error) {
	if a.d.RowType == 0 {
		return &users{env: a.env}, nil
	}
	return a.env.usersOf(ctx, a.d.RowType)
}

// reprinted prints the texts of users anew, by options, and returns those that have changed.
func (u *users) reprinted(ctx context.Context, opts deparse.Options) ([]mended, []mendedType,
	error) {
	var list []mended
	for _, r := range u.relations {
		m, changed, err := u.env.reprinted(ctx, r, opts)
		if err != nil {
			return nil, nil, err
		}
		if changed {
			list = append(list, m)
		}
	}
	domains, err := u.env.reprintDomains(ctx, u.types, opts)
	return list, domains, err
}

// reshape stores the table with another list of columns. Rows of it that are written out in the
// texts of others get the fields that they have then.
func (a *alteration) reshape(ctx context.Context, next *table.Desc,
	store func() error) error {
	u, err := a.usersOfRow(ctx)
	if err != nil || len(u.relations)+len(u.types) == 0 {
		if err != nil {
			return err
		}
		return store()
	}
	relations, domains, err := u.reprinted(ctx, renaming(a.d, next))
	if err != nil {
		return err
	}
	if err := a.env.putReprinted(ctx, relations, domains); err != nil {
		return err
	}
	if err := store(); err != nil {
		return err
	}
	broken, err := u.without(ctx, func() error { return nil })
	if err != nil || len(broken) == 0 {
		return err
	}
	return sqlerr.New(sqlerr.FeatureNotSupported,
		"cannot alter table \"%s\" because %s uses its row type", a.d.Name, broken[0].what)
}

// fieldsOf lists what names a column as a field of the table's row type.
func (a *alteration) fieldsOf(ctx context.Context, col string) ([]storedPart, error) {
	u, err := a.usersOfRow(ctx)
	if err != nil || len(u.relations)+len(u.types) == 0 {
		return nil, err
	}
	return u.without(ctx, func() error {
		without := a.d.Clone()
		without.Columns[without.Column(col)].Name = "minidb.dropped"
		return a.env.View.UpdateRelation(ctx, a.d, without)
	})
}

// withoutField stores the table without one of its columns. Keys of indexes over its row type are
// made anew.
func (a *alteration) withoutField(ctx context.Context, next *table.Desc) error {
	u, err := a.usersOfRow(ctx)
	if err != nil {
		return err
	}
	keyed, err := u.keyed(ctx, "ALTER TABLE", a.d.RowType)
	if err != nil {
		return err
	}
	if err := a.reshape(ctx, next, func() error { return a.update(ctx, next) }); err != nil {
		return err
	}
	return a.env.rekeyAll(ctx, keyed)
}
