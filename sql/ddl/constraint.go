package ddl

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/codec"
	"github.com/minidb/minidb/table/types"
)

// constraintIndex makes the index of a PRIMARY KEY or UNIQUE constraint; its ID is the caller's.
func (env *Env) constraintIndex(ctx context.Context, d *table.Desc,
	c *ast.TableConstraint) (*table.Index, error) {
	if c.UsingIndex != "" {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported,
			"cannot use an existing index in CREATE TABLE").At(int(c.Pos))
	}
	primary := c.Kind == "primary key"
	ix := &table.Index{Unique: true, Primary: primary, Constraint: true,
		NullsNotDistinct: c.NullsNotDistinct && !primary, Deferrable: c.Deferrable,
		InitiallyDeferred: c.InitiallyDeferred}
	var err error
	if ix.Options, err = setIndexOptions("", nil, c.Options); err != nil {
		return nil, err
	}
	var names []string
	for _, id := range c.Columns {
		o := d.Column(id.Name)
		if o < 0 || d.Columns[o].Hidden {
			return nil, sqlerr.New(sqlerr.UndefinedColumn,
				"column \"%s\" named in key does not exist", id.Name).At(int(c.Pos))
		}
		col := &d.Columns[o]
		if slices.ContainsFunc(ix.Columns,
			func(k table.IndexColumn) bool { return k.ColumnID == col.ID }) {
			what := "unique"
			if primary {
				what = "primary key"
			}
			return nil, sqlerr.New(sqlerr.DuplicateColumn,
				"column \"%s\" appears twice in %s constraint", id.Name, what).At(int(c.Pos))
		}
		if err := indexable(col.Type); err != nil {
			return nil, err
		}
		ix.Columns = append(ix.Columns, table.IndexColumn{ColumnID: col.ID})
		names = append(names, id.Name)
	}
	for _, id := range c.Include {
		o := d.Column(id.Name)
		if o < 0 || d.Columns[o].Hidden {
			return nil, sqlerr.New(sqlerr.UndefinedColumn,
				"column \"%s\" named in key does not exist", id.Name).At(int(c.Pos))
		}
		ix.Include = append(ix.Include, d.Columns[o].ID)
		names = append(names, id.Name)
	}
	if ix.OID, err = env.View.NewIDIn(ctx, d.SchemaID); err != nil {
		return nil, err
	}
	return ix, env.nameConstraint(ctx, d, c, ix, names)
}

// nameConstraint chooses or verifies the name of a constraint's index.
func (env *Env) nameConstraint(ctx context.Context, d *table.Desc, c *ast.TableConstraint,
	ix *table.Index, names []string) error {
	pending := func(s string) bool { return s == d.Name || partNamed(d, s) }
	taken := env.relationTaken(ctx, d.Schema, pending)
	if c.Name != "" {
		ix.Name = c.Name
		if used, err := env.View.Taken(ctx, env.Database, d.Schema, c.Name); err != nil {
			return err
		} else if used || c.Name == d.Name || d.IndexByName(c.Name) != nil {
			return sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", c.Name)
		}
		if constraintNamed(d, c.Name) {
			return duplicateConstraint(d, c.Name)
		}
		return nil
	}
	var err error
	switch {
	case ix.Primary:
		ix.Name, err = freeName(d.Name, "", "pkey", taken)
	case ix.Exclusion():
		ix.Name, err = freeName(d.Name, indexColumnNames(names), "excl", taken)
	default:
		ix.Name, err = freeName(d.Name, indexColumnNames(names), "key", taken)
	}
	return err
}

// partNamed reports whether a constraint or an index of the table has the name.
func partNamed(d *table.Desc, name string) bool {
	return d.IndexByName(name) != nil || constraintNamed(d, name)
}

// constraintNamed reports whether a constraint of the table has the name. An index that is none may
// have the name of a constraint that needs no index.
func constraintNamed(d *table.Desc, name string) bool {
	ix := d.IndexByName(name)
	return ix != nil && (ix.Primary || ix.Constraint) ||
		slices.ContainsFunc(d.Checks, func(c table.Check) bool { return c.Name == name }) ||
		slices.ContainsFunc(d.ForeignKeys, func(f table.ForeignKey) bool { return f.Name == name })
}

func duplicateConstraint(d *table.Desc, name string) error {
	return sqlerr.New(sqlerr.DuplicateObject, "constraint \"%s\" for relation \"%s\" already "+
		"exists", name, d.Name)
}

// indexable refuses types without an order.
func indexable(t *types.Type) error {
	base := t
	for base.Elem != nil {
		base = base.Elem
	}
	if base.Unordered() || base.OID == types.OIDUnknown {
		return noClass(t, "btree")
	}
	if base.Family == types.Record && !codec.Indexable(base) {
		return sqlerr.New(sqlerr.UndefinedFunction,
			"could not identify a comparison function for type %s", t)
	}
	return nil
}

func noClass(t *types.Type, method string) error {
	return sqlerr.New(sqlerr.UndefinedObject, "data type %s has no default operator class "+
		"for access method \"%s\"", t, method).
		WithHint("You must specify an operator class for the index or define a default " +
			"operator class for the data type.")
}

// addCheck binds a CHECK constraint and adds it to d.
func (env *Env) addCheck(ctx context.Context, d *table.Desc, c *ast.TableConstraint) (expr.Expr,
	error) {
	x, err := env.bindCheck(ctx, d, c.Expr)
	if err != nil {
		return nil, err
	}
	name := c.Name
	if name == "" {
		col := ""
		if cols := columnsOf(x); len(cols) == 1 {
			col = d.Columns[cols[0]].Name
		}
		name, _ = freeName(d.Name, col, "check",
			func(s string) (bool, error) { return constraintNamed(d, s), nil })
	} else if slices.ContainsFunc(d.Checks, func(o table.Check) bool { return o.Name == name }) {
		return nil, sqlerr.New(sqlerr.DuplicateObject, "check constraint \"%s\" already exists",
			name)
	} else if constraintNamed(d, name) {
		return nil, duplicateConstraint(d, name)
	}
	text, err := env.storedExpr(ctx, d, c.Expr, nil)
	if err != nil {
		return nil, err
	}
	d.Checks = append(d.Checks, table.Check{Name: name, Text: text, NotValid: c.NotValid,
		NoInherit: c.NoInherit})
	return x, nil
}
