package parse

import (
	"github.com/minidb/minidb/planner/ast"
)

// notify parses LISTEN, UNLISTEN and NOTIFY.
func (p *parser) notify() ast.Statement {
	pos := p.pos()
	switch p.next().kw {
	case "listen":
		return &ast.Listen{Pos: pos, Channel: p.name()}
	case "unlisten":
		if p.punct('*') {
			return &ast.Unlisten{Pos: pos, All: true}
		}
		return &ast.Unlisten{Pos: pos, Channel: p.name()}
	}
	n := &ast.Notify{Pos: pos, Channel: p.name()}
	if p.punct(',') {
		n.Payload = p.stringLit()
	}
	return n
}
