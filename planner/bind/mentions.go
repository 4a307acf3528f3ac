package bind

import "github.com/minidb/minidb/planner/ast"

// mentions says whether a query names a relation anywhere in its FROM clauses, which is what makes a
// WITH RECURSIVE query recursive. It may say yes where an inner WITH hides the name; binding then
// finds that nothing reads the working table, which is harmless.
func mentions(q *ast.Select, name string) bool {
	m := &mentioner{name: name}
	m.query(q)
	return m.found
}

type mentioner struct {
	name  string
	found bool
	// onQuery, when set, is asked what a subquery means to the caller.
	onQuery func(pos ast.Pos) error
	err     error
}

func (m *mentioner) query(q *ast.Select) {
	if q == nil || m.found {
		return
	}
	if m.onQuery != nil {
		if m.err == nil {
			m.err = m.onQuery(q.Pos)
		}
		return
	}
	if q.With != nil {
		for _, c := range q.With.CTEs {
			if s, ok := c.Statement.(*ast.Select); ok {
				m.query(s)
			}
		}
	}
	m.body(q.Body)
	for _, o := range q.OrderBy {
		m.expr(o.Expr)
	}
}

func (m *mentioner) body(body ast.QueryBody) {
	switch body := body.(type) {
	case *ast.Select:
		m.query(body)
	case *ast.SetOp:
		m.body(body.Left)
		m.body(body.Right)
	case *ast.Values:
		for _, r := range body.Rows {
			m.exprs(r)
		}
	case *ast.SelectCore:
		for _, t := range body.From {
			m.table(t)
		}
		for _, it := range body.Items {
			m.expr(it.Expr)
		}
		m.expr(body.Where)
		m.expr(body.Having)
	}
}

func (m *mentioner) table(t ast.TableExpr) {
	switch t := t.(type) {
	case *ast.TableRef:
		m.found = m.found || t.Name.Schema == "" && t.Name.Name == m.name
	case *ast.SubqueryRef:
		m.query(t.Query)
	case *ast.FuncRef:
		m.exprs(t.Call.Args)
	case *ast.Join:
		m.table(t.Left)
		m.table(t.Right)
		m.expr(t.On)
	}
}

func (m *mentioner) exprs(es []ast.Expr) {
	for _, e := range es {
		m.expr(e)
	}
}

func (m *mentioner) expr(e ast.Expr) {
	switch e := e.(type) {
	case *ast.Binary:
		m.exprs([]ast.Expr{e.Left, e.Right})
	case *ast.Unary:
		m.expr(e.Operand)
	case *ast.IsTest:
		m.expr(e.Operand)
	case *ast.IsDistinct:
		m.exprs([]ast.Expr{e.Left, e.Right})
	case *ast.Like:
		m.exprs([]ast.Expr{e.Operand, e.Pattern, e.Escape})
	case *ast.Between:
		m.exprs([]ast.Expr{e.Operand, e.Low, e.High})
	case *ast.InList:
		m.expr(e.Operand)
		m.exprs(e.List)
	case *ast.InSubquery:
		m.expr(e.Operand)
		m.query(e.Query)
	case *ast.Quantified:
		m.exprs([]ast.Expr{e.Left, e.Array})
		m.query(e.Query)
	case *ast.Exists:
		m.query(e.Query)
	case *ast.Subquery:
		m.query(e.Query)
	case *ast.ArraySubquery:
		m.query(e.Query)
	case *ast.Cast:
		m.expr(e.Operand)
	case *ast.FuncCall:
		m.exprs(e.Args)
	case *ast.Array:
		m.exprs(e.Elements)
	case *ast.Row:
		m.exprs(e.Elements)
	case *ast.Case:
		m.exprs([]ast.Expr{e.Operand, e.Else})
		for _, w := range e.Whens {
			m.exprs([]ast.Expr{w.Cond, w.Result})
		}
	}
}
