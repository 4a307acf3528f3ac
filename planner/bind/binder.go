package bind

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/extension"
	"github.com/minidb/minidb/table/types"
)

// maxDepth bounds the nesting of queries and views, and with it the stack.
const maxDepth = 1000

// binder binds one statement.
type binder struct {
	ctx  context.Context
	env  *opt.Env
	meta *logical.Meta
	// path is the search path of the view whose text is being bound; nil: the session's.
	path []string
	// scope finds members of extensions, once scoped is set.
	scope  *extension.Scope
	scoped bool
	views  []table.ID // views being expanded, outermost first
	// as is the owner of the innermost of them; 0: the role that runs the statement.
	as acl.RoleID
	// routines are those of opt.Env.Routines, once one was called.
	routines map[any]table.ID
	// within lists the tables whose row security policies are being bound, outermost first, and
	// guards the uses of tables whose policies are still to be added.
	within    []table.ID
	guards    []*guarded
	depth     int
	exprDepth int
	classes   int // number of classes of subqueries so far
	// recursions is the number of logical.Recursion nodes so far, which numbers their queries.
	recursions int
	// momentary is set when the value of a literal depended on when it was read.
	momentary bool
	// untyped are the literals and parameters in rows that had no type. They have type text unless
	// the row is converted to a composite type.
	untyped map[expr.Expr]bool
	// collated are the expressions with a COLLATE clause; nil when there are none. columns are the
	// collations of columns that were asked for.
	collated  map[expr.Expr]collation
	columns   map[logical.ColID]collation
	interrupt *logical.Interrupt
	notes     *Notes // nil unless the caller asked for them
}

func newBinder(ctx context.Context, env *opt.Env) *binder {
	return &binder{ctx: ctx, env: env, meta: logical.NewMeta(),
		interrupt: logical.NewInterrupt(ctx).Counting()}
}

// relation returns a table, view or virtual table by name, or error 42P01. f has the WITH queries
// that the name may have been meant for.
func (b *binder) relation(name ast.Name, f *withFrame) *table.Desc {
	d, err := b.lookup(name)
	if d == nil && err == nil {
		full := name.Name
		if name.Schema != "" {
			full = name.Schema + "." + name.Name
		}
		err = sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist",
			full).At(int(name.Pos))
		if t, e := inPath(b, name, b.env.Catalog.Type); e == nil && t != nil && t.IsComposite() {
			err = sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is a composite type",
				name.Name).At(int(name.Pos))
		}
	}
	failure.Check(laterCTE(err, f, name.Name))
	b.noteTable(d)
	return d
}

// lookup resolves the name of a relation.
func (b *binder) lookup(name ast.Name) (*table.Desc, error) {
	return inPath(b, name, b.env.Catalog.Relation)
}

// inPath looks a name up by the session's search path, or by that of the view being expanded.
func inPath[T any](b *binder, name ast.Name,
	find func(context.Context, ast.Name) (*T, error)) (*T, error) {
	if b.path == nil || name.Schema != "" {
		if b.path == nil && name.Schema != "" && b.env.MayUse != nil {
			if err := b.env.MayUse(b.ctx, name.Schema); err != nil {
				return nil, at(err, int(name.Pos))
			}
		}
		return find(b.ctx, name)
	}
	path := b.path
	if !slices.Contains(path, "pg_catalog") {
		path = append([]string{"pg_catalog"}, path...)
	}
	for _, schema := range path {
		d, err := find(b.ctx, ast.Name{Pos: name.Pos, Schema: schema, Name: name.Name})
		if d != nil || err != nil {
			return d, err
		}
	}
	return nil, nil
}

func (b *binder) noteTable(d *table.Desc) {
	for _, t := range b.meta.Tables {
		if t.ID == d.ID {
			return
		}
	}
	b.meta.Tables = append(b.meta.Tables, opt.TableVersion{ID: d.ID, Version: d.Version})
}

// noteUse records how the statement uses a relation, besides reading it.
func (b *binder) noteUse(id table.ID, u opt.Use) {
	for i := range b.meta.Tables {
		if t := &b.meta.Tables[i]; t.ID == id {
			t.Use = max(t.Use, u)
		}
	}
}

// enter enters a level of nesting; the caller defers leave.
func (b *binder) enter(pos ast.Pos) {
	b.depth++
	failure.Check(b.interrupt.Step())
	if b.depth > maxDepth {
		panic(failure.At(pos, sqlerr.StatementTooComplex, "stack depth limit exceeded"))
	}
}

func (b *binder) leave() { b.depth-- }

// newColumn adds a column and returns its ID.
func (b *binder) newColumn(name string, t *types.Type, level int) logical.ColID {
	return b.meta.Add(logical.Column{Name: name, Type: t, Level: level})
}

// ref returns a reference to a column, with its position in the statement.
func (b *binder) ref(id logical.ColID, pos ast.Pos) *expr.Col {
	c := b.meta.Col(id)
	c.Pos = int(pos)
	return c
}
