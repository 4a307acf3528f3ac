package gin

import (
	"strings"
	"unicode/utf8"
)

// likeOfRegexp returns a pattern of LIKE that matches every text in which a regular expression of
// PostgreSQL finds a match: its literal characters in their order, with % for all else. ok is false
// for an expression with alternatives, options or escapes beyond the plainest.
func likeOfRegexp(re string) (pattern string, ok bool) {
	if strings.HasPrefix(re, "***") || strings.Contains(re, "(?") ||
		strings.Contains(re, "|") {
		return "", false
	}
	r := regexpReader{rest: re}
	r.out.WriteByte('%')
	for r.rest != "" && !r.bad {
		r.atom()
	}
	r.out.WriteByte('%')
	return r.out.String(), !r.bad
}

// regexpReader reads a regular expression without alternatives.
type regexpReader struct {
	rest string
	out  strings.Builder
	bad  bool
}

// atom reads a character, a bracket expression, a group or an assertion, with its quantifier.
func (r *regexpReader) atom() {
	c, n := utf8.DecodeRuneInString(r.rest)
	r.rest = r.rest[n:]
	literal := rune(-1)
	switch c {
	case '.', '^', '$':
	case '[':
		r.bracket()
	case '(':
		r.group()
	case '\\':
		literal = r.escape()
	case ')', '*', '+', '?':
		r.bad = true
	default:
		literal = c
	}
	optional, repeated := r.quantifier()
	if literal < 0 || optional {
		r.out.WriteByte('%')
		return
	}
	if strings.ContainsRune(`%_\`, literal) {
		r.out.WriteByte('\\')
	}
	r.out.WriteRune(literal)
	if repeated {
		r.out.WriteByte('%')
	}
}

// escape reads what follows a backslash: a literal character, or one of the classes and constraints
// without operands.
func (r *regexpReader) escape() (literal rune) {
	c, n := utf8.DecodeRuneInString(r.rest)
	r.rest = r.rest[n:]
	switch {
	case n == 0 || c >= utf8.RuneSelf:
		r.bad = true
	case strings.ContainsRune("dwsDWSmMyYAZ", c):
	case c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		r.bad = true
	default:
		return c
	}
	return -1
}

// bracket reads a bracket expression behind its [.
func (r *regexpReader) bracket() {
	r.rest = strings.TrimPrefix(r.rest, "^")
	r.rest = strings.TrimPrefix(r.rest, "]")
	for r.rest != "" {
		c := r.rest[0]
		r.rest = r.rest[1:]
		switch {
		case c == ']':
			return
		case c == '\\' && r.rest != "":
			r.rest = r.rest[1:]
		case c == '[' && r.rest != "" && strings.IndexByte(":.=", r.rest[0]) >= 0:
			end := strings.Index(r.rest[1:], r.rest[:1]+"]")
			if end < 0 {
				r.bad = true
				return
			}
			r.rest = r.rest[end+3:]
		}
	}
	r.bad = true
}

// group reads a group behind its parenthesis. What is in it is not looked at.
func (r *regexpReader) group() {
	for r.rest != "" && !r.bad {
		c := r.rest[0]
		r.rest = r.rest[1:]
		switch c {
		case ')':
			return
		case '(':
			r.group()
		case '[':
			r.bracket()
		case '\\':
			r.escape()
		}
	}
	r.bad = true
}

// quantifier reads a quantifier, if there is one: optional reports whether the atom before it may
// be absent, repeated whether it may come several times.
func (r *regexpReader) quantifier() (optional, repeated bool) {
	if r.rest == "" {
		return false, false
	}
	switch r.rest[0] {
	case '*', '?':
		optional = true
	case '+':
		repeated = true
	case '{':
		end := strings.IndexByte(r.rest, '}')
		if end < 0 {
			r.bad = true
			return true, true
		}
		optional, r.rest = true, r.rest[end:]
	default:
		return false, false
	}
	r.rest = r.rest[1:]
	r.rest = strings.TrimPrefix(r.rest, "?") // as few as possible
	return optional, repeated
}
