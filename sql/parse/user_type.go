package parse

import (
	"github.com/minidb/minidb/planner/ast"
)

// createType parses TYPE behind CREATE.
func (p *parser) createType(pos ast.Pos) ast.Statement {
	p.next()
	s := &ast.CreateType{Pos: pos, Name: p.qualified()}
	switch {
	case p.accept("as", "enum"):
		s.Enum = true
		p.wantPunct('(')
		if !p.punct(')') {
			p.list(func() { s.Labels = append(s.Labels, p.enumLabel()) })
			p.wantPunct(')')
		}
	case p.at("as", "range"):
		p.unsupported(pos, "CREATE TYPE … AS RANGE")
	case p.accept("as"):
		p.wantPunct('(')
		if !p.punct(')') {
			p.list(func() { s.Attributes = append(s.Attributes, p.attributeDef()) })
			p.wantPunct(')')
		}
	default:
		p.unsupported(pos, "CREATE TYPE of a base type")
	}
	return s
}

func (p *parser) enumLabel() ast.Label {
	return ast.Label{Pos: p.pos(), Text: p.stringLit()}
}

// attributeDef parses the name and type of an attribute of a composite type.
func (p *parser) attributeDef() (c ast.ColumnDef) {
	c.Name, c.Type = p.ident(), p.typeName()
	if p.accept("collate") {
		n := p.qualified()
		c.Collation = &n
	}
	return c
}

// createDomain parses DOMAIN behind CREATE.
func (p *parser) createDomain(pos ast.Pos) ast.Statement {
	p.next()
	s := &ast.CreateDomain{Pos: pos, Name: p.qualified()}
	p.accept("as")
	s.Type = p.typeName()
	for p.err == nil {
		if p.at("collate") {
			p.next()
			n := p.qualified()
			s.Collation = &n
			continue
		}
		if n := len(s.Constraints); n > 0 && p.deferralWords() != "" {
			s.Constraints[n-1].Deferrable = true
			continue
		}
		k, ok := p.columnConstraint()
		if !ok {
			break
		}
		s.Constraints = append(s.Constraints, k)
	}
	return s
}

// alterType parses TYPE or DOMAIN behind ALTER.
func (p *parser) alterType(pos ast.Pos) ast.Statement {
	s := &ast.AlterType{Pos: pos, Kind: ast.ObjectKind(p.next().str)}
	s.Name = p.qualified()
	a := ast.AlterTypeAction{Pos: p.pos()}
	switch {
	case p.accept("rename", "to"):
		a.Kind, a.NewName = "rename", p.ident()
	case p.accept("set", "schema"):
		a.Kind, a.NewName = "set schema", p.ident()
	case p.accept("owner", "to"):
		a.Kind, a.Owner = "owner", p.roleSpec()
	case s.Kind == ast.DomainObject:
		p.alterDomain(&a)
	case p.accept("add", "value"):
		p.addValue(&a)
	case p.accept("rename", "value"):
		a.Kind, a.Label = "rename value", p.enumLabel()
		p.want("to")
		a.NewLabel = p.enumLabel()
	case p.accept("rename", "attribute"):
		a.Kind, a.Name = "rename attribute", p.ident()
		p.want("to")
		a.NewName = p.ident()
		a.Cascade = p.cascade()
	case p.at("set"):
		p.unsupported(pos, "ALTER TYPE … SET")
	default:
		p.list(func() { s.Actions = append(s.Actions, p.attributeAction()) })
		return s
	}
	s.Actions = append(s.Actions, a)
	return s
}

// addValue parses what follows ALTER TYPE … ADD VALUE.
func (p *parser) addValue(a *ast.AlterTypeAction) {
	a.Kind, a.IfNotExists, a.Label = "add value", p.ifNotExists(), p.enumLabel()
	if a.Before = p.at("before"); a.Before || p.at("after") {
		p.next()
		l := p.enumLabel()
		a.Neighbor = &l
	}
}

// attributeAction parses an action on an attribute of a composite type.
func (p *parser) attributeAction() (a ast.AlterTypeAction) {
	a.Pos = p.pos()
	switch {
	case p.accept("add", "attribute"):
		d := p.attributeDef()
		a.Kind, a.Name, a.Def = "add attribute", d.Name, &d
	case p.accept("drop", "attribute"):
		a.Kind, a.IfExists = "drop attribute", p.ifExists()
		a.Name = p.ident()
	case p.accept("alter", "attribute"):
		d := ast.ColumnDef{Name: p.ident()}
		p.accept("set", "data")
		p.want("type")
		d.Type = p.typeName()
		if p.accept("collate") {
			n := p.qualified()
			d.Collation = &n
		}
		a.Kind, a.Name, a.Def = "alter attribute", d.Name, &d
	default:
		p.unexpected()
	}
	a.Cascade = p.cascade()
	return a
}

// alterDomain parses the actions that domains alone have.
func (p *parser) alterDomain(a *ast.AlterTypeAction) {
	switch {
	case p.accept("set", "default"):
		a.Kind, a.Expr = "set default", p.expr()
	case p.accept("drop", "default"):
		a.Kind = "drop default"
	case p.accept("set", "not", "null"):
		a.Kind = "set not null"
	case p.accept("drop", "not", "null"):
		a.Kind = "drop not null"
	case p.accept("drop", "constraint"):
		a.Kind, a.IfExists = "drop constraint", p.ifExists()
		a.Name, a.Cascade = p.ident(), p.cascade()
	case p.accept("rename", "constraint"):
		a.Kind, a.Name = "rename constraint", p.ident()
		p.want("to")
		a.NewName = p.ident()
	case p.accept("validate", "constraint"):
		a.Kind, a.Name = "validate constraint", p.ident()
	case p.accept("add"):
		if !p.tableConstraintHere() {
			p.unexpected()
			return
		}
		k := p.tableConstraint()
		a.Kind, a.Constraint = "add constraint", &k
	default:
		p.unexpected()
	}
}
