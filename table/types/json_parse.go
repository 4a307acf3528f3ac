package types

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/sqlerr"
)

const jsonDepthMax = 6000 // near where PostgreSQL's stack ends

// jsonParser reads RFC 8259 JSON by recursive descent.
type jsonParser struct {
	s      string
	i      int
	depth  int
	check  bool // only check: make no values, accept \u0000 and halves of surrogate pairs
	raw    bool // keep each value's text
	binary bool // sort the keys of objects
	pieces
}

func (p *jsonParser) document() (*JSONValue, error) {
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	if p.space(); p.i < len(p.s) {
		return nil, p.expected("end of input")
	}
	return v, nil
}

func (p *jsonParser) space() {
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\t' || p.s[p.i] == '\n' ||
		p.s[p.i] == '\r') {
		p.i++
	}
}

func jsonWordy(c byte) bool { return isAlpha(c) || isDigit(c) || c == '_' || c >= 0x80 }

// token returns the text that an error message quotes.
func (p *jsonParser) token() string {
	if p.i >= len(p.s) {
		return ""
	}
	end := p.i
	switch c := p.s[p.i]; {
	case c == '"':
		q := &jsonParser{s: p.s, i: p.i, check: true}
		if _, err := q.str(); err == nil {
			return p.s[p.i:q.i]
		}
		return p.s[p.i:]
	case c == '-' || isDigit(c):
		end, _ = p.scanNumber()
	}
	for end < len(p.s) && jsonWordy(p.s[end]) {
		end++
	}
	return p.s[p.i:max(end, p.i+1)]
}

// syntax is the error of a token that ends at end.
func (p *jsonParser) syntax(end int, detail string, args ...any) *sqlerr.Error {
	err := sqlerr.New(sqlerr.InvalidTextRepresentation,
		"invalid input syntax for type json").WithDetail(detail, args...)
	return p.inContext(err, end)
}

// jsonContextMax is how many bytes of the line before the end of the bad token an error shows.
const jsonContextMax = 50

// inContext shows the line up to end, as PostgreSQL does.
func (p *jsonParser) inContext(err *sqlerr.Error, end int) *sqlerr.Error {
	end = min(end, len(p.s))
	line := 1 + strings.LastIndexByte(p.s[:end], '\n')
	from, prefix, suffix := line, "", ""
	for end-from >= jsonContextMax {
		_, n := utf8.DecodeRuneInString(p.s[from:])
		from += n
	}
	if from-line <= 3 {
		from = line
	} else {
		prefix = "..."
	}
	if end < len(p.s) && p.s[end] != '\n' && p.s[end] != '\r' {
		suffix = "..."
	}
	return err.WithContext("JSON data, line %d: %s%s%s", 1+strings.Count(p.s[:line], "\n"), prefix,
		p.s[from:end], suffix)
}

// after returns where the character at i ends.
func (p *jsonParser) after(i int) int {
	if i >= len(p.s) {
		return len(p.s)
	}
	_, n := utf8.DecodeRuneInString(p.s[i:])
	return i + n
}

// knownToken reports whether PostgreSQL's lexer would accept the token t.
func (p *jsonParser) knownToken(t string) bool {
	switch t {
	case "true", "false", "null":
		return true
	}
	if t[0] == '-' || isDigit(t[0]) {
		_, ok := p.scanNumber()
		return ok
	}
	return strings.IndexByte("{}[],:\"", t[0]) >= 0
}

func (p *jsonParser) expected(what string) error {
	if p.space(); p.i >= len(p.s) {
		return p.syntax(len(p.s), "The input string ended unexpectedly.")
	}
	t := p.token()
	if !p.knownToken(t) {
		return p.syntax(p.i+len(t), "Token \"%s\" is invalid.", t)
	}
	return p.syntax(p.i+len(t), "Expected %s, but found \"%s\".", what, t)
}

func (p *jsonParser) value() (*JSONValue, error) {
	p.space()
	if p.i >= len(p.s) {
		return nil, p.syntax(len(p.s), "The input string ended unexpectedly.")
	}
	if err := p.reach(p.i); err != nil {
		return nil, err
	}
	start := p.i
	v, err := p.bare()
	if err == nil && p.raw {
		v.Raw = p.s[start:p.i]
	}
	return v, err
}

func (p *jsonParser) bare() (*JSONValue, error) {
	switch c := p.s[p.i]; {
	case c == '{' || c == '[':
		if p.depth++; p.depth > jsonDepthMax {
			return nil, sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded")
		}
		defer func() { p.depth-- }()
		p.i++
		if c == '{' {
			return p.object()
		}
		return p.array()
	case c == '"':
		s, err := p.str()
		return &JSONValue{Kind: JSONString, Str: s}, err
	case c == '-' || isDigit(c):
		return p.number()
	}
	switch t := p.token(); t {
	case "true", "false":
		p.i += len(t)
		return &JSONValue{Kind: JSONBool, Bool: t == "true"}, nil
	case "null":
		p.i += len(t)
		return &JSONValue{Kind: JSONNull}, nil
	}
	return nil, p.expected("JSON value")
}

// list reads items, with commas between them, up to the end. It is called behind the beginning.
func (p *jsonParser) list(end byte, item func(first bool) error) error {
	if p.space(); p.i < len(p.s) && p.s[p.i] == end {
		p.i++
		return nil
	}
	for first := true; ; first = false {
		if err := item(first); err != nil {
			return err
		}
		p.space()
		switch {
		case p.i < len(p.s) && p.s[p.i] == ',':
			p.i++
		case p.i < len(p.s) && p.s[p.i] == end:
			p.i++
			return nil
		default:
			return p.expected("\",\" or \"" + string(end) + "\"")
		}
	}
}

func (p *jsonParser) array() (*JSONValue, error) {
	v := &JSONValue{Kind: JSONArray}
	return v, p.list(']', func(bool) error {
		e, err := p.value()
		if err == nil && !p.check {
			v.Elems = append(v.Elems, e)
		}
		return err
	})
}

func (p *jsonParser) object() (*JSONValue, error) {
	v := &JSONValue{Kind: JSONObject}
	err := p.list('}', func(first bool) error {
		p.space()
		if p.i >= len(p.s) || p.s[p.i] != '"' {
			if first {
				return p.expected("string or \"}\"")
			}
			return p.expected("string")
		}
		key, err := p.str()
		if err != nil {
			return err
		}
		if p.space(); p.i >= len(p.s) || p.s[p.i] != ':' {
			return p.expected("\":\"")
		}
		p.i++
		e, err := p.value()
		if err == nil && !p.check {
			v.Keys, v.Elems = append(v.Keys, key), append(v.Elems, e)
		}
		return err
	})
	if err == nil && p.binary {
		v.sortKeys()
	}
	return v, err
}

// scanNumber returns the end of the number that begins here; ok is false if there is none.
func (p *jsonParser) scanNumber() (end int, ok bool) {
	i := p.i
	at := func() byte {
		if i < len(p.s) {
			return p.s[i]
		}
		return 0
	}
	digits := func() bool {
		from := i
		for isDigit(at()) {
			i++
		}
		return i > from
	}
	if at() == '-' {
		i++
	}
	ok = true
	if at() == '0' {
		i++
	} else {
		ok = digits()
	}
	if ok && at() == '.' {
		i++
		ok = digits()
	}
	if ok && (at() == 'e' || at() == 'E') {
		i++
		if at() == '+' || at() == '-' {
			i++
		}
		ok = digits()
	}
	return i, ok && !jsonWordy(at())
}

func (p *jsonParser) number() (*JSONValue, error) {
	end, ok := p.scanNumber()
	if !ok {
		t := p.token()
		return nil, p.syntax(p.i+len(t), "Token \"%s\" is invalid.", t)
	}
	text := p.s[p.i:end]
	p.i = end
	v := &JSONValue{Kind: JSONNumber}
	if !p.check {
		n, err := ParseNumeric(text)
		if err != nil && !p.raw {
			return nil, err
		}
		v.Num = n
	}
	return v, nil
}

// str reads a string at its opening quote.
func (p *jsonParser) str() (string, error) {
	start := p.i
	p.i++
	for i := p.i; i < len(p.s); i++ {
		if i-p.from >= workPiece {
			if err := p.reach(i); err != nil {
				return "", err
			}
		}
		switch c := p.s[i]; {
		case c == '"':
			s := p.s[p.i:i]
			p.i = i + 1
			return s, nil
		case c == '\\' || c < 0x20:
			return p.escaped(start, i)
		}
	}
	return "", p.syntax(len(p.s), "Token \"%s\" is invalid.", p.s[start:])
}

// escaped reads the rest of a string from its first backslash at i.
func (p *jsonParser) escaped(start, i int) (string, error) {
	b := append([]byte(nil), p.s[p.i:i]...)
	for i < len(p.s) {
		if i-p.from >= workPiece {
			if err := p.reach(i); err != nil {
				return "", err
			}
		}
		c := p.s[i]
		switch {
		case c == '"':
			p.i = i + 1
			return string(b), nil
		case c < 0x20:
			return "", p.syntax(i, "Character with value 0x%02x must be escaped.", c)
		case c != '\\':
			b = append(b, c)
			i++
			continue
		case i+1 >= len(p.s):
			return "", p.syntax(len(p.s), "Token \"%s\" is invalid.", p.s[start:])
		}
		e := p.s[i+1]
		i += 2
		switch e {
		case '"', '\\', '/':
			b = append(b, e)
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'u':
			r, n, err := p.unicode(i)
			if err != nil {
				return "", err
			}
			b = utf8.AppendRune(b, r)
			i += n
		default:
			r, _ := utf8.DecodeRuneInString(p.s[i-1:])
			return "", p.syntax(i-1+utf8.RuneLen(r), "Escape sequence \"\\%c\" is invalid.", r)
		}
	}
	return "", p.syntax(len(p.s), "Token \"%s\" is invalid.", p.s[start:])
}

// unicode reads four hexadecimal digits at i, and the second half of a surrogate pair.
func (p *jsonParser) unicode(i int) (r rune, n int, err error) {
	hex4 := func(at int) (rune, bool) {
		if at+4 > len(p.s) {
			return 0, false
		}
		v, err := strconv.ParseUint(p.s[at:at+4], 16, 32)
		return rune(v), err == nil && p.s[at] != '+' && p.s[at] != '-'
	}
	r, ok := hex4(i)
	if !ok {
		bad := i
		for bad < len(p.s) && strings.IndexByte("0123456789abcdefABCDEF", p.s[bad]) >= 0 {
			bad++
		}
		return 0, 0, p.syntax(p.after(bad), "\"\\u\" must be followed by four hexadecimal digits.")
	}
	if p.check {
		// the type json keeps its text: such an escape fails only when the value is used
		return 0, 4, nil
	}
	if r == 0 {
		err := sqlerr.New(sqlerr.UntranslatableCharacter, "unsupported Unicode escape sequence").
			WithDetail("%s", "\\u0000 cannot be converted to text.")
		return 0, 0, p.inContext(err, i+4)
	}
	if !utf16.IsSurrogate(r) {
		return r, 4, nil
	}
	const low = "Unicode low surrogate must follow a high surrogate."
	if r >= 0xdc00 {
		return 0, 0, p.syntax(i+4, "%s", low)
	}
	if i+6 <= len(p.s) && p.s[i+4] == '\\' && p.s[i+5] == 'u' {
		if r2, ok := hex4(i + 6); ok {
			if c := utf16.DecodeRune(r, r2); c != utf8.RuneError {
				return c, 10, nil
			}
			if r2 >= 0xd800 && r2 < 0xdc00 {
				return 0, 0, p.syntax(i+10, "%s",
					"Unicode high surrogate must not follow a high surrogate.")
			}
		}
	}
	return 0, 0, p.syntax(p.after(i+4), "%s", low)
}

// JSONTextValue is the result of ->> for a value: a string without quotes, NULL for null.
func JSONTextValue(v *JSONValue) Datum {
	switch {
	case v == nil || v.Kind == JSONNull:
		return Null
	case v.Kind == JSONString:
		return Datum{S: v.Str}
	case v.Raw != "":
		return Datum{S: v.Raw}
	}
	return Datum{S: v.String()}
}
