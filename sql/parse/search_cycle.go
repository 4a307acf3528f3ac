package parse

import (
	"github.com/minidb/minidb/planner/ast"
)

// traversal parses SEARCH and CYCLE behind a WITH query, if they are next.
func (p *parser) traversal(c *ast.CTE) {
	if pos := p.pos(); p.accept("search") {
		s := &ast.SearchClause{Pos: pos, Breadth: p.accept("breadth")}
		if !s.Breadth {
			p.want("depth")
		}
		p.want("first", "by")
		s.Columns = p.columnNames()
		p.want("set")
		s.Sequence = p.name()
		c.Search = s
	}
	if pos := p.pos(); p.accept("cycle") {
		s := &ast.CycleClause{Pos: pos, Columns: p.columnNames()}
		p.want("set")
		s.Mark = p.name()
		if p.accept("to") {
			s.Value = p.expr()
			p.want("default")
			s.Default = p.expr()
		}
		p.want("using")
		s.Path = p.name()
		c.Cycle = s
	}
}

// columnNames parses a list of names.
func (p *parser) columnNames() (out []string) {
	p.list(func() { out = append(out, p.name()) })
	return out
}
