package parse

import (
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// do parses DO [LANGUAGE name] 'body', in any order.
func (p *parser) do() ast.Statement {
	d := &ast.Do{Pos: p.pos()}
	p.next()
	language, body := false, false
	for p.err == nil {
		switch pos := p.pos(); {
		case p.tok().kind == tokString:
			if body {
				p.failAt(pos, sqlerr.SyntaxError, "conflicting or redundant options")
			}
			body = true
			p.doBody(d)
		case p.accept("language"):
			if language {
				p.failAt(pos, sqlerr.SyntaxError, "conflicting or redundant options")
			}
			language = true
			if p.tok().kind == tokString {
				d.Language = p.next().str
			} else {
				d.Language = p.name()
			}
		default:
			if !body && !language {
				p.unexpected()
			}
			if !body && p.err == nil {
				p.fail(sqlerr.New(sqlerr.SyntaxError, "no inline code specified"))
			}
			return d
		}
	}
	return d
}

// doBody reads the string with the body.
func (p *parser) doBody(d *ast.Do) {
	t := p.next()
	d.Body = t.str
	switch raw := p.src[t.pos:t.end]; {
	case raw[0] == '$':
		d.BodyPos = ast.Pos(int(t.pos) + strings.IndexByte(raw[1:], '$') + 3)
	case raw[0] == '\'' && strings.ReplaceAll(raw[1:len(raw)-1], "''", "'") == t.str:
		d.BodyPos, d.BodyQuoted = ast.Pos(t.pos)+2, true
	}
}
