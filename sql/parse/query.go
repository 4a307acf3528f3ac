package parse

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// queryStart reports whether t can start a query without parentheses.
func (p *parser) queryStart(i int) bool {
	switch p.toks[i].kw {
	case "select", "with", "table":
		return true
	case "values":
		return p.toks[i+1].is('(')
	}
	return false
}

// atQuery reports whether a query starts here, in parentheses or not.
func (p *parser) atQuery() bool { return p.queryStart(p.i) || p.queryParen() }

// queryParen reports whether the parenthesis here holds a query and not an expression that merely
// starts with one, like ((select 1) + 1).
func (p *parser) queryParen() bool {
	k := p.i
	for p.toks[k].is('(') && k-p.i <= maxDepth {
		k++
	}
	if k == p.i || !p.queryStart(k) {
		return false
	}
	for j := k - 1; j > p.i; j-- {
		end := int(p.toks[j].pair)
		if end == 0 {
			return true // unbalanced: the query's parse says where
		}
		switch t := &p.toks[end+1]; t.kw {
		case "union", "intersect", "except", "order", "limit", "offset", "fetch", "for":
		default:
			if !t.is(')') {
				return false
			}
		}
	}
	return true
}

// subquery parses ( query ).
func (p *parser) subquery() *ast.Select {
	p.wantPunct('(')
	q := p.query()
	p.wantPunct(')')
	return q
}

// query parses a query expression with all its clauses.
func (p *parser) query() *ast.Select {
	pos := p.pos()
	p.enter()
	defer p.leave()
	defer p.past.leave(len(p.past.ctes))
	return p.queryAfter(p.optWith(), pos)
}

// queryAfter parses a query behind its WITH clause, which may be nil.
func (p *parser) queryAfter(w *ast.With, pos ast.Pos) *ast.Select {
	s := &ast.Select{Pos: pos, With: w}
	body, core := p.setOperation(1)
	s.Body = body
	if inner, ok := body.(*ast.Select); ok {
		// Clauses behind a query in parentheses are its own, as in PostgreSQL.
		if s.With != nil {
			if inner.With != nil {
				p.failAt(inner.With.Pos, sqlerr.SyntaxError, "multiple WITH clauses not allowed")
			}
			inner.With = s.With
		}
		s = inner
	}
	p.queryTail(s, core)
	return s
}

// queryTail parses ORDER BY, LIMIT, OFFSET, FETCH and the locking clauses. core is the SELECT that
// is still open, or nil: then ORDER BY is parsed by itself.
func (p *parser) queryTail(s *ast.Select, core *coreParse) {
	if p.at("order") {
		if s.OrderBy != nil {
			p.failAt(ast.Pos(p.peek(2).pos)+1, sqlerr.SyntaxError,
				"multiple ORDER BY clauses not allowed")
		}
		if core != nil {
			core.order = p.orderBy(core.u, &core.tailEmpty)
			s.OrderBy = core.order
		} else {
			s.OrderBy = p.standaloneOrder()
		}
	}
	p.finishCore(core)
	if p.at("for") {
		p.locking(s)
		p.limits(s)
		return
	}
	p.limits(s)
	p.locking(s)
}

// standaloneOrder parses ORDER BY behind a set operation.
func (p *parser) standaloneOrder() (items []ast.OrderItem) {
	p.want("order", "by")
	l := p.newExprList()
	p.list(func() {
		l.add()
		items = append(items, p.orderDirection())
	})
	for i, e := range l.finish() {
		items[i].Expr = e
	}
	return items
}

// limits parses LIMIT, OFFSET and FETCH, each once and in any order.
func (p *parser) limits(s *ast.Select) {
	hadLimit, hadOffset := false, false
	for p.err == nil {
		pos := p.pos()
		switch {
		case !hadLimit && p.accept("limit"):
			hadLimit = true
			if s.Limit != nil {
				p.failAt(p.pos(), sqlerr.SyntaxError, "multiple LIMIT clauses not allowed")
			}
			if p.accept("all") {
				break
			}
			s.Limit = p.expr()
			if p.tok().is(',') {
				p.fail(sqlerr.New(sqlerr.SyntaxError,
					"LIMIT #,# syntax is not supported").At(int(pos)).
					WithHint("Use separate LIMIT and OFFSET clauses."))
			}
		case !hadLimit && p.at("fetch"):
			hadLimit = true
			s.Limit, s.Ties = p.fetchFirst()
		case !hadOffset && p.accept("offset"):
			hadOffset = true
			if s.Offset != nil {
				p.failAt(p.pos(), sqlerr.SyntaxError, "multiple OFFSET clauses not allowed")
			}
			s.Offset = p.expr()
			p.acceptAny("row", "rows")
		default:
			return
		}
	}
}

// fetchFirst parses FETCH FIRST|NEXT [n] ROW|ROWS ONLY|WITH TIES.
func (p *parser) fetchFirst() (n ast.Expr, ties bool) {
	pos := p.pos()
	p.next()
	if !p.acceptAny("first", "next") {
		p.unexpected()
	}
	n = &ast.Literal{Pos: pos, Kind: ast.LiteralInt, Text: "1"}
	if !p.at("row") && !p.at("rows") {
		l := p.newExprList()
		l.addWith(func(u *unit) {
			if p.tok().is('-') && p.negativeNumber(u) {
				return
			}
			p.punct('+')
			p.primary(u)
		})
		n = l.finish()[0]
	}
	if !p.acceptAny("row", "rows") {
		p.unexpected()
	}
	if ties = p.accept("with", "ties"); !ties {
		p.want("only")
	}
	return n, ties
}

// locking parses FOR UPDATE and its like.
func (p *parser) locking(s *ast.Select) {
	for p.at("for") {
		l := ast.Locking{Pos: p.pos()}
		p.next()
		switch {
		case p.accept("update"):
			l.Strength = "update"
		case p.accept("no", "key", "update"):
			l.Strength = "no key update"
		case p.accept("share"):
			l.Strength = "share"
		case p.accept("key", "share"):
			l.Strength = "key share"
		case p.accept("read", "only"):
			continue
		default:
			p.unexpected()
			return
		}
		if p.accept("of") {
			l.Of = p.names()
		}
		switch {
		case p.accept("nowait"):
			l.Wait = "nowait"
		case p.accept("skip", "locked"):
			l.Wait = "skip locked"
		}
		s.Locking = append(s.Locking, l)
	}
}

// setOperation parses operands combined by UNION and EXCEPT (level 1) and INTERSECT (level 2). A
// single SELECT comes back open, so that ORDER BY can join its parse.
func (p *parser) setOperation(level int) (ast.QueryBody, *coreParse) {
	var left ast.QueryBody
	var core *coreParse
	if level == 2 {
		left, core = p.queryOperand()
	} else {
		left, core = p.setOperation(2)
	}
	for p.err == nil {
		t := p.tok()
		if level == 1 && t.kw != "union" && t.kw != "except" || level == 2 && t.kw != "intersect" {
			break
		}
		p.finishCore(core)
		op := &ast.SetOp{Pos: p.pos(), Op: t.str, Left: left}
		p.next()
		if p.accept("all") {
			op.All = true
		} else {
			p.accept("distinct")
		}
		var right *coreParse
		if level == 2 {
			op.Right, right = p.queryOperand()
		} else {
			op.Right, right = p.setOperation(2)
		}
		p.finishCore(right)
		left, core = op, nil
		if p.chain++; p.chain > maxChain {
			p.failAt(op.Pos, sqlerr.StatementTooComplex, "query has more than %d set operations",
				maxChain)
		}
	}
	return left, core
}

// queryOperand parses SELECT, VALUES, TABLE or a query in parentheses.
func (p *parser) queryOperand() (ast.QueryBody, *coreParse) {
	switch t := p.tok(); {
	case t.kw == "select":
		core := p.selectCore()
		return core.core, core
	case t.kw == "values":
		return p.values(false), nil
	case t.kw == "table":
		pos := p.pos()
		p.next()
		name, only := p.relation()
		p.past.read(&name)
		return &ast.SelectCore{Pos: pos, Items: []ast.SelectItem{{Expr: &ast.Star{Pos: pos}}},
			From: []ast.TableExpr{&ast.TableRef{Name: name, Only: only}}}, nil
	case t.is('('):
		return p.subquery(), nil
	}
	p.unexpected()
	return nil, nil
}

// values parses VALUES (…), (…); DEFAULT may stand for a value in INSERT.
func (p *parser) values(defaults bool) *ast.Values {
	v := &ast.Values{Pos: p.pos()}
	p.next()
	l := p.newExprList()
	var ends []int
	p.list(func() {
		p.wantPunct('(')
		p.list(func() {
			if defaults && p.at("default") {
				l.put(&ast.Default{Pos: p.pos()})
				p.next()
				return
			}
			l.add()
		})
		p.wantPunct(')')
		ends = append(ends, len(l.results))
	})
	all := l.finish()
	v.Rows = make([][]ast.Expr, len(ends))
	start := 0
	for i, end := range ends {
		v.Rows[i] = all[start:end:end]
		start = end
	}
	return v
}

// with parses WITH [RECURSIVE] name [(columns)] AS [[NOT] MATERIALIZED] ( statement ), ….
func (p *parser) with() *ast.With {
	w := &ast.With{Pos: p.pos()}
	p.next()
	if w.Recursive = p.at("recursive") && p.peek(1).colID() &&
		!p.at("recursive", "as"); w.Recursive {
		p.next()
	}
	p.list(func() {
		c := ast.CTE{Pos: p.pos(), Name: p.name()}
		for _, id := range p.optIdents() {
			c.Columns = append(c.Columns, id.Name)
		}
		p.want("as")
		not := p.accept("not", "materialized")
		if not || p.accept("materialized") {
			materialized := !not
			c.Materialized = &materialized
		}
		p.wantPunct('(')
		p.enter()
		if w.Recursive {
			p.past.ctes = append(p.past.ctes, c.Name)
		}
		c.Statement = p.queryOrDML()
		if _, merge := c.Statement.(*ast.Merge); merge {
			p.failAt(c.Pos, sqlerr.FeatureNotSupported, "MERGE not supported in WITH query")
		}
		if !w.Recursive {
			p.past.ctes = append(p.past.ctes, c.Name)
		}
		p.leave()
		p.wantPunct(')')
		p.traversal(&c)
		w.CTEs = append(w.CTEs, c)
	})
	return w
}

// queryOrDML parses a statement that is allowed in a CTE, EXPLAIN, PREPARE and by itself.
func (p *parser) queryOrDML() ast.Statement {
	pos := p.pos()
	defer p.past.leave(len(p.past.ctes))
	var w *ast.With
	if p.at("with") {
		w = p.with()
	}
	switch p.tok().kw {
	case "insert":
		return p.insert(w)
	case "update":
		return p.update(w)
	case "delete":
		return p.deleteFrom(w)
	case "merge":
		return p.merge(w)
	}
	if p.err == nil && !p.atQuery() {
		p.unexpectedQuery()
	}
	if p.err != nil {
		return nil
	}
	return p.queryAfter(w, pos)
}
