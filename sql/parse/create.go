package parse

import (
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// create parses CREATE ….
func (p *parser) create() ast.Statement {
	pos := p.pos()
	p.next()
	replace := p.accept(kwOr, kwReplace)
	switch p.tok().kw {
	case kwView, kwRecursive:
		return p.createView(pos, replace, false)
	case kwTemp, kwTemporary, kwLocal, kwGlobal:
		return p.createTemp(pos, replace)
	}
	if replace {
		return p.createUnsupported(pos)
	}
	switch p.tok().kw {
	case kwTable:
		return p.createTable(&ast.CreateTable{Pos: pos})
	case kwUnlogged:
		p.next()
		if p.at(kwTable) {
			return p.createTable(&ast.CreateTable{Pos: pos, Unlogged: true})
		}
		p.unexpected()
	case kwUnique:
		p.next()
		return p.createIndex(&ast.CreateIndex{Pos: pos, Unique: true})
	case kwIndex:
		return p.createIndex(&ast.CreateIndex{Pos: pos})
	case kwMaterialized:
		return p.createMaterializedView(pos)
	case kwSequence:
		return p.createSequence(pos, false)
	case kwSchema:
		return p.createSchema(pos)
	case kwDatabase:
		return p.createDatabase(pos)
	}
	return p.createUnsupported(pos)
}

// createTemp parses CREATE [GLOBAL|LOCAL] TEMP ….
func (p *parser) createTemp(pos ast.Pos, replace bool) ast.Statement {
	p.acceptAny(kwLocal, kwGlobal)
	if !p.acceptAny(kwTemp, kwTemporary) {
		p.unexpected()
		return nil
	}
	switch {
	case p.at(kwView) || p.at(kwRecursive):
		return p.createView(pos, replace, true)
	case p.at(kwTable) && !replace:
		return p.createTable(&ast.CreateTable{Pos: pos, Temp: true})
	case p.at(kwSequence) && !replace:
		return p.createSequence(pos, true)
	}
	p.unexpected()
	return nil
}

// unsupportedObjects are the kinds of object that exist in PostgreSQL and not here.
var unsupportedObjects = map[keyword]bool{
	kwAccess: true, kwAggregate: true, kwCast: true, kwCollation: true, kwConversion: true, kwDefault: true,
	kwDomain: true, kwEvent: true, kwExtension: true, kwForeign: true, kwFunction: true, kwGroup: true,
	kwLanguage: true, kwLarge: true, kwOperator: true, kwOwned: true, kwPolicy: true, kwProcedure: true,
	kwPublication: true, kwRole: true, kwRoutine: true, kwRule: true, kwServer: true, kwStatistics: true,
	kwSubscription: true, kwSystem: true, kwTablespace: true, kwText: true, kwTransform: true,
	kwTrigger: true, kwTrusted: true, kwType: true, kwUser: true, kwConstraint: true, kwProcedural: true,
}

// createUnsupported answers for CREATE of other objects; DROP and ALTER have the same.
func (p *parser) createUnsupported(pos ast.Pos) ast.Statement {
	return p.unsupportedObject(pos, "CREATE")
}

func (p *parser) unsupportedObject(pos ast.Pos, verb string) ast.Statement {
	if !unsupportedObjects[p.tok().kw] {
		p.unexpected()
		return nil
	}
	p.unsupported(pos, verb+" "+strings.ToUpper(p.tok().str))
	return nil
}

// ifNotExists parses IF NOT EXISTS; ifExists the other.
func (p *parser) ifNotExists() bool { return p.accept(kwIf, kwNot, kwExists) }

func (p *parser) ifExists() bool { return p.accept(kwIf, kwExists) }

// createView parses VIEW behind CREATE [OR REPLACE] [TEMP].
func (p *parser) createView(pos ast.Pos, replace, temp bool) ast.Statement {
	if p.at(kwRecursive) {
		p.unsupported(pos, "CREATE RECURSIVE VIEW")
		return nil
	}
	p.want(kwView)
	v := &ast.CreateView{Pos: pos, OrReplace: replace, Temp: temp, Name: p.qualified()}
	v.Columns = p.optIdents()
	if p.at(kwWith) {
		p.unsupported(p.pos(), "view option")
	}
	p.want(kwAs)
	p.viewQuery(v)
	if p.accept(kwWith) {
		switch {
		case p.accept(kwLocal):
			v.CheckOption = "local"
		default:
			p.accept(kwCascaded)
			v.CheckOption = "cascaded"
		}
		p.want(kwCheck, kwOption)
	}
	return v
}

func (p *parser) viewQuery(v *ast.CreateView) {
	first := p.i
	if !p.atQuery() {
		p.unexpected()
		return
	}
	v.Query = p.query()
	v.QueryText = p.textFrom(first)
}

func (p *parser) createMaterializedView(pos ast.Pos) ast.Statement {
	p.want(kwMaterialized, kwView)
	v := &ast.CreateView{Pos: pos, Materialized: true, IfNotExists: p.ifNotExists(), Name: p.qualified()}
	v.Columns = p.optIdents()
	if p.at(kwWith) || p.at(kwUsing) || p.at(kwTablespace) {
		p.unsupported(p.pos(), "materialized view option")
	}
	p.want(kwAs)
	p.viewQuery(v)
	if p.at(kwWith, kwNo) {
		p.unsupported(p.pos(), "WITH NO DATA")
	} else if p.accept(kwWith) {
		p.want(kwData)
	}
	return v
}

// createSequence parses SEQUENCE behind CREATE [TEMP].
func (p *parser) createSequence(pos ast.Pos, temp bool) ast.Statement {
	p.want(kwSequence)
	s := &ast.CreateSequence{Pos: pos, Temp: temp, IfNotExists: p.ifNotExists(), Name: p.qualified()}
	s.Options = p.sequenceOptions()
	return s
}

// sequenceOptions parses the options of a sequence or an identity column, each at most once.
func (p *parser) sequenceOptions() (o ast.SequenceOptions) {
	said := map[string]bool{}
	for p.err == nil {
		p.sequenceSet()
		pos := p.pos()
		option := p.sequenceOption(&o)
		if option == "" {
			break
		}
		if said[option] {
			p.failAt(pos, sqlerr.SyntaxError, "conflicting or redundant options")
		}
		said[option] = true
	}
	return o
}

// sequenceOption parses one option and returns what it is about, "" when there is none.
func (p *parser) sequenceOption(o *ast.SequenceOptions) string {
	switch {
	case p.accept(kwAs):
		t := p.typeName()
		o.Type = &t
		return "as"
	case p.accept(kwIncrement):
		p.accept(kwBy)
		o.Increment = ptr(p.integer())
		return "increment"
	case p.accept(kwMinvalue):
		o.Min = ptr(p.integer())
		return "minvalue"
	case p.accept(kwMaxvalue):
		o.Max = ptr(p.integer())
		return "maxvalue"
	case p.accept(kwNo, kwMinvalue):
		o.NoMin = true
		return "minvalue"
	case p.accept(kwNo, kwMaxvalue):
		o.NoMax = true
		return "maxvalue"
	case p.accept(kwStart):
		p.accept(kwWith)
		o.Start = ptr(p.integer())
		return "start"
	case p.accept(kwRestart):
		o.Restart = true
		if p.accept(kwWith) || p.tok().kind == tokInt || p.tok().is('-') || p.tok().is('+') {
			o.RestartWith = ptr(p.integer())
		}
		return "restart"
	case p.accept(kwCache):
		o.Cache = ptr(p.integer())
		return "cache"
	case p.accept(kwCycle):
		o.Cycle = ptr(true)
		return "cycle"
	case p.accept(kwNo, kwCycle):
		o.Cycle = ptr(false)
		return "cycle"
	case p.accept(kwOwned, kwBy):
		p.sequenceOwner(o)
		return "owned by"
	case p.accept(kwSequence, kwName):
		n := p.qualified()
		o.Name = &n
		return "sequence name"
	case p.at(kwLogged), p.at(kwUnlogged):
		p.unsupported(p.pos(), "sequence option")
	}
	return ""
}

// sequenceSet moves past the SET that ALTER … SET GENERATED lists put before each option.
func (p *parser) sequenceSet() {
	if p.at(kwSet) {
		switch p.peek(1).kw {
		case kwIncrement, kwMinvalue, kwMaxvalue, kwNo, kwStart, kwCache, kwCycle, kwRestart:
			p.next()
		}
	}
}

func (p *parser) sequenceOwner(o *ast.SequenceOptions) {
	first := p.ident()
	parts := p.dotted(first.Name)
	if len(parts) == 1 {
		if first.Name != "none" {
			p.unexpected()
		}
		o.OwnedByNone = true
		return
	}
	n := len(parts) - 1
	o.OwnedBy = &ast.ColumnRef{Pos: first.Pos, Qualifier: parts[:n:n], Name: parts[n]}
}

// createSchema parses SCHEMA [IF NOT EXISTS] [name] [AUTHORIZATION role].
func (p *parser) createSchema(pos ast.Pos) ast.Statement {
	p.next()
	s := &ast.CreateSchema{Pos: pos, IfNotExists: p.ifNotExists()}
	if !p.at(kwAuthorization) {
		s.Name = p.name()
	}
	if p.accept(kwAuthorization) {
		s.Owner = p.role().Name
		if s.Name == "" {
			s.Name = s.Owner
		}
	}
	if p.at(kwCreate) || p.at(kwGrant) {
		p.unsupported(p.pos(), "element of CREATE SCHEMA")
	}
	return s
}

// createDatabase parses DATABASE name [[WITH] option [=] value …].
func (p *parser) createDatabase(pos ast.Pos) ast.Statement {
	p.next()
	d := &ast.CreateDatabase{Pos: pos, Name: p.name()}
	p.accept(kwWith)
	for p.err == nil && p.tok().label() {
		id := p.label()
		o := ast.Option{Pos: id.Pos, Name: id.Name}
		if id.Name == "connection" && p.accept(kwLimit) {
			o.Name = "connection limit"
		}
		p.punct('=')
		if p.accept(kwDefault) {
			o.Value = "default"
		} else {
			o.Value = p.optionValue()
		}
		d.Options = append(d.Options, o)
	}
	return d
}

// comment parses COMMENT ON kind name IS text.
func (p *parser) comment() ast.Statement {
	c := &ast.Comment{Pos: p.pos()}
	p.next()
	p.want(kwOn)
	switch t := p.tok(); t.kw {
	case kwTable, kwIndex, kwView, kwSequence, kwSchema, kwDatabase:
		c.Kind = t.str
		p.next()
		c.Name = p.qualified()
	case kwMaterialized:
		p.want(kwMaterialized, kwView)
		c.Kind = "materialized view"
		c.Name = p.qualified()
	case kwColumn:
		p.next()
		c.Kind = "column"
		first := p.ident()
		parts := p.dotted(first.Name)
		if len(parts) < 2 {
			p.unexpected()
			return c
		}
		n := len(parts) - 1
		c.Column = parts[n]
		c.Name = p.nameOf(first.Pos, parts[:n])
	case kwConstraint:
		p.next()
		c.Kind = "constraint"
		c.Column = p.name()
		p.want(kwOn)
		if p.at(kwDomain) {
			p.unsupported(p.pos(), "COMMENT ON CONSTRAINT of a domain")
		}
		c.Name = p.qualified()
	default:
		return p.unsupportedObject(c.Pos, "COMMENT ON")
	}
	p.want(kwIs)
	if !p.accept(kwNull) {
		text := p.stringLit()
		c.Text = &text
	}
	return c
}
