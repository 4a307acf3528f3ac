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
	u := p.newUnit()
	defer p.free(u)
	u.word(p.i, "SELECT")
	u.word(p.i, "q")
	u.word(p.i, "FROM")
	p.fromList(u)
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
	case t.kw == "rows" && p.peek(1).kw == "from" && p.peek(2).is('('):
		p.unsupported(p.pos(), "ROWS FROM")
		return
	case t.kw == "xmltable":
		p.unsupported(p.pos(), "XMLTABLE")
		return
	case t.kw != "only" && p.functionHere():
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

// functionHere reports whether a function call starts here.
func (p *parser) functionHere() bool {
	switch p.tok().kw {
	case "current_date", "current_time", "current_timestamp", "current_user", "current_role",
		"session_user", "user",
		"current_catalog", "current_schema", "localtime", "localtimestamp", "cast":
		return true
	}
	if !p.tok().label() {
		return false
	}
	if p.at("collation", "for") {
		return true
	}
	n := 1
	for p.peek(n).is('.') && p.peek(n+1).label() {
		n += 2
	}
	return p.peek(n).is('(')
}

// functionRef parses a function in FROM with WITH ORDINALITY, alias and column definitions.
func (p *parser) functionRef(lateral bool) *ast.FuncRef {
	f := &ast.FuncRef{Pos: p.pos(), Lateral: lateral}
	e := p.windowlessCall()
	if p.err != nil {
		return nil
	}
	var ok bool
	if f.Call, ok = e.(*ast.FuncCall); !ok {
		p.unsupported(f.Pos, "expression in FROM")
		return nil
	}
	f.Ordinality = p.accept("with", "ordinality")
	as := !p.atAsOf() && p.accept("as")
	if p.tok().colID() {
		f.Alias = p.name()
	} else if as && !p.tok().is('(') {
		p.unexpected()
	}
	if (as || f.Alias != "") && p.tok().is('(') {
		p.functionColumns(f)
	}
	return f
}

// windowlessCall parses a function call by itself.
func (p *parser) windowlessCall() ast.Expr {
	l := p.newExprList()
	l.addWith(func(u *unit) {
		p.plainCall = true
		p.primary(u)
		p.plainCall = false
	})
	return l.finish()[0]
}

// functionColumns parses ( names ) or ( name type, … ).
func (p *parser) functionColumns(f *ast.FuncRef) {
	definitions := f.Alias == "" || !p.peek(2).is(',') && !p.peek(2).is(')')
	if !definitions {
		f.Columns = p.idents()
		return
	}
	p.parenList(func() {
		c := ast.ColumnType{Name: p.ident(), Type: p.typeName()}
		if p.at("collate") {
			p.unsupported(p.pos(), "COLLATE in a column definition list")
		}
		f.ColumnDefs = append(f.ColumnDefs, c)
	})
}
