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
	case "role", "user", "group":
		return p.createRole(pos)
	case "policy":
		return p.createPolicy(pos)
	case "type":
		return p.createType(pos)
	case "domain":
		return p.createDomain(pos)
	case "extension":
		return p.createExtension(pos)
	}
	return p.createUnsupported(pos)
}

// createTemp parses CREATE [GLOBAL|LOCAL] TEMP ….
func (p *parser) createTemp(pos ast.Pos, replace bool) ast.Statement {
	global := p.at("global")
	p.acceptAny("local", "global")
	if !p.acceptAny("temp", "temporary") {
		p.unexpected()
		return nil
	}
	switch {
	case p.at("view") || p.at("recursive"):
		return p.createView(pos, replace, true)
	case p.at("table") && !replace:
		return p.createTable(&ast.CreateTable{Pos: pos, Temp: true, Global: global})
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
	"event":   true, "foreign": true, "function": true,
	"group":    true,
	"language": true, "operator": true, "owned": true,
	"procedure":   true,
	"publication": true, "role": true, "routine": true, "rule": true, "server": true,
	"statistics":   true,
	"subscription": true, "system": true, "tablespace": true, "text": true, "transform": true,
	"trigger": true, "trusted": true, "user": true, "constraint": true,
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
	recursive := p.accept("recursive")
	p.want("view")
	v := &ast.CreateView{Pos: pos, OrReplace: replace, Temp: temp, Name: p.qualified()}
	if recursive && !p.tok().is('(') {
		p.unexpected()
	}
	v.Columns = p.optIdents()
	if p.accept("with") {
		v.Options = p.storageOptions()
	}
	p.want("as")
	v.Query = p.definition()
	if recursive && p.err == nil {
		v.Query = recursiveView(v)
	}
	if pos := p.pos(); p.accept("with") {
		switch {
		case p.accept("local"):
			v.CheckOption = "local"
		default:
			p.accept("cascaded")
			v.CheckOption = "cascaded"
		}
		p.want("check", "option")
		if recursive {
			p.failAt(pos, sqlerr.FeatureNotSupported,
				"WITH CHECK OPTION not supported on recursive views")
		}
	}
	return v
}

// recursiveView returns the query that CREATE RECURSIVE VIEW name (columns) AS query stands for:
// WITH RECURSIVE name (columns) AS (query) SELECT columns FROM name.
func recursiveView(v *ast.CreateView) *ast.Select {
	cte := ast.CTE{Pos: v.Name.Pos, Name: v.Name.Name, Statement: v.Query}
	core := &ast.SelectCore{Pos: v.Pos,
		From: []ast.TableExpr{&ast.TableRef{Name: ast.Name{Pos: v.Name.Pos, Name: v.Name.Name}}}}
	for _, c := range v.Columns {
		cte.Columns = append(cte.Columns, c.Name)
		core.Items = append(core.Items,
			ast.SelectItem{Expr: &ast.ColumnRef{Pos: c.Pos, Name: c.Name}})
	}
	with := &ast.With{Pos: v.Pos, Recursive: true, CTEs: []ast.CTE{cte}}
	return &ast.Select{Pos: v.Pos, With: with, Body: core}
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

// createSchema parses SCHEMA [IF NOT EXISTS] [name] [AUTHORIZATION role] [element …].
func (p *parser) createSchema(pos ast.Pos) ast.Statement {
	p.next()
	s := &ast.CreateSchema{Pos: pos, IfNotExists: p.ifNotExists()}
	if !p.at("authorization") {
		s.Name = p.name()
	}
	if p.accept("authorization") {
		owner := p.roleSpec()
		s.Owner = &owner
	}
	for p.err == nil && (p.at("create") || p.at("grant")) {
		if s.IfNotExists {
			p.failAt(p.pos(), sqlerr.FeatureNotSupported,
				"CREATE SCHEMA IF NOT EXISTS cannot include schema elements")
			break
		}
		s.Elements = append(s.Elements, p.schemaElement())
	}
	return s
}

// schemaElement parses a statement within CREATE SCHEMA.
func (p *parser) schemaElement() ast.Statement {
	if p.at("grant") {
		return p.grant()
	}
	first := p.i
	switch st := p.create().(type) {
	case *ast.CreateTable, *ast.CreateIndex, *ast.CreateSequence, *ast.CreateView:
		return st
	}
	if p.err == nil {
		p.i = first + 1
		p.unexpected()
	}
	return nil
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
	case "table", "index", "view", "sequence", "schema", "database", "type", "domain",
		"extension":
		c.Kind = ast.ObjectKind(t.str)
		p.next()
		c.Name = p.qualified()
	case "role":
		p.next()
		c.Kind, c.Name = ast.RoleObject, ast.Name{Pos: p.pos()}
		c.Name.Name = p.name()
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
		if p.accept("domain") {
			c.Kind = ast.DomainConstraintObject
		}
		c.Name = p.qualified()
	case "large":
		p.want("large", "object")
		c.Kind = ast.LargeObject
		c.Name = p.largeObject()
	case "policy":
		p.next()
		c.Kind = ast.PolicyObject
		c.Column = p.name()
		p.want("on")
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
