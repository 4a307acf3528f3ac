package parse

import (
	"strings"

	"github.com/minidb/minidb/planner/ast"
)

// declareCursor parses DECLARE name [options] CURSOR [WITH HOLD] FOR query.
func (p *parser) declareCursor() ast.Statement {
	s := &ast.DeclareCursor{Pos: p.pos()}
	p.next()
	s.Name = p.name()
	for p.err == nil && !p.at("cursor") {
		switch {
		case p.accept("no", "scroll"):
			s.Scroll = ptr(false)
		case p.accept("scroll"):
			s.Scroll = ptr(true)
		case p.accept("binary"):
			s.Binary = true
		case p.acceptAny("asensitive", "insensitive"):
		default:
			p.unexpected()
		}
	}
	p.want("cursor")
	if p.accept("with", "hold") {
		s.Hold = true
	} else {
		p.accept("without", "hold")
	}
	p.want("for")
	first := p.i
	s.Query = p.query()
	s.Text = p.textFrom(first)
	return s
}

// fetch parses FETCH and MOVE.
func (p *parser) fetch() ast.Statement {
	f := &ast.Fetch{Pos: p.pos(), Direction: "forward", Count: 1}
	f.Move = p.next().kw == "move"
	switch t := p.tok(); t.kw {
	case "next", "prior", "first", "last":
		if p.fetchName(1) {
			f.Direction = t.str
			p.next()
		}
	case "absolute", "relative":
		if n := p.peek(1); n.kind == tokInt || n.is('-') || n.is('+') {
			f.Direction = t.str
			p.next()
			f.Count = p.integer()
		}
	case "forward", "backward":
		if p.fetchName(1) || p.peek(1).kind == tokInt || p.peek(1).is('-') || p.peek(1).is('+') || p.peek(1).kw == "all" {
			f.Direction = t.str
			p.next()
			p.fetchCount(f)
		}
	default:
		if !p.fetchCount(f) {
			f.Direction = "next"
		}
	}
	p.acceptAny("from", "in")
	f.Cursor = p.name()
	return f
}

// fetchName reports whether a cursor's name, alone or behind FROM or IN, stands at the n-th token.
func (p *parser) fetchName(n int) bool {
	t := p.peek(n)
	return t.kw == "from" || t.kw == "in" || t.colID()
}

// fetchCount parses a count or ALL if one stands here.
func (p *parser) fetchCount(f *ast.Fetch) bool {
	switch t := p.tok(); {
	case p.accept("all"):
		f.All = true
	case t.kind == tokInt, t.is('-'), t.is('+'):
		f.Count = p.integer()
	default:
		return false
	}
	return true
}

// closeCursor parses CLOSE name | ALL.
func (p *parser) closeCursor() ast.Statement {
	c := &ast.CloseCursor{Pos: p.pos()}
	p.next()
	if c.All = p.accept("all"); !c.All {
		c.Name = p.name()
	}
	return c
}

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

// lockTable parses LOCK [TABLE] names [IN mode MODE] [NOWAIT].
func (p *parser) lockTable() ast.Statement {
	l := &ast.LockTable{Pos: p.pos(), Mode: "access exclusive"}
	p.next()
	p.accept("table")
	p.list(func() {
		n, _ := p.relation()
		l.Tables = append(l.Tables, n)
	})
	if p.accept("in") {
		l.Mode = p.lockMode()
		p.want("mode")
	}
	l.NoWait = p.accept("nowait")
	return l
}

// lockMode parses the words between IN and MODE.
func (p *parser) lockMode() string {
	var words []string
	for p.err == nil && !p.at("mode") {
		if !p.at("access") && !p.at("row") && !p.at("share") && !p.at("update") && !p.at("exclusive") {
			p.unexpected()
		}
		words = append(words, p.next().str)
	}
	switch mode := strings.Join(words, " "); mode {
	case "access share", "row share", "row exclusive", "share update exclusive", "share",
		"share row exclusive", "exclusive", "access exclusive":
		return mode
	}
	p.unexpected()
	return ""
}

// vacuum parses VACUUM and ANALYZE.
func (p *parser) vacuum() ast.Statement {
	m := &ast.Maintenance{Pos: p.pos(), Command: p.next().str}
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
	m := &ast.Maintenance{Pos: p.pos(), Command: "checkpoint"}
	p.next()
	return m
}

// reindex parses REINDEX [( options )] kind [CONCURRENTLY] name.
func (p *parser) reindex() ast.Statement {
	m := &ast.Maintenance{Pos: p.pos(), Command: "reindex"}
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
	m := &ast.Maintenance{Pos: p.pos(), Command: "cluster"}
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
