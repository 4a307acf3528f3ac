package parse

import (
	"github.com/minidb/minidb/planner/ast"
)

// vacuum parses VACUUM and ANALYZE.
func (p *parser) vacuum() ast.Statement {
	m := &ast.Maintenance{Pos: p.pos(), Command: ast.MaintenanceCommand(p.next().str)}
	if m.Command == "analyse" {
		m.Command = "analyze"
	}
	if p.tok().is('(') {
		m.Options = p.utilityOptions()
	} else {
		for _, word := range []keyword{"full", "freeze", "verbose", "analyze", "analyse"} {
			t := p.tok()
			if (word == "verbose" || m.Command == "vacuum") && p.accept(word) {
				m.Options = append(m.Options, ast.Option{Pos: ast.Pos(t.pos) + 1, Name: t.str})
			}
		}
	}
	if p.tok().colID() {
		p.list(func() {
			name := p.qualified()
			m.Tables = append(m.Tables, ast.MaintainedTable{Name: name, Columns: p.optIdents()})
		})
	}
	return m
}

// checkpoint parses CHECKPOINT.
func (p *parser) checkpoint() ast.Statement {
	m := &ast.Maintenance{Pos: p.pos(), Command: ast.Checkpoint}
	p.next()
	return m
}

// reindex parses REINDEX [( options )] kind [CONCURRENTLY] name.
func (p *parser) reindex() ast.Statement {
	m := &ast.Maintenance{Pos: p.pos(), Command: ast.Reindex}
	p.next()
	if p.tok().is('(') {
		m.Options = p.utilityOptions()
	}
	switch t := p.tok(); t.kw {
	case "index", "table", "schema", "database", "system":
		m.Kind = t.str
		p.next()
	default:
		p.unexpected()
	}
	if t := p.tok(); p.accept("concurrently") {
		m.Options = append(m.Options, ast.Option{Pos: ast.Pos(t.pos) + 1, Name: t.str})
	}
	m.Tables = []ast.MaintainedTable{{Name: p.qualified()}}
	return m
}

// cluster parses CLUSTER [( options )] [VERBOSE] [table [USING index]].
func (p *parser) cluster() ast.Statement {
	m := &ast.Maintenance{Pos: p.pos(), Command: ast.Cluster}
	p.next()
	if p.tok().is('(') {
		m.Options = p.utilityOptions()
	}
	if t := p.tok(); p.accept("verbose") {
		m.Options = append(m.Options, ast.Option{Pos: ast.Pos(t.pos) + 1, Name: t.str})
	}
	if p.tok().colID() {
		m.Tables = []ast.MaintainedTable{{Name: p.qualified()}}
		if p.accept("using") {
			p.name()
		} else if p.accept("on") {
			m.Tables = []ast.MaintainedTable{{Name: p.qualified()}}
		}
	}
	return m
}
