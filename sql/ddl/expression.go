package ddl

import (
	"context"
	"errors"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// bindDefault verifies the DEFAULT of a column, or a domain, and returns it bound to its type.
func (env *Env) bindDefault(ctx context.Context, name string, t *types.Type,
	e ast.Expr) (expr.Expr, error) {
	x, err := planner.BindRowExpr(ctx, env.Planner, nil, e, t)
	var se *sqlerr.Error
	switch {
	case err == nil:
	case errors.As(err, &se) && se.Code == sqlerr.UndefinedColumn:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported,
			"cannot use column reference in DEFAULT expression").At(se.Position)
	case se != nil && se.Code == sqlerr.DatatypeMismatch:
		given, untyped := planner.BindRowExpr(ctx, env.Planner, nil, e, nil)
		if untyped != nil {
			return nil, err
		}
		return nil, sqlerr.New(sqlerr.DatatypeMismatch,
			"column \"%s\" is of type %s but default expression is of type %s", name, t.SQLName(),
			given.Type().SQLName()).WithHint("You will need to rewrite or cast the expression.")
	default:
		return nil, err
	}
	if err := env.findNames(x); err != nil {
		return nil, err
	}
	return x, refuseSubquery(x, e, "DEFAULT expression")
}

// findNames fails if a literal that names a relation or a type, as the argument of nextval does,
// names none. A text that the expression turns into a name, as in nextval('s'::text), is looked up
// when it is evaluated.
func (env *Env) findNames(x expr.Expr) (err error) {
	expr.Walk(x, func(n expr.Expr) bool {
		c, ok := n.(*expr.Cast)
		if !ok || err != nil {
			return err == nil
		}
		name, ok := c.Arg.(*expr.Const)
		if !ok || name.Value.Null || !c.Explicit || !c.T.IsReg() {
			return true
		}
		value, cerr := env.program(c)
		if cerr == nil {
			_, cerr = value(nil)
		}
		var se *sqlerr.Error
		if err = cerr; errors.As(cerr, &se) && se.Position == 0 {
			err = se.At(c.Pos)
		}
		return true
	})
	return err
}

// bindCheck verifies a CHECK condition over the row of d.
func (env *Env) bindCheck(ctx context.Context, d *table.Desc, e ast.Expr) (expr.Expr, error) {
	x, err := planner.BindRowExpr(ctx, env.Planner, d, e, nil)
	if err != nil {
		return nil, err
	}
	if x.Type().Family != types.Bool {
		if x.Type().OID != types.OIDUnknown {
			return nil, sqlerr.New(sqlerr.DatatypeMismatch,
				"argument of CHECK must be type boolean, not type %s", x.Type()).At(int(e.At()))
		}
		if x, err = planner.BindRowExpr(ctx, env.Planner, d, e, types.TBool); err != nil {
			return nil, err
		}
	}
	return x, refuseSubquery(x, e, "check constraint")
}

// bindGenerated verifies the expression of a stored generated column of d.
func (env *Env) bindGenerated(ctx context.Context, d *table.Desc, o int, e ast.Expr) (expr.Expr,
	error) {
	x, err := planner.BindRowExpr(ctx, env.Planner, d, e, d.Columns[o].Type)
	if err != nil {
		return nil, err
	}
	if err := refuseSubquery(x, e, "column generation expression"); err != nil {
		return nil, err
	}
	var cyclic error
	expr.Walk(x, func(n expr.Expr) bool {
		if c, ok := n.(*expr.Col); ok && cyclic == nil && d.Columns[c.Index].Generated != "" {
			cyclic = sqlerr.New(sqlerr.InvalidObjectDefinition,
				"cannot use generated column \"%s\" in column generation expression",
				d.Columns[c.Index].Name).
				At(c.Pos).WithDetail("A generated column cannot reference another generated " +
				"column.")
		}
		return cyclic == nil
	})
	if cyclic != nil {
		return nil, cyclic
	}
	if x, err = planner.Fold(x); err != nil {
		return nil, err
	}
	if expr.VolatilityOf(x) != expr.Immutable {
		return nil, sqlerr.New(sqlerr.InvalidObjectDefinition,
			"generation expression is not immutable")
	}
	return x, nil
}

func refuseSubquery(x expr.Expr, e ast.Expr, where string) error {
	var found *expr.Subquery
	expr.Walk(x, func(n expr.Expr) bool {
		if s, ok := n.(*expr.Subquery); ok && found == nil {
			found = s
		}
		return found == nil
	})
	if found == nil {
		return nil
	}
	pos := found.Pos
	if pos == 0 {
		pos = int(e.At())
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "cannot use subquery in %s", where).At(pos)
}

// columnsOf lists the ordinals of the columns that x reads, each once, as they appear.
func columnsOf(x expr.Expr) []int {
	var out []int
	seen := map[int]bool{}
	expr.Walk(x, func(n expr.Expr) bool {
		if c, ok := n.(*expr.Col); ok && !seen[c.Index] {
			seen[c.Index] = true
			out = append(out, c.Index)
		}
		return true
	})
	return out
}

// parse reads an expression that the catalog keeps as text.
func (env *Env) parse(text string) (ast.Expr, error) { return env.Planner.ParseExpr(text) }

// program compiles an expression for evaluation row by row. Its constants are evaluated at once.
func (env *Env) program(x expr.Expr) (func(row []types.Datum) (types.Datum, error), error) {
	x, err := planner.Fold(x)
	if err != nil {
		return nil, err
	}
	p, err := eval.Compile(x)
	if err != nil {
		return nil, err
	}
	ctx := &eval.Context{Runtime: env.Runtime}
	return func(row []types.Datum) (types.Datum, error) { return p.EvalRow(ctx, row) }, nil
}

// storable returns an error for a type that no column can have: 42P16 for a pseudo-type, and 0A000
// for what is made of rows of a system relation, whose columns another minidb may change.
func storable(column string, t *types.Type) error {
	pseudo := t
	if t.Nests() && !t.IsPseudo() {
		pseudo = t.Elem
	}
	if pseudo.IsPseudo() {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "column \"%s\" has pseudo-type %s", column,
			pseudo)
	}
	if t.OfSystemRows() {
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"the row type of a system relation is not supported for column \"%s\"", column)
	}
	return nil
}

// resolveType turns the type of a column as written into a type, collations checked.
func (env *Env) resolveType(ctx context.Context, column string, tn ast.TypeName,
	coll *ast.Name) (*types.Type, string, error) {
	t, err := planner.ResolveType(ctx, env.Planner, tn)
	if err != nil {
		return nil, "", err
	}
	if err := env.holdTypes(ctx, t); err != nil {
		return nil, "", err
	}
	if err := storable(column, t); err != nil {
		return nil, "", err
	}
	if err := env.mayUseType(ctx, t); err != nil {
		return nil, "", err
	}
	if coll == nil {
		return t, "", nil
	}
	switch coll.Name {
	case "default", "C", "POSIX", "ucs_basic":
	default:
		return nil, "", sqlerr.New(sqlerr.UndefinedObject,
			"collation \"%s\" for encoding \"UTF8\" does not exist", coll.Name).At(int(coll.Pos))
	}
	base := t
	if t.Elem != nil {
		base = t.Elem
	}
	if !base.Collatable() {
		return nil, "", sqlerr.New(sqlerr.DatatypeMismatch,
			"collations are not supported by type %s", t).At(int(coll.Pos))
	}
	return t, coll.Name, nil
}

// bindRow binds an expression over the row of d, to type want unless that is nil.
func (env *Env) bindRow(ctx context.Context, d *table.Desc, e ast.Expr,
	want *types.Type) (expr.Expr, error) {
	return planner.BindRowExpr(ctx, env.Planner, d, e, want)
}

// onlySQL is nil for an error of the statement, and any other error as it is.
func onlySQL(err error) error {
	var se *sqlerr.Error
	if errors.As(err, &se) {
		return nil
	}
	return err
}
