package bind

import (
	"slices"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// references visits every relation that FROM names in a statement tree which is not yet bound. WITH
// RECURSIVE uses it to find which queries read themselves or a later query, and whether they may do
// so there.
type references struct {
	// onTable is called for each unqualified name that no inner WITH hides.
	onTable func(ref *ast.TableRef, where place)
	// onQuery, when set, is called for subqueries instead of visiting them.
	onQuery func(pos ast.Pos)
	hidden  []string // names of inner WITH queries
	where   place
}

// place is where a reference is, as far as recursion depends on it.
type place string

const (
	anywhere     place = ""
	inFirst      place = "its non-recursive term"
	inSubquery   place = "a subquery"
	inOuterJoin  place = "an outer join"
	inIntersect  place = "INTERSECT"
	inExceptList place = "EXCEPT"
)

// mentions reports whether a statement names a relation.
func mentions(stmt ast.Statement, name string) bool {
	found := false
	r := references{onTable: func(ref *ast.TableRef,
		_ place) {
		found = found || ref.Name.Name == name
	}}
	r.statement(stmt)
	return found
}

// checkRecursion refuses references of a recursive query to itself that have no meaning: within its
// first term, where rows of one round are compared with those of others, or twice.
func checkRecursion(sel *ast.Select, u *ast.SetOp, name string) {
	count := 0
	r := references{onTable: func(ref *ast.TableRef, where place) {
		if ref.Name.Name != name {
			return
		}
		if count++; where == anywhere && count == 1 {
			return
		}
		what := "within " + string(where)
		if where == anywhere {
			what = "more than once"
		}
		panic(failure.At(ref.Name.Pos, sqlerr.InvalidRecursion,
			"recursive reference to query \"%s\" must not appear %s", name, what))
	}}
	r.where = inSubquery
	r.with(sel.With)
	r.where = inFirst
	r.body(u.Left)
	r.where = anywhere
	r.body(u.Right)
}

func (r *references) statement(stmt ast.Statement) {
	switch s := stmt.(type) {
	case *ast.Select:
		r.query(s)
	case *ast.Insert:
		r.scoped(s.With, func() { r.query(s.Query) })
	case *ast.Update:
		r.scoped(s.With, func() {
			r.tables(s.From)
			r.expr(s.Where)
			for _, a := range s.Set {
				r.expr(a.Value)
			}
		})
	case *ast.Merge:
		r.scoped(s.With, func() {
			r.tables([]ast.TableExpr{s.Source})
			r.expr(s.On)
			for i := range s.When {
				r.expr(s.When[i].Cond)
				r.exprs(s.When[i].Values)
				for _, a := range s.When[i].Set {
					r.expr(a.Value)
				}
			}
		})
	case *ast.Delete:
		r.scoped(s.With, func() {
			r.tables(s.Using)
			r.expr(s.Where)
		})
	}
}

// with visits the queries of a WITH clause. Their names are hidden from then on.
func (r *references) with(w *ast.With) {
	if w == nil {
		return
	}
	if w.Recursive {
		for _, c := range w.CTEs {
			r.hidden = append(r.hidden, c.Name)
		}
	}
	for _, c := range w.CTEs {
		r.statement(c.Statement)
		r.hidden = append(r.hidden, c.Name)
	}
}

// scoped visits what a WITH clause belongs to.
func (r *references) scoped(w *ast.With, walk func()) {
	mark := len(r.hidden)
	r.with(w)
	walk()
	r.hidden = r.hidden[:mark]
}

func (r *references) query(q *ast.Select) {
	if q == nil {
		return
	}
	if r.onQuery != nil {
		r.onQuery(q.Pos)
		return
	}
	r.scoped(q.With, func() {
		r.body(q.Body)
		for _, o := range q.OrderBy {
			r.expr(o.Expr)
		}
		r.expr(q.Limit)
		r.expr(q.Offset)
	})
}

func (r *references) body(body ast.QueryBody) {
	switch body := body.(type) {
	case *ast.Select:
		r.query(body)
	case *ast.SetOp:
		r.setOp(body)
	case *ast.Values:
		for _, row := range body.Rows {
			r.exprs(row)
		}
	case *ast.SelectCore:
		r.tables(body.From)
		for _, it := range body.Items {
			r.expr(it.Expr)
		}
		r.exprs(body.DistinctOn)
		r.expr(body.Where)
		r.expr(body.Having)
		for _, g := range body.GroupBy {
			r.expr(g.Expr)
		}
	}
}

// setOp visits a set operation. Rows of the working table may be concatenated, but not compared.
func (r *references) setOp(s *ast.SetOp) {
	left, right := r.where, r.where
	if r.where == anywhere {
		switch {
		case s.Op == "intersect" && s.All:
			left, right = inIntersect, inIntersect
		case s.Op == "except":
			right = inExceptList
			if s.All {
				left = inExceptList
			}
		}
	}
	r.at(left, func() { r.body(s.Left) })
	r.at(right, func() { r.body(s.Right) })
}

func (r *references) at(where place, walk func()) {
	saved := r.where
	r.where = where
	walk()
	r.where = saved
}

func (r *references) tables(list []ast.TableExpr) {
	for _, t := range list {
		r.table(t)
	}
}

func (r *references) table(t ast.TableExpr) {
	switch t := t.(type) {
	case *ast.TableRef:
		if t.Name.Schema == "" && !slices.Contains(r.hidden, t.Name.Name) {
			r.onTable(t, r.where)
		}
	case *ast.SubqueryRef:
		r.query(t.Query)
	case *ast.FuncRef:
		for _, f := range t.Funcs {
			r.exprs(f.Call.Args)
		}
	case *ast.Join:
		left, right := r.where, r.where
		if r.where == anywhere {
			if t.Kind == "right" || t.Kind == "full" {
				left = inOuterJoin
			}
			if t.Kind == "left" || t.Kind == "full" {
				right = inOuterJoin
			}
		}
		r.at(left, func() { r.table(t.Left) })
		r.at(right, func() { r.table(t.Right) })
		r.expr(t.On)
	}
}

func (r *references) exprs(es []ast.Expr) {
	for _, e := range es {
		r.expr(e)
	}
}

// expr visits the subqueries of an expression.
func (r *references) expr(e ast.Expr) {
	ast.Inspect(e, func(n any) bool {
		q, sub := n.(*ast.Select)
		if sub {
			r.at(inSubquery, func() { r.query(q) })
		}
		return !sub
	})
}

// inDependencyOrder sorts the queries of a WITH RECURSIVE clause so that each comes after those
// that it reads.
func inDependencyOrder(w *ast.With) []*ast.CTE {
	n := len(w.CTEs)
	out := make([]*ast.CTE, 0, n)
	state := make([]int, n) // 0 not seen, 1 being visited, 2 done
	var visit func(i int)
	visit = func(i int) {
		state[i] = 1
		for j := range w.CTEs {
			if i == j || state[j] == 2 || !mentions(w.CTEs[i].Statement, w.CTEs[j].Name) {
				continue
			}
			if state[j] == 1 {
				panic(failure.At(w.CTEs[j].Pos, sqlerr.FeatureNotSupported,
					"mutual recursion between WITH items is not implemented"))
			}
			visit(j)
		}
		state[i] = 2
		out = append(out, &w.CTEs[i])
	}
	for i := range w.CTEs {
		if state[i] == 0 {
			visit(i)
		}
	}
	return out
}
