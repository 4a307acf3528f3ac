package parse

import (
	"math"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// typeName parses a type with its modifiers and array bounds.
func (p *parser) typeName() ast.TypeName {
	if p.at("setof") {
		p.unsupported(p.pos(), "SETOF")
		return ast.TypeName{}
	}
	t := p.simpleType()
	if p.accept("array") {
		t.ArrayDims = 1
		if p.punct('[') {
			p.integer()
			p.wantPunct(']')
		}
		return t
	}
	for p.punct('[') {
		t.ArrayDims++
		if p.tok().kind == tokInt {
			p.next()
		}
		p.wantPunct(']')
	}
	return t
}

// plainTypes are the type key words that take at most a list of modifiers.
var plainTypes = map[keyword]string{
	"int": "int4", "integer": "int4", "smallint": "int2", "bigint": "int8", "real": "float4",
	"boolean": "bool", "numeric": "numeric", "decimal": "numeric", "dec": "numeric",
}

// simpleType parses a type without array bounds.
func (p *parser) simpleType() ast.TypeName {
	t := ast.TypeName{Pos: p.pos()}
	kw := p.tok().kw
	if name, ok := plainTypes[kw]; ok && kw != "" {
		p.next()
		t.Name = name
		if name == "numeric" {
			t.Mods = p.optMods()
		}
		return t
	}
	switch kw {
	case "float":
		p.next()
		t.Name = p.floatName()
	case "double":
		if p.peek(1).kw != "precision" {
			return p.genericType()
		}
		p.skip(2)
		t.Name = "float8"
	case "bit":
		p.next()
		t.Name, t.Mods = "bit", []int{1}
		if p.accept("varying") {
			t.Name, t.Mods = "varbit", nil
		}
		if mods := p.optMods(); mods != nil {
			t.Mods = mods
		}
	case "character", "char", "nchar", "national", "varchar":
		p.characterType(&t)
	case "timestamp", "time":
		p.next()
		t.Name = "timestamp"
		if kw == "time" {
			t.Name = "time"
		}
		p.lengthOf(&t)
		if p.accept("with", "time", "zone") {
			t.Name += "tz"
		} else {
			p.accept("without", "time", "zone")
		}
	case "interval":
		p.next()
		t.Name = "interval"
		if p.tok().is('(') {
			p.lengthOf(&t)
		} else {
			p.intervalFields(&t)
		}
	default:
		return p.genericType()
	}
	return t
}

// genericType parses a named type: any function-like name with optional modifiers.
func (p *parser) genericType() ast.TypeName {
	first := p.tok()
	t := ast.TypeName{Pos: p.pos()}
	if !first.typeOrFunctionName() {
		if !first.colID() || !p.peek(1).is('.') {
			p.unexpected()
			return t
		}
	}
	p.next()
	if p.tok().is('.') {
		n := p.nameOf(t.Pos, p.dotted(first.str))
		t.Schema, t.Name = n.Schema, n.Name
	} else {
		t.Name = first.str
	}
	if p.tok().is('%') && p.peek(1).kw == "type" {
		p.unsupported(t.Pos, "%TYPE")
	}
	t.Mods = p.optMods()
	return t
}

// optMods parses ( n, … ) if it is next.
func (p *parser) optMods() (mods []int) {
	if !p.tok().is('(') {
		return nil
	}
	p.parenList(func() {
		pos := p.pos()
		if t := p.tok(); t.kind == tokIdent || t.kind == tokQuoted || t.kind == tokString {
			p.unsupported(pos, "type modifier "+t.str)
			return
		}
		n := p.integer()
		if n > math.MaxInt32 || n < math.MinInt32 {
			p.failAt(pos, sqlerr.NumericValueOutOfRange,
				"value \"%d\" is out of range for type integer", n)
		}
		mods = append(mods, int(n))
	})
	return mods
}

// lengthOf parses an optional ( n ) into t.
func (p *parser) lengthOf(t *ast.TypeName) {
	if p.punct('(') {
		t.Mods = []int{p.typeLength()}
		p.wantPunct(')')
	}
}

func (p *parser) typeLength() int {
	t := p.tok()
	if t.kind != tokInt {
		p.unexpected()
		return 0
	}
	n := p.integer()
	if n > math.MaxInt32 {
		p.failAt(ast.Pos(t.pos)+1, sqlerr.SyntaxError, "syntax error at or near \"%s\"", t.str)
	}
	return int(n)
}

// floatName parses the precision of FLOAT and chooses the type as PostgreSQL does.
func (p *parser) floatName() string {
	if !p.punct('(') {
		return "float8"
	}
	pos, n := p.pos(), p.typeLength()
	p.wantPunct(')')
	switch {
	case n < 1:
		p.failAt(pos, sqlerr.InvalidParameterValue,
			"precision for type float must be at least 1 bit")
	case n <= 24:
		return "float4"
	case n > 53:
		p.failAt(pos, sqlerr.InvalidParameterValue,
			"precision for type float must be less than 54 bits")
	}
	return "float8"
}

func (p *parser) characterType(t *ast.TypeName) {
	kw := p.next().kw
	if kw == "national" && !p.acceptAny("character", "char") {
		p.unexpected()
	}
	t.Name, t.Mods = "bpchar", []int{1}
	if kw == "varchar" || p.accept("varying") {
		t.Name, t.Mods = "varchar", nil
	}
	p.lengthOf(t)
}

// intervalFields parses YEAR TO MONTH and the like, seconds with a precision.
func (p *parser) intervalFields(t *ast.TypeName) {
	if !p.intervalField() {
		return
	}
	fields := p.next().str
	if p.accept("to") {
		to := p.tok().kw
		order := strings.Index("year month day hour minute second", p.tok().str)
		if !p.intervalField() ||
			order <= strings.Index("year month day hour minute second", fields) ||
			fields == "year" && to != "month" || fields == "month" {
			p.unexpected()
			return
		}
		fields += " to " + p.next().str
	}
	t.Fields = fields
	if strings.HasSuffix(fields, "second") {
		p.lengthOf(t)
	}
}

func (p *parser) intervalField() bool {
	switch p.tok().kw {
	case "year", "month", "day", "hour", "minute", "second":
		return true
	}
	return false
}

// literalType reports whether a type followed by a string literal starts here (`date '2020-01-01'`)
// and if so, the position of the literal.
func (p *parser) literalType() bool {
	t := p.tok()
	if t.kind != tokIdent && t.kind != tokQuoted {
		return false
	}
	switch t.kw {
	case "double":
		return p.peek(1).kw == "precision" && p.peek(2).kind == tokString
	case "bit", "character", "char", "nchar", "national", "varchar", "float", "numeric", "decimal",
		"dec",
		"timestamp", "time", "interval":
		return p.literalAfterType()
	}
	if t.kw != "" && plainTypes[t.kw] == "" && !t.typeOrFunctionName() &&
		!(t.colID() && p.peek(1).is('.')) {
		return false
	}
	n := 1
	for p.peek(n).is('.') && p.peek(n+1).label() {
		n += 2
	}
	if p.peek(n).is('(') && p.peek(n).pair > 0 {
		close := int(p.peek(n).pair)
		return close+1 < len(p.toks) && p.toks[close+1].kind == tokString
	}
	return p.peek(n).kind == tokString
}

// literalAfterType looks over the words and the modifiers of a key word type for a string.
func (p *parser) literalAfterType() bool {
	i := p.i + 1
	if p.tok().kw == "national" {
		i++
	}
	for i < len(p.toks) {
		switch t := &p.toks[i]; {
		case t.kind == tokString:
			return true
		case t.kw == "varying" || t.kw == "with" || t.kw == "without" || t.kw == "time" ||
			t.kw == "zone":
			i++
		case t.is('(') && t.pair > 0:
			i = int(t.pair) + 1
		default:
			return false
		}
	}
	return false
}

// typedLiteral parses `type 'literal'` and, for intervals, the fields that follow.
func (p *parser) typedLiteral() ast.Expr {
	pos := p.pos()
	var t ast.TypeName
	if p.at("interval") {
		p.next()
		t = ast.TypeName{Pos: pos, Name: "interval"}
		precision := p.tok().is('(')
		p.lengthOf(&t)
		lit := p.literal()
		if !precision {
			p.intervalFields(&t)
		}
		return &ast.Cast{Pos: pos, Operand: lit, Type: t}
	}
	t = p.simpleType()
	if (t.Name == "bpchar" || t.Name == "bit") && !p.toks[p.i-1].is(')') {
		t.Mods = nil // without a length a literal may have any, where a column has 1
	}
	return &ast.Cast{Pos: pos, Operand: p.literal(), Type: t}
}

// literal parses a string constant.
func (p *parser) literal() ast.Expr {
	pos := p.pos()
	return &ast.Literal{Pos: pos, Kind: ast.LiteralString, Text: p.stringLit()}
}
