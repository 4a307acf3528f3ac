package parse

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
)

// TokenKind classes the tokens of Scan.
type TokenKind uint8

// The kinds of tokens. EndToken is the last of a text.
const (
	EndToken TokenKind = iota
	WordToken
	NameToken // in double quotes: never a key word
	NumberToken
	StringToken
	ParameterToken // $n
	SymbolToken    // an operator or punctuation
)

// Token is one lexical unit of a text.
type Token struct {
	Kind TokenKind
	// Text is a word in lower case, a name or a string without its quotes, or what was written.
	Text     string
	Pos, End int // byte offsets in the text, from 0
}

// Scan cuts a text into tokens by PostgreSQL's lexical rules, for languages that share them. The
// last token is an EndToken. When the scan fails, Scan returns the error with the tokens before it:
// a syntax error among those comes first.
func Scan(ctx context.Context, text string) ([]Token, error) {
	if len(text) > MaxTextBytes {
		return []Token{{}}, sqlerr.New(sqlerr.ProgramLimitExceeded,
			"statement of %d bytes exceeds the limit of %d bytes", len(text), MaxTextBytes)
	}
	var l lexer
	l.lex(ctx, text)
	out := make([]Token, 0, len(l.toks))
	for i := range l.toks {
		t := &l.toks[i]
		made := Token{Text: text[t.pos:t.end], Pos: int(t.pos), End: int(t.end)}
		switch t.kind {
		case tokError:
			made.Text = ""
			return append(out, made), l.failure()
		case tokEOF:
		case tokIdent:
			made.Kind, made.Text = WordToken, t.str
		case tokQuoted:
			made.Kind, made.Text = NameToken, t.str
		case tokInt, tokNumber:
			made.Kind = NumberToken
		case tokString, tokBits:
			made.Kind, made.Text = StringToken, t.str
		case tokParam:
			made.Kind = ParameterToken
		default:
			made.Kind = SymbolToken
		}
		out = append(out, made)
		if t.is(';') && t.pair > 0 { // the scanner makes one token of several
			out = append(out, Token{Kind: SymbolToken, Text: ";", Pos: int(t.pair) - 1,
				End: int(t.pair)})
		}
	}
	return out, nil
}
