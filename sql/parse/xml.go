package parse

import (
	"github.com/minidb/minidb/planner/ast"
)

// xml parses a construct of SQL/XML.
func (p *parser) xml(u *unit) {
	src := p.i
	e := &ast.XML{Pos: p.pos(), Op: p.next().str}
	p.enter()
	u.open(src, call(func(parts []ast.Expr) ast.Expr {
		e.Named, e.Args = parts[:len(e.Names):len(e.Names)], parts[len(e.Names):]
		return e
	}))
	p.wantPunct('(')
	switch e.Op {
	case "xmlconcat":
		p.commaExprs(u)
	case "xmlelement":
		p.xmlElement(u, e)
	case "xmlforest":
		p.xmlNamed(u, e)
	case "xmlparse":
		p.xmlOption(e)
		p.aExpr(u)
		if e.Preserve = p.accept("preserve", "whitespace"); !e.Preserve {
			p.accept("strip", "whitespace")
		}
	case "xmlpi":
		p.want("name")
		e.Name = p.label().Name
		if p.tok().is(',') {
			p.next()
			p.aExpr(u)
		}
	case "xmlroot":
		p.xmlRoot(u, e)
	case "xmlserialize":
		p.xmlOption(e)
		p.aExpr(u)
		p.want("as")
		e.Type = p.typeName()
	}
	u.word(p.i, ")")
	p.wantPunct(')')
	p.leave()
}

// xmlOption parses DOCUMENT or CONTENT.
func (p *parser) xmlOption(e *ast.XML) {
	if e.Document = p.accept("document"); !e.Document {
		p.want("content")
	}
}

// xmlElement parses NAME name [, XMLATTRIBUTES ( … )] [, expression …].
func (p *parser) xmlElement(u *unit, e *ast.XML) {
	p.want("name")
	e.Name = p.label().Name
	if !p.tok().is(',') {
		return
	}
	p.next()
	if p.at("xmlattributes") {
		p.next()
		p.wantPunct('(')
		p.xmlNamed(u, e)
		p.wantPunct(')')
		if !p.tok().is(',') {
			return
		}
		u.word(p.i, ",")
		p.next()
	}
	p.commaExprs(u)
}

// xmlNamed parses expressions with names after AS.
func (p *parser) xmlNamed(u *unit, e *ast.XML) {
	for {
		p.aExpr(u)
		name := ""
		if p.accept("as") {
			name = p.label().Name
		}
		e.Names = append(e.Names, name)
		if p.err != nil || !p.tok().is(',') {
			return
		}
		u.word(p.i, ",")
		p.next()
	}
}

// xmlRoot parses value, VERSION … [, STANDALONE …]. No version is NULL.
func (p *parser) xmlRoot(u *unit, e *ast.XML) {
	p.aExpr(u)
	u.word(p.i, ",")
	p.wantPunct(',')
	p.want("version")
	if p.at("no") && p.peek(1).kw == "value" {
		p.leafWord(u, &ast.Literal{Pos: p.pos(), Kind: ast.LiteralNull})
		p.want("value")
	} else {
		p.aExpr(u)
	}
	if !p.tok().is(',') {
		return
	}
	p.next()
	p.want("standalone")
	switch {
	case p.accept("yes"):
		e.Standalone = "yes"
	case p.accept("no", "value"):
		e.Standalone = "no value"
	default:
		p.want("no")
		e.Standalone = "no"
	}
}
