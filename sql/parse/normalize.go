package parse

import (
	"strings"

	"github.com/minidb/minidb/planner/ast"
)

// normalForm parses the name of a normal form of Unicode, which becomes a string: NFC, NFD, NFKC or
// NFKD. It returns nil for any other word.
func (p *parser) normalForm() *ast.Literal {
	switch t := p.tok(); t.kw {
	case "nfc", "nfd", "nfkc", "nfkd":
		l := &ast.Literal{Pos: p.pos(), Kind: ast.LiteralString, Text: strings.ToUpper(t.str)}
		p.next()
		return l
	}
	return nil
}

// normalizeArgs parses what is in the parentheses of NORMALIZE ( x [, form] ).
func (p *parser) normalizeArgs(u *unit) {
	p.aExpr(u)
	if !p.tok().is(',') {
		return
	}
	u.word(p.i, ",")
	p.next()
	src := p.i
	form := p.normalForm()
	if form == nil {
		p.unexpected()
		return
	}
	u.name(src, form)
}

// normalTest parses the rest of x IS [NOT] [form] NORMALIZED. As in PostgreSQL it is a call of
// is_normalized, below NOT.
func (p *parser) normalTest(pos ast.Pos, not bool) func(l ast.Expr, _ []ast.Expr) ast.Expr {
	form := p.normalForm()
	p.want("normalized")
	return func(l ast.Expr, _ []ast.Expr) ast.Expr {
		f := &ast.FuncCall{Pos: pos, Name: ast.Name{Pos: pos, Name: "is_normalized"},
			Args: []ast.Expr{l}, Words: true}
		if form != nil {
			f.Args = append(f.Args, form)
		}
		if not {
			return &ast.Unary{Pos: pos, Op: "not", Operand: f}
		}
		return f
	}
}
