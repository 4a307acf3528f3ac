package parse

import (
	"context"
	"slices"
	"sync"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// Limits. They are far above what people write and below what would hurt the process.
const (
	// MaxTextBytes bounds the text of one Parse.
	MaxTextBytes = 64 << 20
	// maxDepth bounds nesting: parentheses, subqueries, prefix operators, calls, CASE.
	maxDepth = 3000
	// maxChain bounds the operators of one expression, whose tree leans to the left. Those of the
	// items of a list, or of the operands of AND and OR, are not added: their trees are siblings.
	maxChain = 50_000
	// maxLogic bounds the ANDs and ORs of one expression, which programs write as long lists.
	maxLogic = 250_000
	// maxWraps bounds the operands that have to be put in parentheses afterwards, which costs time
	// in the square of their number. Real statements have few: 1 IS NULL + 1 IS NULL + ….
	maxWraps = 1000
	// maxParam is the highest $n, as many as the protocol can bind.
	maxParam = 65535
)

// Parsed is one statement of a text with its source.
type Parsed struct {
	Stmt   ast.Statement
	Text   string
	Offset int // byte offset of Text in the input
	Params int // highest $n, 0 for none
}

// Parse parses all statements of a text. A text without statements gives an empty slice. An error
// in any statement is an error of the whole text, as in PostgreSQL. When ctx ends, so does Parse,
// with the error of ctx.
func Parse(ctx context.Context, text string) ([]Parsed, error) {
	p, err := open(ctx, text)
	if err != nil {
		return nil, err
	}
	defer p.close()
	var out []Parsed
	for {
		for p.punct(';') {
		}
		if p.err != nil {
			return nil, p.err
		}
		if p.tok().kind == tokEOF {
			break
		}
		first := p.i
		p.past.reset()
		stmt := p.statement()
		p.keepAsOf(stmt)
		if t := p.tok(); p.err == nil && t.kind != tokEOF && !t.is(';') {
			p.unexpected()
		}
		if p.err != nil {
			return nil, p.err
		}
		from, to := p.toks[first].pos, p.toks[p.i-1].end
		out = append(out, Parsed{Stmt: stmt, Text: text[from:to], Offset: int(from),
			Params: p.params(first, p.i)})
	}
	return out, nil
}

// ParseOne parses at most one statement, as the extended protocol's Parse message wants; a text
// without one gives a Parsed whose Stmt is nil.
func ParseOne(ctx context.Context, text string) (Parsed, error) {
	all, err := Parse(ctx, text)
	switch {
	case err != nil:
		return Parsed{}, err
	case len(all) == 0:
		return Parsed{}, nil
	case len(all) > 1:
		return Parsed{}, sqlerr.New(sqlerr.SyntaxError,
			"cannot insert multiple commands into a prepared statement")
	}
	return all[0], nil
}

// ParseExpr parses one expression, as the catalog keeps it for DEFAULT, CHECK and indexes.
func ParseExpr(text string) (ast.Expr, error) {
	p, err := open(context.Background(), text)
	if err != nil {
		return nil, err
	}
	defer p.close()
	e := p.expr()
	if p.err == nil && p.tok().kind != tokEOF {
		p.unexpected()
	}
	if p.err != nil {
		return nil, p.err
	}
	return e, nil
}

// ParseTypeName parses a type as it is written in SQL: `numeric(10,2)[]`.
func ParseTypeName(text string) (ast.TypeName, error) {
	p, err := open(context.Background(), text)
	if err != nil {
		return ast.TypeName{}, err
	}
	defer p.close()
	t := p.typeName()
	if p.err == nil && p.tok().kind != tokEOF {
		p.unexpected()
	}
	if p.err != nil {
		return ast.TypeName{}, p.err
	}
	return t, nil
}

// parser is the state of one Parse. Errors are sticky: the first one is kept and the cursor moves
// to the last token, where every loop of the grammar ends by itself.
type parser struct {
	lexer
	src   string
	i     int // index of the current token
	err   error
	depth int
	chain int // operators on the longest way down the outermost expression so far
	logic int // ANDs and ORs on it
	wraps int // operands of it put in parentheses so far (maxWraps)
	// plainCall means that the call here takes no FILTER, OVER and WITHIN GROUP: in FROM and in
	// indexes (func_expr_windowless).
	plainCall bool
	// partial is the token at which the first partialWords words of a phrase matched, but not the
	// next.
	partial, partialWords int
	past                  pastReads // of this statement
	units                 []*unit   // free list
}

var parsers = sync.Pool{New: func() any { return new(parser) }}

// open scans text and returns a parser for it, which close must give back.
func open(ctx context.Context, text string) (*parser, error) {
	if len(text) > MaxTextBytes {
		return nil, sqlerr.New(sqlerr.ProgramLimitExceeded,
			"statement of %d bytes exceeds the limit of %d bytes",
			len(text), MaxTextBytes)
	}
	p := parsers.Get().(*parser)
	p.src, p.i, p.err, p.depth, p.chain, p.logic, p.plainCall = text, 0, nil, 0, 0, 0, false
	p.partial, p.partialWords = 0, 0
	p.lex(ctx, text)
	return p, nil
}

// maxPooledTokens keeps one large text from pinning its token array for ever.
const maxPooledTokens = 16 << 10

func (p *parser) close() {
	p.src, p.lexer.src, p.lexer.err, p.ctx = "", "", nil, nil
	p.past.reset()
	clear(p.toks)
	if cap(p.toks) > maxPooledTokens {
		p.toks = nil
	}
	parsers.Put(p)
}

// params is the highest $n among the tokens from index first up to last.
func (p *parser) params(first, last int) int {
	if p.param == 0 {
		return 0
	}
	n := 0
	for i := first; i < last; i++ {
		if p.toks[i].kind == tokParam {
			n = max(n, int(p.toks[i].pair))
		}
	}
	return n
}

// fail records err, unless there is one already, and ends the parse.
func (p *parser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	p.i = len(p.toks) - 1
}

// failAt is fail with a new error at pos.
func (p *parser) failAt(pos ast.Pos, code, format string, args ...any) {
	if p.err == nil {
		p.fail(sqlerr.New(code, format, args...).At(int(pos)))
	}
}

// unsupported fails with 0A000 for the construct at pos.
func (p *parser) unsupported(pos ast.Pos, construct string) {
	if p.err == nil {
		p.fail(sqlerr.Unsupported(int(pos), construct))
	}
}

// unexpected fails with a syntax error at the current token; if it belongs to a phrase of key words
// that broke off, at the word where it did, which is where PostgreSQL's parser gets to.
func (p *parser) unexpected() {
	if end := p.partial + p.partialWords; p.partial <= p.i && p.i < end {
		p.unexpectedAt(min(end, len(p.toks)-1))
		return
	}
	p.unexpectedAt(p.i)
}

// unexpectedQuery fails where a query should start and does not.
func (p *parser) unexpectedQuery() {
	i := p.i
	for p.toks[i].is('(') {
		i++
	}
	if i == p.i && p.toks[i].kw == "values" {
		i++
	}
	p.unexpectedAt(i)
}

func (p *parser) unexpectedAt(i int) {
	if p.err != nil {
		return
	}
	t := &p.toks[i]
	switch t.kind {
	case tokError:
		p.fail(p.lexer.failure())
	case tokEOF:
		p.failAt(ast.Pos(t.pos)+1, sqlerr.SyntaxError, "syntax error at end of input")
	default:
		p.failAt(ast.Pos(t.pos)+1, sqlerr.SyntaxError, "syntax error at or near \"%s\"",
			p.src[t.pos:t.end])
	}
}

// enter counts a level of nesting; every enter has a leave.
func (p *parser) enter() {
	p.depth++
	if p.depth > maxDepth && p.err == nil {
		p.fail(sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded").
			At(int(p.pos())).WithHint("Statements may be nested up to %d levels deep.", maxDepth))
	}
}

func (p *parser) leave() { p.depth-- }

// look fails when the context of the parse has ended.
func (p *parser) look() {
	p.steps = 0
	if err := p.ctx.Err(); err != nil && p.err == nil {
		p.fail(err)
	}
}

// tok is the current token, peek the n-th after it.
func (p *parser) tok() *token { return &p.toks[p.i] }

func (p *parser) peek(n int) *token { return &p.toks[min(p.i+n, len(p.toks)-1)] }

// next moves past the current token and returns it; the last token stays.
func (p *parser) next() *token {
	if p.steps++; p.steps >= stepsPerLook {
		p.look()
	}
	t := &p.toks[p.i]
	if p.i < len(p.toks)-1 {
		p.i++
	}
	return t
}

// skip passes n tokens; after an error the parser is at the end of the text, and stays there.
func (p *parser) skip(n int) { p.i = min(p.i+n, len(p.toks)-1) }

// pos is the position of the current token.
func (p *parser) pos() ast.Pos { return ast.Pos(p.toks[p.i].pos) + 1 }

// textFrom is the source from the token first to the one before the current.
func (p *parser) textFrom(first int) string {
	if p.err != nil || p.i <= first {
		return ""
	}
	return p.src[p.toks[first].pos:p.toks[p.i-1].end]
}

// punct moves past c if it is the current token.
func (p *parser) punct(c byte) bool {
	if t := &p.toks[p.i]; t.kind == tokPunct && t.ch == c {
		p.next()
		return true
	}
	return false
}

// wantPunct requires c.
func (p *parser) wantPunct(c byte) {
	if !p.punct(c) {
		p.unexpected()
	}
}

// at reports whether the key words are next, in this order.
func (p *parser) at(words ...keyword) bool {
	for n, k := range words {
		if p.peek(n).kw != k {
			if n > 0 && !lookahead(k, n) && (p.partial != p.i || n > p.partialWords) {
				p.partial, p.partialWords = p.i, n
			}
			return false
		}
	}
	return true
}

// lookahead reports whether PostgreSQL's scanner looks at the word k before it passes the one in
// front on: WITH TIME and NULLS FIRST are one token there, or none.
func lookahead(k keyword, n int) bool {
	return n == 1 && (k == "time" || k == "ordinality" || k == "first" || k == "last")
}

// accept moves past the key words if they are next, in this order.
func (p *parser) accept(words ...keyword) bool {
	if !p.at(words...) {
		return false
	}
	p.skip(len(words))
	return true
}

// acceptAny moves past the current token if it is one of the key words.
func (p *parser) acceptAny(words ...keyword) bool {
	k := p.tok().kw
	if k == "" {
		return false
	}
	if slices.Contains(words, k) {
		p.next()
		return true
	}
	return false
}

// want requires the key words, and points at the one that is missing.
func (p *parser) want(words ...keyword) {
	for _, k := range words {
		if p.tok().kw != k {
			p.unexpected()
			return
		}
		p.next()
	}
}

// list parses one or more items separated by commas.
func (p *parser) list(item func()) {
	s := siblings{chain: p.chain, logic: p.logic}
	for {
		item()
		s.next(p)
		if p.err != nil || !p.punct(',') {
			s.end(p)
			return
		}
	}
}

// siblings counts the operators of sibling trees: the longest of them counts.
type siblings struct {
	chain, logic  int // of the parser, where the first one began
	longest, most int // that one of them led to
}

// next is called behind each of the trees.
func (s *siblings) next(p *parser) {
	s.longest, s.most = max(s.longest, p.chain), max(s.most, p.logic)
	p.chain, p.logic = s.chain, s.logic
}

// end is called behind the last one.
func (s *siblings) end(p *parser) { p.chain, p.logic = s.longest, s.most }

// parenList parses ( item, … ).
func (p *parser) parenList(item func()) {
	p.wantPunct('(')
	p.list(item)
	p.wantPunct(')')
}
