package builtin

import (
	"strings"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// likeShape distinguishes patterns that need no matcher.
type likeShape uint8

const (
	likeGeneral  likeShape = iota
	likeExact              // no wildcard
	likePrefix             // text%
	likeSuffix             // %text
	likeContains           // %text%
)

// likePattern is an analysed LIKE pattern.
type likePattern struct {
	shape   likeShape
	literal string
	pattern string // for likeGeneral
	bytes   bool   // the pattern is of bytea: _ is a byte, not a character
}

func errLikeEscape() error {
	return sqlerr.New(sqlerr.InvalidEscapeSequence,
		"LIKE pattern must not end with escape character")
}

// parseLike analyses a pattern whose escape character is the backslash.
func parseLike(p string) likePattern {
	if strings.ContainsAny(p, `_\`) {
		return likePattern{pattern: p}
	}
	body := strings.Trim(p, "%")
	if strings.Contains(body, "%") {
		return likePattern{pattern: p}
	}
	before, after := strings.HasPrefix(p, "%"), strings.HasSuffix(p, "%")
	switch {
	case before && after:
		return likePattern{shape: likeContains, literal: body}
	case before:
		return likePattern{shape: likeSuffix, literal: body}
	case after:
		return likePattern{shape: likePrefix, literal: body}
	}
	return likePattern{shape: likeExact, literal: p}
}

func (p *likePattern) match(s string) (bool, error) {
	switch p.shape {
	case likeExact:
		return s == p.literal, nil
	case likePrefix:
		return strings.HasPrefix(s, p.literal), nil
	case likeSuffix:
		return strings.HasSuffix(s, p.literal), nil
	case likeContains:
		return strings.Contains(s, p.literal), nil
	}
	return matchLike(s, p.pattern, p.bytes)
}

// matchLike matches greedily from the left. When it fails, it goes back to the last % and lets it
// match one more character. No earlier % need be tried: it could only match a longer prefix.
func matchLike(s, p string, bytes bool) (bool, error) {
	width := func(s string) int {
		if bytes {
			return 1
		}
		_, n := utf8.DecodeRuneInString(s)
		return n
	}
	var si, pi int
	starP, starS := -1, 0
	for si < len(s) {
		if pi < len(p) {
			switch p[pi] {
			case '%':
				starP, starS = pi, si
				pi++
				continue
			case '_':
				si += width(s[si:])
				pi++
				continue
			case '\\':
				if pi+1 >= len(p) {
					return false, errLikeEscape()
				}
				if p[pi+1] == s[si] {
					si++
					pi += 2
					continue
				}
			default:
				if p[pi] == s[si] {
					si++
					pi++
					continue
				}
			}
		}
		if starP < 0 {
			return false, nil
		}
		starS += width(s[starS:])
		si, pi = starS, starP+1
	}
	for pi < len(p) && p[pi] == '%' {
		pi++
	}
	return pi == len(p), nil
}

// A matcher reports whether a text matches the pattern that it was made of.
type matcher func(rt *expr.Runtime, s string) (bool, error)

// matching defines an operator of a text and a pattern, and with want false its negation. A char(n)
// is matched with its padding. For vectors it makes the matcher once for consecutive rows with the
// same pattern, which are usually all rows.
func matching(sig string, want bool, of func(pattern string) (matcher, error)) def {
	one := func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		match, err := of(a[1].S)
		if err != nil {
			return types.Null, err
		}
		found, err := match(rt, padded(rt.ArgTypes[0], a[0].S))
		return types.NewBool(found == want), err
	}
	return v(sig, one, func(rt *expr.Runtime, a []*types.Vec, sel []int32, out *types.Vec) error {
		var match matcher
		var last string
		for _, i := range sel {
			if p := a[1].S[i]; match == nil || p != last {
				var err error
				if match, err = of(p); err != nil {
					return err
				}
				last = p
			}
			found, err := match(rt, padded(rt.ArgTypes[0], a[0].S[i]))
			if err != nil {
				return err
			}
			out.I[i] = types.NewBool(found == want).I
		}
		return nil
	})
}

// like makes matchers of LIKE, with fold of ILIKE; bytes is for bytea.
func like(fold, bytes bool) func(pattern string) (matcher, error) {
	return func(pattern string) (matcher, error) {
		if fold {
			pattern = strings.ToLower(pattern)
		}
		p := parseLike(pattern)
		p.bytes = bytes
		return func(_ *expr.Runtime, s string) (bool, error) {
			if fold {
				s = strings.ToLower(s)
			}
			return p.match(s)
		}, nil
	}
}

func checkEscape(esc string) error {
	if utf8.RuneCountInString(esc) > 1 {
		return sqlerr.New(sqlerr.InvalidEscapeSequence, "invalid escape string").
			WithHint("Escape string must be empty or one character.")
	}
	return nil
}

// likeEscape rewrites a pattern with another escape character to one with the backslash: x LIKE p
// ESCAPE e is x ~~ like_escape(p, e).
func likeEscape(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	p, esc := a[0].S, a[1].S
	if esc == "\\" {
		return a[0], nil
	}
	if err := checkEscape(esc); err != nil {
		return types.Null, err
	}
	var b strings.Builder
	for i := 0; i < len(p); {
		switch {
		case esc != "" && strings.HasPrefix(p[i:], esc):
			b.WriteByte('\\')
			i += len(esc)
			if i < len(p) { // the next character is literal, even if it is the escape character
				_, n := utf8.DecodeRuneInString(p[i:])
				b.WriteString(p[i : i+n])
				i += n
			}
		case p[i] == '\\':
			b.WriteString(`\\`)
			i++
		default:
			b.WriteByte(p[i])
			i++
		}
	}
	return types.NewString(b.String()), nil
}

var likeOperators = []def{
	matching("~~(name|text|bpchar,text) bool", true, like(false, false)),
	matching("!~~(name|text|bpchar,text) bool", false, like(false, false)),
	matching("~~(bytea,bytea) bool", true, like(false, true)),
	matching("!~~(bytea,bytea) bool", false, like(false, true)),
	matching("~~*(name|text|bpchar,text) bool", true, like(true, false)),
	matching("!~~*(name|text|bpchar,text) bool", false, like(true, false)),
}

var likeFunctions = []def{
	matching("like(text|name,text) bool", true, like(false, false)),
	matching("notlike(text|name,text) bool", false, like(false, false)),
	matching("like(bytea,bytea) bool", true, like(false, true)),
	matching("notlike(bytea,bytea) bool", false, like(false, true)),
	f("like_escape(text,text) text", likeEscape),
	f("like_escape(bytea,bytea) bytea", likeEscape),
	f("similar_to_escape(text,text?) text", similarToEscape),
	n("similar_escape(text,text) text",
		func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			switch {
			case a[0].Null:
				return types.Null, nil
			case a[1].Null:
				return similarToEscape(rt, a[:1])
			}
			return similarToEscape(rt, a)
		}),
}

// LikePrefix returns the literal prefix of a pattern; whole is set if nothing follows it.
func LikePrefix(pattern string) (prefix string, whole bool) {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch ch := pattern[i]; ch {
		case '%', '_':
			return b.String(), false
		case '\\':
			if i++; i == len(pattern) {
				return b.String(), false
			}
			b.WriteByte(pattern[i])
		default:
			b.WriteByte(ch)
		}
	}
	return b.String(), true
}

// AfterPrefix returns the smallest text that is greater than all texts with a prefix, "" if there
// is none.
func AfterPrefix(prefix string) string {
	for prefix != "" {
		r, size := utf8.DecodeLastRuneInString(prefix)
		prefix = prefix[:len(prefix)-size]
		if r == utf8.RuneError && size <= 1 {
			return ""
		}
		if r++; r == 0xD800 {
			r = 0xE000
		}
		if r <= utf8.MaxRune {
			return prefix + string(r)
		}
	}
	return ""
}
