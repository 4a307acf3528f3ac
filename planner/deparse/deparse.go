package deparse

import (
	"context"
	"slices"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// resolveExpr returns a resolver for an expression over a row of d, or without columns if d is nil.
func resolveExpr(ctx context.Context, env *opt.Env, d *table.Desc, e ast.Expr,
	opts Options) (*resolver, error) {
	within := *env
	if opts.Stored {
		within.Extensions = nil
	}
	notes, err := bind.NoteRowExpr(ctx, &within, d, e)
	if err != nil {
		return nil, err
	}
	r := newResolver(ctx, env, notes, opts)
	r.row = d
	return r, nil
}

// Expr prints an expression over a row of d, or without d that of a DEFAULT. want is the type of
// the column that gets the value; nil for a condition.
func Expr(ctx context.Context, env *opt.Env, d *table.Desc, e ast.Expr, want *types.Type,
	opts Options) (string, error) {
	r, err := resolveExpr(ctx, env, d, e, opts)
	if err != nil {
		return "", err
	}
	var n node
	switch row, isRow := e.(*ast.Row); {
	case want == nil:
		n = r.condition(e)
	case isRow && want.Base().IsComposite():
		n = r.coerceTo(r.rowOf(row, want.Base().Fields()), want, true)
	default:
		n = r.coerceTo(r.expr(e), want, true)
	}
	if r.err != nil {
		return "", r.err
	}
	p := &printer{opts: opts}
	p.expr(n, false)
	return string(p.b), nil
}

// Policy prints a condition of a row security policy on d, for which notes were taken, and adds to
// these the relations to which it refers by constants of type regclass.
func Policy(ctx context.Context, env *opt.Env, d *table.Desc, e ast.Expr, notes *bind.Notes,
	opts Options) (string, error) {
	r := newResolver(ctx, env, notes, opts)
	r.row = d
	n := r.coerce(r.expr(e), types.TBool, true)
	if r.err != nil {
		return "", r.err
	}
	notes.Reads = append(notes.Reads, r.regs...)
	p := &printer{opts: opts}
	p.expr(n, false)
	return string(p.b), nil
}

// Stored prints an expression that is stored in the catalog as text.
func Stored(ctx context.Context, env *opt.Env, d *table.Desc, text string, want *types.Type,
	opts Options) (string, error) {
	e, err := env.ParseExpr(text)
	if err != nil {
		return "", err
	}
	opts.Stored = true
	return Expr(ctx, env, d, e, want, opts)
}

// Relations returns the relations that an expression over a row of d, or a DEFAULT without d, names
// by constants of type regclass.
func Relations(ctx context.Context, env *opt.Env, d *table.Desc, e ast.Expr) ([]table.ID, error) {
	r, err := resolveExpr(ctx, env, d, e, Options{})
	if err != nil {
		return nil, err
	}
	r.expr(e)
	return r.regs, r.err
}

// IndexKey prints the expression of an index key over a row of d. A call needs no parentheses
// there, any other expression does.
func IndexKey(ctx context.Context, env *opt.Env, d *table.Desc, e ast.Expr,
	opts Options) (string, error) {
	r, err := resolveExpr(ctx, env, d, e, opts)
	if err != nil {
		return "", err
	}
	n := r.asText(r.expr(e))
	if r.err != nil {
		return "", r.err
	}
	p := &printer{opts: opts}
	p.expr(n, false)
	out := string(p.b)
	switch n := n.(type) {
	case *call:
		if !n.words {
			return out, nil
		}
	case *special, *xmlExpr:
		return out, nil
	}
	return "(" + out + ")", nil
}

// View prints the query of a view of the catalog.
func View(ctx context.Context, env *opt.Env, v *table.Desc, opts Options) (string, error) {
	q, err := env.ParseQuery(v.View.Text)
	if err != nil {
		return "", err
	}
	path := v.View.SearchPath
	if path == nil {
		path = []string{}
	}
	notes, err := bind.Query(ctx, env, q, path)
	if err != nil {
		return "", err
	}
	var names []string
	cols := visibleColumns(v)
	if opts.Rename != nil {
		cols = visibleColumns(opts.Rename(v))
	}
	for _, c := range cols {
		names = append(names, c.Name)
	}
	opts.Stored = true
	r := newResolver(ctx, env, notes, opts)
	return r.print(q, names)
}

// Query prints a query for which notes were taken, and adds to these the relations to which the
// query refers by constants of type regclass. names are the names of its columns; nil: the query's
// own.
func Query(ctx context.Context, env *opt.Env, q *ast.Select, notes *bind.Notes, names []string,
	opts Options) (string, error) {
	return newResolver(ctx, env, notes, opts).print(q, names)
}

func (r *resolver) print(q *ast.Select, names []string) (string, error) {
	tree := r.query(q)
	if r.err != nil {
		return "", r.err
	}
	r.notes.Reads = append(r.notes.Reads, r.regs...)
	if names != nil {
		tree.rename(names, r.opts.Source)
	}
	p := &printer{opts: r.opts}
	p.nested(tree, true)
	return string(p.b), nil
}

func newResolver(ctx context.Context, env *opt.Env, notes *bind.Notes, opts Options) *resolver {
	r := &resolver{ctx: ctx, env: env, notes: notes, tables: map[ast.TableExpr]*relation{},
		joins: map[*ast.Join]*joinExpr{}, format: types.DefaultFormat, opts: opts}
	if env.Runtime != nil {
		r.format = env.Runtime.Format
	}
	r.format.XMLDocument = false // whatever was a document is content too
	if r.out = r.format; opts.Source {
		r.out = types.DefaultFormat
		r.out.Reg = r.format.Reg
	}
	return r
}

// rename renames the columns of a query, and those of all operands of a set operation. Stored texts
// keep VALUES as it is: it is renamed when it is shown.
func (q *query) rename(names []string, source bool) {
	q.results = names
	switch b := q.body.(type) {
	case *core:
		for i := range b.targets {
			if i < len(names) {
				b.targets[i].name = names[i]
			}
		}
	case *setOp:
		b.left.rename(names, source)
		b.right.rename(names, source)
	case *query:
		b.rename(names, source)
	case *values:
		if !source && !slices.Equal(b.columns, names) {
			q.body = b.named(names)
		}
	}
}

// named makes a SELECT from VALUES, whose own names for its columns cannot be changed.
func (v *values) named(names []string) *core {
	rel := &relation{rows: v, alias: "*VALUES*", columns: v.columns, real: v.columns}
	out := &core{from: []any{rel}}
	for i, n := range v.rows[0] {
		out.targets = append(out.targets,
			target{n: &column{t: n.typ(), rel: rel, index: i}, name: names[i]})
	}
	return out
}
