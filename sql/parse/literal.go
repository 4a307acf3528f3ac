package parse

import (
	"strings"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/sqlerr"
)

// quotedString scans '…' whose quote is at open; start is where the token began. Doubled quotes
// stand for one, and a further literal after white space with a newline continues this one.
func (l *lexer) quotedString(start, open int) (string, bool) {
	return l.quotedBody(start, open, "unterminated quoted string")
}

func (l *lexer) quotedBody(start, open int, unterminated string) (string, bool) {
	var sb *strings.Builder
	from, i := open+1, open+1
	for {
		n := strings.IndexByte(l.src[i:], '\'')
		if n < 0 {
			l.failNear(unterminated, start, len(l.src))
			return "", false
		}
		i += n
		if strings.HasPrefix(l.src[i:], "''") {
			sb = appendPart(sb, l.src[from:i+1])
			i += 2
			from = i
			continue
		}
		l.pos = i + 1
		next := l.continuation()
		if next < 0 {
			break
		}
		sb = appendPart(sb, l.src[from:i])
		from, i = next+1, next+1
	}
	if sb == nil {
		return l.src[from:i], true
	}
	sb.WriteString(l.src[from:i])
	return sb.String(), true
}

func appendPart(sb *strings.Builder, s string) *strings.Builder {
	if sb == nil {
		sb = new(strings.Builder)
	}
	sb.WriteString(s)
	return sb
}

// continuation looks behind a closing quote at l.pos: white space and line comments with at least
// one newline and then a quote continue the literal. It returns the quote's offset or -1.
func (l *lexer) continuation() int {
	newline := false
	for i := l.pos; i < len(l.src); {
		switch c := l.src[i]; {
		case c == '\n' || c == '\r':
			newline = true
			i++
		case charClass[c]&classSpace != 0:
			i++
		case c == '-' && strings.HasPrefix(l.src[i:], "--"):
			n := strings.IndexAny(l.src[i:], "\r\n")
			if n < 0 {
				return -1
			}
			i += n
		case c == '\'' && newline:
			return i
		default:
			return -1
		}
	}
	return -1
}

// quotedIdentifier scans "…" whose quote is at open.
func (l *lexer) quotedIdentifier(start, open int) (string, bool) {
	var sb *strings.Builder
	from, i := open+1, open+1
	for {
		n := strings.IndexByte(l.src[i:], '"')
		if n < 0 {
			l.failNear("unterminated quoted identifier", start, len(l.src))
			return "", false
		}
		i += n
		if !strings.HasPrefix(l.src[i:], `""`) {
			break
		}
		sb = appendPart(sb, l.src[from:i+1])
		i += 2
		from = i
	}
	l.pos = i + 1
	if i == open+1 {
		l.failNear("zero-length delimited identifier", start, l.pos)
		return "", false
	}
	if sb == nil {
		return l.src[from:i], true
	}
	sb.WriteString(l.src[from:i])
	return sb.String(), true
}

// bitString scans B'…' and X'…' into binary digits.
func (l *lexer) bitString(start int, hex bool) {
	kind, unterminated := "binary", "unterminated bit string literal"
	if hex {
		kind, unterminated = "hexadecimal", "unterminated hexadecimal string literal"
	}
	s, ok := l.quotedBody(start, start+1, unterminated)
	if !ok {
		return
	}
	var sb strings.Builder
	for _, r := range s {
		d := hexDigit(r)
		switch {
		case hex && d >= 0:
			for bit := 3; bit >= 0; bit-- {
				sb.WriteByte('0' + byte(d>>bit&1))
			}
		case !hex && (d == 0 || d == 1):
			sb.WriteByte('0' + byte(d))
		default:
			l.fail(sqlerr.New(sqlerr.InvalidTextRepresentation,
				"\"%c\" is not a valid %s digit", r, kind).At(start+1), start)
			return
		}
	}
	l.add(tokBits, start, sb.String())
}

func hexDigit(r rune) int {
	switch {
	case r >= '0' && r <= '9':
		return int(r - '0')
	case r >= 'a' && r <= 'f':
		return int(r-'a') + 10
	case r >= 'A' && r <= 'F':
		return int(r-'A') + 10
	}
	return -1
}

// escapeString scans E'…'; l.pos is at the E.
func (l *lexer) escapeString(start int) {
	var b []byte
	i := start + 2
	for {
		n := strings.IndexAny(l.src[i:], `'\`)
		if n < 0 || l.src[i+n] == '\\' && i+n+1 >= len(l.src) {
			l.failNear("unterminated quoted string", start, len(l.src))
			return
		}
		b = append(b, l.src[i:i+n]...)
		i += n
		if l.src[i] == '\\' {
			if b, i = l.escape(b, i); i < 0 {
				return
			}
			continue
		}
		if strings.HasPrefix(l.src[i:], "''") {
			b = append(b, '\'')
			i += 2
			continue
		}
		l.pos = i + 1
		next := l.continuation()
		if next < 0 {
			break
		}
		i = next + 1
	}
	if s := string(b); !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
		l.fail(checkEncoding(s), start)
		return
	}
	l.add(tokString, start, string(b))
}

// escape appends what the backslash at i stands for and returns the offset behind it, -1 on error.
func (l *lexer) escape(b []byte, i int) ([]byte, int) {
	c := l.src[i+1]
	switch c {
	case 'b':
		return append(b, '\b'), i + 2
	case 'f':
		return append(b, '\f'), i + 2
	case 'n':
		return append(b, '\n'), i + 2
	case 'r':
		return append(b, '\r'), i + 2
	case 't':
		return append(b, '\t'), i + 2
	case 'v':
		return append(b, '\v'), i + 2
	case 'x':
		if v, n := byteDigits(l.src[i+2:], 16, 2); n > 0 {
			return append(b, v), i + 2 + n
		}
	case 'u', 'U':
		return l.unicodeEscape(b, i)
	case '0', '1', '2', '3', '4', '5', '6', '7':
		v, n := byteDigits(l.src[i+1:], 8, 3)
		return append(b, v), i + 1 + n
	}
	_, n := utf8.DecodeRuneInString(l.src[i+1:])
	return append(b, l.src[i+1:i+1+n]...), i + 1 + n
}

// byteDigits reads up to most digits to a base, and returns the byte that they stand for and their
// number.
func byteDigits(s string, base, most int) (v byte, n int) {
	for n < most && n < len(s) {
		d := hexDigit(rune(s[n]))
		if d < 0 || d >= base {
			break
		}
		v = v*byte(base) + byte(d)
		n++
	}
	return v, n
}

// unicodeEscape reads \uXXXX and \UXXXXXXXX at i, a pair of surrogates included.
func (l *lexer) unicodeEscape(b []byte, i int) ([]byte, int) {
	r, n := l.escapedRune(i)
	if n < 0 {
		l.fail(sqlerr.New(sqlerr.InvalidEscapeSequence, "invalid Unicode escape").At(i+1).
			WithHint("Unicode escapes must be \\uXXXX or \\UXXXXXXXX."), i)
		return b, -1
	}
	i += n
	if r >= 0xD800 && r <= 0xDBFF {
		low, m := rune(-1), -1
		if i+1 < len(l.src) && l.src[i] == '\\' && l.src[i+1]|0x20 == 'u' {
			low, m = l.escapedRune(i)
		}
		if m < 0 || low < 0xDC00 || low > 0xDFFF {
			l.failNear("invalid Unicode surrogate pair", i, min(i+1, len(l.src)))
			return b, -1
		}
		r = (r-0xD800)<<10 + (low - 0xDC00) + 0x10000
		i += m
	}
	if !utf8.ValidRune(r) || r == 0 {
		l.failNear("invalid Unicode escape value", i-n, i)
		return b, -1
	}
	return utf8.AppendRune(b, r), i
}

// escapedRune reads the digits of the \u or \U at i; n is the length of the escape or -1.
func (l *lexer) escapedRune(i int) (r rune, n int) {
	digits := 4
	if l.src[i+1] == 'U' {
		digits = 8
	}
	return l.hexRune(i+2, digits)
}

func (l *lexer) hexRune(i, digits int) (r rune, n int) {
	if i+digits > len(l.src) {
		return 0, -1
	}
	for _, c := range l.src[i : i+digits] {
		d := hexDigit(c)
		if d < 0 || r >= 1<<26 {
			return 0, -1
		}
		r = r<<4 | rune(d)
	}
	return r, digits + 2
}

// unicodeLiteral scans U&'…' or U&"…" and an optional UESCAPE clause.
func (l *lexer) unicodeLiteral(start int, quote byte) {
	var s string
	var ok bool
	if quote == '"' {
		s, ok = l.quotedIdentifier(start, start+2)
	} else {
		s, ok = l.quotedString(start, start+2)
	}
	if !ok {
		return
	}
	esc, ok := l.uescape()
	if !ok {
		return
	}
	s, ok = l.decodeUnicode(s, start, esc)
	if !ok {
		return
	}
	if quote == '"' {
		l.add(tokQuoted, start, truncate(s))
		return
	}
	l.add(tokString, start, s)
}

// uescape reads UESCAPE 'c' if it follows; the escape character is a backslash otherwise.
func (l *lexer) uescape() (byte, bool) {
	end := l.pos
	if !l.skipSpace() || l.pos+7 > len(l.src) || foldASCII(l.src[l.pos:l.pos+7]) != "uescape" ||
		l.pos+7 < len(l.src) && charClass[l.src[l.pos+7]]&classIdentCont != 0 {
		if l.err != nil {
			return 0, false
		}
		l.pos = end
		return '\\', true
	}
	l.pos += 7
	if !l.skipSpace() || l.src[l.pos] != '\'' {
		if l.err == nil {
			l.failNear("UESCAPE must be followed by a simple string literal", l.pos, len(l.src))
		}
		return 0, false
	}
	open := l.pos
	s, ok := l.quotedString(open, open)
	if !ok {
		return 0, false
	}
	if len(s) != 1 || hexDigit(rune(s[0])) >= 0 || strings.ContainsAny(s, "+'\"") ||
		charClass[s[0]]&classSpace != 0 {
		l.failNear("invalid Unicode escape character", open, l.pos)
		return 0, false
	}
	return s[0], true
}

// decodeUnicode replaces \XXXX and \+XXXXXX, with esc for the backslash.
func (l *lexer) decodeUnicode(s string, start int, esc byte) (string, bool) {
	if strings.IndexByte(s, esc) < 0 {
		return s, true
	}
	var b []byte
	var high rune
	sub := lexer{src: s}
	for i := 0; i < len(s); {
		if s[i] != esc || i+1 < len(s) && s[i+1] == esc {
			if high != 0 {
				break
			}
			b = append(b, s[i])
			if s[i] == esc {
				i++
			}
			i++
			continue
		}
		at, digits := i+1, 4
		if at < len(s) && s[at] == '+' {
			at, digits = at+1, 6
		}
		r, n := sub.hexRune(at, digits)
		if n < 0 {
			l.fail(sqlerr.New(sqlerr.SyntaxError, "invalid Unicode escape").At(start+4+i).
				WithHint("Unicode escapes must be \\XXXX or \\+XXXXXX."), start)
			return "", false
		}
		i = at + digits
		switch {
		case high != 0 && r >= 0xDC00 && r <= 0xDFFF:
			r, high = (high-0xD800)<<10+(r-0xDC00)+0x10000, 0
		case high == 0 && r >= 0xD800 && r <= 0xDBFF:
			high = r
			continue
		case high != 0 || !utf8.ValidRune(r) || r == 0:
			l.fail(sqlerr.New(sqlerr.SyntaxError, "invalid Unicode escape value").At(start+1),
				start)
			return "", false
		}
		b = utf8.AppendRune(b, r)
	}
	if high != 0 {
		l.fail(sqlerr.New(sqlerr.SyntaxError, "invalid Unicode surrogate pair").At(start+1), start)
		return "", false
	}
	return string(b), true
}
