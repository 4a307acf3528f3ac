package parse

import (
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
			s.Scroll = new(false)
		case p.accept("scroll"):
			s.Scroll = new(true)
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
	if s.Query != nil {
		s.Query.Positioned = true
	}
	s.Text = p.textFrom(first)
	return s
}

// fetch parses FETCH and MOVE.
func (p *parser) fetch() ast.Statement {
	f := &ast.Fetch{Pos: p.pos(), Direction: ast.FetchForward, Count: 1}
	f.Move = p.next().kw == "move"
	switch t := p.tok(); t.kw {
	case "next", "prior", "first", "last":
		if p.fetchName(1) {
			f.Direction = ast.FetchDirection(t.str)
			p.next()
		}
	case "absolute", "relative":
		if n := p.peek(1); n.kind == tokInt || n.is('-') || n.is('+') {
			f.Direction = ast.FetchDirection(t.str)
			p.next()
			f.Count = p.integer()
		}
	case "forward", "backward":
		if p.fetchName(1) || p.peek(1).kind == tokInt || p.peek(1).is('-') || p.peek(1).is('+') ||
			p.peek(1).kw == "all" {
			f.Direction = ast.FetchDirection(t.str)
			p.next()
			p.fetchCount(f)
		}
	default:
		if !p.fetchCount(f) {
			f.Direction = ast.FetchNext
		}
	}
	p.acceptAny("from", "in")
	f.Cursor = p.name()
	return f
}

// fetchName reports whether a cursor's name, alone or behind FROM or IN, is at the n-th token.
func (p *parser) fetchName(n int) bool {
	t := p.peek(n)
	return t.kw == "from" || t.kw == "in" || t.colID()
}

// fetchCount parses a count or ALL if one is next.
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
