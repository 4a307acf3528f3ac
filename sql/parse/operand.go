package parse

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/ast"
)

// prefixed parses prefix operators and the operand behind them.
func (p *parser) prefixed(x *exprState) {
	signs := 0
	for p.err == nil {
		t := p.tok()
		switch {
		case t.is('-') || t.is('+'):
			if t.is('-') && p.negativeNumber(x.u) {
				p.depth -= signs
				return
			}
			x.u.word(p.i, t.str)
			p.next()
			p.enter()
			signs++
			continue
		case t.kw == "not":
			if x.restricted > 0 {
				p.unexpected()
				return
			}
			p.prefixOperator(x, levelNot, "not")
			continue
		case t.kind == tokOp:
			p.prefixOperator(x, levelOther, t.str)
			continue
		case t.kw == "operator" && p.peek(1).is('('):
			src, pos := p.i, p.pos()
			op := p.operatorClause()
			p.openRight(x, src, unaryCall(pos, op), levelOther, closePrefix)
			continue
		}
		break
	}
	if p.err == nil {
		p.operand(x.u)
	}
	p.depth -= signs
}

// prefixOperator opens a carrier for a prefix operator that is looser than a sign.
func (p *parser) prefixOperator(x *exprState, level int, op string) {
	src, pos := p.i, p.pos()
	p.next()
	p.openRight(x, src, unaryCall(pos, op), level, closePrefix)
}

func unaryCall(pos ast.Pos, op string) call {
	return func(parts []ast.Expr) ast.Expr {
		return &ast.Unary{Pos: pos, Op: op,
			Operand: parts[0]}
	}
}

// negativeNumber writes -N as one leaf if nothing that binds tighter follows.
func (p *parser) negativeNumber(u *unit) bool {
	t := p.peek(1)
	if t.kind != tokInt && t.kind != tokNumber {
		return false
	}
	if n := p.peek(2); n.kind == tokCast || n.kw == "collate" {
		return false
	}
	u.name(p.i, negate(p.pos(), numberLiteral(t)))
	p.skip(2)
	return true
}

func numberLiteral(t *token) *ast.Literal {
	kind := ast.LiteralInt
	if t.kind == tokNumber {
		kind = ast.LiteralNumber
	}
	return &ast.Literal{Pos: ast.Pos(t.pos) + 1, Kind: kind, Text: t.str}
}

// operand parses PostgreSQL's c_expr and the postfixes behind it.
func (p *parser) operand(u *unit) {
	indirection, subscripted := p.primary(u), false
	for p.err == nil {
		src, t, continues := p.i, p.tok(), subscripted
		subscripted = false
		switch {
		case t.kind == tokCast:
			pos := p.pos()
			p.next()
			typ := p.typeName()
			u.postfix(src, func(
				e ast.Expr) ast.Expr {
				return &ast.Cast{Pos: pos, Operand: e, Type: typ}
			})
			indirection = false
		case t.kw == "collate" && p.peek(1).colID():
			pos := p.pos()
			p.next()
			name := p.qualified()
			u.postfix(src, func(
				e ast.Expr) ast.Expr {
				return &ast.Collate{Pos: pos, Operand: e, Collation: name}
			})
			indirection = false
		case t.is('[') && indirection:
			u.postfix(src, p.subscript(continues))
			subscripted = true
		case t.is('.') && indirection:
			u.postfix(src, p.fieldSelect())
		default:
			return
		}
		if p.chain++; p.chain > maxChain {
			p.failAt(p.pos(), sqlerr.StatementTooComplex, "expression has more than %d operators",
				maxChain)
		}
	}
}

// subscript parses [i] or [low:high]; continues means that another one is right before it.
func (p *parser) subscript(continues bool) postfix {
	p.next()
	var low, high ast.Expr
	if !p.tok().is(':') {
		low = p.expr()
		if p.punct(']') {
			return func(e ast.Expr) ast.Expr {
				return &ast.Subscript{Pos: at(e), Operand: e, Index: low, Continues: continues}
			}
		}
	}
	p.wantPunct(':')
	if !p.tok().is(']') {
		high = p.expr()
	}
	p.wantPunct(']')
	return func(e ast.Expr) ast.Expr {
		return &ast.Subscript{Pos: at(e), Operand: e, Slice: true, Low: low, High: high,
			Continues: continues}
	}
}

// at is the position of e; PostgreSQL blames the operand when a subscript or a field does not fit
// it.
func at(e ast.Expr) ast.Pos {
	if e == nil { // after an error
		return 0
	}
	return e.At()
}

// fieldSelect parses .field or .*.
func (p *parser) fieldSelect() postfix {
	p.next()
	field := "*"
	if !p.punct('*') {
		field = p.label().Name
	}
	return func(e ast.Expr) ast.Expr {
		return &ast.FieldSelect{Pos: at(e), Operand: e,
			Field: field}
	}
}

// primary parses an operand without postfixes; true if subscripts and fields may follow it.
func (p *parser) primary(u *unit) (indirection bool) {
	src, t := p.i, p.tok()
	switch t.kind {
	case tokInt, tokNumber:
		p.next()
		u.name(src, numberLiteral(t))
		return false
	case tokString, tokBits:
		kind := ast.LiteralString
		if t.kind == tokBits {
			kind = ast.LiteralBits
		}
		p.next()
		u.name(src, &ast.Literal{Pos: ast.Pos(t.pos) + 1, Kind: kind, Text: t.str})
		return false
	case tokParam:
		p.next()
		u.name(src, &ast.Param{Pos: ast.Pos(t.pos) + 1, N: int(t.pair)})
		return true
	case tokPunct:
		if t.ch != '(' {
			break
		}
		return p.parenthesised(u)
	case tokQuoted, tokIdent:
		if t.kw != "" && p.wordOperand(u, t) {
			return false
		}
		if p.err == nil {
			return p.nameOperand(u)
		}
		return false
	}
	p.unexpected()
	return false
}

// comparesBefore reports whether the token before the current is an operator that ANY may follow.
func (p *parser) comparesBefore() bool {
	if p.i == 0 {
		return false
	}
	switch t := &p.toks[p.i-1]; t.kind {
	case tokOp, tokLE, tokGE, tokNE:
		return true
	case tokPunct:
		return charClass[t.ch]&classOp != 0
	default:
		return t.kw == "like" || t.kw == "ilike"
	}
}

// parenthesised parses ( query ), ( expression ) or a row ( a, b, … ).
func (p *parser) parenthesised(u *unit) bool {
	src, pos := p.i, p.pos()
	if p.queryParen() {
		u.name(src, &ast.Subquery{Pos: pos, Query: p.subquery()})
		return true
	}
	p.enter()
	u.word(src, "(")
	p.next()
	row := false
	for {
		p.aExpr(u)
		if p.err != nil || !p.tok().is(',') {
			break
		}
		row = true
		u.word(p.i, ",")
		p.next()
	}
	u.word(p.i, ")")
	p.wantPunct(')')
	p.leave()
	return !row
}

// nameOperand parses what starts with a name: a typed literal, a function call, t.* or a column.
func (p *parser) nameOperand(u *unit) bool {
	src, pos, t := p.i, p.pos(), p.tok()
	if p.literalType() {
		u.name(src, p.typedLiteral())
		return false
	}
	end := p.i + 1
	for p.toks[end].is('.') && p.toks[end+1].label() {
		end += 2
	}
	if p.toks[end].is('(') {
		if end == p.i+1 && !t.typeOrFunctionName() || end > p.i+1 && !t.colID() {
			p.unexpectedAt(src + p.nameErrorOffset(t))
			return false
		}
		p.next()
		p.functionCall(u, src, p.nameOf(pos, p.dotted(t.str)))
		return false
	}
	if !t.colID() {
		p.unexpectedAt(src + p.nameErrorOffset(t))
		return false
	}
	p.next()
	if !p.tok().is('.') {
		u.name(src, &ast.ColumnRef{Pos: pos, Name: t.str})
		return true
	}
	parts := []string{t.str}
	for p.punct('.') {
		if p.punct('*') {
			u.name(src, &ast.Star{Pos: pos, Qualifier: parts})
			return false
		}
		parts = append(parts, p.label().Name)
	}
	n := len(parts) - 1
	if n > 3 {
		p.failAt(pos, sqlerr.SyntaxError, "improper qualified name (too many dotted names)")
	}
	u.name(src, &ast.ColumnRef{Pos: pos, Qualifier: parts[:n:n], Name: parts[n]})
	return true
}

// nameErrorOffset says which token PostgreSQL's parser stumbles over: a word that can start a
// function's name is only wrong together with what follows it.
func (p *parser) nameErrorOffset(t *token) int {
	if t.use.Category == sqlname.TypeFunctionName {
		return 1
	}
	return 0
}

// row parses ROW ( … ).
func (p *parser) row(u *unit) {
	src, pos := p.i, p.pos()
	p.next()
	u.open(src, call(func(parts []ast.Expr) ast.Expr {
		return &ast.Row{Pos: pos,
			Elements: parts}
	}))
	p.wantPunct('(')
	if !p.tok().is(')') {
		p.commaExprs(u)
	}
	u.word(p.i, ")")
	p.wantPunct(')')
}

// commaExprs writes a comma list of expressions.
func (p *parser) commaExprs(u *unit) (n int) {
	s := siblings{chain: p.chain, logic: p.logic}
	for {
		p.aExpr(u)
		s.next(p)
		n++
		if p.err != nil || !p.tok().is(',') {
			s.end(p)
			return n
		}
		u.word(p.i, ",")
		p.next()
	}
}

// array parses ARRAY[…] and ARRAY(query).
func (p *parser) array(u *unit) {
	src, pos := p.i, p.pos()
	p.next()
	if p.queryParen() {
		u.name(src, &ast.ArraySubquery{Pos: pos, Query: p.subquery()})
		return
	}
	if !p.tok().is('[') {
		p.unexpectedQuery()
		return
	}
	p.arrayElements(u, src, pos)
}

// arrayElements parses [ a, b, … ] whose elements may be such lists themselves.
func (p *parser) arrayElements(u *unit, src int, pos ast.Pos) {
	p.enter()
	defer p.leave()
	u.open(src, call(func(parts []ast.Expr) ast.Expr {
		return &ast.Array{Pos: pos,
			Elements: parts}
	}))
	p.wantPunct('[')
	nested := p.tok().is('[')
	for !p.tok().is(']') && p.err == nil {
		if nested {
			if !p.tok().is('[') {
				p.unexpected()
				return
			}
			p.arrayElements(u, p.i, p.pos())
		} else {
			p.aExpr(u)
		}
		if !p.tok().is(',') {
			break
		}
		u.word(p.i, ",")
		p.next()
	}
	u.word(p.i, ")")
	p.wantPunct(']')
}

// caseExpr parses CASE … END.
func (p *parser) caseExpr(u *unit) {
	src, pos := p.i, p.pos()
	p.enter()
	p.next()
	hasOperand, whens, hasElse := false, 0, false
	u.open(src, call(func(parts []ast.Expr) ast.Expr {
		c := &ast.Case{Pos: pos, Whens: make([]ast.When, whens)}
		if hasOperand {
			c.Operand, parts = parts[0], parts[1:]
		}
		for i := range c.Whens {
			c.Whens[i] = ast.When{Cond: parts[2*i], Result: parts[2*i+1]}
		}
		if hasElse {
			c.Else = parts[2*whens]
		}
		return c
	}))
	if !p.at("when") {
		hasOperand = true
		p.aExpr(u)
		u.word(p.i, ",")
	}
	p.at("when")
	for first := true; first || p.at("when"); first = false {
		if !first {
			u.word(p.i, ",")
		}
		p.want("when")
		p.aExpr(u)
		u.word(p.i, ",")
		p.want("then")
		p.aExpr(u)
		whens++
	}
	if p.accept("else") {
		hasElse = true
		u.word(p.i, ",")
		p.aExpr(u)
	}
	u.word(p.i, ")")
	p.want("end")
	p.leave()
}
