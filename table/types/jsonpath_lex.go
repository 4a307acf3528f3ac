package types

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/sqlerr"
)

// pathTokenKind is the kind of a token of a path.
type pathTokenKind uint8

const (
	pathEnd      pathTokenKind = iota
	pathSymbol                 // text is the symbol
	pathWord                   // an identifier that is no keyword
	pathKeyword                // str is the keyword in lower case, as is the word as written
	pathString                 // in quotes
	pathInteger                // digits
	pathNumeric                // any other number
	pathVariable               // $name, $"name"
)

// pathToken is a token of a path.
type pathToken struct {
	kind pathTokenKind
	text string // what a syntax error quotes; "" is the end of the input
	str  string
	as   string
}

// pathKeywords has the keywords; those that are true are keywords in lower case only.
var pathKeywords = map[string]bool{"is": false, "to": false, "abs": false, "lax": false,
	"flag": false, "last": false, "null": true, "size": false, "true": true, "type": false,
	"with": false, "false": true, "floor": false, "double": false, "exists": false,
	"starts": false, "strict": false, "ceiling": false, "unknown": false, "datetime": false,
	"keyvalue": false, "like_regex": false}

const pathKeywordMax = len("like_regex")

// pathLexer splits a path into tokens as PostgreSQL's lexer does, oddities included: what a syntax
// error quotes is what that lexer matched last.
type pathLexer struct {
	s string
	i int
	pieces
}

func pathSpecial(c byte) bool { return strings.IndexByte("?%$.[]{}()|&!=<>@#,*:-+/", c) >= 0 }

func pathBlank(c byte) bool { return strings.IndexByte(" \t\n\r\f", c) >= 0 }

// pathOther reports whether c is part of words.
func pathOther(c byte) bool { return !pathSpecial(c) && !pathBlank(c) && c != '\\' && c != '"' }

// run returns the end of the bytes from i on for which in is true.
func (l *pathLexer) run(i int, in func(c byte) bool) int {
	for i < len(l.s) && in(l.s[i]) {
		i++
	}
	return i
}

// fault is an error at a text of the path; "" is its end.
func (l *pathLexer) fault(message, near string) error {
	if near == "" {
		return sqlerr.New(sqlerr.SyntaxError, "%s at end of jsonpath input", message)
	}
	return sqlerr.New(sqlerr.SyntaxError, "%s at or near \"%s\" of jsonpath input", message, near)
}

// next returns the next token.
func (l *pathLexer) next() (pathToken, error) {
	for l.i < len(l.s) {
		if err := l.reach(l.i); err != nil {
			return pathToken{}, err
		}
		start, rest := l.i, l.s[l.i:]
		switch c := rest[0]; {
		case pathBlank(c):
			l.i = l.run(l.i, pathBlank)
			continue
		case strings.HasPrefix(rest, "/*"):
			if err := l.comment(); err != nil {
				return pathToken{}, err
			}
			continue
		case c == '"':
			s, err := l.quoted(1)
			return pathToken{kind: pathString, text: `"`, str: s}, err
		case strings.HasPrefix(rest, `$"`):
			s, err := l.quoted(2)
			return pathToken{kind: pathVariable, text: `"`, str: s}, err
		case c == '$' && l.run(l.i+1, pathOther) > l.i+1:
			l.i = l.run(l.i+1, pathOther)
			return pathToken{kind: pathVariable, text: l.s[start:l.i], str: l.s[start+1 : l.i]}, nil
		case isDigit(c) || c == '.' && len(rest) > 1 && isDigit(rest[1]):
			if t, ok, err := l.number(); ok || err != nil {
				return t, err
			}
		}
		if pathSpecial(rest[0]) {
			l.i += pathSymbolLen(rest)
			return pathToken{kind: pathSymbol, text: l.s[start:l.i]}, nil
		}
		if t, ok, err := l.word(); ok || err != nil {
			return t, err
		}
	}
	return pathToken{}, nil
}

// pathSymbolLen returns the length of the symbol that s begins with.
func pathSymbolLen(s string) int {
	if len(s) > 1 {
		switch s[:2] {
		case "&&", "||", "**", "<=", "==", "<>", "!=", ">=":
			return 2
		}
	}
	return 1
}

func (l *pathLexer) comment() error {
	end := strings.Index(l.s[l.i+2:], "*/")
	if end < 0 {
		return l.fault("unexpected end of comment", "")
	}
	l.i += end + 4
	return nil
}

// number reads a number; ok is false if a longer word begins here.
func (l *pathLexer) number() (t pathToken, ok bool, err error) {
	t.kind = pathInteger
	end := l.i
	if l.s[end] == '0' {
		end++
	} else {
		end = l.run(end, isDigit)
	}
	if end < len(l.s) && l.s[end] == '.' {
		t.kind = pathNumeric
		end = l.run(end+1, isDigit)
	}
	mantissa := end
	if end < len(l.s) && (l.s[end] == 'e' || l.s[end] == 'E') {
		end++
		signed := end < len(l.s) && (l.s[end] == '-' || l.s[end] == '+')
		if signed {
			end++
		}
		digits := l.run(end, isDigit)
		switch {
		case digits > end:
			t.kind, end = pathNumeric, digits
		case signed:
			return t, false, l.fault("invalid numeric literal", l.s[l.i:end])
		default:
			end = mantissa
		}
	}
	if end < len(l.s) && pathOther(l.s[end]) {
		if l.run(l.i, pathOther) > end+1 {
			return t, false, nil
		}
		_, n := utf8.DecodeRuneInString(l.s[end:])
		return t, false, l.fault("trailing junk after numeric literal", l.s[l.i:end+n])
	}
	t.text = l.s[l.i:end]
	t.str, l.i = t.text, end
	return t, true, nil
}

// word reads a word that is not in quotes. A comment directly behind it makes PostgreSQL forget the
// word: ok is false then.
func (l *pathLexer) word() (t pathToken, ok bool, err error) {
	var b []byte
	for l.i < len(l.s) {
		c := l.s[l.i]
		switch {
		case pathOther(c):
			end := l.run(l.i, pathOther)
			b = append(b, l.s[l.i:end]...)
			l.i = end
			continue
		case c == '\\':
			if b, err = l.escape(b); err != nil {
				return t, false, err
			}
			continue
		case strings.HasPrefix(l.s[l.i:], "/*"):
			return t, false, l.comment()
		case pathBlank(c):
			end := l.run(l.i, pathBlank)
			t.text = l.s[l.i:end]
			l.i = end
		}
		break
	}
	t.kind, t.as, t.str = pathWord, string(b), string(b)
	if len(b) <= pathKeywordMax {
		lower := strings.ToLower(t.str)
		if exact, is := pathKeywords[lower]; is && (!exact || lower == t.str) {
			t.kind, t.str = pathKeyword, lower
		}
	}
	return t, true, nil
}

// quoted reads a string whose text begins skip bytes further on, up to the quote.
func (l *pathLexer) quoted(skip int) (string, error) {
	l.i += skip
	var b []byte
	for l.i < len(l.s) {
		if err := l.reach(l.i); err != nil {
			return "", err
		}
		switch l.s[l.i] {
		case '"':
			l.i++
			return string(b), nil
		case '\\':
			var err error
			if b, err = l.escape(b); err != nil {
				return "", err
			}
		default:
			end := l.run(l.i, func(c byte) bool { return c != '\\' && c != '"' })
			b = append(b, l.s[l.i:end]...)
			l.i = end
		}
	}
	return "", l.fault("unexpected end of quoted string", "")
}

var pathEscapes = [256]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}

// escape reads an escape sequence at its backslash and appends what it stands for.
func (l *pathLexer) escape(b []byte) ([]byte, error) {
	rest := l.s[l.i+1:]
	if rest == "" || rest[0] == '\n' {
		return b, l.fault("unexpected end after backslash", `\`)
	}
	switch c := rest[0]; {
	case c == 'u':
		return l.unicode(b)
	case c == 'x':
		n := 1 + hexLen(rest[1:], 2)
		if n < 3 {
			return b, l.fault("invalid hex character sequence", l.s[l.i:l.i+1+n])
		}
		v, _ := strconv.ParseUint(rest[1:3], 16, 8)
		l.i += 4
		return appendPathRune(b, rune(v))
	case pathEscapes[c] != 0:
		b = append(b, pathEscapes[c])
	default:
		b = append(b, c)
	}
	l.i += 2
	return b, nil
}

// hexLen returns how many of the first most bytes are hexadecimal digits.
func hexLen(s string, most int) int {
	n := 0
	for n < len(s) && n < most && strings.IndexByte("0123456789abcdefABCDEF", s[n]) >= 0 {
		n++
	}
	return n
}

// unicode reads a run of \uXXXX and \u{X…}.
func (l *pathLexer) unicode(b []byte) ([]byte, error) {
	start := l.i
	var high rune
	for strings.HasPrefix(l.s[l.i:], `\u`) {
		digits, n, ok := pathCodePoint(l.s[l.i:])
		if !ok {
			return b, l.fault("invalid unicode sequence", l.s[start:l.i+n])
		}
		l.i += n
		v, _ := strconv.ParseUint(digits, 16, 32)
		r := rune(v)
		switch {
		case r >= 0xd800 && r < 0xdc00:
			if high != 0 {
				return b, errSurrogate("Unicode high surrogate must not follow a high surrogate.")
			}
			high = r
			continue
		case r >= 0xdc00 && r < 0xe000 && high != 0:
			r, high = utf16.DecodeRune(high, r), 0
		case r >= 0xdc00 && r < 0xe000 || high != 0:
			return b, errSurrogate(lowSurrogateMissing)
		}
		var err error
		if b, err = appendPathRune(b, r); err != nil {
			return b, err
		}
	}
	if high != 0 {
		return b, errSurrogate(lowSurrogateMissing)
	}
	return b, nil
}

const lowSurrogateMissing = "Unicode low surrogate must follow a high surrogate."

func errSurrogate(detail string) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type %s",
		"jsonpath").WithDetail("%s", detail)
}

// pathCodePoint returns the digits of the \uXXXX or \u{X…} that s begins with, and its length; if
// it is none, the length of what looks like one.
func pathCodePoint(s string) (digits string, n int, ok bool) {
	if !strings.HasPrefix(s[2:], "{") {
		n = hexLen(s[2:], 4)
		return s[2 : 2+n], 2 + n, n == 4
	}
	n = hexLen(s[3:], 6)
	digits = s[3 : 3+n]
	if n == 0 || 3+n >= len(s) || s[3+n] != '}' {
		return "", 3 + n, false
	}
	return digits, 4 + n, true
}

func appendPathRune(b []byte, r rune) ([]byte, error) {
	switch {
	case r == 0:
		return b, sqlerr.New(sqlerr.UntranslatableCharacter, "unsupported Unicode escape sequence").
			WithDetail("%s", "\\u0000 cannot be converted to text.")
	case r > utf8.MaxRune:
		return b, sqlerr.New(sqlerr.SyntaxError, "invalid Unicode code point")
	}
	return utf8.AppendRune(b, r), nil
}
