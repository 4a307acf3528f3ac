package parse

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// joinShape is the carrier in a join's ON clause: every join reaches the TiDB parser as
// a LEFT JOIN b ON q7 ( condition ), whatever it is, so that all of them nest alike.
type joinShape struct{ join *ast.Join }

// joinAlias is the alias behind a join in parentheses; it sits on the closing parenthesis.
type joinAlias struct {
	name    string
	columns []ast.Ident
}

// fromList parses the comma list of FROM. past reports whether it ends in an AS OF clause, which is
// for all of it.
func (p *parser) fromList(u *unit) (past bool) {
	from, first := p.past.mark(), true
	p.list(func() {
		from := p.past.mark()
		u.separate(p.i, &first)
		p.joinedTable(u)
		p.fromAsOf(from)
	})
	if past = p.past.asOf != nil && p.past.end == p.i; past {
		p.past.cover(from)
	}
	return past
}

// fromItems parses a comma list of FROM entries by itself.
func (p *parser) fromItems() []ast.TableExpr {
	return p.fromEntries(func(u *unit) { p.fromList(u) })
}

// fromItem parses one FROM entry by itself.
func (p *parser) fromItem() ast.TableExpr {
	list := p.fromEntries(func(u *unit) {
		first := true
		u.separate(p.i, &first)
		p.joinedTable(u)
	})
	if len(list) != 1 {
		return nil
	}
	return list[0]
}

// fromEntries parses the FROM entries that read passes on.
func (p *parser) fromEntries(read func(*unit)) []ast.TableExpr {
	u := p.newUnit()
	defer p.free(u)
	u.word(p.i, "SELECT")
	u.word(p.i, "q")
	u.word(p.i, "FROM")
	read(u)
	if p.err != nil {
		return nil
	}
	tree := p.parseUnit(u)
	if tree == nil {
		return nil
	}
	w := walker{p: p, u: u}
	return w.tables(tree.From)
}

// joinedTable parses a table and the joins behind it; it reports how many joins there were.
func (p *parser) joinedTable(u *unit) (joins int) {
	p.enter()
	defer p.leave()
	from := p.past.mark()
	p.tablePrimary(u)
	p.fromAsOf(from)
	var open []*ast.Join // joins that still want ON or USING
	for p.err == nil {
		src, t := p.i, p.tok()
		switch t.kw {
		case "on", "using":
			if len(open) == 0 {
				return joins
			}
			p.joinCondition(u, open[len(open)-1])
			open = open[:len(open)-1]
			continue
		}
		j := p.joinWords()
		if j == nil {
			break
		}
		joins++
		u.word(src, "LEFT JOIN")
		from := p.past.mark()
		p.tablePrimary(u)
		p.fromAsOf(from)
		if j.Natural || j.Kind == "cross" {
			u.word(src, "ON")
			u.name(src, &joinShape{j})
		} else {
			open = append(open, j)
			if len(open) > maxDepth {
				p.enterTooDeep()
			}
		}
		if p.chain++; p.chain > maxChain {
			p.failAt(j.Pos, sqlerr.StatementTooComplex, "query has more than %d joins", maxChain)
		}
	}
	if len(open) > 0 && p.err == nil {
		p.unexpected()
	}
	return joins
}

func (p *parser) enterTooDeep() {
	p.failAt(p.pos(), sqlerr.StatementTooComplex, "stack depth limit exceeded")
}

// joinWords parses the words of a join, nil if none is next.
func (p *parser) joinWords() *ast.Join {
	j := &ast.Join{Pos: p.pos(), Kind: "inner"}
	switch p.tok().kw {
	case "cross":
		p.next()
		j.Kind = "cross"
		p.want("join")
		return j
	case "natural":
		p.next()
		j.Natural = true
	}
	switch p.tok().kw {
	case "join":
		p.next()
		return j
	case "inner":
		p.next()
	case "left", "right", "full":
		j.Kind = p.next().str
		p.accept("outer")
	default:
		if j.Natural {
			p.unexpected()
		}
		return nil
	}
	p.want("join")
	return j
}

// joinCondition parses ON condition or USING ( columns ) [AS alias].
func (p *parser) joinCondition(u *unit, j *ast.Join) {
	src := p.i
	u.word(src, "ON")
	if p.accept("on") {
		u.open(src, &joinShape{j})
		p.aExpr(u)
		u.word(p.i, ")")
		return
	}
	p.next()
	j.Using = p.idents()
	if !p.atAsOf() && p.accept("as") {
		j.UsingAlias = p.name()
	}
	u.name(src, &joinShape{j})
}

// tablePrimary parses a FROM entry that is not a join, or a join in parentheses.
func (p *parser) tablePrimary(u *unit) {
	src, t := p.i, p.tok()
	switch {
	case t.is('('):
		if p.queryParen() {
			u.name(src, p.subqueryRef(false))
			return
		}
		p.joinParen(u)
		return
	case t.kw == "lateral":
		p.next()
		if p.tok().is('(') {
			u.name(src, p.subqueryRef(true))
		} else if f := p.functionRef(true); f != nil {
			u.name(src, f)
		}
		return
	case t.kw == "xmltable":
		p.unsupported(p.pos(), "XMLTABLE")
		return
	case t.kw != "only" && (p.rowsFromHere() || p.functionHere()):
		if f := p.functionRef(false); f != nil {
			u.name(src, f)
		}
		return
	}
	u.name(src, p.tableRef())
}

// joinParen parses ( join ) with an optional alias. Doubled parentheses mean no more than one pair,
// and the TiDB tree would not distinguish them.
func (p *parser) joinParen(u *unit) {
	p.enter()
	defer p.leave()
	pairs := 1
	for p.peek(pairs).is('(') && p.toks[p.i+pairs].pair > 0 &&
		p.toks[p.i+pairs].pair == p.toks[p.i+pairs-1].pair-1 {
		save := p.i
		p.skip(pairs)
		query := p.queryParen()
		p.i = save
		if query {
			break
		}
		if pairs++; pairs > maxDepth {
			p.enterTooDeep()
			return
		}
	}
	u.word(p.i, "(")
	p.skip(pairs)
	if p.joinedTable(u) == 0 {
		p.unexpected()
	}
	u.word(p.i, ")")
	closing := &u.marks[len(u.marks)-1]
	for ; pairs > 0; pairs-- {
		p.wantPunct(')')
	}
	if name, columns := p.alias(); name != "" {
		closing.node = &joinAlias{name: name, columns: columns}
	}
}

// alias parses [AS] name [( columns )].
func (p *parser) alias() (name string, columns []ast.Ident) {
	if p.atAsOf() {
		return "", nil
	}
	if p.accept("as") {
		name = p.name()
	} else if name = p.optName(); name == "" {
		return "", nil
	}
	return name, p.optIdents()
}

// tableRef parses a named relation.
func (p *parser) tableRef() *ast.TableRef {
	r := &ast.TableRef{}
	r.Name, r.Only = p.relation()
	if p.err != nil {
		return r
	}
	p.past.read(&r.Name)
	r.Alias, r.Columns = p.alias()
	if p.at("tablesample") {
		s := &ast.Sample{Pos: p.pos()}
		p.next()
		s.Method = p.qualified().Name
		p.wantPunct('(')
		s.Args = p.exprs()
		p.wantPunct(')')
		if p.accept("repeatable") {
			p.wantPunct('(')
			s.Repeatable = p.expr()
			p.wantPunct(')')
		}
		r.Sample = s
	}
	return r
}

// subqueryRef parses ( query ) and the alias that PostgreSQL 15 requires.
func (p *parser) subqueryRef(lateral bool) *ast.SubqueryRef {
	s := &ast.SubqueryRef{Pos: p.pos(), Lateral: lateral}
	values := p.peek(1).kw == "values"
	s.Query = p.subquery()
	s.Alias, s.Columns = p.alias()
	if s.Alias == "" && p.err == nil {
		what, example := "subquery", "(SELECT ...)"
		if values {
			what, example = "VALUES", "(VALUES ...)"
		}
		p.fail(sqlerr.New(sqlerr.SyntaxError, "%s in FROM must have an alias", what).At(int(s.Pos)).
			WithHint("For example, FROM %s [AS] foo.", example))
	}
	return s
}
