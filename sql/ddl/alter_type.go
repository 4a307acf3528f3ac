package ddl

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/deparse"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// setType changes a column's type, and every row with it unless the values stay as they are.
func (a *alteration) setType(ctx context.Context, act *ast.AlterAction) error {
	if act.Using != nil { // its errors come before those of the column and the type
		if _, err := planner.BindRowExpr(ctx, a.env.Planner, a.d, act.Using, nil); err != nil {
			return err
		}
	}
	if err := a.notTyped("alter column type of"); err != nil {
		return err
	}
	o, err := column(a.d, act.Column)
	if err != nil {
		return err
	}
	c := &a.d.Columns[o]
	if act.Using != nil && c.Generated != "" {
		return sqlerr.New(sqlerr.InvalidColumnDefinition,
			"cannot specify USING when altering type of generated column").
			WithDetail("Column \"%s\" is a generated column.", c.Name)
	}
	var coll *ast.Name
	if act.Def != nil {
		coll = act.Def.Collation
	}
	t, collation, err := a.env.resolveType(ctx, c.Name, *act.Type, coll)
	if err != nil {
		return err
	}
	if c.Identity != "" && !isSequenceType(t) {
		return badSequence("identity column type must be smallint, integer, or bigint")
	}
	if err := a.refuseItself(ctx, t); err != nil {
		return err
	}
	convert, err := a.conversion(ctx, o, t, act)
	if err != nil {
		return err
	}
	if convert, err = planner.Fold(convert); err != nil {
		return err
	}
	if err := a.unobserved(o); err != nil {
		return err
	}
	if err := a.unusedByGenerated(ctx, o); err != nil {
		return err
	}
	if err := a.unusedByViews(ctx, o); err != nil {
		return err
	}
	if err := a.unstoredRows(ctx); err != nil {
		return err
	}
	next := a.d.Clone()
	to := &next.Columns[o]
	if to.DefaultText, err = a.typedDefault(ctx, o); err != nil {
		return err
	}
	to.Type, to.Collation, to.Storage, to.Compression = t, collation, "", ""
	if err := a.dependentValue(ctx, next, o); err != nil {
		return err
	}
	// PostgreSQL makes indexes again before CHECK constraints.
	computed, err := a.retypeIndexes(ctx, next, o)
	if err != nil {
		return err
	}
	if err := a.retypeChecks(ctx, next, o); err != nil {
		return err
	}
	if act.Using == nil && sameValues(c.Type, t) && !computed {
		return a.update(ctx, next)
	}
	id := c.ID
	if err := a.stillComparable(ctx, next, id); err != nil {
		return err
	}
	if err := indexableIn(next, id, t); err != nil {
		return err
	}
	if changesKeys(a.d, next, o, act) {
		next.Rekey()
	}
	if err := a.rewrite(ctx, next, a.converted(ctx, next, o, convert)); err != nil {
		return err
	}
	return a.verifyReferences(ctx, id)
}

// changesKeys reports whether rows may get other keys with the new type of column o: it is part of
// the row key, or a generated column is, and its values do not just become those of another integer
// type.
func changesKeys(d, next *table.Desc, o int, act *ast.AlterAction) bool {
	return slices.ContainsFunc(next.RowKey, func(k table.IndexColumn) bool {
		at := next.ColumnByID(k.ColumnID)
		from, to := d.Columns[o].Type, next.Columns[o].Type
		return next.Columns[at].Generated != "" || at == o &&
			(act.Using != nil || !isSequenceType(from) || !isSequenceType(to))
	})
}

// converted computes rows of the new type, generated columns after it.
func (a *alteration) converted(ctx context.Context, next *table.Desc, o int,
	convert expr.Expr) func([]types.Datum) ([]types.Datum, error) {
	var p func([]types.Datum) (types.Datum, error)
	type generated struct {
		at int
		p  func([]types.Datum) (types.Datum, error)
	}
	var gens []generated
	prepare := func() (err error) {
		if p, err = a.env.program(convert); err != nil {
			return err
		}
		for i := range next.Columns {
			if next.Columns[i].Generated == "" {
				continue
			}
			e, err := a.env.parse(next.Columns[i].Generated)
			if err != nil {
				return err
			}
			x, err := a.env.bindGenerated(ctx, next, i, e)
			if err != nil {
				return err
			}
			g, err := a.env.program(x)
			if err != nil {
				return err
			}
			gens = append(gens, generated{i, g})
		}
		return nil
	}
	return func(old []types.Datum) ([]types.Datum, error) {
		if p == nil {
			if err := prepare(); err != nil {
				return nil, err
			}
		}
		row := slices.Clone(old)
		v, err := p(old)
		if err != nil {
			return nil, err
		}
		row[o] = v
		if v.Null && next.Columns[o].NotNull {
			return nil, a.containsNull(next.Columns[o].Name)
		}
		for _, g := range gens {
			if row[g.at], err = g.p(row); err != nil {
				return nil, err
			}
		}
		return row, nil
	}
}

// conversion is the expression over the old row that gives the new value.
func (a *alteration) conversion(ctx context.Context, o int, t *types.Type,
	act *ast.AlterAction) (expr.Expr, error) {
	c := &a.d.Columns[o]
	var e ast.Expr = &ast.ColumnRef{Name: c.Name}
	if act.Using != nil {
		e = act.Using
	}
	x, err := planner.BindRowExpr(ctx, a.env.Planner, a.d, e, t)
	var se *sqlerr.Error
	if err == nil || !errors.As(err, &se) || se.Code != sqlerr.DatatypeMismatch {
		return x, err
	}
	if act.Using != nil {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch,
			"result of USING clause for column \"%s\" cannot be cast automatically to type %s",
			c.Name, t.SQLName()).
			WithHint("You might need to add an explicit cast.")
	}
	refused := sqlerr.New(sqlerr.DatatypeMismatch,
		"column \"%s\" cannot be cast automatically to type %s", c.Name, t.SQLName())
	if c.Generated != "" {
		return nil, refused // USING is not for generated columns
	}
	return nil, refused.WithHint("You might need to specify \"USING %s::%s\".",
		sqlname.Quote(c.Name), t)
}

// typedDefault returns the default of a column with the types of its literals, which a stored text
// leaves to the type of the column: '05' of an integer is 5 once the column is a text.
func (a *alteration) typedDefault(ctx context.Context, o int) (string, error) {
	c := &a.d.Columns[o]
	if c.DefaultText == "" {
		return "", nil
	}
	text, err := deparse.Stored(ctx, a.env.Planner, nil, c.DefaultText, c.Type, deparse.Options{})
	return strings.TrimSpace(text), err
}

// unusedByGenerated refuses to change a column that a generated column reads.
func (a *alteration) unusedByGenerated(ctx context.Context, o int) error {
	for i := range a.d.Columns {
		if a.d.Columns[i].Generated == "" || i == o {
			continue
		}
		reads, err := a.textReads(ctx, a.d.Columns[i].Generated, o)
		if err != nil {
			return err
		}
		if reads {
			return sqlerr.New(sqlerr.FeatureNotSupported,
				"cannot alter type of a column used by a generated column").
				WithDetail("Column \"%s\" is used by generated column \"%s\".",
					a.d.Columns[o].Name, a.d.Columns[i].Name)
		}
	}
	return nil
}

// unusedByViews refuses to change a column whose type a view passes on, or that a policy reads.
func (a *alteration) unusedByViews(ctx context.Context, o int) error {
	c := &a.d.Columns[o]
	views, err := a.viewsOf(ctx, c.Name)
	if err != nil {
		return err
	}
	if len(views) == 0 {
		return a.unusedByPolicies(ctx, c.Name)
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter type of a column used by a view "+
		"or rule").
		WithDetail("rule _RETURN on %s depends on column \"%s\"", a.env.describe(views[0]), c.Name)
}

// dependentValue verifies that the default of column o, or what it is computed of, still makes
// sense.
func (a *alteration) dependentValue(ctx context.Context, next *table.Desc, o int) error {
	c := &next.Columns[o]
	if c.DefaultText != "" {
		e, err := a.env.parse(c.DefaultText)
		if err != nil {
			return err
		}
		if _, err := a.env.bindDefault(ctx, c.Name, c.Type, e); err != nil {
			return sqlerr.New(sqlerr.DatatypeMismatch,
				"default for column \"%s\" cannot be cast automatically to type %s", c.Name,
				c.Type.SQLName())
		}
	}
	if c.Generated != "" {
		e, err := a.env.parse(c.Generated)
		if err != nil {
			return err
		}
		if _, err := a.env.bindGenerated(ctx, next, o, e); err != nil {
			return err
		}
	}
	return nil
}

// retypeChecks binds the CHECK constraints again.
func (a *alteration) retypeChecks(ctx context.Context, next *table.Desc, o int) error {
	for i := range next.Checks {
		text := &next.Checks[i].Text
		e, changed, err := a.retyped(ctx, *text, o, true)
		if err != nil {
			return err
		}
		if _, err := a.env.bindCheck(ctx, next, e); err != nil {
			return unplaced(err)
		}
		if !changed {
			continue
		}
		if *text, err = a.env.storedExpr(ctx, next, e, nil); err != nil {
			return err
		}
	}
	return nil
}

// retyped returns a stored condition, or the expression of an index key, that is to be bound again
// because column o gets another type, and whether it reads that column. As in PostgreSQL it keeps
// the casts that it has with the present types: a > 10.2 over a double precision compares doubles
// also when a has become numeric.
func (a *alteration) retyped(ctx context.Context, text string, o int, condition bool) (e ast.Expr,
	reads bool, err error) {
	if e, err = a.env.parse(text); err != nil {
		return nil, false, err
	}
	if reads, err = a.textReads(ctx, text, o); err != nil || !reads {
		return e, false, err
	}
	if condition {
		text, err = deparse.Expr(ctx, a.env.Planner, a.d, e, nil, deparse.Options{})
	} else {
		text, err = deparse.IndexKey(ctx, a.env.Planner, a.d, e, deparse.Options{})
	}
	if err != nil {
		return nil, false, err
	}
	e, err = a.env.parse(text)
	return e, true, err
}

// sameValues reports whether every value of type from is one of type to, stored the same way.
func sameValues(from, to *types.Type) bool {
	plain := func(t *types.Type) bool { return t.OID == types.OIDText || t.OID == types.OIDVarchar }
	switch {
	case from.OID == to.OID && from.Mod == to.Mod:
		return true
	case plain(from) && plain(to):
		return to.Mod == types.NoMod || from.Mod != types.NoMod && from.Mod <= to.Mod
	}
	return false
}
