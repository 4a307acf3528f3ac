package parse

import (
	"github.com/minidb/minidb/planner/ast"
)

// createIndex parses INDEX behind CREATE [UNIQUE].
func (p *parser) createIndex(x *ast.CreateIndex) ast.Statement {
	p.want("index")
	x.Concurrently = p.accept("concurrently")
	x.IfNotExists = p.ifNotExists()
	if x.IfNotExists || !p.at("on") {
		x.Name = p.name()
	}
	p.want("on")
	x.Table, x.Only = p.relation()
	if p.accept("using") {
		x.Method = p.name()
	}
	p.parenList(func() { x.Elems = append(x.Elems, p.indexElem()) })
	if p.accept("include") {
		x.Include = p.idents()
	}
	x.NullsNotDistinct = p.nullsNotDistinct()
	if p.accept("with") {
		x.Options = p.storageOptions()
	}
	p.tablespace()
	if p.accept("where") {
		x.Where = p.expr()
	}
	return x
}

// indexElem parses a column, a function call or ( expression ) with its order.
func (p *parser) indexElem() (e ast.IndexElem) {
	e.Pos = p.pos()
	switch {
	case p.tok().is('('):
		e.Expr = p.parenExpr()
	case p.functionHere():
		e.Expr = p.windowless()
		switch e.Expr.(type) {
		case *ast.FuncCall, *ast.Cast, *ast.XML:
		default:
			p.unsupported(e.Pos, "expression without parentheses in an index")
		}
	default:
		id := p.ident()
		e.Expr = &ast.ColumnRef{Pos: id.Pos, Name: id.Name}
	}
	if p.accept("collate") {
		n := p.qualified()
		e.Collation = &n
	}
	if p.tok().colID() && !p.at("nulls") {
		e.OpClass = p.qualified().Name
		if p.tok().is('(') {
			p.unsupported(p.pos(), "operator class parameters")
		}
	}
	if !p.accept("asc") {
		e.Desc = p.accept("desc")
	}
	e.NullsFirst = p.nullsOrder()
	return e
}
