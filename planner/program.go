package planner

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/rule"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/extension"
	"github.com/minidb/minidb/table/types"
)

// Programs compiles the expressions and predicates of a table's indexes for the writers of its
// rows. They are immutable, so no session has a say in them. It also compiles the constraints of
// domains, which may ask the session of the statement that makes a value.
type Programs struct {
	ParseExpr func(text string) (ast.Expr, error)
}

// Compile returns the program of d's indexes. What cannot be compiled fails with the reason when it
// is evaluated: the table can still be read.
func (p Programs) Compile(d *table.Desc) table.RowProgram {
	env := &Env{ParseExpr: p.ParseExpr, Catalog: rowTypes{d}, Runtime: newRuntime()}
	c := &rowProgram{exprs: make([]compiled, len(d.Exprs)), where: make([]compiled, len(d.Indexes)),
		exclude: make([]compiled, len(d.Indexes))}
	for i := range d.Exprs {
		c.exprs[i] = compileText(env, d, d.Exprs[i].Text, d.Exprs[i].Type)
	}
	for i := range d.Indexes {
		if text := d.Indexes[i].WhereText; text != "" {
			c.where[i] = compileText(env, d, text, types.TBool)
		}
		if d.Indexes[i].Exclusion() {
			c.exclude[i] = compileExclusion(env, d, &d.Indexes[i])
		}
	}
	return c
}

func newRuntime() *expr.Runtime {
	return &expr.Runtime{Ctx: context.Background(), Format: types.DefaultFormat}
}

// compiled is a program, or the reason why there is none.
type compiled struct {
	program *eval.Program
	err     error
}

func compileText(env *Env, d *table.Desc, text string, want *types.Type) compiled {
	x, err := bindText(env, d, text, want)
	if err != nil {
		return compiled{err: err}
	}
	// Constants that raise an error are left to the rows that reach them.
	folded, _ := rule.Fold(x)
	program, err := eval.Compile(folded)
	return compiled{program, err}
}

func bindText(env *Env, d *table.Desc, text string, want *types.Type) (expr.Expr, error) {
	e, err := env.ParseExpr(text)
	if err != nil {
		return nil, err
	}
	return BindRowExpr(context.Background(), env, d, e, want)
}

// compileExclusion compiles the operators of an EXCLUDE constraint over a row that has the key of
// one row and behind it that of another.
func compileExclusion(env *Env, d *table.Desc, ix *table.Index) compiled {
	pair := &table.Desc{ID: d.ID, Kind: table.KindVirtual, Name: ix.Name,
		Columns: make([]table.Column, 2*len(ix.Columns))}
	var conds []string
	for i, k := range ix.Columns {
		t := d.PartType(d.Part(k.ColumnID))
		for j, side := range []string{"a", "b"} {
			pair.Columns[i+j*len(ix.Columns)] = table.Column{ID: table.ColumnID(i + 1 + j*len(
				ix.Columns)), Name: side + strconv.Itoa(i), Type: t}
		}
		conds = append(conds, fmt.Sprintf("a%d %s b%[1]d", i, k.Operator))
	}
	return compileText(env, pair, strings.Join(conds, " AND "), types.TBool)
}

// rowProgram implements table.RowProgram.
type rowProgram struct {
	exprs []compiled // parallel to Desc.Exprs
	where []compiled // parallel to Desc.Indexes; empty for an index of all rows
	// exclude are the operators of EXCLUDE constraints, over the values of two rows. Parallel to
	// Desc.Indexes.
	exclude []compiled
}

// Evaluator implements table.RowProgram.
func (p *rowProgram) Evaluator() table.RowEvaluator {
	ev := &rowEvaluator{program: p, runtime: newRuntime(),
		exprs: make([]*eval.Program, len(p.exprs)), where: make([]*eval.Program, len(p.where)),
		exclude: make([]*eval.Program, len(p.exclude))}
	ev.ctx.Runtime = ev.runtime
	return ev
}

// rowEvaluator implements table.RowEvaluator. It clones the programs that it is asked for.
type rowEvaluator struct {
	program               *rowProgram
	exprs, where, exclude []*eval.Program
	runtime               *expr.Runtime
	ctx                   eval.Context
}

// Expression implements table.RowEvaluator.
func (ev *rowEvaluator) Expression(ctx context.Context, i int, row []types.Datum) (types.Datum,
	error) {
	return ev.value(ctx, &ev.exprs[i], &ev.program.exprs[i], row)
}

// Predicate implements table.RowEvaluator.
func (ev *rowEvaluator) Predicate(ctx context.Context, i int, row []types.Datum) (bool, error) {
	v, err := ev.value(ctx, &ev.where[i], &ev.program.where[i], row)
	return err == nil && v.Bool(), err
}

// Excludes implements table.RowEvaluator.
func (ev *rowEvaluator) Excludes(ctx context.Context, i int, a, b []types.Datum) (bool, error) {
	v, err := ev.value(ctx, &ev.exclude[i], &ev.program.exclude[i], slices.Concat(a, b))
	return err == nil && v.Bool(), err
}

func (ev *rowEvaluator) value(ctx context.Context, own **eval.Program, c *compiled,
	row []types.Datum) (types.Datum, error) {
	if c.err != nil {
		return types.Null, c.err
	}
	if *own == nil {
		*own = c.program.Clone()
	}
	ev.runtime.Ctx = ctx
	return (*own).EvalRow(&ev.ctx, row)
}

// rowTypes is the catalog of expressions over one row: they name no relation, and no user types but
// those that the descriptor knows.
type rowTypes struct{ d *table.Desc }

func (rowTypes) Relation(context.Context, ast.Name) (*table.Desc, error)     { return nil, nil }
func (rowTypes) RelationByID(context.Context, table.ID) (*table.Desc, error) { return nil, nil }

// Type finds a user type by its schema, which stored texts always name.
func (r rowTypes) Type(_ context.Context, name ast.Name) (found *types.Type, err error) {
	if name.Schema == "" || name.Schema == "pg_catalog" {
		t, _ := types.ByName(name.Name)
		return t, nil
	}
	if of := extension.Stored(name.Schema); of != "" {
		t, _ := types.ByNameIn(of, name.Name)
		return t, nil
	}
	r.userTypes(func(u *types.Type) {
		if u.Def.Schema == name.Schema && u.Name == name.Name {
			found = u
		}
	})
	return found, nil
}

// TypeByOID finds a built-in type, or a user type that the descriptor knows.
func (r rowTypes) TypeByOID(_ context.Context, oid types.OID) (found *types.Type, err error) {
	if t, ok := types.ByOID(oid); ok {
		return t, nil
	}
	r.userTypes(func(u *types.Type) {
		switch oid {
		case u.OID:
			found = u
		case u.Def.ArrayOID:
			found = types.ArrayOf(u)
		}
	})
	return found, nil
}

func (r rowTypes) userTypes(f func(*types.Type)) {
	for i := range r.d.Columns {
		r.d.Columns[i].Type.UserTypes(f)
	}
	for _, t := range r.d.Mentioned {
		t.UserTypes(f)
	}
}
