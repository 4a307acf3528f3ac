package parse

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// callShape gathers what a call is made of; its parts come in the order of the fields.
type callShape struct {
	call   *ast.FuncCall
	args   int
	order  []ast.OrderItem // Expr is filled when the parts arrive
	filter bool
	window *windowShape
}

func (s *callShape) build(parts []ast.Expr) ast.Expr {
	f := s.call
	if s.args > 0 {
		f.Args = parts[:s.args:s.args]
	}
	parts = parts[s.args:]
	f.OrderBy, parts = fillOrder(s.order, parts)
	if s.filter {
		f.Filter, parts = parts[0], parts[1:]
	}
	if s.window != nil {
		f.Over, _ = s.window.build(parts)
	}
	return f
}

// fillOrder gives items their expressions and returns the parts that are left.
func fillOrder(items []ast.OrderItem, parts []ast.Expr) ([]ast.OrderItem, []ast.Expr) {
	for i := range items {
		items[i].Expr = parts[i]
	}
	return items, parts[len(items):]
}

// separate writes a comma before all parts but the first.
func (u *unit) separate(src int, first *bool) {
	if !*first {
		u.word(src, ",")
	}
	*first = false
}

// functionCall parses ( … ) and what may follow a call; the name was read.
func (p *parser) functionCall(u *unit, src int, name ast.Name) {
	p.enter()
	defer p.leave()
	plain := p.plainCall
	p.plainCall = false
	s := &callShape{call: &ast.FuncCall{Pos: name.Pos, Name: name}}
	first := true
	u.open(src, call(s.build))
	p.wantPunct('(')
	p.callArgs(u, s, &first)
	p.wantPunct(')')
	if plain {
		u.word(p.i, ")")
		return
	}
	if p.at("within", "group") {
		if len(s.order) > 0 {
			p.failAt(p.pos(), sqlerr.SyntaxError, "cannot use multiple ORDER BY clauses with "+
				"WITHIN GROUP")
		}
		p.skip(2)
		s.call.WithinGroup = true
		p.wantPunct('(')
		s.order = p.orderBy(u, &first)
		p.wantPunct(')')
	}
	if p.accept("filter") {
		p.wantPunct('(')
		p.want("where")
		u.separate(p.i, &first)
		p.aExpr(u)
		s.filter = true
		p.wantPunct(')')
	}
	if p.at("over") {
		s.window = p.over(u, &first)
	}
	u.word(p.i, ")")
}

// callArgs parses what is between the parentheses of a call.
func (p *parser) callArgs(u *unit, s *callShape, first *bool) {
	f := s.call
	switch {
	case p.tok().is(')'):
		return
	case p.tok().is('*'):
		p.next()
		f.Star = true
		return
	case p.accept("distinct"):
		f.Distinct = true
	default:
		p.accept("all")
	}
	p.list(func() {
		u.separate(p.i, first)
		f.Variadic = p.accept("variadic")
		if p.tok().typeOrFunctionName() &&
			(p.peek(1).kind == tokArrow || p.peek(1).kind == tokColonEq) {
			for len(f.ArgNames) < s.args {
				f.ArgNames = append(f.ArgNames, "")
			}
			f.ArgNames = append(f.ArgNames, p.label().Name)
			p.next()
		} else if f.ArgNames != nil {
			p.failAt(p.pos(), sqlerr.SyntaxError, "positional argument cannot follow named "+
				"argument")
		}
		p.aExpr(u)
		s.args++
		if f.Variadic && p.tok().is(',') { // it is the last argument
			p.unexpected()
		}
	})
	if p.at("order") {
		s.order = p.orderBy(u, first)
	}
}

// orderBy parses ORDER BY items and writes their expressions as further parts.
func (p *parser) orderBy(u *unit, first *bool) (items []ast.OrderItem) {
	p.want("order", "by")
	p.list(func() {
		u.separate(p.i, first)
		p.aExpr(u)
		items = append(items, p.orderDirection())
	})
	return items
}

// orderDirection parses ASC, DESC, USING op and NULLS FIRST or LAST.
func (p *parser) orderDirection() (item ast.OrderItem) {
	switch {
	case p.accept("asc"):
	case p.accept("desc"):
		item.Desc = true
	case p.at("using"):
		pos := p.pos()
		p.next()
		switch op := p.anyOperator(); op {
		case "<":
		case ">":
			item.Desc = true
		default:
			p.unsupported(pos, "ORDER BY USING "+op)
		}
	}
	item.NullsFirst = p.nullsOrder()
	return item
}

// nullsOrder parses NULLS FIRST or NULLS LAST, nil if neither is next.
func (p *parser) nullsOrder() *bool {
	first := true
	switch {
	case p.accept("nulls", "first"):
	case p.accept("nulls", "last"):
		first = false
	default:
		return nil
	}
	return &first
}

// windowShape is a window whose expressions are still on their way.
type windowShape struct {
	window    *ast.Window
	partition int
	order     []ast.OrderItem
	bounds    [2]bool // which ends of the frame have an offset
}

func (s *windowShape) build(parts []ast.Expr) (*ast.Window, []ast.Expr) {
	w := s.window
	if s.partition > 0 {
		w.PartitionBy = parts[:s.partition:s.partition]
	}
	parts = parts[s.partition:]
	w.OrderBy, parts = fillOrder(s.order, parts)
	if s.bounds[0] {
		w.Frame.Start, parts = parts[0], parts[1:]
	}
	if s.bounds[1] {
		w.Frame.End, parts = parts[0], parts[1:]
	}
	return w, parts
}

// over parses OVER name and OVER ( definition ).
func (p *parser) over(u *unit, first *bool) *windowShape {
	p.next()
	pos := p.pos()
	if p.tok().is('(') {
		return p.windowDefinition(u, first, &ast.Window{})
	}
	return &windowShape{window: &ast.Window{Pos: pos, Ref: p.name()}}
}

// windowDefinition parses ( [base] [PARTITION BY …] [ORDER BY …] [frame] ).
func (p *parser) windowDefinition(u *unit, first *bool, w *ast.Window) *windowShape {
	s := &windowShape{window: w}
	w.Pos = p.pos()
	p.wantPunct('(')
	if t := p.tok(); t.colID() && !p.at("partition") && !p.at("range") && !p.at("rows") &&
		!p.at("groups") {
		w.Ref, w.Copies = p.name(), true
	}
	if p.accept("partition", "by") {
		p.list(func() {
			u.separate(p.i, first)
			p.aExpr(u)
			s.partition++
		})
	}
	if p.at("order") {
		s.order = p.orderBy(u, first)
	}
	if p.at("range") || p.at("rows") || p.at("groups") {
		p.frame(u, first, s)
	}
	p.wantPunct(')')
	return s
}

// frame parses ROWS|RANGE|GROUPS bound or BETWEEN bound AND bound, and EXCLUDE.
func (p *parser) frame(u *unit, first *bool, s *windowShape) {
	f := &ast.Frame{Pos: p.pos(), Mode: p.next().str, EndKind: "current row"}
	s.window.Frame = f
	if p.accept("between") {
		f.Between = true
		f.StartKind = p.frameBound(u, first, &s.bounds[0])
		p.want("and")
		endPos := p.pos()
		f.EndKind = p.frameBound(u, first, &s.bounds[1])
		p.checkFrame(f, endPos)
	} else {
		f.StartKind = p.frameBound(u, first, &s.bounds[0])
		p.checkFrame(f, f.Pos)
	}
	if p.accept("exclude") {
		switch {
		case p.accept("current", "row"):
			f.Exclude = "current row"
		case p.accept("group"):
			f.Exclude = "group"
		case p.accept("ties"):
			f.Exclude = "ties"
		case p.accept("no", "others"):
			f.Exclude = "no others"
		default:
			p.unexpected()
		}
	}
}

// frameBound parses one bound and reports whether it has an offset.
func (p *parser) frameBound(u *unit, first *bool, offset *bool) string {
	switch {
	case p.accept("unbounded", "preceding"):
		return "unbounded preceding"
	case p.accept("unbounded", "following"):
		return "unbounded following"
	case p.accept("current", "row"):
		return "current row"
	}
	u.separate(p.i, first)
	p.aExpr(u)
	*offset = true
	switch {
	case p.accept("preceding"):
		return "preceding"
	case p.accept("following"):
		return "following"
	}
	p.unexpected()
	return ""
}

// checkFrame refuses what gram.y refuses.
func (p *parser) checkFrame(f *ast.Frame, endPos ast.Pos) {
	message := ""
	switch {
	case f.StartKind == "unbounded following":
		message = "frame start cannot be UNBOUNDED FOLLOWING"
	case f.EndKind == "unbounded preceding":
		message = "frame end cannot be UNBOUNDED PRECEDING"
	case f.StartKind == "current row" && f.EndKind == "preceding":
		message = "frame starting from current row cannot have preceding rows"
	case f.StartKind == "following" && (f.EndKind == "preceding" || f.EndKind == "current row"):
		message = "frame starting from following row cannot have preceding rows"
	}
	if message != "" {
		p.failAt(endPos, sqlerr.WindowingError, "%s", message)
	}
}
