package parse

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// Levels of PostgreSQL's operators, loosest first (gram.y). Those from levelOr to levelPower have a
// place in the TiDB grammar with the same order and associativity, and ride there.
const (
	levelOr = iota + 1
	levelAnd
	levelNot
	levelIs
	levelCompare
	levelPredicate // BETWEEN, IN, LIKE
	levelEscape
	levelOther // every operator without a level of its own
	levelAdd
	levelMultiply
	levelPower
)

// closer is a parenthesis that was opened for the right side of an operator and that the first
// operator of its level or a looser one closes.
type closer struct {
	level     int
	kind      closerKind
	comparing bool                  // exprState.comparing outside
	starts    [levelPower + 1]int32 // exprState.starts outside
}

type closerKind uint8

const (
	closePrefix     closerKind = iota // NOT and prefix operators: what is looser ends them
	closeNonAssoc                     // IS DISTINCT FROM, LIKE, BETWEEN's second bound
	closeLike                         // like closeNonAssoc, and ESCAPE may follow
	closeBetweenLow                   // BETWEEN's first bound: only AND ends it
)

// exprState is one a_expr while its operators are met.
type exprState struct {
	u         *unit
	closers   []closer
	comparing bool // a comparison is open: another one is an error (they do not associate)
	// restricted counts what makes this a b_expr: an open first bound of BETWEEN, or the place.
	restricted int
	// item means that this is a select item: an operator's word may be its label.
	item bool
	// starts holds, for each level, the mark where the left side of an operator of it begins.
	starts [levelPower + 1]int32
	// done is the level of an operator without a right operand that was just completed (IS NULL,
	// IN (…), = ANY (…)). In PostgreSQL's grammar an operator that binds tighter may follow and
	// takes the whole of it; the text for the TiDB parser then wants parentheses around it.
	done int
	// chain is p.chain where the expression began, longest the most that an operand of AND or OR
	// had.
	chain, longest int
}

// newExprState starts an expression at the end of u.
func newExprState(u *unit) exprState {
	x := exprState{u: u}
	x.startsFrom(0)
	return x
}

// startsFrom notes that operands of operators tighter than level begin at the end of the text.
func (x *exprState) startsFrom(level int) {
	n := int32(len(x.u.marks))
	for l := level + 1; l < len(x.starts); l++ {
		x.starts[l] = n
	}
}

// aExpr parses PostgreSQL's a_expr and writes it to u. It decides which tokens are allowed where
// and what must be carried; precedence among what it writes is left to the TiDB parser.
func (p *parser) aExpr(u *unit) {
	x := newExprState(u)
	p.operands(&x)
}

// bExpr parses PostgreSQL's b_expr: an expression without AND, OR, NOT, IN, LIKE and BETWEEN.
func (p *parser) bExpr(u *unit) {
	x := newExprState(u)
	x.restricted = 1
	p.operands(&x)
}

// itemExpr parses the expression of a select item.
func (p *parser) itemExpr(u *unit) {
	x := newExprState(u)
	x.item = true
	p.operands(&x)
}

// operands parses operands and operators in turn up to the end of the expression.
func (p *parser) operands(x *exprState) {
	if p.depth == 0 {
		p.chain, p.logic, p.wraps = 0, 0, 0
	}
	x.chain, x.longest = p.chain, p.chain
	p.enter()
	for p.err == nil {
		p.prefixed(x)
		if p.err != nil || !p.operator(x) {
			break
		}
		if p.chain++; p.chain > maxChain {
			p.failAt(p.pos(), sqlerr.StatementTooComplex, "expression has more than %d operators",
				maxChain)
		}
	}
	p.chain = max(p.chain, x.longest)
	p.closeLooser(x, 0)
	if len(x.closers) > 0 && p.err == nil { // BETWEEN without AND
		p.unexpected()
	}
	p.depth -= len(x.closers)
	p.leave()
}

// open writes a carrier whose right end is not known yet.
func (p *parser) openRight(x *exprState, src int, node any, level int, kind closerKind) {
	x.u.open(src, node)
	x.closers = append(x.closers,
		closer{level: level, kind: kind, comparing: x.comparing, starts: x.starts})
	x.comparing, x.done = false, 0
	x.startsFrom(0)
	if kind == closeBetweenLow {
		x.restricted++
	}
	p.enter()
}

// closeLooser closes what an operator of the given level ends; 0 ends all.
func (p *parser) closeLooser(x *exprState, level int) {
	for n := len(x.closers) - 1; n >= 0; n-- {
		c := x.closers[n]
		if c.kind == closeBetweenLow || c.level < level || p.err != nil {
			return
		}
		if c.level == level && c.kind != closePrefix {
			p.unexpected()
			return
		}
		p.closeOne(x)
	}
}

// closeOne closes the innermost carrier.
func (p *parser) closeOne(x *exprState) {
	n := len(x.closers) - 1
	x.u.word(p.i, ")")
	x.comparing, x.starts, x.done = x.closers[n].comparing, x.closers[n].starts, 0
	x.closers = x.closers[:n]
	p.leave()
}

// infix writes an operator of the given level and moves past its tokens.
func (p *parser) infix(x *exprState, level, tokens int, word string) {
	src := p.i
	if !p.ready(x, level) {
		return
	}
	p.skip(tokens)
	x.u.word(src, word)
	x.startsFrom(level)
}

// ready makes room for an operator of the given level; false after an error.
func (p *parser) ready(x *exprState, level int) bool {
	p.closeLooser(x, level)
	if x.done > 0 && (level > x.done || level == levelPredicate && x.done == level) &&
		p.err == nil {
		if p.wraps++; p.wraps > maxWraps {
			p.failAt(p.pos(), sqlerr.StatementTooComplex,
				"expression has more than %d tests under tighter operators", maxWraps)
			return false
		}
		start := x.starts[x.done]
		x.u.insert(int(start), p.i, "(")
		x.u.word(p.i, ")")
		for l := x.done + 1; l < len(x.starts); l++ {
			x.starts[l] = start
		}
	}
	x.done = 0
	switch {
	case p.err != nil:
		return false
	case level < levelCompare:
		x.comparing = false
	case level == levelCompare && x.comparing:
		p.unexpected()
		return false
	case level == levelCompare:
		x.comparing = true
	}
	return true
}

// operator parses what follows an operand. True means that an operand must follow; false that the
// expression is at its end.
func (p *parser) operator(x *exprState) bool {
	for p.err == nil {
		t := p.tok()
		switch t.kind {
		case tokPunct:
			return p.punctOperator(x, t.ch)
		case tokLE, tokGE, tokNE:
			if p.quantified(x, levelCompare, "=") {
				continue
			}
			p.infix(x, levelCompare, 1, "=")
			return true
		case tokOp:
			if p.quantified(x, levelOther, "|") {
				continue
			}
			p.infix(x, levelOther, 1, "|")
			return true
		case tokIdent:
			if t.kw == "" || x.restricted > 0 && p.notInBExpr(x, t.kw) || x.item && p.labelHere(t) {
				return false
			}
			if more, operand := p.wordOperator(x, t.kw); more {
				continue
			} else {
				return operand
			}
		default:
			return false
		}
	}
	return false
}

// labelHere reports whether t labels a select item although it could be an operator: what follows
// ends the item.
func (p *parser) labelHere(t *token) bool {
	if !t.bareLabel() {
		return false
	}
	n := p.peek(1)
	return n.kind == tokEOF || n.is(',') || n.is(')') || n.is(';') || n.kw == "from"
}

// notInBExpr reports whether kw starts an operator that a b_expr does not have.
func (p *parser) notInBExpr(x *exprState, kw keyword) bool {
	switch kw {
	case "or", "not", "in", "like", "ilike", "similar", "between", "isnull", "notnull", "at",
		"overlaps":
		return true
	case "and":
		for _, c := range x.closers {
			if c.kind == closeBetweenLow {
				return false
			}
		}
		return true
	}
	return false
}

// punctOperator parses an operator of one character.
func (p *parser) punctOperator(x *exprState, ch byte) bool {
	level, word := 0, ""
	switch ch {
	case '+', '-':
		level, word = levelAdd, "+"
	case '*', '/', '%':
		level, word = levelMultiply, "*"
	case '^':
		level, word = levelPower, "^"
	case '<', '>', '=':
		level, word = levelCompare, "="
	default:
		return false
	}
	if p.quantified(x, level, word) {
		return p.operator(x)
	}
	p.infix(x, level, 1, word)
	return p.err == nil
}

// wordOperator parses an operator that is spelled with words. more: it is complete, and another
// operator may follow; operand: an operand must follow; neither: it is not an operator here.
func (p *parser) wordOperator(x *exprState, kw keyword) (more, operand bool) {
	switch kw {
	case "or":
		p.connect(x)
		p.infix(x, levelOr, 1, "OR")
		return false, true
	case "and":
		p.and(x)
		return false, true
	case "is", "isnull", "notnull":
		return p.isTest(x)
	case "not":
		switch p.peek(1).kw {
		case "between", "in", "like", "ilike", "similar":
			return p.predicate(x, p.peek(1).kw, true)
		}
	case "between", "in", "like", "ilike":
		return p.predicate(x, kw, false)
	case "similar":
		if p.peek(1).kw == "to" {
			return p.predicate(x, kw, false)
		}
	case "escape":
		return false, p.escape(x)
	case "at":
		if p.at("at", "time", "zone") {
			p.atTimeZone(x)
			return false, true
		}
	case "operator":
		if p.peek(1).is('(') {
			return p.qualifiedOperator(x)
		}
	case "overlaps":
		p.overlaps(x)
		return false, true
	}
	return false, false
}

// connect counts an AND or OR. The operators of the next operand are counted from the beginning.
func (p *parser) connect(x *exprState) {
	x.longest, p.chain = max(x.longest, p.chain), x.chain
	if p.logic++; p.logic > maxLogic {
		p.failAt(p.pos(), sqlerr.StatementTooComplex, "expression has more than %d ANDs and ORs",
			maxLogic)
	}
}

// and is the logical operator, or the middle of an open BETWEEN.
func (p *parser) and(x *exprState) {
	low := len(x.closers) - 1
	for low >= 0 && x.closers[low].kind != closeBetweenLow {
		low--
	}
	if low < 0 {
		p.connect(x)
		p.infix(x, levelAnd, 1, "AND")
		return
	}
	for len(x.closers)-1 > low {
		p.closeOne(x)
	}
	x.u.word(p.i, ",")
	p.next()
	x.closers[low].level, x.closers[low].kind = levelPredicate, closeNonAssoc
	x.comparing, x.done = false, 0
	x.startsFrom(0)
	x.restricted--
}

// isTest parses IS [NOT] NULL, TRUE, FALSE, UNKNOWN, DOCUMENT, NORMALIZED, DISTINCT FROM, and
// ISNULL and NOTNULL.
func (p *parser) isTest(x *exprState) (more, operand bool) {
	src, pos := p.i, p.pos()
	if !p.ready(x, levelIs) {
		return false, false
	}
	test, not := "null", false
	switch {
	case p.accept("isnull"):
	case p.accept("notnull"):
		not = true
	default:
		p.next()
		not = p.accept("not")
		switch t := p.tok(); {
		case t.kw == "distinct":
			p.next()
			p.want("from")
			x.u.word(src, "<=>")
			p.openRight(x, src, predicate(func(l ast.Expr, parts []ast.Expr) ast.Expr {
				return &ast.IsDistinct{Pos: pos, Left: l, Right: parts[0], Not: not}
			}), levelIs, closeNonAssoc)
			return false, true
		case x.restricted > 0:
			p.unexpected()
		case t.kw == "null" || t.kw == "true" || t.kw == "false" || t.kw == "unknown" ||
			t.kw == "document":
			test = t.str
			p.next()
		case t.kw == "normalized" || t.kw == "nfc" || t.kw == "nfd" ||
			t.kw == "nfkc" || t.kw == "nfkd":
			x.u.word(src, "<=>")
			x.u.name(src, predicate(p.normalTest(pos, not)))
			x.done = levelIs
			return true, false
		default:
			p.unexpected()
		}
	}
	x.u.word(src, "<=>")
	x.u.name(src, predicate(func(l ast.Expr, _ []ast.Expr) ast.Expr {
		return &ast.IsTest{Pos: pos, Operand: l, Test: test, Not: not}
	}))
	x.done = levelIs
	return true, false
}

// predicate parses [NOT] BETWEEN, IN, LIKE, ILIKE and SIMILAR TO.
func (p *parser) predicate(x *exprState, kw keyword, not bool) (more, operand bool) {
	src, pos := p.i, p.pos()
	if !p.ready(x, levelPredicate) {
		return false, false
	}
	if not {
		p.next()
	}
	p.next()
	x.u.word(src, "LIKE")
	switch kw {
	case "in":
		p.inList(x, src, pos, not)
		x.done = levelPredicate
		return true, false
	case "between":
		symmetric := p.accept("symmetric")
		if !symmetric {
			p.accept("asymmetric")
		}
		p.openRight(x, src, predicate(func(l ast.Expr, b []ast.Expr) ast.Expr {
			return &ast.Between{Pos: pos, Operand: l, Low: b[0], High: b[1], Not: not,
				Symmetric: symmetric}
		}), levelPredicate, closeBetweenLow)
		return false, true
	}
	op := "like"
	switch kw {
	case "ilike":
		op = "ilike"
	case "similar":
		op = "similar"
		p.want("to")
	}
	if p.quantifier() && kw != "similar" {
		p.anyAll(x, src, likeOperator(op, not))
		x.done = levelPredicate
		return true, false
	}
	p.openRight(x, src, predicate(func(l ast.Expr, parts []ast.Expr) ast.Expr {
		e := &ast.Like{Pos: pos, Op: op, Not: not, Operand: l, Pattern: parts[0]}
		if len(parts) == 2 {
			e.Escape = parts[1]
		}
		return e
	}), levelPredicate, closeLike)
	return false, true
}

// likeOperator is the operator that PostgreSQL has behind LIKE, for LIKE ANY (…).
func likeOperator(op string, not bool) string {
	s := "~~"
	if op == "ilike" {
		s = "~~*"
	}
	if not {
		return "!" + s
	}
	return s
}

// escape parses ESCAPE behind a pattern; false where it does not belong.
func (p *parser) escape(x *exprState) bool {
	for n := len(x.closers) - 1; n >= 0 && x.closers[n].level > levelEscape; n-- {
		p.closeOne(x)
	}
	n := len(x.closers) - 1
	if n < 0 || x.closers[n].kind != closeLike {
		return false
	}
	x.closers[n].kind = closeNonAssoc
	x.u.word(p.i, ",")
	x.comparing, x.done = false, 0
	x.startsFrom(0)
	p.next()
	return true
}

// inList parses what follows IN.
func (p *parser) inList(x *exprState, src int, pos ast.Pos, not bool) {
	if p.queryParen() {
		q := p.subquery()
		x.u.name(src, predicate(func(l ast.Expr, _ []ast.Expr) ast.Expr {
			return &ast.InSubquery{Pos: pos, Operand: l, Query: q, Not: not}
		}))
		return
	}
	if !p.tok().is('(') {
		p.unexpected()
		return
	}
	p.next()
	// The list has its own parse where it needs one: a long list of literals needs none.
	l := p.newExprList()
	p.list(l.add)
	list := l.finish()
	p.wantPunct(')')
	x.u.name(src, predicate(func(l ast.Expr, _ []ast.Expr) ast.Expr {
		return &ast.InList{Pos: pos, Operand: l, List: list, Not: not}
	}))
}

// atTimeZone parses AT TIME ZONE, which is timezone(zone, x).
func (p *parser) atTimeZone(x *exprState) {
	pos := p.pos()
	p.infix(x, levelPower, 3, "^")
	if p.err == nil {
		x.u.marks[len(x.u.marks)-1].node = predicate(func(l ast.Expr, parts []ast.Expr) ast.Expr {
			return &ast.FuncCall{Pos: pos, Name: ast.Name{Pos: pos, Name: "timezone"},
				Args: []ast.Expr{parts[0], l}, Words: true}
		})
	}
}

// overlaps parses (a, b) OVERLAPS (c, d), which is a function of four arguments.
func (p *parser) overlaps(x *exprState) {
	pos := p.pos()
	p.infix(x, levelOther, 1, "|")
	if p.err != nil {
		return
	}
	x.u.marks[len(x.u.marks)-1].node = predicate(func(l ast.Expr, parts []ast.Expr) ast.Expr {
		left, ok := l.(*ast.Row)
		right, ok2 := parts[0].(*ast.Row)
		if !ok || !ok2 || len(left.Elements) != 2 || len(right.Elements) != 2 {
			p.failAt(pos, sqlerr.SyntaxError, "wrong number of parameters on OVERLAPS expression")
			return nil
		}
		return &ast.FuncCall{Pos: pos, Name: ast.Name{Pos: pos, Name: "overlaps"},
			Words: true, Args: []ast.Expr{left.Elements[0], left.Elements[1], right.Elements[0],
				right.Elements[1]}}
	})
}

// operatorName is the node of an operator word whose spelling is not its token's.
type operatorName string

// qualifiedOperator parses OPERATOR(schema.op); all of them have the level of other operators.
func (p *parser) qualifiedOperator(x *exprState) (more, operand bool) {
	src := p.i
	if !p.ready(x, levelOther) {
		return false, false
	}
	op := p.operatorClause()
	x.u.word(src, "|")
	if p.quantifier() && x.restricted == 0 {
		p.anyAll(x, src, op)
		x.done = levelOther
		return true, false
	}
	x.u.marks[len(x.u.marks)-1].node = operatorName(op)
	x.startsFrom(levelOther)
	return false, true
}

// operatorClause parses OPERATOR([schema.]op). A schema other than pg_catalog remains before the
// operator, with a dot.
func (p *parser) operatorClause() string {
	p.next()
	p.wantPunct('(')
	schema := ""
	for p.tok().colID() {
		schema = p.name()
		p.wantPunct('.')
	}
	op := p.anyOperator()
	p.wantPunct(')')
	if schema != "" && schema != "pg_catalog" {
		return schema + "." + op
	}
	return op
}

// anyOperator parses the spelling of an operator.
func (p *parser) anyOperator() string {
	switch t := p.tok(); t.kind {
	case tokOp, tokLE, tokGE, tokNE:
		return p.next().str
	case tokPunct:
		switch t.ch {
		case '+', '-', '*', '/', '%', '^', '<', '>', '=':
			return p.next().str
		}
	}
	p.unexpected()
	return ""
}

// quantifier reports whether ANY, SOME or ALL ( is next.
func (p *parser) quantifier() bool { return p.quantifierAt(0) }

func (p *parser) quantifierAt(n int) bool {
	k := p.peek(n).kw
	return (k == "any" || k == "some" || k == "all") && p.peek(n+1).is('(')
}

// quantified parses `op ANY (…)` if the operator here is followed by a quantifier.
func (p *parser) quantified(x *exprState, level int, word string) bool {
	if !p.quantifierAt(1) {
		return false
	}
	src := p.i
	if !p.ready(x, level) {
		return true
	}
	if x.restricted > 0 {
		p.unexpectedAt(src + 1)
		return true
	}
	if level == levelCompare {
		x.comparing = false // it is complete: another comparison may follow
	}
	op := operatorOf(p.next())
	x.u.word(src, word)
	p.anyAll(x, src, op)
	x.done = level
	return true
}

// anyAll parses ANY|SOME|ALL ( query or array ) behind op, whose word was written.
func (p *parser) anyAll(x *exprState, src int, op string) {
	q := &ast.Quantified{Pos: ast.Pos(p.toks[src].pos) + 1, Op: op, All: p.next().kw == "all"}
	if p.queryParen() {
		q.Query = p.subquery()
	} else {
		p.wantPunct('(')
		q.Array = p.expr()
		p.wantPunct(')')
	}
	x.u.name(src, predicate(func(l ast.Expr, _ []ast.Expr) ast.Expr {
		q.Left = l
		return q
	}))
}
