package parse

import (
	"strconv"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	tidbast "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// walker turns the TiDB parser's tree of one unit into ast nodes.
type walker struct {
	p *parser
	u *unit
}

// extent is the first and last mark of an expression or table.
type extent struct{ first, last int }

// expr is node without its extent.
func (w *walker) expr(node tidbast.ExprNode) ast.Expr {
	e, _ := w.walk(node)
	return e
}

// index is the mark that a numbered name stands for.
func (w *walker) index(name string) int {
	n, err := strconv.Atoi(name[1:])
	if err != nil || n >= len(w.u.names) {
		w.broken("name " + name)
		return 0
	}
	return int(w.u.names[n])
}

// broken reports a tree that this package's own text cannot have.
func (w *walker) broken(what string) {
	w.p.fail(sqlerr.New(sqlerr.InternalError, "unexpected %s in the parsed expression", what))
}

// pos is the user's offset of the mark i.
func (w *walker) pos(i int) ast.Pos {
	return ast.Pos(w.p.toks[w.u.marks[i].src].pos) + 1
}

// walk returns the expression of node and its extent.
func (w *walker) walk(node tidbast.ExprNode) (ast.Expr, extent) {
	if w.p.steps++; w.p.steps >= stepsPerLook {
		w.p.look()
	}
	if w.p.err != nil {
		return nil, extent{}
	}
	switch n := node.(type) {
	case *tidbast.ColumnNameExpr:
		i := w.index(n.Name.Name.L)
		e, ok := w.u.marks[i].node.(ast.Expr)
		if !ok {
			w.broken("carrier")
		}
		return e, extent{i, i}
	case *tidbast.ParenthesesExpr:
		e, x := w.walk(n.Expr)
		return e, extent{x.first - 1, x.last + 1}
	case *tidbast.FuncCallExpr:
		parts, x := w.parts(n)
		f, ok := w.u.marks[x.first].node.(call)
		if !ok {
			w.broken("call")
			return nil, x
		}
		return f(parts), x
	case *tidbast.SetCollationExpr:
		e, x := w.walk(n.Expr)
		if w.p.err != nil {
			return nil, x
		}
		f := w.u.marks[x.last+1].node.(postfix)
		return f(e), extent{x.first, x.last + 2}
	case *tidbast.UnaryOperationExpr:
		return w.unary(n)
	case *tidbast.BinaryOperationExpr:
		return w.binary(n.L, n.R)
	case *tidbast.PatternLikeOrIlikeExpr:
		return w.binary(n.Expr, n.Pattern)
	case *tidbast.RowExpr:
		row := &ast.Row{Elements: make([]ast.Expr, len(n.Values))}
		var first, last extent
		for i, v := range n.Values {
			row.Elements[i], last = w.walk(v)
			if i == 0 {
				first = last
			}
		}
		if w.p.err == nil {
			row.Pos = w.pos(first.first - 1)
		}
		return row, extent{first.first - 1, last.last + 1}
	}
	w.broken("node")
	return nil, extent{}
}

// parts walks the arguments of a carrier.
func (w *walker) parts(n *tidbast.FuncCallExpr) ([]ast.Expr, extent) {
	i := w.index(n.FnName.L)
	if len(n.Args) == 0 {
		return nil, extent{i, i + 2}
	}
	parts := make([]ast.Expr, len(n.Args))
	var x extent
	for k, arg := range n.Args {
		parts[k], x = w.walk(arg)
	}
	return parts, extent{i, x.last + 1}
}

func (w *walker) unary(n *tidbast.UnaryOperationExpr) (ast.Expr, extent) {
	e, x := w.walk(n.V)
	if w.p.err != nil {
		return nil, x
	}
	x.first--
	pos := w.pos(x.first)
	if n.Op != opcode.Minus {
		return &ast.Unary{Pos: pos, Op: "+", Operand: e}, x
	}
	return negate(pos, e), x
}

// negate puts a minus before e. PostgreSQL folds it into a number, which is why the smallest
// integers can be written: -2147483648 is an integer although 2147483648 is not.
func negate(pos ast.Pos, e ast.Expr) ast.Expr {
	lit, ok := e.(*ast.Literal)
	if !ok || lit.Kind != ast.LiteralInt && lit.Kind != ast.LiteralNumber {
		return &ast.Unary{Pos: pos, Op: "-", Operand: e}
	}
	if lit.Text[0] == '-' {
		return &ast.Literal{Pos: pos, Kind: lit.Kind, Text: lit.Text[1:]}
	}
	return &ast.Literal{Pos: pos, Kind: lit.Kind, Text: "-" + lit.Text}
}

// binary walks an infix operator, and those on its left side in a loop: chains are long.
func (w *walker) binary(left, right tidbast.ExprNode) (ast.Expr, extent) {
	rights := []tidbast.ExprNode{right}
	for {
		n, ok := left.(*tidbast.BinaryOperationExpr)
		if !ok {
			break
		}
		rights = append(rights, n.R)
		left = n.L
	}
	l, lx := w.walk(left)
	for i := len(rights) - 1; i >= 0; i-- {
		l, lx = w.infix(l, lx, rights[i])
	}
	return l, lx
}

// infix puts an operator between l and its right side. The word before the right side says which
// one it is.
func (w *walker) infix(l ast.Expr, lx extent, right tidbast.ExprNode) (ast.Expr, extent) {
	if w.p.err != nil {
		return nil, lx
	}
	switch r := right.(type) {
	case *tidbast.ColumnNameExpr:
		i := w.index(r.Name.Name.L)
		if f, ok := w.u.marks[i].node.(predicate); ok {
			return f(l, nil), extent{lx.first, i}
		}
	case *tidbast.FuncCallExpr:
		if f, ok := w.u.marks[w.index(r.FnName.L)].node.(predicate); ok {
			parts, x := w.parts(r)
			if w.p.err != nil {
				return nil, x
			}
			return f(l, parts), extent{lx.first, x.last}
		}
	}
	r, rx := w.walk(right)
	if w.p.err != nil {
		return nil, lx
	}
	x := extent{lx.first, rx.last}
	at := rx.first - 1
	op := operatorOf(&w.p.toks[w.u.marks[at].src])
	switch n := w.u.marks[at].node.(type) {
	case predicate:
		return n(l, []ast.Expr{r}), x
	case operatorName:
		op = string(n)
	}
	return &ast.Binary{Pos: w.pos(at), Op: op, Left: l, Right: r}, x
}

// operatorOf is PostgreSQL's spelling of the operator token t.
func operatorOf(t *token) string { return t.str }

// table returns the FROM entry of node.
func (w *walker) table(node tidbast.ResultSetNode) (ast.TableExpr, extent) {
	if w.p.err != nil {
		return nil, extent{}
	}
	switch n := node.(type) {
	case *tidbast.TableSource:
		name, ok := n.Source.(*tidbast.TableName)
		if !ok {
			break
		}
		i := w.index(name.Name.L)
		t, ok := w.u.marks[i].node.(ast.TableExpr)
		if !ok {
			break
		}
		return t, extent{i, i}
	case *tidbast.Join:
		return w.join(n)
	}
	w.broken("table")
	return nil, extent{}
}

// join builds one join from the carrier in its ON clause.
func (w *walker) join(n *tidbast.Join) (ast.TableExpr, extent) {
	l, lx := w.table(n.Left)
	if n.Right == nil || w.p.err != nil {
		return l, lx
	}
	r, _ := w.table(n.Right)
	if w.p.err != nil || n.On == nil {
		w.broken("join")
		return nil, extent{}
	}
	var last, i int
	var cond ast.Expr
	switch on := n.On.Expr.(type) {
	case *tidbast.ColumnNameExpr:
		i = w.index(on.Name.Name.L)
		last = i
	case *tidbast.FuncCallExpr:
		parts, x := w.parts(on)
		i, last = x.first, x.last
		if len(parts) == 1 {
			cond = parts[0]
		}
	}
	shape, ok := w.u.marks[i].node.(*joinShape)
	if w.p.err != nil || !ok {
		w.broken("join condition")
		return nil, extent{}
	}
	j := shape.join
	j.Left, j.Right, j.On = l, r, cond
	x := extent{lx.first, last}
	if n.ExplicitParens {
		x.first--
		x.last++
		if a, ok := w.u.marks[x.last].node.(*joinAlias); ok {
			j.Alias, j.Columns = a.name, a.columns
		}
	}
	return j, x
}

// tables flattens the comma list of FROM.
func (w *walker) tables(refs *tidbast.TableRefsClause) []ast.TableExpr {
	var nodes []tidbast.ResultSetNode
	var node tidbast.ResultSetNode = refs.TableRefs
	for {
		j, ok := node.(*tidbast.Join)
		if !ok || j.ExplicitParens || j.On != nil {
			nodes = append(nodes, node)
			break
		}
		if j.Right != nil {
			nodes = append(nodes, j.Right)
		}
		node = j.Left
	}
	out := make([]ast.TableExpr, len(nodes))
	for i, n := range nodes {
		out[len(nodes)-1-i], _ = w.table(n)
	}
	return out
}
