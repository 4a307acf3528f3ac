package parse

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// optWith parses WITH if it is next.
func (p *parser) optWith() *ast.With {
	if p.at("with") {
		return p.with()
	}
	return nil
}

// insert parses INSERT behind its WITH clause, which may be nil; so do update and deleteFrom.
func (p *parser) insert(w *ast.With) ast.Statement {
	s := &ast.Insert{With: w, Pos: p.pos()}
	p.want("insert", "into")
	s.Table = p.qualified()
	if p.accept("as") {
		s.Alias = p.name()
	}
	if p.tok().is('(') && !p.queryParen() {
		if t := p.peek(1); !t.colID() {
			p.unexpectedQuery()
		}
		s.Columns = p.targetColumns()
	}
	s.Overriding = p.overriding()
	switch {
	case s.Columns == nil && s.Overriding == "" && p.accept("default", "values"):
	case p.at("values"):
		s.Query = p.insertValues()
	case p.atQuery():
		s.Query = p.query()
	default:
		p.unexpectedQuery()
	}
	if p.at("on") {
		s.OnConflict = p.onConflict()
	}
	s.Returning = p.returning()
	return s
}

// overriding parses OVERRIDING {USER | SYSTEM} VALUE if it is next.
func (p *parser) overriding() (kind string) {
	if !p.accept("overriding") {
		return ""
	}
	switch {
	case p.accept("user"):
		kind = "user"
	case p.accept("system"):
		kind = "system"
	default:
		p.unexpected()
	}
	p.want("value")
	return kind
}

// insertValues parses VALUES, in which DEFAULT is allowed, and goes on as a query.
func (p *parser) insertValues() *ast.Select {
	s := &ast.Select{Pos: p.pos()}
	s.Body = p.values(true)
	switch p.tok().kw {
	case "union", "intersect", "except":
		p.unsupported(p.pos(), "set operation over VALUES in INSERT")
	}
	p.queryTail(s, nil)
	return s
}

// targetColumns parses the column list of INSERT and of SET (a, b).
func (p *parser) targetColumns() (out []ast.Target) {
	p.parenList(func() { out = append(out, p.targetColumn()) })
	return out
}

// targetColumn parses a column that is written to, or a part of it.
func (p *parser) targetColumn() ast.Target {
	t := ast.Target{Ident: p.ident()}
	for p.err == nil {
		step := ast.PathStep{Pos: p.pos()}
		switch {
		case p.punct('.'):
			if p.tok().is('*') {
				p.failAt(t.Pos, sqlerr.FeatureNotSupported,
					"row expansion via \"*\" is not supported here")
				return t
			}
			step.Field = p.label().Name
		case p.tok().is('['):
			s := p.subscript(false)(nil).(*ast.Subscript)
			step.Slice, step.Index, step.Low, step.High = s.Slice, s.Index, s.Low, s.High
		default:
			return t
		}
		t.Path = append(t.Path, step)
	}
	return t
}

// returning parses RETURNING if it is next.
func (p *parser) returning() (items []ast.SelectItem) {
	if !p.accept("returning") {
		return nil
	}
	l := p.newExprList()
	p.list(func() {
		l.addWith(func(u *unit) { items = append(items, p.selectItem(u)) })
	})
	for i, e := range l.finish() {
		items[i].Expr = e
	}
	return items
}

// onConflict parses ON CONFLICT.
func (p *parser) onConflict() *ast.OnConflict {
	c := &ast.OnConflict{Pos: p.pos()}
	p.want("on", "conflict")
	switch {
	case p.tok().is('('):
		p.parenList(func() { c.Target = append(c.Target, p.indexElem()) })
		if p.accept("where") {
			c.TargetWhere = p.expr()
		}
	case p.accept("on", "constraint"):
		id := p.ident()
		c.Constraint = &id
	}
	p.want("do")
	if p.accept("nothing") {
		return c
	}
	p.want("update", "set")
	c.Update = true
	c.Set = p.assignments()
	if p.accept("where") {
		c.Where = p.expr()
	}
	return c
}

// assignments parses the list of SET.
func (p *parser) assignments() (set []ast.Assignment) {
	l := p.newExprList()
	p.list(func() {
		a := ast.Assignment{Pos: p.pos()}
		if p.tok().is('(') {
			a.Multi = true
			a.Columns = p.targetColumns()
		} else {
			a.Columns = []ast.Target{p.targetColumn()}
		}
		p.wantPunct('=')
		switch {
		case p.at("default"):
			l.put(&ast.Default{Pos: p.pos()})
			p.next()
		case a.Multi && p.rowOfDefaults():
			l.put(p.defaultRow())
		default:
			l.add()
		}
		set = append(set, a)
	})
	for i, e := range l.finish() {
		set[i].Value = e
	}
	for _, a := range set {
		if p.err == nil && a.Multi {
			p.checkMulti(a)
		}
	}
	return set
}

// checkMulti refuses what PostgreSQL refuses on the right of (a, b) =.
func (p *parser) checkMulti(a ast.Assignment) {
	switch v := a.Value.(type) {
	case *ast.Row:
		for _, e := range v.Elements {
			if isStar(e) { // its width is known to the catalog only
				return
			}
		}
		if len(v.Elements) != len(a.Columns) {
			p.failAt(v.Pos, sqlerr.SyntaxError, "number of columns does not match number of values")
		}
	case *ast.Subquery, *ast.Default:
	default:
		if len(a.Columns) > 1 {
			p.unsupported(a.Value.At(), "source for a multiple-column UPDATE item that is "+
				"neither a sub-SELECT nor a ROW() expression")
		}
	}
}

// isStar reports whether an expression is t.* or (x).*.
func isStar(e ast.Expr) bool {
	if f, ok := e.(*ast.FieldSelect); ok {
		return f.Field == "*"
	}
	_, ok := e.(*ast.Star)
	return ok
}

// rowOfDefaults reports whether a row here has DEFAULT among its direct elements.
func (p *parser) rowOfDefaults() bool {
	i := p.i
	if p.toks[i].kw == "row" {
		i++
	}
	if !p.toks[i].is('(') || p.toks[i].pair == 0 {
		return false
	}
	end := int(p.toks[i].pair)
	for i++; i < end; i++ {
		t := &p.toks[i]
		if t.kw == "default" && (p.toks[i-1].is('(') || p.toks[i-1].is(',')) {
			return true
		}
		if t.is('(') {
			i = int(t.pair)
		}
	}
	return false
}

// defaultRow parses a row in which DEFAULT is allowed.
func (p *parser) defaultRow() ast.Expr {
	row := &ast.Row{Pos: p.pos()}
	p.accept("row")
	l := p.newExprList()
	p.parenList(func() {
		if p.at("default") {
			l.put(&ast.Default{Pos: p.pos()})
			p.next()
			return
		}
		l.add()
	})
	row.Elements = l.finish()
	return row
}

// dmlTarget parses [ONLY] table [*] [[AS] alias]; SET is an alias behind AS only.
func (p *parser) dmlTarget() (name ast.Name, only bool, alias string) {
	name, only = p.relation()
	if p.accept("as") {
		alias = p.name()
	} else if !p.at("set") {
		alias = p.optName()
	}
	return name, only, alias
}

// update parses UPDATE.
func (p *parser) update(w *ast.With) ast.Statement {
	s := &ast.Update{With: w, Pos: p.pos()}
	p.want("update")
	s.Table, s.Only, s.Alias = p.dmlTarget()
	p.want("set")
	s.Set = p.assignments()
	if p.accept("from") {
		s.From = p.fromItems()
	}
	s.Where, s.CurrentOf = p.whereOrCurrentOf()
	s.Returning = p.returning()
	return s
}

// deleteFrom parses DELETE.
func (p *parser) deleteFrom(w *ast.With) ast.Statement {
	s := &ast.Delete{With: w, Pos: p.pos()}
	p.want("delete", "from")
	s.Table, s.Only, s.Alias = p.dmlTarget()
	if p.accept("using") {
		s.Using = p.fromItems()
	}
	s.Where, s.CurrentOf = p.whereOrCurrentOf()
	s.Returning = p.returning()
	return s
}

// whereOrCurrentOf parses WHERE condition and WHERE CURRENT OF cursor.
func (p *parser) whereOrCurrentOf() (ast.Expr, string) {
	if !p.accept("where") {
		return nil, ""
	}
	if p.accept("current", "of") {
		return nil, p.name()
	}
	return p.expr(), ""
}

// truncate parses TRUNCATE.
func (p *parser) truncate() ast.Statement {
	s := &ast.Truncate{Pos: p.pos()}
	p.next()
	p.accept("table")
	p.list(func() {
		n, _ := p.relation()
		s.Tables = append(s.Tables, n)
	})
	if p.accept("restart", "identity") {
		s.RestartIdentity = true
	} else {
		p.accept("continue", "identity")
	}
	s.Cascade = p.cascade()
	return s
}

// cascade parses CASCADE or RESTRICT.
func (p *parser) cascade() bool {
	if p.accept("cascade") {
		return true
	}
	p.accept("restrict")
	return false
}
