package ast

// Inspect calls f for a node of a tree and, if f returns true, for all nodes below it: expressions,
// entries of FROM, queries and their parts (all as pointers), in the order of the text, except that
// WITH comes first. A nil node is skipped. Of the statements it enters queries only.
func Inspect(n any, f func(n any) bool) {
	in := inspector(f)
	switch n := n.(type) {
	case nil:
	case Expr:
		in.expr(n)
	case TableExpr:
		in.tableExpr(n)
	case QueryBody:
		in.body(n)
	case *With:
		in.with(n)
	}
}

type inspector func(n any) bool

func (in inspector) exprs(es []Expr) {
	for _, e := range es {
		in.expr(e)
	}
}

func (in inspector) expr(e Expr) {
	if e == nil || !in(e) {
		return
	}
	switch e := e.(type) {
	case *Binary:
		in.chain(e)
	case *Unary:
		in.expr(e.Operand)
	case *IsTest:
		in.expr(e.Operand)
	case *IsDistinct:
		in.exprs([]Expr{e.Left, e.Right})
	case *Like:
		in.exprs([]Expr{e.Operand, e.Pattern, e.Escape})
	case *Between:
		in.exprs([]Expr{e.Operand, e.Low, e.High})
	case *InList:
		in.expr(e.Operand)
		in.exprs(e.List)
	case *Array:
		in.exprs(e.Elements)
	case *Subscript:
		in.exprs([]Expr{e.Operand, e.Index, e.Low, e.High})
	case *FieldSelect:
		in.expr(e.Operand)
	case *AssignPart:
		in.expr(e.Base)
		for _, s := range e.Path {
			in.exprs([]Expr{s.Index, s.Low, s.High})
		}
		in.expr(e.Value)
	case *Row:
		in.exprs(e.Elements)
	case *Case:
		in.expr(e.Operand)
		for _, w := range e.Whens {
			in.exprs([]Expr{w.Cond, w.Result})
		}
		in.expr(e.Else)
	case *Cast:
		in.expr(e.Operand)
	case *Collate:
		in.expr(e.Operand)
	case *FuncCall:
		in.call(e)
	case *XML:
		in.exprs(e.Named)
		in.exprs(e.Args)
	default:
		in.queryExpr(e)
	}
}

// chain visits a chain of binary operators without recursion along its left side. Its inner nodes
// are visited before the operands.
func (in inspector) chain(e *Binary) {
	var rights []Expr
	var left Expr = e
	for {
		b, ok := left.(*Binary)
		if !ok || b != e && !in(b) {
			break
		}
		rights = append(rights, b.Right)
		left = b.Left
	}
	if _, refused := left.(*Binary); !refused {
		in.expr(left)
	}
	for i := len(rights) - 1; i >= 0; i-- {
		in.expr(rights[i])
	}
}

func (in inspector) queryExpr(e Expr) {
	switch e := e.(type) {
	case *InSubquery:
		in.expr(e.Operand)
		in.body(e.Query)
	case *Quantified:
		in.expr(e.Left)
		in.expr(e.Array)
		if e.Query != nil {
			in.body(e.Query)
		}
	case *Exists:
		in.body(e.Query)
	case *Subquery:
		in.body(e.Query)
	case *ArraySubquery:
		in.body(e.Query)
	}
}

func (in inspector) call(e *FuncCall) {
	in.exprs(e.Args)
	in.order(e.OrderBy)
	in.expr(e.Filter)
	if e.Over != nil {
		in.window(e.Over)
	}
}

func (in inspector) order(items []OrderItem) {
	for i := range items {
		in.expr(items[i].Expr)
	}
}

func (in inspector) window(w *Window) {
	if !in(w) {
		return
	}
	in.exprs(w.PartitionBy)
	in.order(w.OrderBy)
	if w.Frame != nil {
		in.exprs([]Expr{w.Frame.Start, w.Frame.End})
	}
}

func (in inspector) with(w *With) {
	if w == nil || !in(w) {
		return
	}
	for i := range w.CTEs {
		if q, ok := w.CTEs[i].Statement.(*Select); ok {
			in.body(q)
		}
	}
}

func (in inspector) body(b QueryBody) {
	if b == nil || !in(b) {
		return
	}
	switch b := b.(type) {
	case *Select:
		in.with(b.With)
		in.body(b.Body)
		in.order(b.OrderBy)
		in.exprs([]Expr{b.Limit, b.Offset})
	case *SetOp:
		in.body(b.Left)
		in.body(b.Right)
	case *Values:
		for _, row := range b.Rows {
			in.exprs(row)
		}
	case *SelectCore:
		in.core(b)
	}
}

func (in inspector) core(c *SelectCore) {
	in.exprs(c.DistinctOn)
	for i := range c.Items {
		in.expr(c.Items[i].Expr)
	}
	for _, te := range c.From {
		in.tableExpr(te)
	}
	in.expr(c.Where)
	for _, g := range c.GroupBy {
		in.expr(g.Expr)
		for _, set := range g.Sets {
			in.exprs(set)
		}
	}
	in.expr(c.Having)
	for i := range c.Windows {
		in.window(&c.Windows[i])
	}
}

func (in inspector) tableExpr(te TableExpr) {
	if te == nil || !in(te) {
		return
	}
	switch te := te.(type) {
	case *SubqueryRef:
		in.body(te.Query)
	case *FuncRef:
		for _, f := range te.Funcs {
			in.expr(f.Call)
		}
	case *Join:
		in.tableExpr(te.Left)
		in.tableExpr(te.Right)
		in.expr(te.On)
	}
}
