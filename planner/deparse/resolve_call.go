package deparse

import (
	"slices"
	"strconv"
	"strings"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// funcCall resolves a call of a function or an aggregate, or a construct that is written like a
// call.
func (r *resolver) funcCall(e *ast.FuncCall) node {
	name := e.Name.Name
	if e.Bare {
		return r.bare(e)
	}
	if e.Name.Schema == "" {
		switch name {
		case "coalesce", "greatest", "least", "nullif", "grouping":
			return r.special(e)
		}
	}
	switch {
	case e.Over != nil:
		return r.windowCall(e)
	case len(r.named(e.Name).Aggregates()) > 0:
		return r.aggregate(e)
	}
	if c, ok := r.notes.Columns[e]; ok {
		return r.column(c)
	}
	args := r.list(e.Args, nil)
	if r.notes.Projections[e] {
		return &field{t: r.notes.Types[e], arg: args[0], name: name}
	}
	fn, targets, ok := r.function(e, args)
	if !ok {
		return &call{t: types.TUnknown, name: name, args: args}
	}
	out := &call{t: r.notes.Types[e], name: name, args: args, argNames: e.ArgNames,
		variadic: e.Variadic, words: e.Words}
	if e.Name.Schema == "information_schema" {
		out.schema = e.Name.Schema
	}
	if fn.Extension != "" {
		out.schema = r.memberSchema(fn)
	}
	if out.t == nil {
		out.t = builtin.ReturnType(fn, targets)
	}
	if e.ArgNames == nil {
		r.arguments(out.args, fn.Args, targets)
	}
	return out
}

// function chooses the overload.
func (r *resolver) function(e *ast.FuncCall, args []node) (*expr.Func, []*types.Type, bool) {
	ts := nodeTypes(args)
	name := r.named(e.Name)
	resolve := name.ResolveFunction
	switch {
	case e.ArgNames != nil:
		if _, _, err := builtin.NamedArguments(e.Name.Name, e.ArgNames, ts); err != nil {
			r.fail(err)
			return nil, nil, false
		}
		return &expr.Func{Name: e.Name.Name}, ts, true
	case e.Variadic:
		resolve = name.ResolveVariadic
	}
	fn, targets, err := resolve(ts)
	if err != nil {
		r.fail(err)
		return nil, nil, false
	}
	return fn, targets, true
}

// arguments coerces arguments to the types of an overload. An argument of a polymorphic type is
// left as it is.
func (r *resolver) arguments(args []node, declared, targets []*types.Type) {
	for i := range args {
		d := declared[min(i, len(declared)-1)]
		if (d == nil || d == builtin.Any) && args[i].typ().OID == types.OIDUnknown {
			continue
		}
		args[i] = r.coerce(args[i], targets[i], true)
	}
}

// scalar makes a call of a function with nodes as arguments.
func (r *resolver) scalar(name string, args []node) node {
	fn, targets, err := builtin.ResolveFunction(name, nodeTypes(args))
	if err != nil {
		r.fail(err)
		return &call{t: types.TUnknown, name: name, args: args}
	}
	r.arguments(args, fn.Args, targets)
	return &call{t: builtin.ReturnType(fn, targets), name: name, args: args}
}

func nodeTypes(nodes []node) []*types.Type {
	out := make([]*types.Type, len(nodes))
	for i, n := range nodes {
		out[i] = n.typ()
	}
	return out
}

// bare resolves CURRENT_DATE and the like. PostgreSQL shows current_schema as a function call.
func (r *resolver) bare(e *ast.FuncCall) node {
	text := strings.ToUpper(e.Name.Name)
	if len(e.Args) == 1 {
		if lit, ok := e.Args[0].(*ast.Literal); ok {
			text += "(" + lit.Text + ")"
		}
	}
	t := r.notes.Types[e]
	if t == nil {
		t = types.TUnknown
	}
	return &keyword{t: t, text: text}
}

func (r *resolver) special(e *ast.FuncCall) node {
	out := &special{name: strings.ToUpper(e.Name.Name), args: r.list(e.Args, nil), t: types.TInt4}
	switch e.Name.Name {
	case "nullif":
		if n, ok := r.binary("=", out.args[0], out.args[1]).(*operator); ok {
			out.args = []node{n.left, n.right}
		}
		out.t = out.args[0].typ()
	case "grouping":
	default:
		out.t = r.coerceToCommon(out.name, out.args)
	}
	return out
}

func (r *resolver) aggregate(e *ast.FuncCall) node {
	out := &call{name: e.Name.Name, args: r.list(e.Args, nil), star: e.Star,
		distinct: e.Distinct, within: e.WithinGroup, t: r.notes.Types[e]}
	for _, it := range e.OrderBy {
		out.order = append(out.order, r.sortKey(r.expr(it.Expr), it))
	}
	all := append([]node(nil), out.args...)
	if e.WithinGroup {
		for _, k := range out.order {
			all = append(all, k.n)
		}
	}
	fn, targets, err := r.named(e.Name).ResolveAggregate(nodeTypes(all))
	if err != nil {
		r.fail(err)
		return out
	}
	out.schema = r.aggregateSchema(fn)
	if out.t == nil {
		out.t = builtin.AggregateType(fn, targets)
	}
	if len(all) > 0 {
		r.arguments(all, fn.Args, targets)
	}
	copy(out.args, all)
	for i := range out.order {
		if e.WithinGroup {
			out.order[i].n = all[len(out.args)+i]
		} else if k := argumentOf(e, i); k >= 0 {
			out.order[i].n = out.args[k] // coerced as the aggregate requires
		}
		out.order[i].n = r.asText(out.order[i].n)
	}
	if e.Filter != nil {
		out.filter = r.condition(e.Filter)
	}
	return out
}

// argumentOf returns the index of an aggregate's argument that is written like an item of its ORDER
// BY, -1 for none.
func argumentOf(e *ast.FuncCall, item int) int {
	return slices.IndexFunc(e.Args,
		func(a ast.Expr) bool { return ast.Equal(a, e.OrderBy[item].Expr) })
}

func (r *resolver) windowCall(e *ast.FuncCall) node {
	out := &call{name: e.Name.Name, args: r.list(e.Args, nil), star: e.Star,
		t: r.notes.Types[e]}
	if fn, targets, err := r.named(e.Name).ResolveAggregate(nodeTypes(out.args)); err == nil &&
		len(out.args) > 0 {
		out.schema = r.aggregateSchema(fn)
		r.arguments(out.args, fn.Args, targets)
	} else if len(out.args) > 0 && out.name != "ntile" {
		out.args[0] = r.asText(out.args[0])
		for i := 2; i < len(out.args); i++ { // the default of lag and lead
			out.args[i] = r.coerce(out.args[i], out.args[0].typ(), true)
		}
	}
	if e.Filter != nil {
		out.filter = r.condition(e.Filter)
	}
	out.over = r.window(e.Over)
	if out.t == nil {
		out.t = types.TUnknown
	}
	return out
}

// window resolves an OVER clause or a definition.
func (r *resolver) window(w *ast.Window) *window {
	out := &window{name: w.Name, ref: w.Ref, frame: w.Frame}
	out.partition = r.list(w.PartitionBy, r.asText)
	for _, it := range w.OrderBy {
		out.order = append(out.order, r.sortKey(r.asText(r.expr(it.Expr)), it))
	}
	if f := w.Frame; f != nil {
		out.start, out.end = r.frameBound(f, f.Start, out), r.frameBound(f, f.End, out)
	}
	return out
}

// frameBound resolves an offset: a number of rows, or a distance in the order of a RANGE.
func (r *resolver) frameBound(f *ast.Frame, e ast.Expr, w *window) node {
	if e == nil {
		return nil
	}
	n := r.expr(e)
	if f.Mode != "range" {
		return r.coerce(n, types.TInt8, true)
	}
	if n.typ().OID == types.OIDUnknown && len(w.order) > 0 {
		t := w.order[0].n.typ()
		switch t.Family {
		case types.Date, types.Timestamp, types.Time:
			t = types.TInterval
		}
		return r.coerce(n, t, true)
	}
	return n
}

// sortKey returns the sort key of an ORDER BY item. NULLs are larger than every value.
func (r *resolver) sortKey(n node, it ast.OrderItem) sortKey {
	k := sortKey{n: n, desc: it.Desc, nullsFirst: it.Desc}
	if it.NullsFirst != nil {
		k.nullsFirst = *it.NullsFirst
	}
	return k
}

func position(n int) string { return strconv.Itoa(n) }
