package parse

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// wordOperand parses an operand that starts with a key word; false if the word is just a name here.
func (p *parser) wordOperand(u *unit, t *token) bool {
	src, pos := p.i, p.pos()
	switch t.kw {
	case kwNull:
		p.leafWord(u, &ast.Literal{Pos: pos, Kind: ast.LiteralNull})
	case kwTrue:
		p.leafWord(u, &ast.Literal{Pos: pos, Kind: ast.LiteralBool, Text: "t"})
	case kwFalse:
		p.leafWord(u, &ast.Literal{Pos: pos, Kind: ast.LiteralBool, Text: "f"})
	case kwCase:
		p.caseExpr(u)
	case kwCast:
		p.cast(u)
	case kwExists:
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
	case kwArray:
		p.array(u)
	case kwRow:
		if !p.peek(1).is('(') {
			return false
		}
		p.row(u)
	case kwDefault:
		p.failAt(pos, sqlerr.SyntaxError, "DEFAULT is not allowed in this context")
	case kwAny, kwSome, kwAll:
		if p.comparesBefore() {
			p.next()
		}
		p.unexpected()
	case kwUnique:
		p.unsupported(pos, "UNIQUE predicate")
	case kwCurrentDate, kwCurrentUser, kwCurrentRole, kwSessionUser, kwUser, kwCurrentCatalog:
		p.bareCall(u, false)
	case kwCurrentTime, kwCurrentTimestamp, kwLocaltime, kwLocaltimestamp:
		p.bareCall(u, true)
	case kwCurrentSchema:
		if p.peek(1).is('(') {
			return false
		}
		p.bareCall(u, false)
	case kwCollation:
		if p.peek(1).kw != kwFor {
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
	case kwCoalesce, kwGreatest, kwLeast, kwNullif, kwGrouping:
		p.next()
		p.wordCall(u, src, pos, t.str, func() bool {
			if n := p.commaExprs(u); t.kw == kwNullif && n != 2 {
				p.unexpected()
			}
			return false
		})
	case kwExtract:
		p.next()
		p.wordCall(u, src, pos, "extract", func() bool { p.extractArgs(u); return true })
	case kwPosition:
		p.position(u)
	case kwSubstring:
		p.substring(u)
	case kwOverlay:
		p.overlay(u)
	case kwTrim:
		p.trim(u)
	case kwNormalize, kwTreat, kwXmlconcat, kwXmlelement, kwXmlexists, kwXmlforest, kwXmlparse, kwXmlpi,
		kwXmlroot, kwXmlserialize:
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
		return &ast.FuncCall{Pos: pos, Name: ast.Name{Pos: pos, Name: name}, Args: parts, Words: words}
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
	p.want(kwAs)
	typ = p.typeName()
	u.word(p.i, ")")
	p.wantPunct(')')
	p.leave()
}

// extractArgs parses field FROM x; the field becomes a string.
func (p *parser) extractArgs(u *unit) {
	t := p.tok()
	if t.kind != tokString && t.kind != tokQuoted && (t.kind != tokIdent || t.kw != notKeyword) && !p.intervalField() {
		p.unexpected()
		return
	}
	p.leafWord(u, &ast.Literal{Pos: p.pos(), Kind: ast.LiteralString, Text: t.str})
	u.word(p.i, ",")
	p.want(kwFrom)
	p.aExpr(u)
}

// position parses POSITION ( a IN b ), which is position(b, a).
func (p *parser) position(u *unit) {
	src, pos := p.i, p.pos()
	p.next()
	p.enter()
	u.open(src, call(func(parts []ast.Expr) ast.Expr {
		return &ast.FuncCall{Pos: pos, Name: ast.Name{Pos: pos, Name: "position"}, Args: []ast.Expr{parts[1], parts[0]}, Words: true}
	}))
	p.wantPunct('(')
	p.bExpr(u)
	u.word(p.i, ",")
	p.want(kwIn)
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
		f := &ast.FuncCall{Pos: pos, Name: ast.Name{Pos: pos, Name: "substring"}, Args: parts, Words: words}
		if swap { // FOR n FROM m
			parts[1], parts[2] = parts[2], parts[1]
		}
		if similar { // FOR n alone
			f.Args = []ast.Expr{parts[0], &ast.Literal{Pos: pos, Kind: ast.LiteralInt, Text: "1"}, parts[1]}
		}
		return f
	}))
	p.wantPunct('(')
	if !p.tok().is(')') {
		p.aExpr(u)
		words = !p.tok().is(',') && !p.tok().is(')')
		switch {
		case p.accept(kwFrom):
			p.nextPart(u)
			if p.accept(kwFor) {
				p.nextPart(u)
			}
		case p.accept(kwFor):
			p.nextPart(u)
			swap = p.accept(kwFrom)
			similar = !swap
			if swap {
				p.nextPart(u)
			}
		case p.accept(kwSimilar):
			p.nextPart(u)
			p.want(kwEscape)
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
		if !p.accept(kwPlacing) {
			if p.tok().is(',') {
				u.word(p.i, ",")
				p.next()
				p.commaExprs(u)
			}
			return false
		}
		p.nextPart(u)
		p.want(kwFrom)
		p.nextPart(u)
		if p.accept(kwFor) {
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
		return &ast.FuncCall{Pos: pos, Name: ast.Name{Pos: pos, Name: name}, Args: parts, Words: true}
	}))
	p.wantPunct('(')
	switch {
	case p.accept(kwLeading):
		name = "ltrim"
	case p.accept(kwTrailing):
		name = "rtrim"
	default:
		p.accept(kwBoth)
	}
	if !p.accept(kwFrom) {
		p.aExpr(u)
		if p.accept(kwFrom) {
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
