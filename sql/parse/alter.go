package parse

import (
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// alter parses ALTER TABLE, INDEX, VIEW, MATERIALIZED VIEW and SEQUENCE.
func (p *parser) alter() ast.Statement {
	pos := p.pos()
	p.next()
	a := &ast.AlterTable{Pos: pos}
	switch t := p.tok(); t.kw {
	case "table", "index", "view":
		a.Kind = ast.ObjectKind(t.str)
		p.next()
	case "sequence":
		return p.alterSequence(pos)
	case "database":
		return p.alterDatabase(pos)
	case "system":
		return p.alterSystem(pos)
	case "materialized":
		p.want("materialized", "view")
		a.Kind = ast.MaterializedViewObject
	case "schema":
		p.unsupported(pos, "ALTER "+strings.ToUpper(t.str))
		return nil
	default:
		return p.unsupportedObject(pos, "ALTER")
	}
	if p.at("all", "in") {
		p.unsupported(pos, "ALTER … ALL IN TABLESPACE")
	}
	a.IfExists = p.ifExists()
	a.Name, a.Only = p.relation()
	if p.alterSingle(a) {
		return a
	}
	p.list(func() { a.Actions = append(a.Actions, p.alterAction()) })
	return a
}

// alterSequence parses ALTER SEQUENCE: options, or what all relations have.
func (p *parser) alterSequence(pos ast.Pos) ast.Statement {
	p.next()
	s := &ast.AlterSequence{Pos: pos, IfExists: p.ifExists()}
	s.Name = p.qualified()
	if p.at("rename") || p.at("owner") || p.at("set", "schema") {
		a := &ast.AlterTable{Pos: pos, Kind: "sequence", Name: s.Name, IfExists: s.IfExists}
		if !p.alterSingle(a) {
			a.Actions = append(a.Actions, p.alterAction())
		}
		return a
	}
	first := p.i
	s.Options = p.sequenceOptions()
	if p.i == first {
		p.unexpected()
	}
	return s
}

// alterSingle parses the actions that must be alone: RENAME and SET SCHEMA.
func (p *parser) alterSingle(a *ast.AlterTable) bool {
	act := ast.AlterAction{Pos: p.pos()}
	switch {
	case p.accept("rename", "to"):
		act.Kind, act.NewName = "rename", p.ident()
	case p.at("rename") && a.Kind != ast.TableObject && a.Kind != ast.ViewObject &&
		a.Kind != ast.MaterializedViewObject:
		p.next()
		p.unexpected()
	case a.Kind != ast.MaterializedViewObject && p.accept("rename", "constraint"):
		act.Kind, act.Name = "rename constraint", p.ident()
		p.want("to")
		act.NewName = p.ident()
	case p.accept("rename"):
		p.accept("column")
		act.Kind, act.Column = "rename column", p.ident()
		p.want("to")
		act.NewName = p.ident()
	case p.accept("set", "schema"):
		act.Kind, act.NewName = "set schema", p.ident()
	default:
		return false
	}
	a.Actions = append(a.Actions, act)
	return true
}

// alterAction parses one of the actions that commas separate.
func (p *parser) alterAction() (a ast.AlterAction) {
	a.Pos = p.pos()
	switch t := p.tok(); t.kw {
	case "add":
		p.next()
		p.alterAdd(&a)
	case "drop":
		p.next()
		a.Kind = "drop column"
		if p.accept("constraint") {
			a.Kind = "drop constraint"
		} else {
			p.accept("column")
		}
		a.IfExists = p.ifExists()
		if id := p.ident(); a.Kind == "drop column" {
			a.Column = id
		} else {
			a.Name = id
		}
		a.Cascade = p.cascade()
	case "alter":
		p.next()
		if p.at("constraint") {
			p.unsupported(a.Pos, "ALTER CONSTRAINT")
			return a
		}
		p.accept("column")
		if p.tok().kind == tokInt {
			p.unsupported(p.pos(), "ALTER COLUMN by number")
			return a
		}
		a.Column = p.ident()
		p.alterColumn(&a)
	case "validate":
		p.next()
		p.want("constraint")
		a.Kind, a.Name = "validate constraint", p.ident()
	case "owner":
		p.next()
		p.want("to")
		a.Kind, a.NewName = "owner", p.role()
	case "set", "reset":
		if !p.peek(1).is('(') {
			p.alterUnsupported(t)
			return a
		}
		p.next()
		a.Kind = t.str + " options"
		a.Options = p.storageOptions()
	default:
		p.alterUnsupported(t)
	}
	return a
}

// alterUnsupported refuses the actions that the tree has no kind for.
func (p *parser) alterUnsupported(t *token) {
	switch t.kw {
	case "attach", "detach", "cluster", "disable", "enable", "force", "inherit", "no", "not", "of",
		"replica",
		"set", "options", "depends":
		p.unsupported(ast.Pos(t.pos)+1, "ALTER TABLE … "+strings.ToUpper(t.str))
	default:
		p.unexpected()
	}
}

// alterAdd parses what follows ADD.
func (p *parser) alterAdd(a *ast.AlterAction) {
	if p.tableConstraintHere() {
		k := p.tableConstraint()
		a.Kind, a.Constraint = "add constraint", &k
		return
	}
	a.Kind = "add column"
	p.accept("column")
	a.IfNotExists = p.ifNotExists()
	def := p.columnDef()
	a.Def, a.Column = &def, def.Name
}

// alterColumn parses what follows ALTER [COLUMN] name.
func (p *parser) alterColumn(a *ast.AlterAction) {
	switch {
	case p.accept("set", "default"):
		a.Kind = "set default"
		a.Expr = p.expr()
	case p.accept("drop", "default"):
		a.Kind = "drop default"
	case p.accept("set", "not", "null"):
		a.Kind = "set not null"
	case p.accept("drop", "not", "null"):
		a.Kind = "drop not null"
	case p.accept("type"), p.accept("set", "data", "type"):
		a.Kind = "set type"
		t := p.typeName()
		a.Type = &t
		if p.at("collate") {
			p.unsupported(p.pos(), "COLLATE in ALTER COLUMN")
		}
		if p.accept("using") {
			a.Using = p.expr()
		}
	case p.accept("add", "generated"):
		a.Kind = "add identity"
		if a.Always = p.accept("always"); !a.Always {
			p.want("by", "default")
		}
		p.want("as", "identity")
		a.Sequence = p.parenSequence()
	case p.at("set", "generated"), p.at("restart"), p.at("set") && p.identityOption():
		p.setIdentity(a)
	case p.accept("drop", "identity"):
		a.Kind = "drop identity"
		a.IfExists = p.ifExists()
	case p.at("drop", "expression"), p.at("set", "statistics"), p.at("set", "storage"), p.at("set",
		"compression"),
		p.at("set") && p.peek(1).is('('), p.at("reset"):
		p.unsupported(p.pos(), "ALTER COLUMN … "+strings.ToUpper(p.tok().str+" "+p.peek(1).str))
	default:
		p.unexpected()
	}
}

// identityOption reports whether the word behind SET is an option of a sequence.
func (p *parser) identityOption() bool {
	switch p.peek(1).kw {
	case "increment", "minvalue", "maxvalue", "no", "start", "cache", "cycle", "restart":
		return true
	}
	return false
}

// setIdentity parses SET GENERATED …, RESTART and SET option, in any order.
func (p *parser) setIdentity(a *ast.AlterAction) {
	a.Kind = "set identity"
	if p.accept("set", "generated") {
		if a.Always = p.accept("always"); !a.Always {
			p.want("by", "default")
		}
		a.Options = append(a.Options, ast.Option{Pos: a.Pos, Name: "generated"})
	}
	a.Sequence = p.sequenceOptions()
	if p.at("set", "generated") {
		p.failAt(p.pos(), sqlerr.FeatureNotSupported,
			"SET GENERATED must come before the other options of an identity column")
	}
}

// drop parses DROP kind [IF EXISTS] names [CASCADE|RESTRICT].
func (p *parser) drop() ast.Statement {
	d := &ast.Drop{Pos: p.pos()}
	p.next()
	switch t := p.tok(); t.kw {
	case "table", "view", "sequence", "schema":
		d.Kind = ast.ObjectKind(t.str)
		p.next()
	case "index":
		d.Kind = ast.ObjectKind(t.str)
		p.next()
		d.Concurrently = p.accept("concurrently")
	case "materialized":
		p.want("materialized", "view")
		d.Kind = ast.MaterializedViewObject
	case "database":
		return p.dropDatabase(d)
	default:
		return p.unsupportedObject(d.Pos, "DROP")
	}
	d.IfExists = p.ifExists()
	d.Names = p.names()
	d.Cascade = p.cascade()
	return d
}

// dropDatabase parses DROP DATABASE [IF EXISTS] name [[WITH] ( FORCE )].
func (p *parser) dropDatabase(d *ast.Drop) ast.Statement {
	p.next()
	d.Kind = ast.DatabaseObject
	d.IfExists = p.ifExists()
	id := p.ident()
	d.Names = []ast.Name{{Pos: id.Pos, Name: id.Name}}
	p.accept("with")
	if p.punct('(') {
		p.unsupported(p.pos(), "DROP DATABASE … WITH (FORCE)")
	}
	return d
}
