package parse

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// wordOperand parses an operand that starts with a key word; false if the word is just a name here.
func (p *parser) wordOperand(u *unit, t *token) bool {
	src, pos := p.i, p.pos()
	switch t.kw {
	case "null":
		p.leafWord(u, &ast.Literal{Pos: pos, Kind: ast.LiteralNull})
	case "true":
		p.leafWord(u, &ast.Literal{Pos: pos, Kind: ast.LiteralBool, Text: "t"})
	case "false":
		p.leafWord(u, &ast.Literal{Pos: pos, Kind: ast.LiteralBool, Text: "f"})
	case "case":
		p.caseExpr(u)
	case "cast":
		p.cast(u)
	case "exists":
		if !p.peek(1).is('(') {
			return false
		}
		p.next()
		if !p.queryParen() {
			p.next()
			p.unexpected()
			return true
		}
		u.name(src, &ast.Exists{Pos: pos, Query: p.subquery()})
	case "array":
		p.array(u)
	case "row":
		if !p.peek(1).is('(') {
			return false
		}
		p.row(u)
	case "default":
		p.failAt(pos, sqlerr.SyntaxError, "DEFAULT is not allowed in this context")
	case "any", "some", "all":
		if p.comparesBefore() {
			p.next()
		}
		p.unexpected()
	case "unique":
		p.unsupported(pos, "UNIQUE predicate")
	case "current_date", "current_user", "current_role", "session_user", "user", "current_catalog":
		p.bareCall(u, false)
	case "current_time", "current_timestamp", "localtime", "localtimestamp":
		p.bareCall(u, true)
	case "current_schema":
		if p.peek(1).is('(') {
			return false
		}
		p.bareCall(u, false)
	case "collation":
		if p.peek(1).kw != "for" {
			return false
		}
		p.skip(2)
		p.wordCall(u, src, pos, "pg_collation_for", func() bool { p.aExpr(u); return true })
	default:
		return p.wordFunction(u, t)
	}
	return true
}

// leafWord writes e for the current token.
func (p *parser) leafWord(u *unit, e ast.Expr) {
	u.name(p.i, e)
	p.next()
}

// bareCall parses CURRENT_DATE and its like, with a precision where SQL allows one.
func (p *parser) bareCall(u *unit, precision bool) {
	src, pos, t := p.i, p.pos(), p.next()
	f := &ast.FuncCall{Pos: pos, Name: ast.Name{Pos: pos, Name: t.str}, Bare: true}
	if precision && p.punct('(') {
		if n := p.tok(); n.kind == tokInt {
			f.Args = []ast.Expr{numberLiteral(n)}
			p.next()
		} else {
			p.unexpected()
		}
		p.wantPunct(')')
	}
	u.name(src, f)
}

// wordFunction parses the functions whose arguments are separated by words.
func (p *parser) wordFunction(u *unit, t *token) bool {
	if !p.peek(1).is('(') {
		return false
	}
	src, pos := p.i, p.pos()
	switch t.kw {
	case "coalesce", "greatest", "least", "nullif", "grouping":
		p.next()
		p.wordCall(u, src, pos, t.str, func() bool {
			if n := p.commaExprs(u); t.kw == "nullif" && n != 2 {
				p.unexpected()
			}
			return false
		})
	case "extract":
		p.next()
		p.wordCall(u, src, pos, "extract", func() bool { p.extractArgs(u); return true })
	case "position":
		p.position(u)
	case "substring":
		p.substring(u)
	case "overlay":
		p.overlay(u)
	case "trim":
		p.trim(u)
	case "xmlconcat", "xmlelement", "xmlforest", "xmlparse", "xmlpi", "xmlroot", "xmlserialize":
		p.xml(u)
	case "normalize":
		p.next()
		p.wordCall(u, src, pos, "normalize", func() bool { p.normalizeArgs(u); return true })
	case "treat", "xmlexists":
		p.unsupported(pos, t.str)
	default:
		return false
	}
	return true
}

// wordCall writes a call of the named function around ( args ). args reports whether the arguments
// were separated by words.
func (p *parser) wordCall(u *unit, src int, pos ast.Pos, name string, args func() bool) {
	words := false
	p.enter()
	u.open(src, call(func(parts []ast.Expr) ast.Expr {
		return &ast.FuncCall{Pos: pos, Name: ast.Name{Pos: pos, Name: name}, Args: parts,
			Words: words}
	}))
	p.wantPunct('(')
	words = args()
	u.word(p.i, ")")
	p.wantPunct(')')
	p.leave()
}

// cast parses CAST ( x AS type ).
func (p *parser) cast(u *unit) {
	src, pos := p.i, p.pos()
	var typ ast.TypeName
	p.enter()
	p.next()
	u.open(src, call(func(parts []ast.Expr) ast.Expr {
		return &ast.Cast{Pos: pos, Operand: parts[0], Type: typ}
	}))
	p.wantPunct('(')
	p.aExpr(u)
	p.want("as")
	typ = p.typeName()
	u.word(p.i, ")")
	p.wantPunct(')')
	p.leave()
}

// extractArgs parses field FROM x; the field becomes a string.
func (p *parser) extractArgs(u *unit) {
	t := p.tok()
	if t.kind != tokString && t.kind != tokQuoted && (t.kind != tokIdent || t.kw != "") &&
		!p.intervalField() {
		p.unexpected()
		return
	}
	p.leafWord(u, &ast.Literal{Pos: p.pos(), Kind: ast.LiteralString, Text: t.str})
	u.word(p.i, ",")
	p.want("from")
	p.aExpr(u)
}

// position parses POSITION ( a IN b ), which is position(b, a).
func (p *parser) position(u *unit) {
	src, pos := p.i, p.pos()
	p.next()
	p.enter()
	u.open(src, call(func(parts []ast.Expr) ast.Expr {
		return &ast.FuncCall{Pos: pos, Name: ast.Name{Pos: pos, Name: "position"},
			Args: []ast.Expr{parts[1], parts[0]}, Words: true}
	}))
	p.wantPunct('(')
	p.bExpr(u)
	u.word(p.i, ",")
	p.want("in")
	p.bExpr(u)
	u.word(p.i, ")")
	p.wantPunct(')')
	p.leave()
}

// substring parses the SQL forms, with FROM and FOR or with SIMILAR and ESCAPE, and the plain one.
func (p *parser) substring(u *unit) {
	src, pos := p.i, p.pos()
	p.next()
	swap, similar, words := false, false, false
	p.enter()
	u.open(src, call(func(parts []ast.Expr) ast.Expr {
		f := &ast.FuncCall{Pos: pos, Name: ast.Name{Pos: pos, Name: "substring"}, Args: parts,
			Words: words}
		if swap { // FOR n FROM m
			parts[1], parts[2] = parts[2], parts[1]
		}
		if similar { // FOR n alone
			f.Args = []ast.Expr{parts[0], &ast.Literal{Pos: pos, Kind: ast.LiteralInt, Text: "1"},
				parts[1]}
		}
		return f
	}))
	p.wantPunct('(')
	if !p.tok().is(')') {
		p.aExpr(u)
		words = !p.tok().is(',') && !p.tok().is(')')
		switch {
		case p.accept("from"):
			p.nextPart(u)
			if p.accept("for") {
				p.nextPart(u)
			}
		case p.accept("for"):
			p.nextPart(u)
			swap = p.accept("from")
			similar = !swap
			if swap {
				p.nextPart(u)
			}
		case p.accept("similar"):
			p.nextPart(u)
			p.want("escape")
			p.nextPart(u)
		case p.tok().is(','):
			u.word(p.i, ",")
			p.next()
			p.commaExprs(u)
		}
	}
	u.word(p.i, ")")
	p.wantPunct(')')
	p.leave()
}

// nextPart writes a comma and an expression.
func (p *parser) nextPart(u *unit) {
	u.word(p.i, ",")
	p.aExpr(u)
}

// overlay parses OVERLAY ( x PLACING y FROM a [FOR b] ) and the plain form.
func (p *parser) overlay(u *unit) {
	src, pos := p.i, p.pos()
	p.next()
	p.wordCall(u, src, pos, "overlay", func() bool {
		p.aExpr(u)
		if !p.accept("placing") {
			if p.tok().is(',') {
				u.word(p.i, ",")
				p.next()
				p.commaExprs(u)
			}
			return false
		}
		p.nextPart(u)
		p.want("from")
		p.nextPart(u)
		if p.accept("for") {
			p.nextPart(u)
		}
		return true
	})
}

// trim parses TRIM ( [BOTH|LEADING|TRAILING] [chars] FROM x ) and TRIM ( x [, chars] ).
func (p *parser) trim(u *unit) {
	src, pos := p.i, p.pos()
	p.next()
	name, swap := "btrim", false
	p.enter()
	u.open(src, call(func(parts []ast.Expr) ast.Expr {
		if swap {
			parts = append(parts[1:len(parts):len(parts)], parts[0])
		}
		return &ast.FuncCall{Pos: pos, Name: ast.Name{Pos: pos, Name: name}, Args: parts,
			Words: true}
	}))
	p.wantPunct('(')
	switch {
	case p.accept("leading"):
		name = "ltrim"
	case p.accept("trailing"):
		name = "rtrim"
	default:
		p.accept("both")
	}
	if !p.accept("from") {
		p.aExpr(u)
		if p.accept("from") {
			swap = true
			u.word(p.i, ",")
			p.commaExprs(u)
		} else if p.tok().is(',') {
			u.word(p.i, ",")
			p.next()
			p.commaExprs(u)
		}
	} else {
		p.commaExprs(u)
	}
	u.word(p.i, ")")
	p.wantPunct(')')
	p.leave()
}
