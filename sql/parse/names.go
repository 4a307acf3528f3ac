package parse

import (
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/ast"
)

// ident parses a ColId: the name of a column, table, index and so on.
func (p *parser) ident() ast.Ident {
	t := p.tok()
	if !t.colID() {
		p.unexpected()
		return ast.Ident{}
	}
	p.next()
	return ast.Ident{Pos: ast.Pos(t.pos) + 1, Name: t.str}
}

// name is ident without its place.
func (p *parser) name() string { return p.ident().Name }

// label parses a ColLabel: any word.
func (p *parser) label() ast.Ident {
	t := p.tok()
	if !t.label() {
		p.unexpected()
		return ast.Ident{}
	}
	p.next()
	return ast.Ident{Pos: ast.Pos(t.pos) + 1, Name: t.str}
}

// optName parses a name if one is next.
func (p *parser) optName() string {
	if p.tok().colID() {
		return p.name()
	}
	return ""
}

// idents parses ( a, b, … ).
func (p *parser) idents() (out []ast.Ident) {
	p.parenList(func() { out = append(out, p.ident()) })
	return out
}

// optIdents parses ( a, b, … ) if a parenthesis is next.
func (p *parser) optIdents() []ast.Ident {
	if p.tok().is('(') {
		return p.idents()
	}
	return nil
}

// qualified parses [[database.]schema.]name.
func (p *parser) qualified() ast.Name {
	first := p.ident()
	parts := p.dotted(first.Name)
	return p.nameOf(first.Pos, parts)
}

// dotted parses what follows the first part of a qualified name.
func (p *parser) dotted(first string) []string {
	if !p.tok().is('.') {
		return []string{first}
	}
	parts := []string{first}
	for p.punct('.') {
		parts = append(parts, p.label().Name)
	}
	return parts
}

func (p *parser) nameOf(pos ast.Pos, parts []string) ast.Name {
	n := ast.Name{Pos: pos, Name: parts[len(parts)-1]}
	switch len(parts) {
	case 1:
	case 2:
		n.Schema = parts[0]
	case 3:
		n.Database, n.Schema = parts[0], parts[1]
	default:
		p.failAt(pos, sqlerr.SyntaxError, "improper qualified name (too many dotted names): %s",
			strings.Join(parts, "."))
	}
	return n
}

// names parses a comma list of qualified names.
func (p *parser) names() (out []ast.Name) {
	p.list(func() { out = append(out, p.qualified()) })
	return out
}

// relation parses [ONLY] name [*].
func (p *parser) relation() (n ast.Name, only bool) {
	only = p.accept("only")
	paren := only && p.punct('(')
	n = p.qualified()
	if paren {
		p.wantPunct(')')
	} else if !only {
		p.punct('*')
	}
	return n, only
}

// stringLit requires a string literal.
func (p *parser) stringLit() string {
	if p.tok().kind != tokString {
		p.unexpected()
		return ""
	}
	return p.next().str
}

// integer parses a signed integer constant.
func (p *parser) integer() int64 {
	sign := ""
	if p.punct('-') {
		sign = "-"
	} else {
		p.punct('+')
	}
	t := p.tok()
	if t.kind != tokInt {
		p.unexpected()
		return 0
	}
	p.next()
	n, err := strconv.ParseInt(sign+t.str, 10, 64)
	if err != nil {
		p.failAt(ast.Pos(t.pos)+1, sqlerr.NumericValueOutOfRange,
			"value \"%s%s\" is out of range for type bigint", sign, t.str)
	}
	return n
}

// nonReservedWord parses a word that is not reserved: language, role and option names.
func (p *parser) nonReservedWord() ast.Ident {
	t := p.tok()
	if t.kind != tokQuoted && (t.kind != tokIdent || t.use.Category == sqlname.Reserved) {
		p.unexpected()
		return ast.Ident{}
	}
	return p.label()
}
