package builtin

import (
	"strings"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/are"
	"github.com/minidb/minidb/internal/lru"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// regexKey identifies a compiled expression: its text and the options that PostgreSQL's flag
// letters set.
type regexKey struct {
	pattern string
	flags   are.Flags
}

// regexCache keeps compiled expressions.
var regexCache = lru.New[regexKey, *pattern](128)

func compileRegex(source string, fl are.Flags) (*pattern, error) {
	fl.Global = false
	key := regexKey{source, fl}
	if re, ok := regexCache.Get(key); ok {
		return re, nil
	}
	text, err := are.Translate(source, fl)
	if err != nil {
		return nil, err
	}
	// POSIX: the leftmost match, and of several the longest.
	longest := !strings.Contains(text, "*?") && !strings.Contains(text, "+?") &&
		!strings.Contains(text, "??") && !strings.Contains(text, "}?")
	re, err := newPattern(text, longest)
	if err != nil {
		return nil, are.Invalid(are.Fault(err))
	}
	regexCache.Put(key, re)
	return re, nil
}

// similarToEscape turns a SIMILAR TO pattern into a regular expression: x SIMILAR TO p is
// x ~ similar_to_escape(p).
func similarToEscape(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	p, esc := a[0].S, textAt(a, 1, `\`)
	if err := checkEscape(esc); err != nil {
		return types.Null, err
	}
	var b strings.Builder
	b.WriteString("^(?:")
	bracket, separators := false, 0
	for i := 0; i < len(p); {
		r, n := utf8.DecodeRuneInString(p[i:])
		c := string(r)
		i += n
		switch {
		case c == esc && esc != "" && !bracket && strings.HasPrefix(p[i:], `"`):
			// Separates the three parts of a pattern of SUBSTRING; here the parts are concatenated.
			if separators++; separators > 2 {
				return types.Null, sqlerr.New(sqlerr.InvalidUseOfEscapeCharacter,
					"SQL regular expression may not contain more than two escape-double-quote "+
						"separators")
			}
			b.WriteString(")(?:")
			i++
		case c == esc && esc != "":
			if i < len(p) {
				r, n = utf8.DecodeRuneInString(p[i:])
				i += n
				b.WriteString(`\` + string(r))
			}
		case bracket:
			if c == `\` {
				b.WriteByte('\\')
			}
			b.WriteString(c)
			bracket = c != "]"
		case c == "[":
			b.WriteString(c)
			bracket = true
		case c == "%":
			b.WriteString(".*")
		case c == "_":
			b.WriteString(".")
		case c == "(":
			b.WriteString("(?:")
		case strings.ContainsAny(c, `\.^$`):
			b.WriteString(`\` + c)
		default:
			b.WriteString(c)
		}
	}
	b.WriteString(")$")
	return types.NewString(b.String()), nil
}

// regex makes matchers of regular expressions.
func regex(fold bool) func(pattern string) (matcher, error) {
	return func(pattern string) (matcher, error) {
		re, err := compileRegex(pattern, are.Flags{Fold: fold})
		if err != nil {
			return nil, err
		}
		return re.matches, nil
	}
}

var regexOperators = []def{
	matching("~(name|text|bpchar,text) bool", true, regex(false)),
	matching("!~(name|text|bpchar,text) bool", false, regex(false)),
	matching("~*(name|text|bpchar,text) bool", true, regex(true)),
	matching("!~*(name|text|bpchar,text) bool", false, regex(true)),
}
