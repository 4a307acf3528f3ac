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
	if p.accept("overriding") {
		switch {
		case p.accept("user"):
			s.Overriding = "user"
		case p.accept("system"):
			s.Overriding = "system"
		default:
			p.unexpected()
		}
		p.want("value")
	}
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
func (p *parser) targetColumns() (out []ast.Ident) {
	p.parenList(func() { out = append(out, p.targetColumn()) })
	return out
}

// targetColumn parses a column that is written to.
func (p *parser) targetColumn() ast.Ident {
	id := p.ident()
	if p.tok().is('[') || p.tok().is('.') {
		p.unsupported(p.pos(), "assignment to a part of a column")
	}
	return id
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
	if c.Target == nil && c.Constraint == nil && p.at("update") {
		p.fail(sqlerr.New(sqlerr.SyntaxError, "ON CONFLICT DO UPDATE requires inference "+
			"specification or constraint name").
			At(int(c.Pos)).WithHint("For example, ON CONFLICT (column_name)."))
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
			a.Columns = []ast.Ident{p.targetColumn()}
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
			if _, ok := e.(*ast.Star); ok { // its width is known to the catalog only
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
