package parse

import (
	"context"
	"strings"
)

// Split cuts text into statements at the semicolons that end them, as an interactive shell needs:
// rest is what comes after the last one, the beginning of a statement that is not complete (inside
// a string or comment, perhaps), or empty when only white space is left.
func Split(text string) (statements []string, rest string) {
	var l lexer
	l.lex(context.Background(), text)
	from, depth, inStatement := 0, 0, false
	for i := range l.toks {
		t := &l.toks[i]
		switch {
		case t.kind == tokEOF:
			if !inStatement {
				return statements, ""
			}
			return statements, text[from:]
		case t.kind == tokError && strings.HasPrefix(l.err.Message, "unterminated"):
			return statements, text[from:]
		case t.kind == tokError: // no further line would mend it: the parser reports what is wrong
			return append(statements, text[from:]), ""
		case t.is('('):
			depth++
		case t.is(')'):
			depth--
		case t.is(';') && depth <= 0:
			if inStatement {
				statements = append(statements, text[from:t.end])
			}
			from, depth, inStatement = int(max(t.end, t.pair)), 0, false
			continue
		}
		inStatement = true
	}
	return statements, text[from:]
}
