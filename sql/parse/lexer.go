package parse

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
)

// maxIdentifier is PostgreSQL's NAMEDATALEN-1: longer names are cut, as PostgreSQL does with a
// notice.
const maxIdentifier = 63

// lexer cuts text into tokens by the rules of PostgreSQL's scan.l with standard_conforming_strings
// on. After the first error it stops with a tokError, so that a syntax error before it in the text
// is the one that is reported.
type lexer struct {
	ctx   context.Context
	ended error // of ctx, where the scan stopped for it
	steps int   // tokens since the last look at ctx
	src   string
	pos   int
	toks  []token
	err   *sqlerr.Error
	opens []int32 // indexes of "(" still open
	param int     // highest $n
	run   operatorRun
}

// stepsPerLook is how many tokens pass between two looks at the context.
const stepsPerLook = 4096

// tokenBytes is about what the parse of a token takes, with the nodes that are made of it. It is
// counted before they are made, in the work of the context (memory.With).
const tokenBytes = 160

// firstTokens bounds the room that a scan makes before it has seen a token.
const firstTokens = 64 << 10

// Character classes of scan.l.
const (
	classSpace = 1 << iota
	classDigit
	classIdentStart
	classIdentCont
	classOp   // may be part of an operator
	classSelf // is a token by itself
)

var charClass = func() (c [256]uint8) {
	for _, b := range []byte(" \t\n\r\f") {
		c[b] |= classSpace
	}
	for b := '0'; b <= '9'; b++ {
		c[b] |= classDigit | classIdentCont
	}
	for b := range 256 {
		if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b >= 0x80 {
			c[b] |= classIdentStart | classIdentCont
		}
	}
	c['$'] |= classIdentCont
	for _, b := range []byte("~!@#^&|`?+-*/%<>=") {
		c[b] |= classOp
	}
	for _, b := range []byte(",()[].;:+-*/%^<>=") {
		c[b] |= classSelf
	}
	return c
}()

// lex fills l.toks with the tokens of src, the last of which is tokEOF or tokError.
func (l *lexer) lex(ctx context.Context, src string) {
	l.ctx, l.ended, l.steps, l.run = ctx, nil, 0, operatorRun{}
	l.src, l.pos, l.toks, l.err, l.opens, l.param = src, 0, l.toks[:0], nil, l.opens[:0], 0
	if cap(l.toks) == 0 {
		l.toks = make([]token, 0, min(len(src)/4+8, firstTokens))
	}
	if err := checkEncoding(src); err != nil {
		l.fail(err, 0)
		return
	}
	work := memory.Working(ctx)
	for l.skipSpace() {
		if !l.next() {
			return
		}
		if l.steps++; l.steps < stepsPerLook {
			continue
		}
		l.steps = 0
		if l.ended = ctx.Err(); l.ended == nil {
			l.ended = work.Grow(stepsPerLook * tokenBytes)
		}
		if l.ended != nil {
			l.stop(l.pos)
			return
		}
	}
	if l.err == nil {
		n := int32(len(src))
		l.toks = append(l.toks, token{kind: tokEOF, pos: n, end: n})
	}
}

// checkEncoding refuses what is not UTF-8 or contains NUL.
func checkEncoding(src string) *sqlerr.Error {
	if strings.IndexByte(src, 0) >= 0 {
		return badEncoding(src[strings.IndexByte(src, 0):])
	}
	if utf8.ValidString(src) {
		return nil
	}
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRuneInString(src[i:])
		if r == utf8.RuneError && n <= 1 {
			return badEncoding(src[i:])
		}
		i += n
	}
	return nil
}

// badEncoding is PostgreSQL's error for the byte sequence that s starts with.
func badEncoding(s string) *sqlerr.Error {
	n := 1
	switch b := s[0]; {
	case b >= 0xf0:
		n = 4
	case b >= 0xe0:
		n = 3
	case b >= 0xc0:
		n = 2
	}
	var sb strings.Builder
	for i := 0; i < min(n, len(s)); i++ {
		const hex = "0123456789abcdef"
		if i > 0 {
			sb.WriteByte(' ')
		}
		sb.WriteString("0x")
		sb.WriteByte(hex[s[i]>>4])
		sb.WriteByte(hex[s[i]&15])
	}
	return sqlerr.New(sqlerr.CharacterNotInRepertoire,
		"invalid byte sequence for encoding \"UTF8\": %s", sb.String())
}

// fail ends the scan with err for the token that starts at pos.
func (l *lexer) fail(err *sqlerr.Error, pos int) {
	if l.err != nil {
		return
	}
	l.err = err
	l.stop(pos)
}

// stop ends the scan at pos, where it failed or was cancelled.
func (l *lexer) stop(pos int) {
	l.toks = append(l.toks, token{kind: tokError, pos: int32(pos), end: int32(len(l.src))})
	l.pos = len(l.src)
}

// failure is why the scan stopped at its tokError.
func (l *lexer) failure() error {
	if l.ended != nil {
		return l.ended
	}
	return l.err
}

// failNear is fail with PostgreSQL's `message at or near "text"`.
func (l *lexer) failNear(message string, pos, end int) {
	l.fail(sqlerr.New(sqlerr.SyntaxError, "%s at or near \"%s\"", message,
		l.src[pos:end]).At(pos+1), pos)
}

// skipSpace moves over white space and comments; false at the end of the text or after an error.
func (l *lexer) skipSpace() bool {
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case charClass[c]&classSpace != 0:
			l.pos++
		case c == '-' && strings.HasPrefix(l.src[l.pos:], "--"):
			l.skipLineComment()
		case c == '/' && strings.HasPrefix(l.src[l.pos:], "/*"):
			if !l.skipBlockComment() {
				return false
			}
		default:
			return true
		}
	}
	return false
}

func (l *lexer) skipLineComment() {
	if n := strings.IndexAny(l.src[l.pos:], "\r\n"); n >= 0 {
		l.pos += n
	} else {
		l.pos = len(l.src)
	}
}

// skipBlockComment moves over a comment, which may hold others.
func (l *lexer) skipBlockComment() bool {
	start, depth := l.pos, 0
	for i := l.pos; i < len(l.src)-1; {
		switch {
		case l.src[i] == '/' && l.src[i+1] == '*':
			depth++
			i += 2
		case l.src[i] == '*' && l.src[i+1] == '/':
			depth--
			i += 2
			if depth == 0 {
				l.pos = i
				return true
			}
		default:
			i++
		}
	}
	l.failNear("unterminated /* comment", start, len(l.src))
	return false
}

// add appends a token that started at start and ends at l.pos.
func (l *lexer) add(kind tokenKind, start int, str string) {
	l.toks = append(l.toks, token{kind: kind, pos: int32(start), end: int32(l.pos), str: str})
}

// next scans one token; l.pos is at its first character.
func (l *lexer) next() bool {
	start, c := l.pos, l.src[l.pos]
	class := charClass[c]
	switch {
	case class&classIdentStart != 0:
		if l.prefixedLiteral(c) {
			break
		}
		l.identifier()
	case class&classDigit != 0:
		l.number()
	case c == '.' && start+1 < len(l.src) && charClass[l.src[start+1]]&classDigit != 0:
		l.number()
	case c == '\'':
		if s, ok := l.quotedString(start, start); ok {
			l.add(tokString, start, s)
		}
	case c == '"':
		if s, ok := l.quotedIdentifier(start, start); ok {
			l.add(tokQuoted, start, truncate(s))
		}
	case c == '$':
		l.dollar()
	case c == ':' || c == '.':
		l.colonOrDot(c)
	case class&classOp != 0:
		l.operator()
	case class&classSelf != 0:
		l.punct(c)
	default:
		_, n := utf8.DecodeRuneInString(l.src[start:])
		l.pos += n
		l.add(tokOther, start, l.src[start:l.pos])
	}
	return l.err == nil
}

// prefixedLiteral scans E'…', B'…', X'…', N'…' and U&'…' or U&"…".
func (l *lexer) prefixedLiteral(c byte) bool {
	start := l.pos
	rest := l.src[start+1:]
	if len(rest) == 0 || rest[0] != '\'' && rest[0] != '&' {
		return false
	}
	switch c | 0x20 {
	case 'e':
		if rest[0] == '\'' {
			l.escapeString(start)
			return true
		}
	case 'b', 'x':
		if rest[0] == '\'' {
			l.bitString(start, c|0x20 == 'x')
			return true
		}
	case 'n':
		if rest[0] == '\'' { // N'x' is NCHAR 'x'
			l.pos++
			l.identifierToken(start, "nchar")
			return true
		}
	case 'u':
		if len(rest) > 1 && rest[0] == '&' && (rest[1] == '\'' || rest[1] == '"') {
			l.unicodeLiteral(start, rest[1])
			return true
		}
	}
	return false
}

// identifier scans an unquoted identifier or key word and folds it to lower case.
func (l *lexer) identifier() {
	start, upper := l.pos, false
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		if charClass[c]&classIdentCont == 0 {
			break
		}
		upper = upper || c >= 'A' && c <= 'Z'
		l.pos++
	}
	s := l.src[start:l.pos]
	if upper {
		s = foldASCII(s)
	}
	l.identifierToken(start, s)
}

// identifierToken adds the token of a folded word, a key word or not, that began at start.
func (l *lexer) identifierToken(start int, s string) {
	use, ok := sqlname.Keywords[s]
	t := token{kind: tokIdent, use: use, pos: int32(start), end: int32(l.pos)}
	if ok {
		t.str, t.kw = s, keyword(s)
	} else {
		t.str = truncate(s)
	}
	l.toks = append(l.toks, t)
}

// foldASCII lowers ASCII letters only: PostgreSQL leaves the rest alone in a UTF-8 database.
func foldASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// truncate cuts an identifier to maxIdentifier bytes without splitting a character.
func truncate(s string) string {
	if len(s) <= maxIdentifier {
		return s
	}
	n := maxIdentifier
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// number scans integers and decimals; a letter right after one is an error since PostgreSQL 15.
func (l *lexer) number() {
	start, kind := l.pos, tokInt
	l.digits()
	if l.pos < len(l.src) && l.src[l.pos] == '.' && !strings.HasPrefix(l.src[l.pos:], "..") {
		kind = tokNumber
		l.pos++
		l.digits()
	}
	if l.pos < len(l.src) && l.src[l.pos]|0x20 == 'e' {
		exp := l.pos + 1
		if exp < len(l.src) && (l.src[exp] == '+' || l.src[exp] == '-') {
			exp++
		}
		if exp < len(l.src) && charClass[l.src[exp]]&classDigit != 0 {
			kind = tokNumber
			l.pos = exp
			l.digits()
		} else if exp > l.pos+1 { // 1e+ with nothing after it
			l.failNear("trailing junk after numeric literal", start, exp)
			return
		}
	}
	if l.junk("trailing junk after numeric literal", start) {
		return
	}
	l.add(kind, start, l.src[start:l.pos])
}

func (l *lexer) digits() {
	for l.pos < len(l.src) && charClass[l.src[l.pos]]&classDigit != 0 {
		l.pos++
	}
}

// junk fails when an identifier follows immediately.
func (l *lexer) junk(message string, start int) bool {
	if l.pos >= len(l.src) || charClass[l.src[l.pos]]&classIdentStart == 0 {
		return false
	}
	end := l.pos
	for end < len(l.src) && charClass[l.src[end]]&classIdentCont != 0 {
		end++
	}
	l.failNear(message, start, end)
	return true
}

// dollar scans $n and dollar-quoted strings.
func (l *lexer) dollar() {
	start := l.pos
	if start+1 < len(l.src) && charClass[l.src[start+1]]&classDigit != 0 {
		l.pos++
		l.digits()
		if l.junk("trailing junk after parameter", start) {
			return
		}
		n, digits := 0, l.src[start+1:l.pos]
		for i := 0; i < len(digits) && n <= maxParam; i++ {
			n = n*10 + int(digits[i]-'0')
		}
		if n == 0 || n > maxParam {
			l.fail(sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $%s",
				digits).At(start+1), start)
			return
		}
		l.param = max(l.param, n)
		l.toks = append(l.toks, token{kind: tokParam, pos: int32(start), end: int32(l.pos),
			str: digits, pair: int32(n)})
		return
	}
	i := start + 1
	for i < len(l.src) && charClass[l.src[i]]&classIdentCont != 0 && l.src[i] != '$' {
		i++
	}
	if i >= len(l.src) || l.src[i] != '$' {
		l.pos++
		l.add(tokOther, start, "$")
		return
	}
	tag := l.src[start : i+1]
	body := l.src[i+1:]
	end := strings.Index(body, tag)
	if end < 0 {
		l.failNear("unterminated dollar-quoted string", start, len(l.src))
		return
	}
	l.pos = i + 1 + end + len(tag)
	l.add(tokString, start, body[:end])
}

// colonOrDot scans : :: := . and the double dot.
func (l *lexer) colonOrDot(c byte) {
	start := l.pos
	if start+1 < len(l.src) {
		kind := tokEOF
		switch n := l.src[start+1]; {
		case c == ':' && n == ':':
			kind = tokCast
		case c == ':' && n == '=':
			kind = tokColonEq
		case c == '.' && n == '.':
			kind = tokDotDot
		}
		if kind != tokEOF {
			l.pos += 2
			l.add(kind, start, l.src[start:l.pos])
			return
		}
	}
	l.punct(c)
}

// punct adds the one-character token c and pairs parentheses. Semicolons with nothing between them
// are one token, so that a text of nothing else takes no room; pair is where the last of them ends.
func (l *lexer) punct(c byte) {
	start := l.pos
	l.pos++
	if c == ';' {
		if n := len(l.toks); n > 0 && l.toks[n-1].is(';') {
			l.toks[n-1].pair = int32(l.pos)
			return
		}
	}
	l.toks = append(l.toks, token{kind: tokPunct, ch: c, pos: int32(start), end: int32(l.pos),
		str: l.src[start:l.pos]})
	switch c {
	case '(':
		l.opens = append(l.opens, int32(len(l.toks)-1))
	case ')':
		if n := len(l.opens); n > 0 {
			l.toks[l.opens[n-1]].pair = int32(len(l.toks) - 1)
			l.opens = l.opens[:n-1]
		}
	case ';':
		l.opens = l.opens[:0]
	}
}

// operatorRun is a run of characters that may be part of operators. It is measured once, however
// many operators it is cut into: `+++…` of a megabyte is a million of them.
type operatorRun struct {
	end     int // where the run, or a comment in it, ends it
	solid   int // after the last character that is neither + nor -
	special int // after the last of ~ ! @ # ^ & | ` ? %
}

// measure finds the run that the operator at start begins.
func (l *lexer) measure(start int) operatorRun {
	r := operatorRun{end: start, solid: start, special: start}
	for r.end < len(l.src) && charClass[l.src[r.end]]&classOp != 0 {
		rest := l.src[r.end:]
		if r.end > start && (strings.HasPrefix(rest, "/*") || strings.HasPrefix(rest, "--")) {
			break
		}
		r.end++
		switch rest[0] {
		case '+', '-':
		case '~', '!', '@', '#', '^', '&', '|', '`', '?', '%':
			r.special, r.solid = r.end, r.end
		default:
			r.solid = r.end
		}
	}
	return r
}

// operator scans the longest operator, then takes back what PostgreSQL takes back: a comment
// inside, and a trailing + or - unless one of ~ ! @ # ^ & | ` ? % precedes it.
func (l *lexer) operator() {
	start := l.pos
	if l.run.end <= start {
		l.run = l.measure(start)
	}
	end := l.run.end
	if l.run.special <= start {
		end = min(end, max(l.run.solid, start+1))
	}
	op := l.src[start:end]
	l.pos = start + len(op)
	if len(op) == 1 && charClass[op[0]]&classSelf != 0 {
		l.pos = start
		l.punct(op[0])
		return
	}
	switch op {
	case "<=":
		l.add(tokLE, start, op)
	case ">=":
		l.add(tokGE, start, op)
	case "<>", "!=":
		l.add(tokNE, start, "<>")
	case "=>":
		l.add(tokArrow, start, op)
	default:
		if len(op) > maxIdentifier {
			l.failNear("operator too long", start, l.pos)
			return
		}
		l.add(tokOp, start, op)
	}
}
