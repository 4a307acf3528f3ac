package ddl

import (
	"context"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/rowlock"
)

// followConstants finds the defaults, constraints and domains that name a relation by a constant of
// type regclass: nextval('s') in a DEFAULT, or b <> 'r'::regclass in a CHECK. Views and policies
// are among those that read the relation.
func (dr *dropper) followConstants(ctx context.Context, d *table.Desc) error {
	if err := dr.readNaming(ctx); err != nil {
		return err
	}
	for _, t := range dr.naming.tables {
		if dr.going[t.ID] {
			continue
		}
		if err := dr.followDefaultsNaming(ctx, t, d); err != nil {
			return err
		}
		for i := range t.Checks {
			c := &t.Checks[i]
			names, err := dr.names(ctx, t, c.Text, d)
			if err != nil {
				return err
			}
			if !names {
				continue
			}
			if err := dr.env.lock(ctx, t, rowlock.AccessExclusive); err != nil {
				return err
			}
			dr.columns = append(dr.columns, tableColumn{table: t.ID, part: "check", name: c.Name})
			dr.depends("constraint "+sqlname.Quote(c.Name)+" on "+dr.env.describe(t),
				dr.env.describe(d))
		}
	}
	return dr.domainsNaming(ctx, d)
}

// namingConstants are what may name a relation by a constant: tables with defaults, identities or
// checks, and domains with defaults or checks. They are read once, as schemas of thousands of
// relations go with one statement.
type namingConstants struct {
	tables  []*table.Desc
	domains []*catalog.TypeDesc
}

func (dr *dropper) readNaming(ctx context.Context) error {
	if dr.naming != nil {
		return nil
	}
	rels, err := dr.env.View.Relations(ctx, dr.env.Database)
	if err != nil {
		return err
	}
	userTypes, err := dr.env.View.Types(ctx, dr.env.Database)
	if err != nil {
		return err
	}
	dr.naming = &namingConstants{}
	for _, t := range rels {
		computed := func(c table.Column) bool { return c.DefaultText != "" || c.Identity != "" }
		if t.Kind == table.KindTable &&
			(len(t.Checks) > 0 || slices.ContainsFunc(t.Columns, computed)) {
			dr.naming.tables = append(dr.naming.tables, t)
		}
	}
	for _, t := range userTypes {
		if t.Kind == types.KindDomain && (t.Default != "" || len(t.Checks) > 0) {
			dr.naming.domains = append(dr.naming.domains, t)
		}
	}
	return nil
}

// quotes doubles what quotes in a text.
var quotes = strings.NewReplacer(`"`, `""`, `'`, `''`)

// names reports whether an expression over a row has a relation as a constant. Most texts have not
// even its name, and are not parsed.
func (dr *dropper) names(ctx context.Context, row *table.Desc, text string,
	d *table.Desc) (bool, error) {
	if text == "" || !strings.Contains(text, quotes.Replace(d.Name)) {
		return false, nil
	}
	return dr.env.namesRelation(ctx, row, text, d.ID)
}

// followDefaultsNaming notes the defaults of a table that name a relation. The sequence of an
// identity column goes with the column alone.
func (dr *dropper) followDefaultsNaming(ctx context.Context, t, d *table.Desc) error {
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Identity != "" && c.SequenceID == d.ID {
			col := "column " + sqlname.Quote(c.Name) + " of " + dr.env.describe(t)
			return sqlerr.New(sqlerr.DependentObjectsStillExist,
				"cannot drop %s because %s requires it",
				dr.env.describe(d), col).WithHint("You can drop %s instead.", col)
		}
		names, err := dr.names(ctx, nil, c.DefaultText, d)
		if err != nil {
			return err
		}
		if !names {
			continue
		}
		if err := dr.env.lock(ctx, t, rowlock.AccessExclusive); err != nil {
			return err
		}
		dr.defaults = append(dr.defaults, columnDefault{t.ID, c.ID})
		dr.depends("default value for column "+sqlname.Quote(c.Name)+" of "+dr.env.describe(t),
			dr.env.describe(d))
	}
	return nil
}

// domainsNaming notes the domains whose default names a relation, and the constraints of domains
// that do.
func (dr *dropper) domainsNaming(ctx context.Context, d *table.Desc) error {
	for _, t := range dr.naming.domains {
		if dr.going[t.ID] {
			continue
		}
		whole, err := dr.names(ctx, nil, t.Default, d)
		if err != nil {
			return err
		}
		if !whole {
			if err := dr.domainChecksNaming(ctx, t, d); err != nil {
				return err
			}
			continue
		}
		dr.going[t.ID] = true
		dr.depends(dr.env.describeType(t), dr.env.describe(d))
		if err := dr.followType(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

func (dr *dropper) domainChecksNaming(ctx context.Context, t *catalog.TypeDesc,
	d *table.Desc) error {
	if len(t.Checks) == 0 {
		return nil
	}
	built, err := dr.env.View.Built(ctx, t)
	if err != nil {
		return err
	}
	for _, c := range t.Checks {
		names, err := dr.names(ctx, planner.DomainValue(built.Def.Base), c.Text, d)
		if err != nil {
			return err
		}
		if names {
			dr.depends("constraint "+c.Name, dr.env.describe(d))
			dr.parts = append(dr.parts, typePart{of: t.ID, check: c.Name})
		}
	}
	return nil
}
