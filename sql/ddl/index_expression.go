package ddl

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/planner/deparse"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// indexExpression binds an expression that an index has in place of a column. It returns the one of
// d's expressions that it is, after adding it if it is new.
func (env *Env) indexExpression(ctx context.Context, d *table.Desc,
	e ast.Expr) (*table.Expression, error) {
	x, name, err := bind.IndexExpr(ctx, env.Planner, d, e)
	if err != nil {
		return nil, err
	}
	if err := immutable(x, "expression"); err != nil {
		return nil, err
	}
	if within, err := env.madeOf(ctx, x.Type(), d.RowType); err != nil {
		return nil, err
	} else if within {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported,
			"index on an expression of type %s, which has a row of the table within it, is not "+
				"supported", x.Type()).At(int(e.At()))
	}
	text, err := deparse.IndexKey(ctx, env.Planner, d, e,
		deparse.Options{Source: true, Pretty: true})
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(d.Exprs,
		func(have table.Expression) bool { return have.Text == text && have.Name == name })
	if i < 0 {
		i = len(d.Exprs)
		d.Exprs = append(d.Exprs,
			table.Expression{ID: d.NextColumnID, Text: text, Name: name, Type: x.Type()})
		d.NextColumnID++
	}
	return &d.Exprs[i], nil
}

// indexPredicate binds the condition of a partial index, and returns the text that the catalog
// keeps of it.
func (env *Env) indexPredicate(ctx context.Context, d *table.Desc, e ast.Expr) (string, error) {
	x, err := bind.IndexPredicate(ctx, env.Planner, d, e)
	if err != nil {
		return "", err
	}
	if err := immutable(x, "predicate"); err != nil {
		return "", err
	}
	if k, ok := eval.Fold(x, nil).(*expr.Const); ok && k.Value.Bool() {
		return "", nil
	}
	return env.storedExpr(ctx, d, e, nil)
}

// immutable refuses an expression or predicate whose value may change, and one with a constant that
// raises an error. What such constants make of it counts: NULL may take the place of a call.
func immutable(x expr.Expr, what string) error {
	x, err := planner.Fold(x)
	if err != nil {
		return err
	}
	if expr.VolatilityOf(x) != expr.Immutable {
		return sqlerr.New(sqlerr.InvalidObjectDefinition,
			"functions in index %s must be marked IMMUTABLE", what)
	}
	return nil
}

// reprintIndexes prints the expressions and predicates of indexes anew, as reprintRow does.
func (env *Env) reprintIndexes(ctx context.Context, was, is *table.Desc,
	opts deparse.Options) error {
	for i := range is.Indexes {
		text := &is.Indexes[i].WhereText
		if *text == "" {
			continue
		}
		out, err := deparse.Stored(ctx, env.Planner, was, *text, nil, opts)
		if err != nil {
			return err
		}
		*text = strings.TrimSpace(out)
	}
	opts.Pretty, opts.Stored = true, true
	for i := range is.Exprs {
		e, err := env.parse(is.Exprs[i].Text)
		if err != nil {
			return err
		}
		if is.Exprs[i].Text, err = deparse.IndexKey(ctx, env.Planner, was, e, opts); err != nil {
			return err
		}
	}
	return nil
}

// retypeIndexes verifies that the expressions and predicates of next still make sense, whose column
// o has another type than in a.d, and gives them their new texts and types. It reports whether one
// of them reads the column: their values may be others then.
func (a *alteration) retypeIndexes(ctx context.Context, next *table.Desc,
	o int) (computed bool, err error) {
	for i := range next.Indexes {
		text := &next.Indexes[i].WhereText
		if *text == "" {
			continue
		}
		e, reads, err := a.retyped(ctx, *text, o, true)
		if err != nil {
			return false, err
		}
		x, err := bind.IndexPredicate(ctx, a.env.Planner, next, e)
		if err != nil {
			return false, withoutPosition(err)
		}
		if err := immutable(x, "predicate"); err != nil {
			return false, err
		}
		if !reads {
			continue
		}
		computed = true
		if *text, err = a.env.storedExpr(ctx, next, e, nil); err != nil {
			return false, err
		}
	}
	for i := range next.Exprs {
		reads, err := a.retypeExpression(ctx, next, &next.Exprs[i], o)
		if err != nil {
			return false, err
		}
		computed = computed || reads
	}
	return computed, nil
}

// retypeExpression is retypeIndexes for the expression of an index key.
func (a *alteration) retypeExpression(ctx context.Context, next *table.Desc, of *table.Expression,
	o int) (reads bool, err error) {
	e, reads, err := a.retyped(ctx, of.Text, o, false)
	if err != nil {
		return false, err
	}
	x, _, err := bind.IndexExpr(ctx, a.env.Planner, next, e)
	if err != nil {
		return false, withoutPosition(err)
	}
	if err := immutable(x, "expression"); err != nil {
		return false, err
	}
	if !reads {
		return false, nil
	}
	if err := indexableIn(next, of.ID, x.Type()); err != nil {
		return false, err
	}
	of.Type = x.Type()
	of.Text, err = deparse.IndexKey(ctx, a.env.Planner, next, e,
		deparse.Options{Source: true, Pretty: true})
	return true, err
}

// indexableIn fails if an index of d has the column or expression with an ID in its key, and cannot
// have it with type t.
func indexableIn(d *table.Desc, id table.ColumnID, t *types.Type) error {
	for i := range d.Indexes {
		ix := &d.Indexes[i]
		for _, k := range ix.Columns {
			if k.ColumnID != id {
				continue
			}
			err := indexable(t)
			if ix.GIN() {
				err = noGINClass(k.OpClass, t)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// withoutPosition removes the position in a text of the catalog from an error.
func withoutPosition(err error) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return err
	}
	c := *e
	c.Position = 0
	return &c
}

// computedFrom returns the IDs of the indexes whose expressions or predicate read column o.
func (a *alteration) computedFrom(ctx context.Context, o int) ([]table.IndexID, error) {
	reading := map[table.ColumnID]bool{}
	for i := range a.d.Exprs {
		reads, err := a.textReads(ctx, a.d.Exprs[i].Text, o)
		if err != nil {
			return nil, err
		}
		reading[a.d.Exprs[i].ID] = reads
	}
	var out []table.IndexID
	for i := range a.d.Indexes {
		ix := &a.d.Indexes[i]
		reads := slices.ContainsFunc(ix.Columns,
			func(c table.IndexColumn) bool { return reading[c.ColumnID] })
		if !reads && ix.WhereText != "" {
			var err error
			if reads, err = a.textReads(ctx, ix.WhereText, o); err != nil {
				return nil, err
			}
		}
		if reads {
			out = append(out, ix.ID)
		}
	}
	return out, nil
}

// indexCollation verifies the collation of a key column, and returns what is kept of it.
func indexCollation(e *ast.IndexElem, t *types.Type) (string, error) {
	if e.Collation == nil {
		return "", nil
	}
	switch e.Collation.Name {
	case "default", "C", "POSIX", "ucs_basic":
	default:
		return "", sqlerr.New(sqlerr.UndefinedObject,
			"collation \"%s\" for encoding \"UTF8\" does not exist", e.Collation.Name)
	}
	base := t
	if t.Elem != nil {
		base = t.Elem
	}
	if !base.Collatable() {
		return "", sqlerr.New(sqlerr.DatatypeMismatch, "collations are not supported by type %s", t)
	}
	return e.Collation.Name, nil
}
