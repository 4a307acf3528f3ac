package parse

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// createPolicy parses POLICY behind CREATE.
func (p *parser) createPolicy(pos ast.Pos) ast.Statement {
	p.next()
	c := &ast.CreatePolicy{Pos: pos, Name: p.ident()}
	p.want("on")
	c.Table = p.qualified()
	if p.accept("as") {
		c.Restrictive = p.restrictive()
	}
	if p.accept("for") {
		c.Command = p.policyCommand()
	}
	c.Roles, c.Using, c.Check = p.policyRules()
	return c
}

// restrictive parses PERMISSIVE or RESTRICTIVE, which are no key words.
func (p *parser) restrictive() bool {
	id := p.ident()
	switch id.Name {
	case "permissive", "restrictive":
	default:
		if p.err == nil {
			p.fail(sqlerr.New(sqlerr.SyntaxError, "unrecognized row security option \"%s\"",
				id.Name).At(int(id.Pos)).
				WithHint("Only PERMISSIVE or RESTRICTIVE policies are supported currently."))
		}
	}
	return id.Name == "restrictive"
}

// policyCommand parses the command behind FOR.
func (p *parser) policyCommand() string {
	for _, command := range []keyword{"select", "insert", "update", "delete"} {
		if p.accept(command) {
			return string(command)
		}
	}
	p.want("all")
	return ""
}

// policyRules parses the roles that a policy is for, and its conditions.
func (p *parser) policyRules() (roles []ast.RoleSpec, using, check ast.Expr) {
	if p.accept("to") {
		roles = p.roleSpecs()
	}
	condition := func() ast.Expr {
		p.wantPunct('(')
		e := p.expr()
		p.wantPunct(')')
		return e
	}
	if p.accept("using") {
		using = condition()
	}
	if p.accept("with", "check") {
		check = condition()
	}
	return roles, using, check
}

// alterPolicy parses POLICY behind ALTER.
func (p *parser) alterPolicy(pos ast.Pos) ast.Statement {
	p.next()
	exists := p.ifExists()
	name := p.ident()
	p.want("on")
	table := p.qualified()
	if exists || p.at("rename") {
		p.want("rename", "to")
		return &ast.RenamePolicy{Pos: pos, Name: name, Table: table, IfExists: exists,
			NewName: p.ident()}
	}
	a := &ast.AlterPolicy{Pos: pos, Name: name, Table: table}
	a.Roles, a.Using, a.Check = p.policyRules()
	return a
}

// dropPolicy parses POLICY behind DROP. Nothing depends on a policy, so CASCADE has no effect.
func (p *parser) dropPolicy(pos ast.Pos) ast.Statement {
	p.next()
	d := &ast.DropPolicy{Pos: pos, IfExists: p.ifExists(), Name: p.ident()}
	p.want("on")
	d.Table = p.qualified()
	p.cascade()
	return d
}

// rowSecurity parses an action of ALTER TABLE about row security; false when the next tokens are
// none.
func (p *parser) rowSecurity(a *ast.AlterAction) bool {
	switch {
	case p.accept("enable", "row", "level", "security"):
		a.Kind = "enable row security"
	case p.accept("disable", "row", "level", "security"):
		a.Kind = "disable row security"
	case p.accept("force", "row", "level", "security"):
		a.Kind = "force row security"
	case p.accept("no", "force", "row", "level", "security"):
		a.Kind = "no force row security"
	default:
		return false
	}
	return true
}
