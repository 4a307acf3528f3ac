package bind

import (
	"slices"

	"strings"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table/types"
)

// setOp binds UNION, INTERSECT and EXCEPT. Each column has the common type of its operands and the
// name of the left one. A chain is bound from its left end, without recursion; a chain of UNION ALL
// becomes one Append.
func (b *binder) setOp(sc *scope, s *ast.SetOp) *logical.Query {
	b.enter(s.Pos)
	defer b.leave()
	chain := []*ast.SetOp{s}
	for {
		inner, ok := chain[len(chain)-1].Left.(*ast.SetOp)
		if !ok {
			break
		}
		chain = append(chain, inner)
	}
	left := b.body(sc.sibling(), chain[len(chain)-1].Left, true)
	for i := len(chain) - 1; i >= 0; i-- {
		left = b.setOpStep(sc, chain[i], left)
	}
	return left
}

// setOpStep combines a bound left side with the right side of one operator.
func (b *binder) setOpStep(sc *scope, s *ast.SetOp, left *logical.Query) *logical.Query {
	right := b.body(sc.sibling(), s.Right, true)
	op := strings.ToUpper(s.Op)
	if len(left.Cols) != len(right.Cols) {
		panic(failure.At(bodyPos(s.Right), sqlerr.SyntaxError,
			"each %s query must have the same number of columns", op))
	}
	collations := make([]collation, len(left.Cols))
	for i := range left.Cols {
		b.unifyOutputs(op, left, right, i, s)
		collations[i] = b.agreeOnCollation(s, left, right, i)
		if s.Op != "union" || !s.All {
			requireEquality(b.meta.Cols[left.Cols[i].ID].Type, outputPos(s.Left, i))
		}
	}
	q := b.combine(sc, s, left, right)
	for i := range q.Cols {
		b.setCollation(q.Cols[i].ID, collations[i])
	}
	return q
}

// bodyPos returns the position of the first column of a query body.
func bodyPos(body ast.QueryBody) int {
	switch body := body.(type) {
	case *ast.SelectCore:
		if len(body.Items) > 0 {
			return exprPos(body.Items[0].Expr)
		}
		return int(body.Pos)
	case *ast.Values:
		if len(body.Rows) > 0 && len(body.Rows[0]) > 0 {
			return exprPos(body.Rows[0][0])
		}
		return int(body.Pos)
	case *ast.SetOp:
		return bodyPos(body.Left)
	case *ast.Select:
		return bodyPos(body.Body)
	}
	return 0
}

// outputPos returns the position of result column i of a query body, as far as it is known.
func outputPos(body ast.QueryBody, i int) int {
	switch body := body.(type) {
	case *ast.SelectCore:
		for _, it := range body.Items {
			if _, star := it.Expr.(*ast.Star); star {
				return int(it.Expr.At())
			}
		}
		if i < len(body.Items) {
			return exprPos(body.Items[i].Expr)
		}
	case *ast.Values:
		if len(body.Rows) > 0 && i < len(body.Rows[0]) {
			return exprPos(body.Rows[0][i])
		}
	case *ast.SetOp:
		return outputPos(body.Left, i)
	case *ast.Select:
		return outputPos(body.Body, i)
	}
	return 0
}

func (b *binder) unifyOutputs(op string, left, right *logical.Query, i int, s *ast.SetOp) {
	ts := []*types.Type{b.meta.Cols[left.Cols[i].ID].Type, b.meta.Cols[right.Cols[i].ID].Type}
	t, offender, err := builtin.CommonTypeFor(op, ts)
	if err != nil {
		body := s.Left
		if offender == 1 {
			body = s.Right
		}
		failure.Check(at(err, outputPos(body, i)))
		return
	}
	b.coerceOutput(left, i, t, implicit, 0)
	b.coerceOutput(right, i, t, implicit, 0)
}

func (b *binder) combine(sc *scope, s *ast.SetOp, left, right *logical.Query) *logical.Query {
	if app, ok := left.Node.(*logical.Append); ok && s.Op == "union" && s.All &&
		slices.Equal(app.Cols, left.IDs()) {
		return b.extend(app, left, right)
	}
	q := &logical.Query{}
	var cols []logical.ColID
	for i, c := range left.Cols {
		l, r := &b.meta.Cols[c.ID], &b.meta.Cols[right.Cols[i].ID]
		t := l.Type
		if r.Type.Mod != t.Mod {
			t = t.WithMod(types.NoMod)
		}
		id := b.meta.Add(logical.Column{Name: c.Name, Type: t, NotNull: l.NotNull && r.NotNull,
			Level: sc.level()})
		cols = append(cols, id)
		q.Cols = append(q.Cols, logical.Output{Name: c.Name, ID: id})
	}
	if s.Op != "union" {
		q.Node = &logical.SetOp{Except: s.Op == "except", All: s.All, Left: left.Node,
			Right:    right.Node,
			LeftCols: left.IDs(), RightCols: right.IDs(), Cols: cols}
		return q
	}
	app := &logical.Append{Cols: cols, Inputs: []logical.Node{left.Node, right.Node},
		InCols: [][]logical.ColID{left.IDs(), right.IDs()}}
	q.Node = app
	if !s.All {
		q.Node = &logical.Distinct{Child: app}
	}
	return q
}

// extend adds an input to a UNION ALL.
func (b *binder) extend(app *logical.Append, left, right *logical.Query) *logical.Query {
	for i, id := range app.Cols {
		l, r := &b.meta.Cols[id], &b.meta.Cols[right.Cols[i].ID]
		l.NotNull = l.NotNull && r.NotNull
		if r.Type.Mod != l.Type.Mod {
			l.Type = l.Type.WithMod(types.NoMod)
		}
	}
	app.Inputs = append(app.Inputs, right.Node)
	app.InCols = append(app.InCols, right.IDs())
	return left
}
