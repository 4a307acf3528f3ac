package deparse

import (
	"fmt"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/table/types"
)

// queryScope is the state of the query that the resolver is in.
type queryScope struct {
	outer *queryScope
	own   map[ast.TableExpr]bool // entries of this query's FROM
	rels  []*relation
}

// query resolves a query of its own, or one in an expression or in FROM.
func (r *resolver) query(q *ast.Select) *query { return r.queryOf(q, nil) }

// queryOf resolves a query whose columns must have the types want, unless that is nil.
func (r *resolver) queryOf(q *ast.Select, want []*types.Type) *query {
	out := &query{}
	for _, res := range r.results(q) {
		out.results = append(out.results, res.Name)
	}
	if q.With != nil {
		out.recursive = q.With.Recursive
		for i := range q.With.CTEs {
			out.with = append(out.with, r.withItem(&q.With.CTEs[i]))
		}
	}
	r.scope = &queryScope{outer: r.scope, own: map[ast.TableExpr]bool{}}
	defer func() { r.scope = r.scope.outer }()
	switch body := q.Body.(type) {
	case *ast.SelectCore:
		out.body = r.core(out, body, want)
		r.orderTargets(out, q)
		r.locks(out, q)
	default:
		out.body = r.body(q.Body, r.wanted(q.Body, want))
		r.orderResults(out, q)
	}
	if q.Limit != nil {
		out.limit, out.ties = r.coerce(r.expr(q.Limit), types.TInt8, true), q.Ties
	}
	if q.Offset != nil {
		out.offset = r.coerce(r.expr(q.Offset), types.TInt8, true)
	}
	return out
}

// results returns the columns of a query; those of a recursive query are in its first term.
func (r *resolver) results(body ast.QueryBody) []bind.ResultNote {
	if res, ok := r.notes.Results[body]; ok {
		return res
	}
	switch b := body.(type) {
	case *ast.Select:
		return r.results(b.Body)
	case *ast.SetOp:
		return r.results(b.Left)
	}
	return nil
}

// wanted returns the types of a set operation's columns.
func (r *resolver) wanted(body ast.QueryBody, want []*types.Type) []*types.Type {
	if want != nil {
		return want
	}
	for _, res := range r.results(body) {
		want = append(want, res.Type)
	}
	return want
}

func (r *resolver) withItem(c *ast.CTE) withItem {
	out := withItem{name: c.Name, columns: c.Columns, materialized: c.Materialized}
	sel, ok := c.Statement.(*ast.Select)
	if !ok {
		r.fail(fmt.Errorf("deparse: WITH query of type %T", c.Statement))
		return out
	}
	out.query = r.query(sel)
	out.search, out.cycle = c.Search, c.Cycle
	if c.Cycle != nil && c.Cycle.Value != nil {
		out.mark, out.other = r.expr(c.Cycle.Value), r.expr(c.Cycle.Default)
	}
	return out
}

// body resolves an operand of a set operation, VALUES, or a parenthesised query.
func (r *resolver) body(body ast.QueryBody, want []*types.Type) any {
	switch b := body.(type) {
	case *ast.SetOp:
		return &setOp{op: b.Op, all: b.All, left: r.operand(b.Left, want),
			right: r.operand(b.Right, want)}
	case *ast.Values:
		return r.values(b, want)
	case *ast.Select:
		return r.queryOf(b, want)
	}
	r.fail(fmt.Errorf("deparse: query body %T", body))
	return &values{}
}

// operand makes a query of one side of a set operation.
func (r *resolver) operand(body ast.QueryBody, want []*types.Type) *query {
	if q, ok := body.(*ast.Select); ok {
		return r.queryOf(q, want)
	}
	out := &query{}
	for _, res := range r.results(body) {
		out.results = append(out.results, res.Name)
	}
	if c, ok := body.(*ast.SelectCore); ok {
		r.scope = &queryScope{outer: r.scope, own: map[ast.TableExpr]bool{}}
		out.body = r.core(out, c, want)
		r.scope = r.scope.outer
		return out
	}
	out.body = r.body(body, want)
	return out
}

// values resolves VALUES: each column has the common type of its rows.
func (r *resolver) values(v *ast.Values, want []*types.Type) *values {
	out := &values{}
	for _, row := range v.Rows {
		out.rows = append(out.rows, r.list(row, nil))
	}
	if len(out.rows) == 0 {
		return out
	}
	for i := range out.rows[0] {
		out.columns = append(out.columns, "column"+position(i+1))
		column := make([]node, len(out.rows))
		for k := range out.rows {
			column[k] = out.rows[k][i]
		}
		t, _, err := builtin.CommonTypeFor("VALUES", nodeTypes(column))
		if err != nil {
			r.fail(err)
			return out
		}
		if allUnknown(column) && i < len(want) {
			t = want[i]
		}
		for k := range out.rows {
			out.rows[k][i] = r.coerce(column[k], t, true)
		}
	}
	return out
}

func allUnknown(nodes []node) bool {
	for _, n := range nodes {
		if n.typ().OID != types.OIDUnknown {
			return false
		}
	}
	return true
}

// core resolves a SELECT without the clauses of the whole query. want are the types that a set
// operation requires of its columns.
func (r *resolver) core(q *query, c *ast.SelectCore, want []*types.Type) *core {
	out := &core{distinct: c.Distinct || len(c.DistinctOn) > 0}
	for _, te := range c.From {
		out.from = append(out.from, r.tableExpr(te))
	}
	nameMerged(out.from)
	for _, it := range c.Items {
		r.targets(q, out, it, want)
	}
	if c.Where != nil {
		out.where = r.condition(c.Where)
	}
	for _, it := range c.GroupBy {
		out.group = append(out.group, r.groupItem(out, it))
	}
	if c.Having != nil {
		out.having = r.condition(c.Having)
	}
	for _, e := range c.DistinctOn {
		out.on = append(out.on, r.targetOf(out, e))
	}
	for i := range c.Windows {
		out.windows = append(out.windows, r.window(&c.Windows[i]))
	}
	return out
}

// targets resolves an entry of the select list. A star becomes several targets.
func (r *resolver) targets(q *query, c *core, it ast.SelectItem, want []*types.Type) {
	if star := r.star(it.Expr); star != nil {
		for _, n := range star {
			c.targets = append(c.targets, target{n: n, name: r.resultName(q, len(c.targets), "")})
		}
		return
	}
	n := r.expr(it.Expr)
	if i := len(c.targets); n.typ().OID == types.OIDUnknown && i < len(want) &&
		want[i].OID != types.OIDUnknown {
		n = r.coerce(n, want[i], true)
	}
	c.targets = append(c.targets,
		target{n: r.asText(n), name: r.resultName(q, len(c.targets), it.Alias)})
}

func (r *resolver) resultName(q *query, i int, otherwise string) string {
	if i < len(q.results) {
		return q.results[i]
	}
	return otherwise
}

// targetOf resolves an item of ORDER BY, GROUP BY or DISTINCT ON: the number of a result column, or
// its name unless the binder found a column of FROM, or else an expression.
func (r *resolver) targetOf(c *core, e ast.Expr) node {
	switch e := e.(type) {
	case *ast.Literal:
		if n := ordinal(e); n >= 1 && n <= len(c.targets) {
			return c.targets[n-1].n
		}
	case *ast.ColumnRef:
		if _, noted := r.notes.Columns[e]; !noted && len(e.Qualifier) == 0 {
			for _, t := range c.targets {
				if t.name == e.Name {
					return t.n
				}
			}
		}
	}
	return r.asText(r.expr(e))
}

func ordinal(e ast.Expr) int {
	lit, ok := e.(*ast.Literal)
	if !ok || lit.Kind != ast.LiteralInt {
		return 0
	}
	n := 0
	for _, d := range lit.Text {
		if d < '0' || d > '9' || n > 1<<16 {
			return 0
		}
		n = n*10 + int(d-'0')
	}
	return n
}

func (r *resolver) groupItem(c *core, it ast.GroupItem) groupItem {
	if it.Kind == "" {
		return groupItem{sets: [][]node{r.groupExprs(c, []ast.Expr{it.Expr})}}
	}
	out := groupItem{kind: it.Kind}
	for _, set := range it.Sets {
		out.sets = append(out.sets, r.groupExprs(c, set))
	}
	return out
}

// groupExprs resolves group expressions. A list in parentheses is several expressions.
func (r *resolver) groupExprs(c *core, es []ast.Expr) []node {
	out := []node{}
	for _, e := range es {
		if row, ok := e.(*ast.Row); ok {
			out = append(out, r.groupExprs(c, row.Elements)...)
			continue
		}
		out = append(out, r.targetOf(c, e))
	}
	return out
}

// orderTargets resolves ORDER BY of a SELECT.
func (r *resolver) orderTargets(out *query, q *ast.Select) {
	for _, it := range q.OrderBy {
		out.order = append(out.order, r.sortKey(r.targetOf(out.body.(*core), it.Expr), it))
	}
}

// orderResults resolves ORDER BY of a set operation or of VALUES, whose items are result columns.
func (r *resolver) orderResults(out *query, q *ast.Select) {
	for _, it := range q.OrderBy {
		k := r.sortKey(nil, it)
		k.position = ordinal(it.Expr)
		if ref, ok := it.Expr.(*ast.ColumnRef); ok && len(ref.Qualifier) == 0 {
			for i, name := range out.results {
				if name == ref.Name && k.position == 0 {
					k.position = i + 1
				}
			}
		}
		if k.position == 0 {
			k.n = r.asText(r.expr(it.Expr))
		}
		out.order = append(out.order, k)
	}
}

// locks resolves FOR UPDATE and the like. Without OF it applies to every entry of FROM.
func (r *resolver) locks(out *query, q *ast.Select) {
	for _, l := range q.Locking {
		for _, rel := range r.scope.rels {
			named := len(l.Of) == 0
			for _, of := range l.Of {
				named = named || of.Name == rel.alias || rel.alias == "" && rel.desc != nil &&
					of.Name == rel.desc.Name
			}
			if named && (rel.desc != nil || rel.sub != nil) {
				out.locks = append(out.locks, lock{strength: l.Strength, wait: l.Wait, rel: rel})
			}
		}
	}
}

// subqueryExpr resolves expressions that contain a query.
func (r *resolver) subqueryExpr(e ast.Expr) node {
	out := &subquery{t: types.TBool}
	switch e := e.(type) {
	case *ast.Exists:
		out.kind, out.query = existsSub, r.query(e.Query)
	case *ast.Subquery:
		out.kind, out.query = scalarSub, r.query(e.Query)
		out.t = r.notes.Types[e]
	case *ast.ArraySubquery:
		out.kind, out.query = arraySub, r.query(e.Query)
		out.t = r.notes.Types[e]
	case *ast.InSubquery:
		r.compareRowsOf(out, "=", e.Operand, e.Query)
		out.kind = anySub
		if e.Not {
			return &logic{op: "NOT", args: []node{out}}
		}
	case *ast.Quantified:
		if e.Query == nil {
			return r.withArray(e.Op, e.All, r.expr(e.Left), r.expr(e.Array))
		}
		r.compareRowsOf(out, e.Op, e.Left, e.Query)
		out.kind = anySub
		if e.All {
			out.kind = allSub
		}
	default:
		r.fail(fmt.Errorf("deparse: expression %T", e))
	}
	if out.t == nil {
		r.fail(fmt.Errorf("deparse: a subquery without a type"))
		out.t = types.TUnknown
	}
	return out
}

// compareRowsOf resolves the left side of IN, ANY or ALL and the query on the right side.
func (r *resolver) compareRowsOf(out *subquery, op string, left ast.Expr, q *ast.Select) {
	out.op, out.query = op, r.query(q)
	lefts := []ast.Expr{left}
	if row, ok := left.(*ast.Row); ok {
		lefts = row.Elements
	}
	results := r.results(q)
	for i, l := range lefts {
		n := r.expr(l)
		if i < len(results) {
			fn, targets, err := r.operatorNamed(op).ResolveOperator(n.typ(), results[i].Type)
			if err == nil {
				out.op = r.operatorText(fn)
			}
			if err == nil && !hasMixedOperator(op, n.typ(), results[i].Type) {
				n = r.coerce(n, operatorType(targets[0]), true)
			}
		}
		out.left = append(out.left, n)
	}
}

// rowSubquery resolves a comparison of a row with the single row of a query.
func (r *resolver) rowSubquery(op string, left *ast.Row, sub *ast.Subquery) node {
	out := &subquery{t: types.TBool, kind: scalarSub}
	r.compareRowsOf(out, op, left, sub.Query)
	return out
}
