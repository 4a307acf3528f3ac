package parse

import (
	"github.com/minidb/minidb/planner/ast"
	tidbast "github.com/pingcap/tidb/pkg/parser/ast"
)

// coreParse is a SELECT core whose text is written and whose tree is not there yet.
type coreParse struct {
	core      *ast.SelectCore
	u         *unit
	on        int // expressions of DISTINCT ON, the first of the select list
	from      bool
	where     bool
	groups    []bool // which items of core.GroupBy the TiDB parser has
	having    bool
	windows   []*windowShape
	order     []ast.OrderItem
	tailOut   int // where ORDER BY starts in u.out and u.marks
	tailMarks int
	tailEmpty bool
}

// selectCore parses SELECT up to and with WINDOW.
func (p *parser) selectCore() *coreParse {
	c := &coreParse{core: &ast.SelectCore{Pos: p.pos()}, u: p.newUnit()}
	c.u.word(p.i, "SELECT")
	p.next()
	p.distinct(c)
	p.selectItems(c)
	if p.at("into") {
		p.into(c)
	}
	from := p.i
	if p.accept("from") {
		c.from = true
		c.u.word(from, "FROM")
		if p.fromList(c.u) {
			p.past.whole = append(p.past.whole, c.core)
		}
	} else {
		c.u.word(from, "FROM")
		c.u.word(from, "q")
	}
	if p.at("where") {
		c.where = true
		c.u.word(p.i, "WHERE")
		p.next()
		p.aExpr(c.u)
	}
	if p.at("group") {
		p.groupBy(c)
	}
	if p.at("having") {
		c.having = true
		c.u.word(p.i, "HAVING")
		p.next()
		p.aExpr(c.u)
	}
	c.tailOut, c.tailMarks, c.tailEmpty = len(c.u.out), len(c.u.marks), true
	c.u.word(p.i, "ORDER BY")
	if p.accept("window") {
		p.list(func() {
			w := &ast.Window{Name: p.name()}
			p.want("as")
			c.windows = append(c.windows, p.windowDefinition(c.u, &c.tailEmpty, w))
		})
	}
	return c
}

// distinct parses ALL, DISTINCT and DISTINCT ON ( … ).
func (p *parser) distinct(c *coreParse) {
	if p.accept("all") || !p.accept("distinct") {
		return
	}
	c.core.Distinct = true
	if p.accept("on") {
		p.wantPunct('(')
		c.on = p.commaExprs(c.u)
		p.wantPunct(')')
	}
	if p.selectListEnd() {
		p.unexpected()
	}
}

// selectListEnd reports whether the token here cannot start a select item, so that the list is
// empty.
func (p *parser) selectListEnd() bool {
	switch t := p.tok(); t.kind {
	case tokEOF:
		return true
	case tokPunct:
		return t.ch == ')' || t.ch == ';'
	case tokIdent:
		switch t.kw {
		case "from", "into", "where", "group", "having", "window", "union", "intersect", "except",
			"order",
			"limit", "offset", "fetch", "for":
			return true
		}
	}
	return false
}

// selectItems parses the select list, which may be empty.
func (p *parser) selectItems(c *coreParse) {
	u := c.u
	if p.selectListEnd() {
		if c.on == 0 {
			u.word(p.i, "q")
		}
		return
	}
	first := c.on == 0
	p.list(func() {
		u.separate(p.i, &first)
		c.core.Items = append(c.core.Items, p.selectItem(u))
	})
}

// selectItem writes one item's expression and returns it with its label alone.
func (p *parser) selectItem(u *unit) (item ast.SelectItem) {
	if p.tok().is('*') {
		u.name(p.i, &ast.Star{Pos: p.pos()})
		p.next()
		return item
	}
	p.itemExpr(u)
	if p.accept("as") {
		item.Alias = p.label().Name
	} else if p.tok().bareLabel() {
		item.Alias = p.next().str
	}
	return item
}

// into parses SELECT … INTO [[LOCAL|GLOBAL] TEMP|UNLOGGED] [TABLE] name.
func (p *parser) into(c *coreParse) {
	p.next()
	into := &ast.Into{}
	switch scope := p.peek(1).kw; {
	case (p.at("local") || p.at("global")) && (scope == "temp" || scope == "temporary"):
		into.Global = p.at("global")
		p.next()
		p.next()
		into.Temp = true
	case p.acceptAny("temp", "temporary"):
		into.Temp = true
	case p.accept("unlogged"):
		into.Unlogged = true
	}
	p.accept("table")
	into.Name = p.qualified()
	c.core.Into = into
}

// groupBy parses GROUP BY. Plain expressions go to the TiDB parser with the rest of the SELECT.
func (p *parser) groupBy(c *coreParse) {
	out, marks := len(c.u.out), len(c.u.marks)
	c.u.word(p.i, "GROUP BY")
	p.want("group", "by")
	if p.at("distinct") {
		p.unsupported(p.pos(), "GROUP BY DISTINCT")
	}
	p.accept("all")
	first := true
	p.list(func() {
		item := ast.GroupItem{Pos: p.pos()}
		switch {
		case p.tok().is('(') && p.peek(1).is(')'):
			p.skip(2)
			item.Kind, item.Sets = "sets", [][]ast.Expr{{}}
		case (p.at("rollup") || p.at("cube")) && p.peek(1).is('('):
			item.Kind = p.next().str
			item.Sets = p.groupingSets()
		case p.at("grouping", "sets"):
			p.skip(2)
			item.Kind, item.Sets = "sets", p.groupingSets()
		default:
			c.u.separate(p.i, &first)
			p.aExpr(c.u)
		}
		c.core.GroupBy = append(c.core.GroupBy, item)
		c.groups = append(c.groups, item.Kind == "")
	})
	if first {
		c.u.cut(out, marks)
	}
}

// groupingSets parses the parentheses of ROLLUP, CUBE and GROUPING SETS.
func (p *parser) groupingSets() (sets [][]ast.Expr) {
	p.parenList(func() {
		switch {
		case p.tok().is('(') && p.peek(1).is(')'):
			p.skip(2)
			sets = append(sets, []ast.Expr{})
			return
		case p.at("rollup") && p.peek(1).is('('), p.at("cube") &&
			p.peek(1).is('('), p.at("grouping", "sets"):
			p.unsupported(p.pos(), "nested grouping sets")
			return
		}
		e := p.expr()
		if row, ok := p.implicitRow(e); ok {
			sets = append(sets, row.Elements)
			return
		}
		sets = append(sets, []ast.Expr{e})
	})
	return sets
}

// implicitRow reports whether e is (a, b) without the word ROW.
func (p *parser) implicitRow(e ast.Expr) (*ast.Row, bool) {
	row, ok := e.(*ast.Row)
	return row, ok && row.Pos > 0 && p.src[row.Pos-1] == '('
}

// finishCore has the text of c parsed and fills the core; nil is nothing to do.
func (p *parser) finishCore(c *coreParse) {
	if c == nil {
		return
	}
	u := c.u
	defer p.free(u)
	if c.tailEmpty {
		u.cut(c.tailOut, c.tailMarks)
	}
	if p.err != nil {
		return
	}
	tree := p.parseUnit(u)
	if tree == nil {
		return
	}
	w := &walker{p: p, u: u}
	p.fillCore(c, w, tree)
}

// fillCore distributes what the TiDB parser read.
func (p *parser) fillCore(c *coreParse, w *walker, tree *tidbast.SelectStmt) {
	core, fields := c.core, tree.Fields.Fields
	for _, f := range fields[:c.on] {
		core.DistinctOn = append(core.DistinctOn, w.expr(f.Expr))
	}
	for i := range core.Items {
		core.Items[i].Expr = w.expr(fields[c.on+i].Expr)
	}
	if c.from {
		core.From = w.tables(tree.From)
	}
	if c.where {
		core.Where = w.expr(tree.Where)
	}
	next, groups := 0, core.GroupBy[:0:0]
	for i, g := range core.GroupBy {
		if !c.groups[i] {
			groups = append(groups, g)
			continue
		}
		g.Expr = w.expr(tree.GroupBy.Items[next].Expr)
		next++
		if p.err != nil {
			return
		}
		if row, ok := p.implicitRow(g.Expr); ok { // GROUP BY (a, b) is GROUP BY a, b
			for _, e := range row.Elements {
				groups = append(groups, ast.GroupItem{Pos: e.At(), Expr: e})
			}
			continue
		}
		groups = append(groups, g)
	}
	core.GroupBy = groups
	if c.having {
		core.Having = w.expr(tree.Having.Expr)
	}
	var tail []ast.Expr
	if tree.OrderBy != nil {
		for _, item := range tree.OrderBy.Items {
			tail = append(tail, w.expr(item.Expr))
		}
	}
	if p.err != nil {
		return
	}
	for _, s := range c.windows {
		var win *ast.Window
		win, tail = s.build(tail)
		core.Windows = append(core.Windows, *win)
	}
	fillOrder(c.order, tail)
}
