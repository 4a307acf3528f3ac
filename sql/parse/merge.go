package parse

import (
	"github.com/minidb/minidb/planner/ast"
)

// merge parses MERGE behind its WITH clause, which may be nil.
func (p *parser) merge(w *ast.With) ast.Statement {
	s := &ast.Merge{With: w, Pos: p.pos()}
	p.want("merge", "into")
	s.Table, s.Only, s.Alias = p.dmlTarget()
	p.want("using")
	s.Source = p.fromItem()
	p.want("on")
	s.On = p.expr()
	for p.err == nil {
		s.When = append(s.When, p.mergeWhen())
		if !p.at("when") {
			break
		}
	}
	return s
}

// mergeWhen parses WHEN [NOT] MATCHED [AND condition] THEN action.
func (p *parser) mergeWhen() ast.MergeWhen {
	c := ast.MergeWhen{Pos: p.pos()}
	p.want("when")
	c.Matched = !p.accept("not")
	p.want("matched")
	if p.accept("and") {
		c.Cond = p.expr()
	}
	p.want("then")
	switch {
	case p.accept("do", "nothing"):
		c.Do = ast.MergeNothing
	case c.Matched && p.accept("update"):
		p.want("set")
		c.Do, c.Set = ast.MergeUpdate, p.assignments()
	case c.Matched && p.accept("delete"):
		c.Do = ast.MergeDelete
	case !c.Matched && p.accept("insert"):
		c.Do = ast.MergeInsert
		p.mergeInsert(&c)
	default:
		p.unexpected()
	}
	return c
}

// mergeInsert parses what follows INSERT: columns and one row of values, or DEFAULT VALUES.
func (p *parser) mergeInsert(c *ast.MergeWhen) {
	if p.accept("default", "values") {
		return
	}
	if p.tok().is('(') {
		c.Columns = p.targetColumns()
	}
	c.Overriding = p.overriding()
	p.want("values")
	l := p.newExprList()
	p.parenList(func() {
		if p.at("default") {
			l.put(&ast.Default{Pos: p.pos()})
			p.next()
			return
		}
		l.add()
	})
	c.Values = l.finish()
}
