package builtin

import (
	"strings"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

var regexFunctions = []def{
	f("regexp_like(text,text) bool", regexpLike), f("regexp_like(text,text,text) bool", regexpLike),
	f("regexp_match(text,text) text[]", regexpMatch), f("regexp_match(text,text,text) text[]", regexpMatch),
	s("regexp_matches(text,text) text[]", "", regexpMatches), s("regexp_matches(text,text,text) text[]", "", regexpMatches),
	f("regexp_replace(text,text,text) text", regexpReplace),
	f("regexp_replace(text,text,text,text) text", regexpReplace),
	f("regexp_replace(text,text,text,int4) text", regexpReplaceFrom),
	f("regexp_replace(text,text,text,int4,int4) text", regexpReplaceFrom),
	f("regexp_replace(text,text,text,int4,int4,text) text", regexpReplaceFrom),
	f("regexp_count(text,text) int4", regexpCount), f("regexp_count(text,text,int4) int4", regexpCount),
	f("regexp_count(text,text,int4,text) int4", regexpCount),
	f("regexp_instr(text,text) int4", regexpInstr), f("regexp_instr(text,text,int4) int4", regexpInstr),
	f("regexp_instr(text,text,int4,int4) int4", regexpInstr),
	f("regexp_instr(text,text,int4,int4,int4) int4", regexpInstr),
	f("regexp_instr(text,text,int4,int4,int4,text) int4", regexpInstr),
	f("regexp_instr(text,text,int4,int4,int4,text,int4) int4", regexpInstr),
	f("regexp_substr(text,text) text", regexpSubstr), f("regexp_substr(text,text,int4) text", regexpSubstr),
	f("regexp_substr(text,text,int4,int4) text", regexpSubstr),
	f("regexp_substr(text,text,int4,int4,text) text", regexpSubstr),
	f("regexp_substr(text,text,int4,int4,text,int4) text", regexpSubstr),
	f("regexp_split_to_array(text,text) text[]", regexpSplitToArray),
	f("regexp_split_to_array(text,text,text) text[]", regexpSplitToArray),
	s("regexp_split_to_table(text,text) text", "", regexpSplitToTable),
	s("regexp_split_to_table(text,text,text) text", "", regexpSplitToTable),
	f("substring(text,text) text", substringRegex),
	f("substring(text,text,text) text", substringSimilar),
	f("textregexeq(text,text) bool", regexScalar(false, true)),
}

// regexArg compiles a[1] with the flags of a[i], if it is there. noGlobal names the function that
// does not take g.
func regexArg(a []types.Datum, i int, noGlobal string) (*pattern, regexFlags, error) {
	var fl regexFlags
	if i < len(a) {
		var err error
		if fl, err = parseRegexFlags(a[i].S, fl); err != nil {
			return nil, fl, err
		}
	}
	if fl.global && noGlobal != "" {
		return nil, fl, errInvalid("%s does not support the \"global\" option", noGlobal)
	}
	re, err := compileRegex(a[1].S, fl)
	return re, fl, err
}

func regexpLike(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	re, _, err := regexArg(a, 2, "regexp_like()")
	if err != nil {
		return types.Null, err
	}
	return types.NewBool(re.MatchString(a[0].S)), nil
}

// groups turns a match into an array: the groups, or without any the whole match.
func groups(s string, m []int) types.Datum {
	if len(m) == 2 {
		return types.NewArray([]types.Datum{types.NewString(s[m[0]:m[1]])})
	}
	elems := make([]types.Datum, 0, len(m)/2-1)
	for k := 2; k < len(m); k += 2 {
		if m[k] < 0 {
			elems = append(elems, types.Null)
		} else {
			elems = append(elems, types.NewString(s[m[k]:m[k+1]]))
		}
	}
	return types.NewArray(elems)
}

func regexpMatch(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	re, fl, err := regexArg(a, 2, "")
	if err != nil {
		return types.Null, err
	}
	if fl.global {
		return types.Null, errInvalid("regexp_match() does not support the \"global\" option").(*sqlerr.Error).
			WithHint("Use the regexp_matches function instead.")
	}
	m := re.FindStringSubmatchIndex(a[0].S)
	if m == nil {
		return types.Null, nil
	}
	return groups(a[0].S, m), nil
}

func regexpMatches(_ *expr.Runtime, a []types.Datum, emit func([]types.Datum) error) error {
	re, fl, err := regexArg(a, 2, "")
	if err != nil {
		return err
	}
	n := 1
	if fl.global {
		n = -1
	}
	for _, m := range re.matches(a[0].S, n) {
		if err := emit([]types.Datum{groups(a[0].S, m)}); err != nil {
			return err
		}
	}
	return nil
}

// expandReplacement appends a replacement in which \1 … \9 and \& stand for parts of the match.
func expandReplacement(dst []byte, repl, s string, m []int) []byte {
	for i := 0; i < len(repl); i++ {
		if repl[i] != '\\' || i+1 == len(repl) {
			dst = append(dst, repl[i])
			continue
		}
		i++
		group := -1
		switch c := repl[i]; {
		case c == '&':
			group = 0
		case c >= '1' && c <= '9':
			group = int(c - '0')
		case c == '\\':
			dst = append(dst, '\\')
			continue
		default:
			dst = append(dst, '\\', c)
			continue
		}
		if 2*group+1 < len(m) && m[2*group] >= 0 {
			dst = append(dst, s[m[2*group]:m[2*group+1]]...)
		}
	}
	return dst
}

// replaceMatches replaces the n-th match from byte start on, or with n 0 all of them.
func replaceMatches(re *pattern, s, repl string, start, n int) string {
	var out []byte
	last := 0
	limit := n
	if n == 0 {
		limit = -1
	}
	for k, m := range re.matches(s[start:], limit) {
		if n > 0 && k+1 != n {
			continue
		}
		for j := range m {
			if m[j] >= 0 {
				m[j] += start
			}
		}
		out = append(out, s[last:m[0]]...)
		out = expandReplacement(out, repl, s, m)
		last = m[1]
	}
	return string(append(out, s[last:]...))
}

func regexpReplace(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if len(a) > 3 && a[3].S != "" && a[3].S[0] >= '0' && a[3].S[0] <= '9' {
		return types.Null, errInvalid("invalid regular expression option: \"%c\"", a[3].S[0]).(*sqlerr.Error).
			WithHint("If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer explicitly.")
	}
	re, fl, err := regexArg(a, 3, "")
	if err != nil {
		return types.Null, err
	}
	n := 1
	if fl.global {
		n = 0
	}
	return types.NewString(replaceMatches(re, a[0].S, a[2].S, 0, n)), nil
}

// positive checks a start or count argument.
func positive(what string, v int64, least int64) error {
	if v < least {
		return errInvalid("invalid value for parameter \"%s\": %d", what, v)
	}
	return nil
}

func regexpReplaceFrom(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	re, fl, err := regexArg(a, 5, "")
	if err != nil {
		return types.Null, err
	}
	n := int64(1)
	if fl.global {
		n = 0
	}
	if len(a) > 4 {
		n = a[4].I
	}
	if err := positive("start", a[3].I, 1); err != nil {
		return types.Null, err
	}
	if err := positive("n", n, 0); err != nil {
		return types.Null, err
	}
	start := prefixLen(a[0].S, a[3].I-1)
	return types.NewString(replaceMatches(re, a[0].S, a[2].S, start, int(n))), nil
}

func regexpCount(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	re, _, err := regexArg(a, 3, "regexp_count()")
	if err != nil {
		return types.Null, err
	}
	start := 0
	if len(a) > 2 {
		if err := positive("start", a[2].I, 1); err != nil {
			return types.Null, err
		}
		start = prefixLen(a[0].S, a[2].I-1)
	}
	return types.NewInt(int64(len(re.matches(a[0].S[start:], -1)))), nil
}

// nthMatch finds the match that the start and N arguments (a[2], a[3]) of regexp_instr and
// regexp_substr name, with offsets into the whole string; nil if there is none.
func nthMatch(re *pattern, a []types.Datum) ([]int, error) {
	start, nth := 0, int64(1)
	if len(a) > 2 {
		if err := positive("start", a[2].I, 1); err != nil {
			return nil, err
		}
		start = prefixLen(a[0].S, a[2].I-1)
	}
	if len(a) > 3 {
		if nth = a[3].I; nth < 1 {
			return nil, positive("n", nth, 1)
		}
	}
	ms := re.matches(a[0].S[start:], int(nth))
	if int64(len(ms)) < nth {
		return nil, nil
	}
	m := ms[nth-1]
	for j := range m {
		if m[j] >= 0 {
			m[j] += start
		}
	}
	return m, nil
}

func regexpInstr(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	re, _, err := regexArg(a, 5, "regexp_instr()")
	if err != nil {
		return types.Null, err
	}
	end, sub := int64(0), int64(0)
	if len(a) > 4 {
		if end = a[4].I; end != 0 && end != 1 {
			return types.Null, positive("endoption", -1-end*end, 0)
		}
	}
	if len(a) > 6 {
		if sub = a[6].I; sub < 0 {
			return types.Null, positive("subexpr", sub, 0)
		}
	}
	m, err := nthMatch(re, a)
	if err != nil || m == nil || 2*sub+1 >= int64(len(m)) || m[2*sub] < 0 {
		return types.NewInt(0), err
	}
	return types.NewInt(int64(utf8.RuneCountInString(a[0].S[:m[2*sub+end]]) + 1)), nil
}

func regexpSubstr(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	re, _, err := regexArg(a, 4, "regexp_substr()")
	if err != nil {
		return types.Null, err
	}
	sub := int64(0)
	if len(a) > 5 {
		if sub = a[5].I; sub < 0 {
			return types.Null, positive("subexpr", sub, 0)
		}
	}
	m, err := nthMatch(re, a)
	if err != nil || m == nil || 2*sub+1 >= int64(len(m)) || m[2*sub] < 0 {
		return types.Null, err
	}
	return types.NewString(a[0].S[m[2*sub]:m[2*sub+1]]), nil
}

// regexSplit cuts a string at the matches; an empty match at its ends cuts nothing.
func regexSplit(re *pattern, s string) []types.Datum {
	var parts []types.Datum
	last := 0
	for _, m := range re.FindAllStringIndex(s, -1) {
		if m[1] == m[0] && (m[0] == 0 || m[0] >= len(s) || m[0] == last) {
			continue
		}
		parts = append(parts, types.NewString(s[last:m[0]]))
		last = m[1]
	}
	return append(parts, types.NewString(s[last:]))
}

func regexpSplitToArray(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	re, _, err := regexArg(a, 2, "regexp_split_to_array()")
	if err != nil {
		return types.Null, err
	}
	return types.NewArray(regexSplit(re, a[0].S)), nil
}

func regexpSplitToTable(_ *expr.Runtime, a []types.Datum, emit func([]types.Datum) error) error {
	re, _, err := regexArg(a, 2, "regexp_split_to_table()")
	if err != nil {
		return err
	}
	for _, p := range regexSplit(re, a[0].S) {
		if err := emit([]types.Datum{p}); err != nil {
			return err
		}
	}
	return nil
}

// substringRegex is substring(string from pattern): the first group, or the match.
func substringRegex(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	re, err := compileRegex(a[1].S, regexFlags{})
	if err != nil {
		return types.Null, err
	}
	m := re.FindStringSubmatchIndex(a[0].S)
	k := 0
	if len(m) > 2 {
		k = 2
	}
	if m == nil || m[k] < 0 {
		return types.Null, nil
	}
	return types.NewString(a[0].S[m[k]:m[k+1]]), nil
}

// substringSimilar is substring(string similar pattern escape character): the part between the two
// marks, escape and double quote.
func substringSimilar(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	parts := strings.Split(a[1].S, a[2].S+`"`)
	if len(parts) != 3 || a[2].S == "" {
		d, err := similarToEscape(rt, a[1:])
		if err != nil {
			return types.Null, err
		}
		return substringRegex(rt, []types.Datum{a[0], d})
	}
	var b strings.Builder
	for i, p := range parts {
		d, err := similarToEscape(rt, []types.Datum{types.NewString(p), a[2]})
		if err != nil {
			return types.Null, err
		}
		body := strings.TrimSuffix(strings.TrimPrefix(d.S, "^(?:"), ")$")
		if i == 1 {
			b.WriteString("(" + body + ")")
		} else {
			b.WriteString("(?:" + body + ")")
		}
	}
	return substringRegex(rt, []types.Datum{a[0], types.NewString("^" + b.String() + "$")})
}
