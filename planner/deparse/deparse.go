package deparse

import (
	"context"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// resolveExpr returns a resolver for an expression over a row of d, or without columns if d is nil.
func resolveExpr(ctx context.Context, env *opt.Env, d *table.Desc, e ast.Expr,
	opts Options) (*resolver, error) {
	notes, err := bind.NoteRowExpr(ctx, env, d, e)
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
	n := r.expr(e)
	if want == nil {
		n = r.coerce(n, types.TBool, true)
	} else {
		n = r.coerceTo(n, want, true)
	}
	if r.err != nil {
		return "", r.err
	}
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
	return Expr(ctx, env, d, e, want, opts)
}

// Relations returns the relations that a DEFAULT refers to by constants of type regclass.
func Relations(ctx context.Context, env *opt.Env, e ast.Expr) ([]table.ID, error) {
	r, err := resolveExpr(ctx, env, nil, e, Options{})
	if err != nil {
		return nil, err
	}
	r.expr(e)
	return r.regs, r.err
}

// IndexKey prints the expression of an index key over a row of d. A call needs no parentheses
// there, any other expression does.
func IndexKey(ctx context.Context, env *opt.Env, d *table.Desc, text string, opts Options) (string,
	error) {
	e, err := env.ParseExpr(text)
	if err != nil {
		return "", err
	}
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
	case *special:
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
	return Query(ctx, env, q, notes, names, opts)
}

// Query prints a query for which notes were taken, and adds to these the relations to which the
// query refers by constants of type regclass. names are the names of its columns; nil: the query's
// own.
func Query(ctx context.Context, env *opt.Env, q *ast.Select, notes *bind.Notes, names []string,
	opts Options) (string, error) {
	r := newResolver(ctx, env, notes, opts)
	tree := r.query(q)
	if r.err != nil {
		return "", r.err
	}
	notes.Reads = append(notes.Reads, r.regs...)
	if names != nil {
		tree.rename(names)
	}
	p := &printer{opts: opts}
	p.nested(tree, true)
	return string(p.b), nil
}

func newResolver(ctx context.Context, env *opt.Env, notes *bind.Notes, opts Options) *resolver {
	r := &resolver{ctx: ctx, env: env, notes: notes, tables: map[ast.TableExpr]*relation{},
		format: types.DefaultFormat}
	if env.Runtime != nil {
		r.format = env.Runtime.Format
	}
	if r.out = r.format; opts.Source {
		r.out = types.DefaultFormat
		r.out.Reg = r.format.Reg
	}
	return r
}

// rename renames the columns of a query, and those of all operands of a set operation.
func (q *query) rename(names []string) {
	q.results = names
	switch b := q.body.(type) {
	case *core:
		for i := range b.targets {
			if i < len(names) {
				b.targets[i].name = names[i]
			}
		}
	case *setOp:
		b.left.rename(names)
		b.right.rename(names)
	case *query:
		b.rename(names)
	}
}
