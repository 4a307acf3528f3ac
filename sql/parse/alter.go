package parse

import (
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// alter parses ALTER TABLE, INDEX, VIEW and SEQUENCE.
func (p *parser) alter() ast.Statement {
	pos := p.pos()
	p.next()
	a := &ast.AlterTable{Pos: pos}
	switch t := p.tok(); t.kw {
	case kwTable, kwIndex, kwView:
		a.Kind = t.str
		p.next()
	case kwSequence:
		return p.alterSequence(pos)
	case kwDatabase:
		return p.alterDatabase(pos)
	case kwSystem:
		return p.alterSystem(pos)
	case kwMaterialized, kwSchema:
		p.unsupported(pos, "ALTER "+strings.ToUpper(t.str))
		return nil
	default:
		return p.unsupportedObject(pos, "ALTER")
	}
	if p.at(kwAll, kwIn) {
		p.unsupported(pos, "ALTER … ALL IN TABLESPACE")
	}
	a.IfExists = p.ifExists()
	a.Name, a.Only = p.relation()
	if p.alterSingle(a) {
		return a
	}
	p.list(func() { a.Actions = append(a.Actions, p.alterAction(a.Kind)) })
	return a
}

// alterSequence parses ALTER SEQUENCE: options, or what all relations have.
func (p *parser) alterSequence(pos ast.Pos) ast.Statement {
	p.next()
	s := &ast.AlterSequence{Pos: pos, IfExists: p.ifExists()}
	s.Name = p.qualified()
	if p.at(kwRename) || p.at(kwOwner) || p.at(kwSet, kwSchema) {
		a := &ast.AlterTable{Pos: pos, Kind: "sequence", Name: s.Name, IfExists: s.IfExists}
		if !p.alterSingle(a) {
			a.Actions = append(a.Actions, p.alterAction(a.Kind))
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

// alterSingle parses the actions that stand alone: RENAME and SET SCHEMA.
func (p *parser) alterSingle(a *ast.AlterTable) bool {
	act := ast.AlterAction{Pos: p.pos()}
	switch {
	case p.accept(kwRename, kwTo):
		act.Kind, act.NewName = "rename", p.ident()
	case p.at(kwRename) && a.Kind != "table" && a.Kind != "view":
		p.next()
		p.unexpected()
	case p.accept(kwRename, kwConstraint):
		act.Kind, act.Name = "rename constraint", p.ident()
		p.want(kwTo)
		act.NewName = p.ident()
	case p.accept(kwRename):
		p.accept(kwColumn)
		act.Kind, act.Column = "rename column", p.ident()
		p.want(kwTo)
		act.NewName = p.ident()
	case p.accept(kwSet, kwSchema):
		act.Kind, act.NewName = "set schema", p.ident()
	default:
		return false
	}
	a.Actions = append(a.Actions, act)
	return true
}

// alterAction parses one of the actions that commas separate.
func (p *parser) alterAction(kind string) (a ast.AlterAction) {
	a.Pos = p.pos()
	switch t := p.tok(); t.kw {
	case kwAdd:
		p.next()
		p.alterAdd(&a)
	case kwDrop:
		p.next()
		a.Kind = "drop column"
		if p.accept(kwConstraint) {
			a.Kind = "drop constraint"
		} else {
			p.accept(kwColumn)
		}
		a.IfExists = p.ifExists()
		if id := p.ident(); a.Kind == "drop column" {
			a.Column = id
		} else {
			a.Name = id
		}
		a.Cascade = p.cascade()
	case kwAlter:
		p.next()
		if p.at(kwConstraint) {
			p.unsupported(a.Pos, "ALTER CONSTRAINT")
			return a
		}
		p.accept(kwColumn)
		if p.tok().kind == tokInt {
			p.unsupported(p.pos(), "ALTER COLUMN by number")
			return a
		}
		a.Column = p.ident()
		p.alterColumn(&a)
	case kwValidate:
		p.next()
		p.want(kwConstraint)
		a.Kind, a.Name = "validate constraint", p.ident()
	case kwOwner:
		p.next()
		p.want(kwTo)
		a.Kind, a.NewName = "owner", p.role()
	case kwSet, kwReset:
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

// alterUnsupported answers for the actions that the tree has no kind for.
func (p *parser) alterUnsupported(t *token) {
	switch t.kw {
	case kwAttach, kwDetach, kwCluster, kwDisable, kwEnable, kwForce, kwInherit, kwNo, kwNot, kwOf, kwReplica,
		kwSet, kwOptions, kwDepends:
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
	p.accept(kwColumn)
	a.IfNotExists = p.ifNotExists()
	def := p.columnDef()
	a.Def, a.Column = &def, def.Name
}

// alterColumn parses what follows ALTER [COLUMN] name.
func (p *parser) alterColumn(a *ast.AlterAction) {
	switch {
	case p.accept(kwSet, kwDefault):
		a.Kind = "set default"
		a.Expr, a.ExprText = p.exprText()
	case p.accept(kwDrop, kwDefault):
		a.Kind = "drop default"
	case p.accept(kwSet, kwNot, kwNull):
		a.Kind = "set not null"
	case p.accept(kwDrop, kwNot, kwNull):
		a.Kind = "drop not null"
	case p.accept(kwType), p.accept(kwSet, kwData, kwType):
		a.Kind = "set type"
		t := p.typeName()
		a.Type = &t
		if p.at(kwCollate) {
			p.unsupported(p.pos(), "COLLATE in ALTER COLUMN")
		}
		if p.accept(kwUsing) {
			a.Using, a.UsingText = p.exprText()
		}
	case p.accept(kwAdd, kwGenerated):
		a.Kind = "add identity"
		if a.Always = p.accept(kwAlways); !a.Always {
			p.want(kwBy, kwDefault)
		}
		p.want(kwAs, kwIdentity)
		a.Sequence = p.parenSequence()
	case p.at(kwSet, kwGenerated), p.at(kwRestart), p.at(kwSet) && p.identityOption():
		p.setIdentity(a)
	case p.accept(kwDrop, kwIdentity):
		a.Kind = "drop identity"
		a.IfExists = p.ifExists()
	case p.at(kwDrop, kwExpression), p.at(kwSet, kwStatistics), p.at(kwSet, kwStorage), p.at(kwSet, kwCompression),
		p.at(kwSet) && p.peek(1).is('('), p.at(kwReset):
		p.unsupported(p.pos(), "ALTER COLUMN … "+strings.ToUpper(p.tok().str+" "+p.peek(1).str))
	default:
		p.unexpected()
	}
}

// identityOption reports whether the word behind SET is an option of a sequence.
func (p *parser) identityOption() bool {
	switch p.peek(1).kw {
	case kwIncrement, kwMinvalue, kwMaxvalue, kwNo, kwStart, kwCache, kwCycle, kwRestart:
		return true
	}
	return false
}

// setIdentity parses SET GENERATED …, RESTART and SET option, in any order.
func (p *parser) setIdentity(a *ast.AlterAction) {
	a.Kind = "set identity"
	if p.accept(kwSet, kwGenerated) {
		if a.Always = p.accept(kwAlways); !a.Always {
			p.want(kwBy, kwDefault)
		}
		a.Options = append(a.Options, ast.Option{Pos: a.Pos, Name: "generated"})
	}
	a.Sequence = p.sequenceOptions()
	if p.at(kwSet, kwGenerated) {
		p.failAt(p.pos(), sqlerr.FeatureNotSupported, "SET GENERATED must come before the other options of an identity column")
	}
}

// drop parses DROP kind [IF EXISTS] names [CASCADE|RESTRICT].
func (p *parser) drop() ast.Statement {
	d := &ast.Drop{Pos: p.pos()}
	p.next()
	switch t := p.tok(); t.kw {
	case kwTable, kwView, kwSequence, kwSchema:
		d.Kind = t.str
		p.next()
	case kwIndex:
		d.Kind = t.str
		p.next()
		d.Concurrently = p.accept(kwConcurrently)
	case kwMaterialized:
		p.want(kwMaterialized, kwView)
		d.Kind = "materialized view"
	case kwDatabase:
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
	d.Kind = "database"
	d.IfExists = p.ifExists()
	id := p.ident()
	d.Names = []ast.Name{{Pos: id.Pos, Name: id.Name}}
	p.accept(kwWith)
	if p.punct('(') {
		p.unsupported(p.pos(), "DROP DATABASE … WITH (FORCE)")
	}
	return d
}
