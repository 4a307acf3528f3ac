package parse

import (
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// roleSpec parses a role name, or the words that stand for a role of the session.
func (p *parser) roleSpec() ast.RoleSpec {
	t := p.tok()
	if t.kind == tokIdent {
		switch t.kw {
		case "current_user", "current_role", "session_user":
			p.next()
			return ast.RoleSpec{Pos: ast.Pos(t.pos) + 1, Keyword: string(t.kw)}
		}
	}
	id := p.nonReservedWord()
	switch id.Name {
	case "public":
		return ast.RoleSpec{Pos: id.Pos, Keyword: "public"}
	case "none":
		p.failAt(id.Pos, sqlerr.ReservedName, "role name \"none\" is reserved")
	}
	return ast.RoleSpec{Pos: id.Pos, Name: id.Name}
}

// roleID parses the name of a role that is to be made, or renamed.
func (p *parser) roleID() ast.RoleSpec {
	r := p.roleSpec()
	switch r.Keyword {
	case "":
	case "public":
		p.failAt(r.Pos, sqlerr.ReservedName, "role name \"public\" is reserved")
	default:
		p.failAt(r.Pos, sqlerr.ReservedName, "%s cannot be used as a role name here",
			strings.ToUpper(r.Keyword))
	}
	return r
}

func (p *parser) roleSpecs() (out []ast.RoleSpec) {
	p.list(func() { out = append(out, p.roleSpec()) })
	return out
}

// createRole parses ROLE, USER or GROUP behind CREATE.
func (p *parser) createRole(pos ast.Pos) ast.Statement {
	c := &ast.CreateRole{Pos: pos, Kind: p.next().str}
	if c.Kind == "user" && p.at("mapping") {
		p.unsupported(pos, "CREATE USER MAPPING")
		return nil
	}
	c.Role = p.roleID()
	p.accept("with")
	c.Options = p.roleOptions(true)
	return c
}

// roleFlags are the options that are on or, with NO before them, off.
var roleFlags = map[string]bool{"superuser": true, "inherit": true, "createrole": true,
	"createdb": true, "login": true, "replication": true, "bypassrls": true}

// roleOptions parses options of CREATE ROLE or ALTER ROLE, each at most once.
func (p *parser) roleOptions(create bool) (out []ast.RoleOption) {
	said := map[string]bool{}
	for p.err == nil {
		pos := p.pos()
		o, ok := p.roleOption(create)
		if !ok || p.err != nil {
			break
		}
		o.Pos = pos
		if said[o.Name] {
			p.failAt(pos, sqlerr.SyntaxError, "conflicting or redundant options")
		}
		said[o.Name] = true
		out = append(out, o)
	}
	return out
}

// roleOption parses one option; false when none is next.
func (p *parser) roleOption(create bool) (o ast.RoleOption, ok bool) {
	t := p.tok()
	if t.kind != tokIdent {
		return o, false
	}
	word := t.str
	if name, off := strings.CutPrefix(word, "no"); off && roleFlags[name] {
		p.next()
		return ast.RoleOption{Name: name}, true
	}
	if roleFlags[word] {
		p.next()
		return ast.RoleOption{Name: word, On: true}, true
	}
	switch word {
	case "encrypted", "password":
		return p.rolePassword(), true
	case "unencrypted":
		p.next()
		p.failAt(ast.Pos(t.pos)+1, sqlerr.FeatureNotSupported,
			"UNENCRYPTED PASSWORD is no longer supported")
		return o, false
	case "connection":
		p.next()
		p.want("limit")
		return ast.RoleOption{Name: "connection limit", Limit: p.integer()}, true
	case "valid":
		p.next()
		p.want("until")
		return ast.RoleOption{Name: "valid until", Text: p.stringLit()}, true
	}
	if create {
		return p.createRoleOption(word)
	}
	if t.kw == "" {
		p.failAt(ast.Pos(t.pos)+1, sqlerr.SyntaxError, "unrecognized role option \"%s\"", word)
	}
	return o, false
}

// createRoleOption parses an option that ALTER ROLE does not have.
func (p *parser) createRoleOption(word string) (o ast.RoleOption, ok bool) {
	t := p.tok()
	switch {
	case word == "sysid":
		p.next()
		return ast.RoleOption{Name: "sysid", Limit: p.integer()}, true
	case word == "admin":
		p.next()
		return ast.RoleOption{Name: "admin", Roles: p.roleSpecs()}, true
	case word == "role", word == "user":
		p.next()
		return ast.RoleOption{Name: "role", Roles: p.roleSpecs()}, true
	case p.at("in", "role"), p.at("in", "group"):
		p.skip(2)
		return ast.RoleOption{Name: "in role", Roles: p.roleSpecs()}, true
	case t.kw == "":
		p.failAt(ast.Pos(t.pos)+1, sqlerr.SyntaxError, "unrecognized role option \"%s\"", word)
	}
	return o, false
}

func (p *parser) rolePassword() ast.RoleOption {
	p.accept("encrypted")
	p.want("password")
	if p.accept("null") {
		return ast.RoleOption{Name: "password", Null: true}
	}
	return ast.RoleOption{Name: "password", Text: p.stringLit()}
}

// alterRole parses ROLE, USER or GROUP behind ALTER.
func (p *parser) alterRole(pos ast.Pos) ast.Statement {
	kind := p.next().str
	if kind == "user" && p.at("mapping") {
		p.unsupported(pos, "ALTER USER MAPPING")
		return nil
	}
	if kind != "group" && p.at("all") {
		p.next()
		return p.alterRoleSettings(pos, nil)
	}
	role := p.roleSpec()
	switch {
	case p.accept("rename", "to"):
		return &ast.RenameRole{Pos: pos, Role: role, NewName: p.roleID()}
	case kind == "group":
		a := &ast.AlterRole{Pos: pos, Role: role, Drop: p.at("drop")}
		if !p.acceptAny("add", "drop") {
			p.unexpected()
		}
		p.want("user")
		a.Members = p.roleSpecs()
		return a
	case p.at("in"), p.at("set"), p.at("reset"):
		return p.alterRoleSettings(pos, &role)
	}
	p.accept("with")
	return &ast.AlterRole{Pos: pos, Role: role, Options: p.roleOptions(false)}
}

func (p *parser) alterRoleSettings(pos ast.Pos, role *ast.RoleSpec) ast.Statement {
	a := &ast.AlterRoleSettings{Pos: pos, Role: role}
	if p.accept("in", "database") {
		a.Database = p.name()
	}
	var ok bool
	if a.Set, a.Current, ok = p.setOrReset(); !ok {
		p.unexpected()
	}
	return a
}

// dropRole parses ROLE, USER or GROUP behind DROP.
func (p *parser) dropRole(pos ast.Pos) ast.Statement {
	if kind := p.next().str; kind == "user" && p.at("mapping") {
		p.unsupported(pos, "DROP USER MAPPING")
		return nil
	}
	return &ast.DropRole{Pos: pos, IfExists: p.ifExists(), Roles: p.roleSpecs()}
}

// reassign parses REASSIGN OWNED BY roles TO role.
func (p *parser) reassign() ast.Statement {
	r := &ast.ReassignOwned{Pos: p.pos()}
	p.want("reassign", "owned", "by")
	r.Roles = p.roleSpecs()
	p.want("to")
	r.To = p.roleSpec()
	return r
}

// dropOwned parses OWNED BY roles behind DROP.
func (p *parser) dropOwned(pos ast.Pos) ast.Statement {
	p.want("owned", "by")
	return &ast.DropOwned{Pos: pos, Roles: p.roleSpecs(), Cascade: p.cascade()}
}
