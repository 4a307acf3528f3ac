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

// likeScalar is LIKE, with fold ILIKE, with want false their negations; bytes is for bytea.
func likeScalar(fold, want, bytes bool) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		s, p := a[0].S, a[1].S
		if fold {
			s, p = strings.ToLower(s), strings.ToLower(p)
		}
		lp := parseLike(p)
		lp.bytes = bytes
		m, err := lp.match(s)
		return types.NewBool(m == want), err
	}
}

// likeVec analyses a pattern once for consecutive rows with the same pattern, which are usually all
// rows.
func likeVec(fold, want, bytes bool) vector {
	return func(_ *expr.Runtime, a []*types.Vec, sel []int32, out *types.Vec) error {
		var lp likePattern
		var last string
		for k, i := range sel {
			s, p := a[0].S[i], a[1].S[i]
			if k == 0 || p != last {
				last = p
				if fold {
					p = strings.ToLower(p)
				}
				lp = parseLike(p)
				lp.bytes = bytes
			}
			if fold {
				s = strings.ToLower(s)
			}
			m, err := lp.match(s)
			if err != nil {
				return err
			}
			out.I[i] = 0
			if m == want {
				out.I[i] = 1
			}
		}
		return nil
	}
}

// likeEscape rewrites a pattern with another escape character to one with the backslash: x LIKE p
// ESCAPE e is x ~~ like_escape(p, e).
func likeEscape(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	p, esc := a[0].S, a[1].S
	if esc == "\\" {
		return a[0], nil
	}
	if esc != "" && utf8.RuneCountInString(esc) != 1 {
		return types.Null, sqlerr.New(sqlerr.InvalidEscapeSequence, "invalid escape string").
			WithHint("Escape string must be empty or one character.")
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

func likeOperators() []def {
	var out []def
	for _, o := range []struct {
		name       string
		fold, want bool
	}{{"~~", false, true}, {"!~~", false, false}, {"~~*", true, true}, {"!~~*", true, false}} {
		pairs := []string{"(name,text)", "(text,text)", "(bpchar,text)"}
		if !o.fold {
			pairs = append(pairs, "(bytea,bytea)")
		}
		for _, p := range pairs {
			bytes := p == "(bytea,bytea)"
			out = append(out, v(o.name+p+" bool", likeScalar(o.fold, o.want, bytes),
				likeVec(o.fold, o.want, bytes)))
		}
	}
	return out
}

var likeFunctions = []def{
	f("like(text,text) bool", likeScalar(false, true, false)),
	f("like(name,text) bool", likeScalar(false, true, false)),
	f("like(bytea,bytea) bool", likeScalar(false, true, true)),
	f("notlike(text,text) bool", likeScalar(false, false, false)),
	f("notlike(name,text) bool", likeScalar(false, false, false)),
	f("notlike(bytea,bytea) bool", likeScalar(false, false, true)),
	f("like_escape(text,text) text", likeEscape),
	f("like_escape(bytea,bytea) bytea", likeEscape),
	f("similar_to_escape(text) text", similarToEscape),
	f("similar_to_escape(text,text) text", similarToEscape),
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
