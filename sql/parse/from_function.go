package parse

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// functionHere reports whether a function call starts here.
func (p *parser) functionHere() bool {
	switch p.tok().kw {
	case "current_date", "current_time", "current_timestamp", "current_user", "current_role",
		"session_user", "user",
		"current_catalog", "current_schema", "localtime", "localtimestamp", "cast":
		return true
	}
	if !p.tok().label() {
		return false
	}
	if p.at("collation", "for") {
		return true
	}
	n := 1
	for p.peek(n).is('.') && p.peek(n+1).label() {
		n += 2
	}
	return p.peek(n).is('(')
}

// rowsFromHere reports whether ROWS FROM ( starts here.
func (p *parser) rowsFromHere() bool {
	return p.tok().kw == "rows" && p.peek(1).kw == "from" && p.peek(2).is('(')
}

// functionRef parses a function in FROM, or ROWS FROM with its functions, and what may follow: WITH
// ORDINALITY, alias and column definitions.
func (p *parser) functionRef(lateral bool) *ast.FuncRef {
	f := &ast.FuncRef{Pos: p.pos(), Lateral: lateral, RowsFrom: p.rowsFromHere()}
	if f.RowsFrom {
		p.skip(2)
		p.parenList(func() { f.Funcs = append(f.Funcs, p.rowsFromItem()) })
	} else {
		f.Funcs = []ast.FromFunc{{Call: p.windowlessCall()}}
	}
	if p.err != nil {
		return nil
	}
	unnests := !f.RowsFrom && unnestsSeveral(f.Funcs[0].Call)
	if unnests {
		f.Funcs, f.RowsFrom = eachUnnested(f.Funcs[0].Call), true
	}
	f.Ordinality = p.accept("with", "ordinality")
	as := !p.atAsOf() && p.accept("as")
	if p.tok().colID() {
		f.Alias = p.name()
	} else if as && !p.tok().is('(') {
		p.unexpected()
	}
	if (as || f.Alias != "") && p.tok().is('(') {
		p.functionColumns(f)
	}
	if unnests && f.ColumnDefs != nil {
		p.fail(sqlerr.New(sqlerr.SyntaxError, "UNNEST() with multiple arguments cannot have a "+
			"column definition list").At(int(f.ColumnDefs[0].Name.Pos)).
			WithHint("Use separate UNNEST() calls inside ROWS FROM(), and attach a column " +
				"definition list to each one."))
	}
	return f
}

// unnestsSeveral reports whether a call is unnest(a, b, …), which is ROWS FROM (unnest(a),
// unnest(b), …) of pg_catalog.
func unnestsSeveral(c *ast.FuncCall) bool {
	if c.Name.Schema != "" || c.Name.Name != "unnest" || len(c.Args) < 2 {
		return false
	}
	return c.ArgNames == nil && !c.Variadic && !c.Distinct && c.OrderBy == nil && c.Filter == nil
}

func eachUnnested(c *ast.FuncCall) []ast.FromFunc {
	funcs := make([]ast.FromFunc, len(c.Args))
	for i := range c.Args {
		one := *c
		one.Args, one.Name.Schema = c.Args[i:i+1], "pg_catalog"
		funcs[i].Call = &one
	}
	return funcs
}

// rowsFromItem parses function ( arguments ) [AS ( name type, … )], an element of ROWS FROM.
func (p *parser) rowsFromItem() ast.FromFunc {
	f := ast.FromFunc{Call: p.windowlessCall()}
	if p.accept("as") {
		f.ColumnDefs = p.columnDefinitions()
	}
	return f
}

// windowless parses what is written as a function call, by itself.
func (p *parser) windowless() ast.Expr {
	l := p.newExprList()
	l.addWith(func(u *unit) {
		p.plainCall = true
		p.primary(u)
		p.plainCall = false
	})
	return l.finish()[0]
}

// windowlessCall parses a function call by itself.
func (p *parser) windowlessCall() *ast.FuncCall {
	pos := p.pos()
	e := p.windowless()
	if p.err != nil {
		return nil
	}
	call, ok := e.(*ast.FuncCall)
	if !ok {
		p.unsupported(pos, "expression in FROM")
	}
	return call
}

// functionColumns parses ( names ) or ( name type, … ).
func (p *parser) functionColumns(f *ast.FuncRef) {
	if f.Alias == "" || !p.peek(2).is(',') && !p.peek(2).is(')') {
		f.ColumnDefs = p.columnDefinitions()
		return
	}
	f.Columns = p.idents()
}

// columnDefinitions parses ( name type, … ).
func (p *parser) columnDefinitions() []ast.ColumnType {
	var defs []ast.ColumnType
	p.parenList(func() {
		c := ast.ColumnType{Name: p.ident(), Type: p.typeName()}
		if pos := p.pos(); p.accept("collate") {
			n := p.qualified()
			n.Pos = pos
			c.Collation = &n
		}
		defs = append(defs, c)
	})
	return defs
}
