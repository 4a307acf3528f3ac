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
	case "type", "domain":
		return p.alterType(pos)
	case "extension":
		return p.alterExtension(pos)
	case "materialized":
		p.want("materialized", "view")
		a.Kind = ast.MaterializedViewObject
	case "schema":
		return p.alterSchema(pos)
	case "large":
		p.want("large", "object")
		a := &ast.AlterOwner{Pos: pos, Kind: ast.LargeObject, Name: p.largeObject()}
		p.want("owner", "to")
		a.Owner = p.roleSpec()
		return a
	case "role", "user", "group":
		return p.alterRole(pos)
	case "policy":
		return p.alterPolicy(pos)
	case "default":
		return p.alterDefaultPrivileges(pos)
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

// alterSchema parses SCHEMA name RENAME TO name, or OWNER TO role, behind ALTER.
func (p *parser) alterSchema(pos ast.Pos) ast.Statement {
	p.next()
	id := p.ident()
	if p.accept("rename") {
		p.want("to")
		return &ast.RenameSchema{Pos: pos, Name: id.Name, NewName: p.ident().Name}
	}
	p.want("owner", "to")
	return &ast.AlterOwner{Pos: pos, Kind: ast.SchemaObject,
		Name: ast.Name{Pos: id.Pos, Name: id.Name}, Owner: p.roleSpec()}
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
	if p.rowSecurity(&a) {
		return a
	}
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
			p.next()
			a.Kind, a.Name = "alter constraint", p.ident()
			a.Constraint = &ast.TableConstraint{Pos: a.Pos}
			p.attributes(a.Constraint, "FOREIGN KEY")
			return a
		}
		p.accept("column")
		if p.tok().kind == tokInt {
			a.ColumnNumber = p.columnNumber()
			if !p.at("set", "statistics") {
				p.unexpected()
			}
		} else {
			a.Column = p.ident()
		}
		p.alterColumn(&a)
	case "validate":
		p.next()
		p.want("constraint")
		a.Kind, a.Name = "validate constraint", p.ident()
	case "owner":
		p.next()
		p.want("to")
		a.Kind, a.Owner = "owner", p.roleSpec()
	case "disable", "enable":
		if p.peek(1).kw != "trigger" {
			p.alterUnsupported(t)
			return a
		}
		p.skip(2)
		a.Kind = t.str + " trigger"
		if !p.acceptAny("all", "user") {
			a.Name = p.ident()
		} else {
			a.AllTriggers = p.toks[p.i-1].kw == "all"
		}
	case "set":
		p.alterSet(&a)
	case "reset":
		p.next()
		a.Kind, a.Options = "reset options", p.storageOptions()
	case "cluster":
		p.alterCluster(&a)
	case "replica":
		p.replicaIdentity(&a)
	case "of":
		p.next()
		a.Kind, a.Type = "of", p.anyType()
	case "not":
		p.want("not", "of")
		a.Kind = "not of"
	default:
		p.alterUnsupported(t)
	}
	return a
}

// alterUnsupported refuses the actions that the tree has no kind for.
func (p *parser) alterUnsupported(t *token) {
	switch t.kw {
	case "attach", "detach", "disable", "enable", "force", "inherit", "no", "set",
		"options", "depends":
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
	case p.accept("drop", "expression"):
		a.Kind = "drop expression"
		a.IfExists = p.ifExists()
	case p.at("set", "statistics"), p.at("set", "storage"),
		p.at("set", "compression"), p.at("set") && p.peek(1).is('('), p.at("reset"):
		p.alterColumnProperty(a)
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
	case "table", "view", "sequence", "schema", "type", "domain", "extension":
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
	case "role", "user", "group":
		return p.dropRole(d.Pos)
	case "owned":
		return p.dropOwned(d.Pos)
	case "policy":
		return p.dropPolicy(d.Pos)
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
