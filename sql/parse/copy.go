package parse

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// copyStatement parses COPY in today's syntax and in the one of PostgreSQL 8.
func (p *parser) copyStatement() ast.Statement {
	c := &ast.Copy{Pos: p.pos()}
	p.next()
	if pos := p.pos(); p.accept("binary") {
		c.Options = append(c.Options, ast.Option{Pos: pos, Name: "format", Value: "binary"})
	}
	if p.tok().is('(') {
		p.copyQuery(c)
	} else {
		n := p.qualified()
		c.Table = &n
		c.Columns = p.optIdents()
	}
	switch {
	case c.Query == nil && p.accept("from"):
		c.From = true
	default:
		p.want("to")
	}
	c.Program = p.accept("program")
	switch {
	case p.tok().kind == tokString:
		c.File = p.stringLit()
	case !c.Program && p.acceptAny("stdin", "stdout"):
	default:
		p.unexpected()
	}
	p.copyOptions(c)
	if pos := p.pos(); p.accept("where") {
		if !c.From {
			p.failAt(pos, sqlerr.SyntaxError, "WHERE clause not allowed with COPY TO")
		}
		c.Where = p.expr()
	}
	return c
}

// copyQuery parses ( query ).
func (p *parser) copyQuery(c *ast.Copy) {
	p.wantPunct('(')
	switch p.tok().kw {
	case "insert", "update", "delete":
		p.unsupported(p.pos(), "COPY of a statement that changes data")
	case "merge":
		p.failAt(0, sqlerr.FeatureNotSupported, "MERGE not supported in COPY")
	}
	stmt := p.queryOrDML()
	p.wantPunct(')')
	q, ok := stmt.(*ast.Select)
	if !ok {
		p.unsupported(c.Pos, "COPY of a statement that changes data")
	}
	c.Query = q
}

// copyOptions parses [WITH] ( options ) or the old words, which become the same options.
func (p *parser) copyOptions(c *ast.Copy) {
	add := func(pos ast.Pos, name, value string) {
		c.Options = append(c.Options, ast.Option{Pos: pos, Name: name, Value: value})
	}
	if pos := p.pos(); p.acceptAny("using") {
		p.want("delimiters")
		add(pos, "delimiter", p.stringLit())
	}
	p.accept("with")
	if p.tok().is('(') {
		c.Options = append(c.Options, p.optionList(p.label)...)
		return
	}
	for p.err == nil {
		pos := p.pos()
		switch {
		case p.accept("binary"):
			add(pos, "format", "binary")
		case p.accept("csv"):
			add(pos, "format", "csv")
		case p.accept("freeze"):
			add(pos, "freeze", "true")
		case p.accept("header"):
			add(pos, "header", "true")
		case p.acceptAny("delimiter", "delimiters"):
			p.accept("as")
			add(pos, "delimiter", p.stringLit())
		case p.accept("null"):
			p.accept("as")
			add(pos, "null", p.stringLit())
		case p.accept("quote"):
			p.accept("as")
			add(pos, "quote", p.stringLit())
		case p.accept("escape"):
			p.accept("as")
			add(pos, "escape", p.stringLit())
		case p.accept("encoding"):
			add(pos, "encoding", p.stringLit())
		case p.accept("force", "quote"):
			p.forceColumns(c, pos, "force_quote")
		case p.accept("force", "not", "null"):
			p.forceColumns(c, pos, "force_not_null")
		case p.accept("force", "null"):
			p.forceColumns(c, pos, "force_null")
		default:
			return
		}
	}
}

// forceColumns parses the columns, or *, of FORCE QUOTE and its like.
func (p *parser) forceColumns(c *ast.Copy, pos ast.Pos, name string) {
	o := ast.Option{Pos: pos, Name: name}
	if p.punct('*') {
		o.Value = "*"
	} else {
		p.list(func() { o.List = append(o.List, p.name()) })
	}
	c.Options = append(c.Options, o)
}
