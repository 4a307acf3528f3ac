package parse

import (
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// set parses SET in all its forms.
func (p *parser) set() ast.Statement {
	pos := p.pos()
	p.next()
	if p.accept("session", "characteristics", "as", "transaction") {
		return &ast.SetTransaction{Pos: pos, Session: true, Modes: p.wantTxnModes()}
	}
	if p.at("transaction") && !p.settingFollows(1) {
		p.next()
		if p.accept("snapshot") {
			id := p.stringLit()
			return &ast.SetTransaction{Pos: pos, Snapshot: &id}
		}
		return &ast.SetTransaction{Pos: pos, Modes: p.wantTxnModes()}
	}
	if p.at("constraints") && !p.settingFollows(1) {
		return p.setConstraints(pos)
	}
	s := &ast.Set{Pos: pos}
	if p.at("local") && !p.settingFollows(1) {
		p.next()
		s.Local = true
	} else if p.at("session") && !p.settingFollows(1) && p.peek(1).kw != "authorization" {
		p.next()
	}
	if p.at("transaction") && !p.settingFollows(1) {
		p.next()
		if p.at("snapshot") {
			p.unsupported(pos, "SET LOCAL TRANSACTION SNAPSHOT")
		}
		return &ast.SetTransaction{Pos: pos, Modes: p.wantTxnModes()}
	}
	if !p.setSpecial(s) {
		s.Name = p.settingName()
		p.settingValues(s)
	}
	return s
}

// settingValues parses behind SET name.
func (p *parser) settingValues(s *ast.Set) {
	if !p.punct('=') {
		p.want("to")
	}
	if s.Default = p.accept("default"); !s.Default {
		p.list(func() { s.Values = append(s.Values, p.settingValue()) })
	}
}

// setConstraints parses behind SET: CONSTRAINTS {ALL | name, …} {DEFERRED | IMMEDIATE}.
func (p *parser) setConstraints(pos ast.Pos) ast.Statement {
	p.next()
	st := &ast.SetConstraints{Pos: pos}
	if !p.accept("all") {
		p.list(func() { st.Names = append(st.Names, p.qualified()) })
	}
	if st.Deferred = p.accept("deferred"); !st.Deferred {
		p.want("immediate")
	}
	return st
}

// settingFollows reports whether the n-th token continues `name TO` or `name =` or a dotted name.
func (p *parser) settingFollows(n int) bool {
	t := p.peek(n)
	return t.kw == "to" || t.is('=') || t.is('.')
}

func (p *parser) wantTxnModes() ast.TxnModes {
	start := p.i
	m := p.txnModes()
	if p.i == start {
		p.unexpected()
	}
	return m
}

// setSpecial parses the spellings of SET that have no TO.
func (p *parser) setSpecial(s *ast.Set) bool {
	switch {
	case p.accept("time", "zone"):
		s.Name = "timezone"
		p.timeZone(s)
	case p.at("names") && !p.settingFollows(1):
		p.next()
		s.Name = "client_encoding"
		switch {
		case p.accept("default"):
			s.Default = true
		case p.tok().kind == tokString:
			s.Values = []string{p.stringLit()}
		default:
			s.Default = true
		}
	case p.at("schema") && !p.settingFollows(1):
		p.next()
		s.Name = "search_path"
		s.Values = []string{p.stringLit()}
	case p.at("role") && !p.settingFollows(1):
		p.next()
		s.Name = "role"
		s.Values = []string{p.wordOrString()}
	case p.accept("session", "authorization"):
		s.Name = "session_authorization"
		if p.accept("default") {
			s.Default = true
		} else {
			s.Values = []string{p.wordOrString()}
		}
	case p.accept("xml", "option"):
		s.Name = "xmloption"
		if !p.at("document") && !p.at("content") {
			p.unexpected()
			return true
		}
		s.Values = []string{p.next().str}
	case p.at("catalog"):
		if p.settingFollows(1) {
			return false
		}
		p.unsupported(p.pos(), "SET CATALOG")
	default:
		return false
	}
	return true
}

func (p *parser) wordOrString() string {
	if p.tok().kind == tokString {
		return p.stringLit()
	}
	return p.nonReservedWord().Name
}

// timeZone parses the value of SET TIME ZONE.
func (p *parser) timeZone(s *ast.Set) {
	switch t := p.tok(); {
	case p.accept("default"), p.accept("local"):
		s.Default = true
	case p.at("interval"):
		if e, ok := p.typedLiteral().(*ast.Cast); ok && p.err == nil {
			s.Values = []string{e.Operand.(*ast.Literal).Text}
		}
	case t.kind == tokString, t.kind == tokIdent && t.kw == "", t.kind == tokQuoted:
		s.Values = []string{p.next().str}
	default:
		s.Values = []string{p.signedNumber()}
	}
}

// signedNumber parses a number with an optional sign.
func (p *parser) signedNumber() string {
	sign := ""
	if p.punct('-') {
		sign = "-"
	} else {
		p.punct('+')
	}
	if t := p.tok(); t.kind != tokInt && t.kind != tokNumber {
		p.unexpected()
		return ""
	}
	return sign + p.next().str
}

// settingName parses the name of a setting: var or ext.var.
func (p *parser) settingName() string {
	name := p.name()
	for p.punct('.') {
		name += "." + p.name()
	}
	return name
}

// settingValue parses one value of SET.
func (p *parser) settingValue() string {
	switch t := p.tok(); {
	case t.kind == tokString:
		return p.stringLit()
	case t.kind == tokInt, t.kind == tokNumber, t.is('-'), t.is('+'):
		return p.signedNumber()
	case t.kw == "true", t.kw == "false", t.kw == "on":
		return p.next().str
	}
	return p.nonReservedWord().Name
}

// reset parses RESET name and RESET ALL.
func (p *parser) reset() ast.Statement {
	pos := p.pos()
	p.next()
	if p.accept("all") {
		return &ast.ResetAll{Pos: pos}
	}
	return p.resetOne(pos)
}

// resetOne parses behind RESET what is not ALL.
func (p *parser) resetOne(pos ast.Pos) *ast.Set {
	return &ast.Set{Pos: pos, Default: true, Reset: true, Name: p.shownName()}
}

// shownName parses the name of a parameter behind SHOW and RESET, where some have SQL's words.
func (p *parser) shownName() string {
	switch {
	case p.accept("time", "zone"):
		return "timezone"
	case p.accept("transaction", "isolation", "level"):
		return "transaction_isolation"
	case p.accept("session", "authorization"):
		return "session_authorization"
	}
	return p.settingName()
}

// alterDatabase parses behind ALTER: DATABASE name {SET … | RESET … | RENAME TO name}.
func (p *parser) alterDatabase(pos ast.Pos) ast.Statement {
	p.next()
	a := &ast.AlterSettings{Pos: pos, Database: p.name()}
	if p.at("set", "tablespace") && !p.settingFollows(2) {
		p.unsupported(pos, "ALTER DATABASE … SET TABLESPACE")
		return a
	}
	var ok bool
	if a.Set, a.Current, ok = p.setOrReset(); ok {
		return a
	}
	switch {
	case p.accept("owner", "to"):
		return &ast.AlterOwner{Pos: pos, Kind: ast.DatabaseObject,
			Name: ast.Name{Pos: pos, Name: a.Database}, Owner: p.roleSpec()}
	case p.accept("rename", "to"):
		a.Rename = p.name()
	default:
		p.unsupported(pos, "ALTER DATABASE")
	}
	return a
}

// setOrReset parses SET and RESET as ALTER DATABASE and ALTER ROLE have them. A nil set is RESET
// ALL; ok is false when neither is next.
func (p *parser) setOrReset() (set *ast.Set, current, ok bool) {
	at := p.pos()
	switch {
	case p.accept("set"):
		set = &ast.Set{Pos: at}
		if p.setSpecial(set) {
			return set, false, true
		}
		set.Name = p.settingName()
		if current = p.accept("from", "current"); !current {
			p.settingValues(set)
		}
		return set, current, true
	case p.accept("reset", "all"):
		return nil, false, true
	case p.accept("reset"):
		return p.resetOne(at), false, true
	}
	return nil, false, false
}

// alterSystem parses behind ALTER: SYSTEM {SET name … | RESET name | RESET ALL}.
func (p *parser) alterSystem(pos ast.Pos) ast.Statement {
	p.next()
	a := &ast.AlterSettings{Pos: pos, System: true}
	at := p.pos()
	switch {
	case p.accept("reset", "all"):
	case p.accept("reset"):
		a.Set = &ast.Set{Pos: at, Name: p.settingName(), Default: true}
	default:
		p.want("set")
		a.Set = &ast.Set{Pos: at, Name: p.settingName()}
		p.settingValues(a.Set)
	}
	return a
}

// show parses SHOW.
func (p *parser) show() ast.Statement {
	s := &ast.Show{Pos: p.pos()}
	p.next()
	if p.accept("all") {
		s.Name = "all"
	} else {
		s.Name = p.shownName()
	}
	return s
}

// discard parses DISCARD.
func (p *parser) discard() ast.Statement {
	d := &ast.Discard{Pos: p.pos()}
	p.next()
	switch t := p.tok(); t.kw {
	case "all", "plans", "sequences", "temp":
		d.What = t.str
		p.next()
	case "temporary":
		d.What = "temp"
		p.next()
	default:
		p.unexpected()
	}
	return d
}

// prepare parses PREPARE name [( types )] AS statement.
func (p *parser) prepare() ast.Statement {
	s := &ast.Prepare{Pos: p.pos()}
	p.next()
	if p.at("transaction") && p.peek(1).kind == tokString {
		p.next()
		return &ast.TwoPhase{Pos: s.Pos, Verb: "PREPARE TRANSACTION", ID: p.stringLit()}
	}
	s.Name = p.name()
	if p.tok().is('(') {
		p.parenList(func() { s.Types = append(s.Types, p.typeName()) })
	}
	p.want("as")
	first := p.i
	s.Statement = p.queryOrDML()
	s.Text = p.textFrom(first)
	return s
}

// execute parses EXECUTE name [( args )].
func (p *parser) execute() ast.Statement {
	s := &ast.Execute{Pos: p.pos()}
	p.next()
	s.Name = p.name()
	if p.punct('(') {
		s.Args = p.exprs()
		p.wantPunct(')')
	}
	return s
}

// deallocate parses DEALLOCATE [PREPARE] name | ALL.
func (p *parser) deallocate() ast.Statement {
	s := &ast.Deallocate{Pos: p.pos()}
	p.next()
	if p.at("prepare") && (p.peek(1).label()) {
		p.next()
	}
	if s.All = p.accept("all"); !s.All {
		s.Name = p.name()
	}
	return s
}

// explain parses EXPLAIN [( options )] [ANALYZE] [VERBOSE] statement.
func (p *parser) explain() ast.Statement {
	s := &ast.Explain{Pos: p.pos()}
	p.next()
	if p.tok().is('(') && !p.queryParen() {
		s.Options = p.utilityOptions()
		for _, o := range s.Options {
			switch o.Name {
			case "analyze", "analyse":
				s.Analyze = optionOn(o)
			case "verbose":
				s.Verbose = optionOn(o)
			}
		}
	} else {
		if pos := p.pos(); p.acceptAny("analyze", "analyse") {
			s.Analyze = true
			s.Options = append(s.Options, ast.Option{Pos: pos, Name: "analyze"})
		}
		if pos := p.pos(); p.accept("verbose") {
			s.Verbose = true
			s.Options = append(s.Options, ast.Option{Pos: pos, Name: "verbose"})
		}
	}
	switch p.tok().kw {
	case "create":
		pos := p.pos()
		s.Statement = p.create()
		_, ok := s.Statement.(*ast.CreateMaterializedView)
		if c, table := s.Statement.(*ast.CreateTable); table {
			ok = c.As != nil
		}
		if p.err == nil && !ok {
			p.failAt(pos, sqlerr.SyntaxError, "syntax error at or near \"%s\"", p.src[pos-1:pos+5])
		}
	case "refresh":
		s.Statement = p.refresh()
	case "execute":
		s.Statement = p.execute()
	case "declare":
		s.Statement = p.declareCursor()
	default:
		s.Statement = p.queryOrDML()
	}
	return s
}

// optionOn reads a boolean option; no value means on.
func optionOn(o ast.Option) bool {
	switch strings.ToLower(o.Value) {
	case "off", "false", "0":
		return false
	}
	return true
}

// utilityOptions parses ( name [value], … ) as EXPLAIN and VACUUM have it.
func (p *parser) utilityOptions() []ast.Option {
	return p.optionList(func() ast.Ident {
		if p.at("analyze") || p.at("analyse") {
			return p.label()
		}
		return p.nonReservedWord()
	})
}

// optionList parses ( name [value], … ).
func (p *parser) optionList(name func() ast.Ident) (out []ast.Option) {
	p.parenList(func() {
		id := name()
		o := ast.Option{Pos: id.Pos, Name: id.Name}
		switch t := p.tok(); {
		case t.is(',') || t.is(')'):
		case t.is('('):
			o.List = []string{}
			p.parenList(func() { o.List = append(o.List, p.optionValue()) })
		case t.is('*'):
			p.next()
			o.Value = "*"
		default:
			o.Value = p.optionValue()
		}
		out = append(out, o)
	})
	return out
}

// optionValue parses a word, string or number.
func (p *parser) optionValue() string {
	switch t := p.tok(); {
	case t.kind == tokString:
		return p.stringLit()
	case t.kw == "true", t.kw == "false", t.kw == "on":
		return p.next().str
	case t.label():
		return p.nonReservedWord().Name
	}
	return p.signedNumber()
}

// storageOptions parses ( name [= value], … ), the names possibly qualified.
func (p *parser) storageOptions() (out []ast.Option) {
	p.parenList(func() {
		id := p.label()
		o := ast.Option{Pos: id.Pos, Name: id.Name}
		for p.punct('.') {
			o.Name += "." + p.label().Name
		}
		if p.punct('=') {
			o.Value = p.optionValue()
		}
		out = append(out, o)
	})
	return out
}
