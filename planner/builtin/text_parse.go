package builtin

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// unistr replaces \XXXX, \+XXXXXX, \uXXXX and \UXXXXXXXX by the characters with these numbers.
func unistr(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	s := a[0].S
	invalid := func() error {
		return sqlerr.New(sqlerr.SyntaxError, "invalid Unicode escape").
			WithHint("Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.")
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		rest := s[i+1:]
		if strings.HasPrefix(rest, `\`) {
			b.WriteByte('\\')
			i++
			continue
		}
		skip, n := 0, 4
		switch {
		case strings.HasPrefix(rest, "+"):
			skip, n = 1, 6
		case strings.HasPrefix(rest, "u"):
			skip = 1
		case strings.HasPrefix(rest, "U"):
			skip, n = 1, 8
		}
		if len(rest) < skip+n {
			return types.Null, invalid()
		}
		code, err := strconv.ParseUint(rest[skip:skip+n], 16, 32)
		if err != nil {
			return types.Null, invalid()
		}
		if !utf8.ValidRune(rune(code)) || code == 0 || code > utf8.MaxRune {
			return types.Null, sqlerr.New(sqlerr.SyntaxError, "invalid Unicode code point: %04X",
				code)
		}
		b.WriteRune(rune(code))
		i += skip + n
	}
	return types.NewString(b.String()), nil
}

// parseIdent splits a qualified name into its parts, which are folded to lower case unless quoted.
func parseIdent(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	text := a[0].S
	strict := len(a) < 2 || a[1].Bool()
	fail := func(detail string) (types.Datum, error) {
		e := errInvalid("string is not a valid identifier: \"%s\"", text)
		if detail != "" {
			e = e.WithDetail("%s", detail)
		}
		return types.Null, e
	}
	var parts []types.Datum
	s := strings.TrimLeft(text, " \t\n\r\f")
	for afterDot := false; ; afterDot = true {
		parse := plainIdent
		if strings.HasPrefix(s, `"`) {
			parse = quotedIdent
		}
		part, rest, detail, ok := parse(s, afterDot)
		if !ok {
			return fail(detail)
		}
		parts = append(parts, types.NewString(part))
		s = strings.TrimLeft(rest, " \t\n\r\f")
		if !strings.HasPrefix(s, ".") {
			break
		}
		s = strings.TrimLeft(s[1:], " \t\n\r\f")
	}
	if s != "" && strict {
		return fail("")
	}
	return types.NewArray(parts), nil
}

// quotedIdent splits s after the quoted identifier at its beginning. If that is not valid, ok is
// false and detail is the detail of the error.
func quotedIdent(s string, _ bool) (part, rest, detail string, ok bool) {
	part, rest, ok = sqlname.CutQuoted(s)
	switch {
	case !ok:
		return "", "", "String has unclosed double quotes.", false
	case part == "":
		return "", "", "Quoted identifier must not be empty.", false
	}
	return part, rest, "", true
}

// plainIdent is quotedIdent for an identifier without quotes. afterDot reports whether it follows a
// dot.
func plainIdent(s string, afterDot bool) (part, rest, detail string, ok bool) {
	end := 0
	for end < len(s) && identByte(s[end], end == 0) {
		end++
	}
	switch {
	case end == 0 && strings.HasPrefix(s, "."):
		return "", "", "No valid identifier before \".\".", false
	case end == 0 && afterDot:
		return "", "", "No valid identifier after \".\".", false
	case end == 0:
		return "", "", "", false
	}
	return strings.ToLower(s[:end]), s[end:], "", true
}

func identByte(c byte, first bool) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80 ||
		!first && (c >= '0' && c <= '9' || c == '$')
}
