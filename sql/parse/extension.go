package parse

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// createExtension parses EXTENSION [IF NOT EXISTS] name [WITH] [SCHEMA s] [VERSION v] [CASCADE]
// behind CREATE.
func (p *parser) createExtension(pos ast.Pos) ast.Statement {
	p.next()
	s := &ast.CreateExtension{Pos: pos, IfNotExists: p.ifNotExists()}
	s.Name = p.name()
	p.accept("with")
	for p.err == nil {
		at := p.pos()
		again := false
		switch {
		case p.accept("schema"):
			again = s.Schema != ""
			s.Schema = p.name()
		case p.accept("version"):
			again = s.Version != ""
			s.Version = p.versionName()
		case p.accept("cascade"):
			again = s.Cascade
			s.Cascade = true
		default:
			return s
		}
		if again {
			p.failAt(at, sqlerr.SyntaxError, "conflicting or redundant options")
		}
	}
	return s
}

// versionName parses the version of an extension: a name or a string.
func (p *parser) versionName() string {
	if p.tok().kind == tokString {
		return p.stringLit()
	}
	return p.name()
}

// alterExtension parses EXTENSION name UPDATE [TO v] or SET SCHEMA s behind ALTER.
func (p *parser) alterExtension(pos ast.Pos) ast.Statement {
	p.next()
	s := &ast.AlterExtension{Pos: pos, Name: p.name()}
	switch {
	case p.accept("update"):
		if p.accept("to") {
			s.Version = p.versionName()
		}
	case p.accept("set", "schema"):
		s.Schema = p.name()
	case p.at("add"):
		p.unsupported(pos, "ALTER EXTENSION … ADD")
	case p.at("drop"):
		p.unsupported(pos, "ALTER EXTENSION … DROP")
	default:
		p.unexpected()
	}
	return s
}
