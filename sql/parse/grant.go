package parse

import (
	"github.com/minidb/minidb/planner/ast"
)

// grant parses GRANT and REVOKE, of privileges and of roles.
func (p *parser) grant() ast.Statement {
	pos := p.pos()
	g := &ast.Grant{Pos: pos, Revoke: p.at("revoke")}
	p.next()
	admin := false
	if g.Revoke {
		if g.Option = p.accept("grant", "option", "for"); !g.Option {
			admin = p.accept("admin", "option", "for")
		}
	}
	g.Privileges = p.grantedPrivileges()
	if admin || !g.Option && p.at(direction(g.Revoke)) {
		return p.grantRole(g, admin)
	}
	p.want("on")
	p.grantTarget(g)
	p.grantees(g)
	return g
}

func direction(revoke bool) keyword {
	if revoke {
		return "from"
	}
	return "to"
}

// grantees parses TO or FROM and what follows.
func (p *parser) grantees(g *ast.Grant) {
	p.want(direction(g.Revoke))
	p.list(func() {
		p.accept("group")
		g.Roles = append(g.Roles, p.roleSpec())
	})
	if !g.Revoke {
		g.Option = p.accept("with", "grant", "option")
	}
	g.By = p.grantedBy()
	if g.Revoke {
		g.Cascade = p.cascade()
	}
}

func (p *parser) grantedBy() *ast.RoleSpec {
	if !p.accept("granted", "by") {
		return nil
	}
	r := p.roleSpec()
	return &r
}

// grantRole parses the rest of GRANT role TO role, whose roles were read as privileges.
func (p *parser) grantRole(g *ast.Grant, admin bool) ast.Statement {
	r := &ast.GrantRole{Pos: g.Pos, Revoke: g.Revoke, Admin: admin}
	for _, priv := range g.Privileges {
		if priv.Name == "" {
			p.unexpected()
			return nil
		}
		if priv.Columns != nil {
			p.failAt(priv.Pos, "0LP01",
				"column names cannot be included in GRANT/REVOKE ROLE")
			return nil
		}
		r.Roles = append(r.Roles, ast.Ident{Pos: priv.Pos, Name: priv.Name})
	}
	p.want(direction(g.Revoke))
	r.Members = p.roleSpecs()
	if !g.Revoke {
		r.Admin = p.accept("with", "admin", "option")
	}
	r.By = p.grantedBy()
	if g.Revoke {
		r.Cascade = p.cascade()
	}
	return r
}

func (p *parser) grantedPrivileges() (out []ast.GrantedPrivilege) {
	if p.at("all") {
		priv := ast.GrantedPrivilege{Pos: p.pos()}
		p.next()
		p.accept("privileges")
		priv.Columns = p.optIdents()
		return []ast.GrantedPrivilege{priv}
	}
	p.list(func() {
		priv := ast.GrantedPrivilege{Pos: p.pos()}
		switch {
		case p.accept("alter", "system"):
			priv.Name = "alter system"
		case p.at("select"), p.at("references"), p.at("create"):
			priv.Name = p.next().str
		default:
			priv.Name = p.name()
		}
		priv.Columns = p.optIdents()
		out = append(out, priv)
	})
	return out
}

// allInSchema are the objects of ALL … IN SCHEMA.
var allInSchema = []keyword{"tables", "sequences", "functions", "procedures", "routines"}

// grantTarget parses the objects behind ON.
func (p *parser) grantTarget(g *ast.Grant) {
	g.Kind, g.KindPos = "table", p.pos()
	for _, kind := range allInSchema {
		if p.accept("all", kind, "in", "schema") {
			g.Kind, g.InSchemas = string(kind), true
			p.grantedNames(g)
			return
		}
	}
	switch {
	case p.accept("foreign", "data", "wrapper"):
		g.Kind = "foreign-data wrapper"
	case p.accept("foreign", "server"):
		g.Kind = "foreign server"
	case p.accept("large", "object"):
		g.Kind = string(ast.LargeObject)
		p.list(func() { g.Names = append(g.Names, p.largeObject()) })
		return
	case p.at("function"), p.at("procedure"), p.at("routine"):
		g.Kind = p.next().str
		p.list(func() { g.Routines = append(g.Routines, p.routine()) })
		return
	case p.at("table"), p.at("sequence"), p.at("database"), p.at("domain"), p.at("language"),
		p.at("parameter"), p.at("schema"), p.at("tablespace"), p.at("type"):
		g.Kind = p.next().str
	}
	p.grantedNames(g)
}

// largeObject parses the number of a large object.
func (p *parser) largeObject() ast.Name {
	pos := p.pos()
	return ast.Name{Pos: pos, Name: p.signedNumber()}
}

func (p *parser) grantedNames(g *ast.Grant) {
	p.list(func() {
		if g.Kind == "type" || g.Kind == "domain" || g.Kind == "table" || g.Kind == "sequence" ||
			g.Kind == "parameter" {
			g.Names = append(g.Names, p.qualified())
			return
		}
		id := p.ident()
		g.Names = append(g.Names, ast.Name{Pos: id.Pos, Name: id.Name})
	})
}

// alterDefaultPrivileges parses DEFAULT PRIVILEGES behind ALTER.
func (p *parser) alterDefaultPrivileges(pos ast.Pos) ast.Statement {
	p.want("default", "privileges")
	a := &ast.AlterDefaultPrivileges{Pos: pos}
	for p.err == nil {
		switch {
		case p.accept("in", "schema"):
			p.list(func() { a.Schemas = append(a.Schemas, p.ident()) })
			continue
		case p.accept("for", "role"), p.accept("for", "user"):
			a.Roles = p.roleSpecs()
			continue
		}
		break
	}
	g := &a.Grant
	g.Pos, g.Revoke = p.pos(), p.at("revoke")
	if !p.acceptAny("grant", "revoke") {
		p.unexpected()
		return a
	}
	if g.Revoke {
		g.Option = p.accept("grant", "option", "for")
	}
	g.Privileges = p.grantedPrivileges()
	p.want("on")
	g.KindPos = p.pos()
	switch t := p.tok(); t.kw {
	case "tables", "sequences", "types", "schemas", "functions", "routines":
		g.Kind = string(t.kw)
		p.next()
	default:
		p.unexpected()
	}
	p.grantees(g)
	return a
}
