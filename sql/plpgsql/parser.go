package plpgsql

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/table/types"
)

// maxDepth bounds the nesting of statements, and with it the stack of the parser and of what runs
// the program.
const maxDepth = 1000

// Catalog finds the types of declarations.
type Catalog interface {
	// Type resolves a written type, or fails.
	Type(ctx context.Context, name ast.TypeName) (*types.Type, error)
	// RowType returns the type of a relation's rows, or of a composite type; nil: there is none.
	RowType(ctx context.Context, name ast.Name) (*types.Type, error)
	// ColumnType returns the type of a column; nil: there is no such relation or column.
	ColumnType(ctx context.Context, relation ast.Name, column string) (*types.Type, error)
}

// parser is the state of one Parse. Its errors travel as failures.
type parser struct {
	ctx     context.Context
	catalog Catalog
	src     string
	toks    []parse.Token
	lexical error // why the scan stopped at the last token
	i       int
	depth   int
	scope   *Scope
	program *Program
	// conflict is that of #variable_conflict.
	conflict Conflict
	// lines are the offsets at which lines begin.
	lines []int
	// handling is set within an exception handler.
	handling bool
}

// Parse parses the body of DO, which is a function of this name without arguments and result.
func Parse(ctx context.Context, catalog Catalog, name, body string) (program *Program, err error) {
	defer failure.Catch(&err)
	p := &parser{ctx: ctx, catalog: catalog, src: body, lines: []int{0},
		program: &Program{Name: name}}
	defer failure.Amend(p.nearLine)
	for i := range len(body) {
		if body[i] == '\n' {
			p.lines = append(p.lines, i+1)
		}
	}
	options := p.options()
	p.toks, p.lexical = parse.Scan(ctx, strings.Repeat(" ", options)+body[options:])
	p.scope = &Scope{kind: blockLabel, name: name, conflict: p.conflict}
	p.program.Found = p.declare(&Variable{Name: "found", Type: types.TBool})
	p.program.Body = p.block(p.label())
	p.symbol(";")
	if p.tok().Kind != parse.EndToken || p.atLexicalError() {
		p.unexpected()
	}
	return p.program, nil
}

// nearLine adds the line to an error that has no position.
func (p *parser) nearLine(err error) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Position != 0 || p.toks == nil {
		return err
	}
	return sqlerr.Within(err, "compilation of PL/pgSQL function \"%s\" near line %d",
		p.program.Name, p.line(p.tok().Pos))
}

// options reads the lines that begin with # in front of the block, and returns where it begins.
func (p *parser) options() int {
	at := 0
	for {
		for at < len(p.src) && strings.IndexByte(" \t\r\n", p.src[at]) >= 0 {
			at++
		}
		if at == len(p.src) || p.src[at] != '#' {
			return at
		}
		end := len(p.src)
		if n := strings.IndexByte(p.src[at:], '\n'); n >= 0 {
			end = at + n
		}
		p.option(at, strings.Fields(strings.ToLower(p.src[at+1:end])))
		at = end
	}
}

func (p *parser) option(at int, words []string) {
	if len(words) == 2 && words[0] == "variable_conflict" {
		switch words[1] {
		case "error":
			p.conflict = ConflictIsError
			return
		case "use_variable":
			p.conflict = UseVariable
			return
		case "use_column":
			p.conflict = UseColumn
			return
		}
	}
	if len(words) == 2 && words[0] == "print_strict_params" {
		if words[1] == "off" {
			return
		}
		panic(failure.Unsupported(at+1, "#print_strict_params"))
	}
	if len(words) == 2 && words[0] == "option" && words[1] == "dump" {
		panic(failure.Unsupported(at+1, "#option dump"))
	}
	panic(failure.At(at+1, sqlerr.SyntaxError, "syntax error at or near \"#\""))
}

// tok is the current token, peek the n-th after it.
func (p *parser) tok() *parse.Token { return &p.toks[p.i] }

func (p *parser) peek(n int) *parse.Token { return &p.toks[min(p.i+n, len(p.toks)-1)] }

func (p *parser) next() *parse.Token {
	t := p.tok()
	if p.i < len(p.toks)-1 {
		p.i++
	}
	return t
}

func (p *parser) atLexicalError() bool { return p.lexical != nil && p.i == len(p.toks)-1 }

// pos is the position of the current token.
func (p *parser) pos() int { return p.tok().Pos + 1 }

// line returns the line of an offset, counted from 1.
func (p *parser) line(offset int) int {
	n, found := slices.BinarySearch(p.lines, offset)
	if found {
		return n + 1
	}
	return n
}

func (p *parser) place() Place { return Place{Line: p.line(p.tok().Pos)} }

// unexpected fails with a syntax error at the current token.
func (p *parser) unexpected() { p.failNear("syntax error") }

// failNear fails with "message at or near …" at the current token.
func (p *parser) failNear(message string) {
	if p.atLexicalError() {
		panic(failure.Of(p.lexical))
	}
	t := p.tok()
	if t.Kind == parse.EndToken {
		panic(failure.At(p.pos(), sqlerr.SyntaxError, "%s at end of input", message))
	}
	panic(failure.At(p.pos(), sqlerr.SyntaxError, "%s at or near \"%s\"", message,
		p.src[t.Pos:t.End]))
}

// fail fails at the current token.
func (p *parser) fail(code, format string, args ...any) {
	panic(failure.At(p.pos(), code, format, args...))
}

// at reports whether the words are next.
func (p *parser) at(words ...string) bool {
	for n, w := range words {
		if t := p.peek(n); t.Kind != parse.WordToken || t.Text != w {
			return false
		}
	}
	return true
}

// accept moves past the words if they are next.
func (p *parser) accept(words ...string) bool {
	if !p.at(words...) {
		return false
	}
	for range words {
		p.next()
	}
	return true
}

// want requires the words.
func (p *parser) want(words ...string) {
	for _, w := range words {
		if !p.accept(w) {
			p.unexpected()
		}
	}
}

func (p *parser) atSymbol(s string) bool {
	t := p.tok()
	return t.Kind == parse.SymbolToken && t.Text == s
}

func (p *parser) symbol(s string) bool {
	if p.atSymbol(s) {
		p.next()
		return true
	}
	return false
}

func (p *parser) wantSymbol(s string) {
	if !p.symbol(s) {
		p.unexpected()
	}
}

// reserved are PL/pgSQL's own reserved words: no variable and no label has such a name.
var reserved = map[string]bool{"all": true, "begin": true, "by": true, "case": true,
	"declare": true, "else": true, "end": true, "execute": true, "for": true, "foreach": true,
	"from": true, "if": true, "in": true, "into": true, "loop": true, "not": true, "null": true,
	"or": true, "strict": true, "then": true, "to": true, "using": true, "when": true,
	"while": true}

// identifier reports whether a token is a name.
func identifier(t *parse.Token) bool {
	return t.Kind == parse.NameToken || t.Kind == parse.WordToken && !reserved[t.Text]
}

// name requires an identifier.
func (p *parser) name() string {
	if !identifier(p.tok()) {
		p.unexpected()
	}
	return p.next().Text
}

// enter counts a level of nesting; every enter has a leave.
func (p *parser) enter() {
	failure.Check(p.ctx.Err())
	p.depth++
	if p.depth > maxDepth {
		panic(failure.Of(sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded").
			At(p.pos()).WithHint("Statements may be nested up to %d levels deep.", maxDepth)))
	}
}

func (p *parser) leave() { p.depth-- }

// until cuts a query that ends before one of the terminators, which are words or symbols outside of
// parentheses. expected is what the error names when it is missing.
func (p *parser) until(mode Mode, expected string, terminators ...string) *Query {
	start := p.i
	p.skipTo(expected, terminators...)
	if p.i == start {
		if p.atSymbol(";") || len(terminators) > 0 {
			p.failNear("missing expression")
		}
	}
	return p.query(mode, start, p.i)
}

// skipTo moves to the next token outside of parentheses that is one of the terminators.
func (p *parser) skipTo(expected string, terminators ...string) {
	depth := 0
	for {
		t := p.tok()
		if depth == 0 && (t.Kind == parse.WordToken || t.Kind == parse.SymbolToken) &&
			slices.Contains(terminators, t.Text) {
			return
		}
		switch {
		case t.Kind == parse.EndToken || t.Kind == parse.SymbolToken && t.Text == ";":
			p.unterminated(depth, expected)
		case t.Kind == parse.SymbolToken && (t.Text == "(" || t.Text == "["):
			depth++
		case t.Kind == parse.SymbolToken && (t.Text == ")" || t.Text == "]"):
			if depth--; depth < 0 {
				p.failNear("mismatched parentheses")
			}
		}
		p.next()
	}
}

// unterminated fails where a query has no end.
func (p *parser) unterminated(depth int, expected string) {
	if p.atLexicalError() {
		panic(failure.Of(p.lexical))
	}
	if depth > 0 {
		p.failNear("mismatched parentheses")
	}
	if p.tok().Kind == parse.EndToken {
		p.failNear("unexpected end of function definition")
	}
	p.fail(sqlerr.SyntaxError, "missing \"%s\" at end of SQL expression", expected)
}

const selectPrefix = "SELECT "

// query parses the tokens from start up to end as an expression.
func (p *parser) query(mode Mode, start, end int) *Query {
	return p.rightSide(mode, start, start, end)
}

// rightSide parses the expression from the token value up to end, of an assignment whose target
// begins at start.
func (p *parser) rightSide(mode Mode, start, value, end int) *Query {
	from, to := p.toks[start].Pos, p.toks[end-1].End
	at := min(p.toks[value].Pos, to)
	q := p.newQuery(mode, p.src[from:to])
	q.Shift = len(selectPrefix) - (at - from)
	q.Statement = p.parseSQL(selectPrefix+p.src[at:to], at-len(selectPrefix))
	return q
}

// coerceTo makes the value of an assignment to a variable of a scalar type one of that type, where
// a cast for assignments does that. Otherwise the assignment converts it (ast.AssignPart).
func (q *Query) coerceTo(to *Target) {
	core, ok := q.Statement.(*ast.Select).Body.(*ast.SelectCore)
	if !ok || len(core.Items) != 1 || to.Field != "" || to.Variable.IsRow() {
		return
	}
	if _, star := core.Items[0].Expr.(*ast.Star); star {
		return
	}
	q.Wanted = to.Variable.Type
	core.Items[0].Expr = &ast.AssignPart{Pos: core.Items[0].Expr.At(), Value: core.Items[0].Expr}
}

func (p *parser) newQuery(mode Mode, text string) *Query {
	p.program.Queries++
	return &Query{Number: p.program.Queries - 1, Text: text, Mode: mode, Scope: p.scope}
}

// parseSQL parses one SQL statement, whose first byte is at an offset of the body.
func (p *parser) parseSQL(text string, offset int) ast.Statement {
	parsed, err := parse.ParseOne(p.ctx, text)
	var e *sqlerr.Error
	if errors.As(err, &e) && e.Position > 0 {
		moved := *e
		moved.Position += offset
		err = &moved
	}
	failure.Check(err)
	return parsed.Stmt
}
