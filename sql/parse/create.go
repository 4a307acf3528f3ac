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
	replace := p.accept("or", "replace")
	switch p.tok().kw {
	case "view", "recursive":
		return p.createView(pos, replace, false)
	case "temp", "temporary", "local", "global":
		return p.createTemp(pos, replace)
	}
	if replace {
		return p.createUnsupported(pos)
	}
	switch p.tok().kw {
	case "table":
		return p.createTable(&ast.CreateTable{Pos: pos})
	case "unlogged":
		p.next()
		switch {
		case p.at("table"):
			return p.createTable(&ast.CreateTable{Pos: pos, Unlogged: true})
		case p.at("materialized"):
			return p.createMaterializedView(&ast.CreateMaterializedView{Pos: pos, Unlogged: true})
		}
		p.unexpected()
	case "unique":
		p.next()
		return p.createIndex(&ast.CreateIndex{Pos: pos, Unique: true})
	case "index":
		return p.createIndex(&ast.CreateIndex{Pos: pos})
	case "materialized":
		return p.createMaterializedView(&ast.CreateMaterializedView{Pos: pos})
	case "sequence":
		return p.createSequence(pos, false)
	case "schema":
		return p.createSchema(pos)
	case "database":
		return p.createDatabase(pos)
	}
	return p.createUnsupported(pos)
}

// createTemp parses CREATE [GLOBAL|LOCAL] TEMP ….
func (p *parser) createTemp(pos ast.Pos, replace bool) ast.Statement {
	p.acceptAny("local", "global")
	if !p.acceptAny("temp", "temporary") {
		p.unexpected()
		return nil
	}
	switch {
	case p.at("view") || p.at("recursive"):
		return p.createView(pos, replace, true)
	case p.at("table") && !replace:
		return p.createTable(&ast.CreateTable{Pos: pos, Temp: true})
	case p.at("sequence") && !replace:
		return p.createSequence(pos, true)
	}
	p.unexpected()
	return nil
}

// unsupportedObjects are the kinds of object that exist in PostgreSQL and not here.
var unsupportedObjects = map[keyword]bool{
	"access": true, "aggregate": true, "cast": true, "collation": true, "conversion": true,
	"default": true,
	"domain":  true, "event": true, "extension": true, "foreign": true, "function": true,
	"group":    true,
	"language": true, "large": true, "operator": true, "owned": true, "policy": true,
	"procedure":   true,
	"publication": true, "role": true, "routine": true, "rule": true, "server": true,
	"statistics":   true,
	"subscription": true, "system": true, "tablespace": true, "text": true, "transform": true,
	"trigger": true, "trusted": true, "type": true, "user": true, "constraint": true,
	"procedural": true,
}

// createUnsupported refuses CREATE of other objects; DROP and ALTER have the same.
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
func (p *parser) ifNotExists() bool { return p.accept("if", "not", "exists") }

func (p *parser) ifExists() bool { return p.accept("if", "exists") }

// createView parses VIEW behind CREATE [OR REPLACE] [TEMP].
func (p *parser) createView(pos ast.Pos, replace, temp bool) ast.Statement {
	if p.at("recursive") {
		p.unsupported(pos, "CREATE RECURSIVE VIEW")
		return nil
	}
	p.want("view")
	v := &ast.CreateView{Pos: pos, OrReplace: replace, Temp: temp, Name: p.qualified()}
	v.Columns = p.optIdents()
	if p.at("with") {
		p.unsupported(p.pos(), "view option")
	}
	p.want("as")
	v.Query = p.definition()
	if p.accept("with") {
		switch {
		case p.accept("local"):
			v.CheckOption = "local"
		default:
			p.accept("cascaded")
			v.CheckOption = "cascaded"
		}
		p.want("check", "option")
	}
	return v
}

// definition parses the query of a view.
func (p *parser) definition() *ast.Select {
	if !p.atQuery() {
		p.unexpected()
		return nil
	}
	return p.query()
}

// createSequence parses SEQUENCE behind CREATE [TEMP].
func (p *parser) createSequence(pos ast.Pos, temp bool) ast.Statement {
	p.want("sequence")
	s := &ast.CreateSequence{Pos: pos, Temp: temp, IfNotExists: p.ifNotExists(),
		Name: p.qualified()}
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
	case p.accept("as"):
		t := p.typeName()
		o.Type = &t
		return "as"
	case p.accept("increment"):
		p.accept("by")
		o.Increment = new(p.integer())
		return "increment"
	case p.accept("minvalue"):
		o.Min = new(p.integer())
		return "minvalue"
	case p.accept("maxvalue"):
		o.Max = new(p.integer())
		return "maxvalue"
	case p.accept("no", "minvalue"):
		o.NoMin = true
		return "minvalue"
	case p.accept("no", "maxvalue"):
		o.NoMax = true
		return "maxvalue"
	case p.accept("start"):
		p.accept("with")
		o.Start = new(p.integer())
		return "start"
	case p.accept("restart"):
		o.Restart = true
		if p.accept("with") || p.tok().kind == tokInt || p.tok().is('-') || p.tok().is('+') {
			o.RestartWith = new(p.integer())
		}
		return "restart"
	case p.accept("cache"):
		o.Cache = new(p.integer())
		return "cache"
	case p.accept("cycle"):
		o.Cycle = new(true)
		return "cycle"
	case p.accept("no", "cycle"):
		o.Cycle = new(false)
		return "cycle"
	case p.accept("owned", "by"):
		p.sequenceOwner(o)
		return "owned by"
	case p.accept("sequence", "name"):
		n := p.qualified()
		o.Name = &n
		return "sequence name"
	case p.at("logged"), p.at("unlogged"):
		p.unsupported(p.pos(), "sequence option")
	}
	return ""
}

// sequenceSet moves past the SET that ALTER … SET GENERATED lists put before each option.
func (p *parser) sequenceSet() {
	if p.at("set") {
		switch p.peek(1).kw {
		case "increment", "minvalue", "maxvalue", "no", "start", "cache", "cycle", "restart":
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
	if !p.at("authorization") {
		s.Name = p.name()
	}
	if p.accept("authorization") {
		s.Owner = p.role().Name
		if s.Name == "" {
			s.Name = s.Owner
		}
	}
	if p.at("create") || p.at("grant") {
		p.unsupported(p.pos(), "element of CREATE SCHEMA")
	}
	return s
}

// createDatabase parses DATABASE name [[WITH] option [=] value …].
func (p *parser) createDatabase(pos ast.Pos) ast.Statement {
	p.next()
	d := &ast.CreateDatabase{Pos: pos, Name: p.name()}
	p.accept("with")
	for p.err == nil && p.tok().label() {
		id := p.label()
		o := ast.Option{Pos: id.Pos, Name: id.Name}
		if id.Name == "connection" && p.accept("limit") {
			o.Name = "connection limit"
		}
		p.punct('=')
		if p.accept("default") {
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
	p.want("on")
	switch t := p.tok(); t.kw {
	case "table", "index", "view", "sequence", "schema", "database":
		c.Kind = ast.ObjectKind(t.str)
		p.next()
		c.Name = p.qualified()
	case "materialized":
		p.want("materialized", "view")
		c.Kind = ast.MaterializedViewObject
		c.Name = p.qualified()
	case "column":
		p.next()
		c.Kind = ast.ColumnObject
		first := p.ident()
		parts := p.dotted(first.Name)
		if len(parts) < 2 {
			p.unexpected()
			return c
		}
		n := len(parts) - 1
		c.Column = parts[n]
		c.Name = p.nameOf(first.Pos, parts[:n])
	case "constraint":
		p.next()
		c.Kind = ast.ConstraintObject
		c.Column = p.name()
		p.want("on")
		if p.at("domain") {
			p.unsupported(p.pos(), "COMMENT ON CONSTRAINT of a domain")
		}
		c.Name = p.qualified()
	default:
		return p.unsupportedObject(c.Pos, "COMMENT ON")
	}
	p.want("is")
	if !p.accept("null") {
		text := p.stringLit()
		c.Text = &text
	}
	return c
}
