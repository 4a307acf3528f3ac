package plpgsql

import (
	"errors"
	"strings"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/table/types"
)

// declare numbers a variable and adds it to the scope.
func (p *parser) declare(v *Variable) *Variable {
	v.Number = len(p.program.Variables)
	p.program.Variables = append(p.program.Variables, v)
	p.scope = &Scope{outer: p.scope, kind: variableName, name: v.Name, variable: v,
		conflict: p.conflict}
	return v
}

// push begins a level of names.
func (p *parser) push(kind scopeKind, label string) {
	p.scope = &Scope{outer: p.scope, kind: kind, name: label, conflict: p.conflict}
}

// label reads <<name>> if it is next.
func (p *parser) label() string {
	if !p.symbol("<<") {
		return ""
	}
	name := p.name()
	p.wantSymbol(">>")
	return name
}

// declarations reads DECLARE and what follows, as long as there is some.
func (p *parser) declarations() []*Variable {
	first := len(p.program.Variables)
	for p.accept("declare") {
		for !p.at("begin") && !p.at("declare") {
			if p.atSymbol("<<") {
				p.next()
				p.name()
				p.wantSymbol(">>")
				p.fail(sqlerr.SyntaxError, "block label must be placed before DECLARE, not after")
			}
			p.declaration()
		}
	}
	var out []*Variable
	for _, v := range p.program.Variables[first:] {
		if v.Line > 0 {
			out = append(out, v)
		}
	}
	return out
}

// declaration reads one declaration up to its semicolon.
func (p *parser) declaration() {
	line, namePos := p.place().Line, p.pos()
	nameTok := p.tok()
	name := p.name()
	if p.scope.inBlock(name) {
		panic(failure.At(namePos, sqlerr.SyntaxError, "duplicate declaration at or near \"%s\"",
			p.src[nameTok.Pos:nameTok.End]))
	}
	switch {
	case p.accept("alias"):
		p.want("for")
		p.alias(name)
		p.wantSymbol(";")
		return
	case p.at("cursor"), p.at("scroll", "cursor"), p.at("no", "scroll", "cursor"):
		p.cursorDeclaration(name, line)
		return
	}
	v := &Variable{Name: name, Line: line}
	v.Constant = p.accept("constant")
	v.Type = p.dataType(name)
	p.collation()
	notNullPos := p.pos()
	v.NotNull = p.notNull()
	if !p.symbol(";") {
		if !p.symbol(":=") && !p.symbol("=") {
			p.want("default")
		}
		v.Default = p.until(Expression, ";", ";")
		p.wantSymbol(";")
	}
	if v.NotNull && v.Default == nil {
		panic(failure.At(notNullPos, sqlerr.NullValueNotAllowed,
			"variable \"%s\" must have a default value, since it's declared NOT NULL", name))
	}
	p.declare(v)
}

func (p *parser) notNull() bool {
	if !p.accept("not") {
		return false
	}
	p.want("null")
	return true
}

// collation reads COLLATE name: there is one collation, which SQL expressions check by its name.
func (p *parser) collation() {
	if p.at("collate") {
		panic(failure.Unsupported(p.pos(), "COLLATE of a variable"))
	}
}

// alias declares another name of a variable.
func (p *parser) alias(name string) {
	if p.tok().Kind == parse.ParameterToken {
		p.fail(sqlerr.UndefinedObject, "variable \"%s\" does not exist", p.tok().Text)
	}
	pos := p.pos()
	names := p.names()
	v, parts := p.scope.Find(names...)
	if v == nil || parts < len(names) {
		panic(failure.At(pos, sqlerr.UndefinedObject, "variable \"%s\" does not exist",
			strings.Join(names, ".")))
	}
	p.scope = &Scope{outer: p.scope, kind: variableName, name: name, variable: v,
		conflict: p.conflict}
}

// names reads a name of up to three parts.
func (p *parser) names() []string {
	names := []string{p.name()}
	for len(names) < 3 && p.atSymbol(".") && p.peek(1).Kind <= parse.NameToken {
		p.next()
		names = append(names, p.next().Text)
	}
	return names
}

// dataType reads a type: written as in SQL, name%TYPE, or relation%ROWTYPE.
func (p *parser) dataType(variable string) *types.Type {
	start := p.i
	if identifier(p.tok()) {
		names := p.names()
		if p.atSymbol("%") {
			if t := p.referredType(start, names); t != nil {
				return t
			}
		}
		p.i = start
	}
	p.skipType()
	if p.i == start {
		p.failNear("missing data type declaration")
	}
	text, offset := p.src[p.toks[start].Pos:p.toks[p.i-1].End], p.toks[start].Pos
	if strings.EqualFold(text, "record") {
		return types.TRecord
	}
	name, err := parse.ParseTypeName(text)
	failure.Check(moved(err, offset))
	name.Pos = 0
	t, err := p.catalog.Type(p.ctx, name)
	var e *sqlerr.Error
	if errors.As(err, &e) {
		err = e.At(offset + 1)
	}
	failure.Check(err)
	if t.Family == types.Void || t.OID == types.OIDUnknown {
		panic(failure.At(offset+1, sqlerr.FeatureNotSupported,
			"variable \"%s\" has pseudo-type %s", variable, t.SQLName()))
	}
	return t
}

// moved returns an error whose position is counted from an offset of the body.
func moved(err error, offset int) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Position == 0 {
		return err
	}
	m := *e
	m.Position += offset
	return &m
}

// skipType moves behind a written type.
func (p *parser) skipType() {
	depth := 0
	for {
		t := p.tok()
		switch {
		case t.Kind == parse.EndToken:
			p.unterminated(depth, ";")
		case t.Kind == parse.SymbolToken && (t.Text == "(" || t.Text == "["):
			depth++
		case depth > 0 && t.Kind == parse.SymbolToken && (t.Text == ")" || t.Text == "]"):
			depth--
		case t.Kind == parse.SymbolToken && t.Text == ";",
			depth == 0 && (t.Kind == parse.SymbolToken && (t.Text == "," || t.Text == ")" ||
				t.Text == "=" || t.Text == ":=") ||
				p.at("collate") || p.at("not") || p.at("default")):
			return
		}
		p.next()
	}
}

// referredType reads name%TYPE and name%ROWTYPE, of which the names are read; nil if it is neither.
func (p *parser) referredType(start int, names []string) *types.Type {
	pos := p.toks[start].Pos + 1
	rows := p.peek(1).Text == "rowtype"
	if !rows && p.peek(1).Text != "type" || p.peek(1).Kind != parse.WordToken {
		return nil
	}
	p.next()
	p.next()
	relation := ast.Name{Pos: ast.Pos(pos)}
	set := func(names []string) {
		relation.Name = names[len(names)-1]
		if len(names) > 1 {
			relation.Schema = names[len(names)-2]
		}
	}
	if rows {
		set(names)
		t, err := p.catalog.RowType(p.ctx, relation)
		failure.Check(err)
		if t == nil {
			panic(failure.At(0, sqlerr.UndefinedTable, "relation \"%s\" does not exist",
				strings.Join(names, ".")))
		}
		return t
	}
	if v, parts := p.scope.Find(names...); v != nil && parts == len(names) {
		return v.Type
	}
	if len(names) > 1 {
		set(names[:len(names)-1])
		t, err := p.catalog.ColumnType(p.ctx, relation, names[len(names)-1])
		failure.Check(err)
		if t != nil {
			return t
		}
	}
	// PostgreSQL reads what it does not find as the name of a type.
	at := p.toks[p.i-2].Pos
	panic(failure.Of(sqlerr.New(sqlerr.SyntaxError, "syntax error at or near \"%%\"").At(at+1).
		WithContext("invalid type name \"%s\"", p.src[pos-1:p.toks[p.i-1].End])))
}

// cursorDeclaration reads name [[NO] SCROLL] CURSOR [(arguments)] {FOR | IS} query.
func (p *parser) cursorDeclaration(name string, line int) {
	v := &Variable{Name: name, Line: line, Type: types.TRefCursor, Cursor: &Cursor{}}
	v.Cursor.Scroll = p.scroll()
	p.want("cursor")
	outside := p.scope
	p.push(blockLabel, "")
	if p.symbol("(") {
		for {
			at := p.place().Line
			argument := &Variable{Name: p.name(), Line: at}
			argument.Type = p.dataType(argument.Name)
			v.Cursor.Arguments = append(v.Cursor.Arguments, p.declare(argument))
			argument.Line = 0 // not of the block
			if !p.symbol(",") {
				break
			}
		}
		p.wantSymbol(")")
	}
	if !p.accept("for") {
		p.want("is")
	}
	v.Cursor.Query = p.sql(p.i, nil)
	p.wantSymbol(";")
	p.scope = outside
	p.declare(v)
}

// scroll reads [NO] SCROLL.
func (p *parser) scroll() *bool {
	switch {
	case p.accept("no", "scroll"):
		return new(false)
	case p.accept("scroll"):
		return new(true)
	}
	return nil
}
