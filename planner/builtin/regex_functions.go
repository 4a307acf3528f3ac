package builtin

import (
	"strings"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/are"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

var regexFunctions = []def{
	f("regexp_like(text,text,text?) bool", regexpLike),
	f("regexp_match(text,text,text?) text[]", regexpMatch),
	s("regexp_matches(text,text,text?) text[]", "", regexpMatches),
	f("regexp_replace(text,text,text,text?) text", regexpReplace),
	f("regexp_replace(text,text,text,int4,int4?,text?) text", regexpReplaceFrom),
	f("regexp_count(text,text,int4?,text?) int4", regexpCount),
	f("regexp_instr(text,text,int4?,int4?,int4?,text?,int4?) int4", regexpInstr),
	f("regexp_substr(text,text,int4?,int4?,text?,int4?) text", regexpSubstr),
	f("regexp_split_to_array(text,text,text?) text[]", regexpSplitToArray),
	s("regexp_split_to_table(text,text,text?) text", "", regexpSplitToTable),
	f("substring(text,text) text", substringRegex),
	f("substring(text,text,text) text", substringSimilar),
	matching("textregexeq(text,text) bool", true, regex(false)),
}

// regexArg compiles a[1] with the flags of a[i], if that argument exists. noGlobal is the name of a
// function that does not accept g, else "".
func regexArg(a []types.Datum, i int, noGlobal string) (*pattern, are.Flags, error) {
	var fl are.Flags
	if i < len(a) {
		var err error
		if fl, err = are.ParseFlags(a[i].S, fl); err != nil {
			return nil, fl, err
		}
	}
	if fl.Global && noGlobal != "" {
		return nil, fl, errInvalid("%s does not support the \"global\" option", noGlobal)
	}
	re, err := compileRegex(a[1].S, fl)
	return re, fl, err
}

func regexpLike(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	re, _, err := regexArg(a, 2, "regexp_like()")
	if err != nil {
		return types.Null, err
	}
	found, err := re.matches(rt, a[0].S)
	return types.NewBool(found), err
}

// groups returns the array of a match: its groups, or if there are none the whole match.
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

func regexpMatch(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	re, fl, err := regexArg(a, 2, "")
	if err != nil {
		return types.Null, err
	}
	if fl.Global {
		return types.Null, errInvalid("regexp_match() does not support the \"global\" option").
			WithHint("Use the regexp_matches function instead.")
	}
	m, err := re.find(rt, a[0].S)
	if m == nil || err != nil {
		return types.Null, err
	}
	return groups(a[0].S, m), nil
}

func regexpMatches(rt *expr.Runtime, a []types.Datum, emit func([]types.Datum) error) error {
	re, fl, err := regexArg(a, 2, "")
	if err != nil {
		return err
	}
	n := 1
	if fl.Global {
		n = -1
	}
	return re.each(rt, a[0].S, n, func(m []int) error {
		return emit([]types.Datum{groups(a[0].S, m)})
	})
}

// expand writes a replacement, in which \1 … \9 and \& are parts of the match.
func (w *writer) expand(repl, s string, m []int) {
	for w.err == nil {
		i := strings.IndexByte(repl, '\\')
		if i < 0 || i+1 == len(repl) {
			w.text(repl)
			return
		}
		w.text(repl[:i])
		group := -1
		switch c := repl[i+1]; {
		case c == '&':
			group = 0
		case c >= '1' && c <= '9':
			group = int(c - '0')
		case c == '\\':
			w.byte('\\')
		default:
			w.text(repl[i : i+2])
		}
		if group >= 0 && 2*group+1 < len(m) && m[2*group] >= 0 {
			w.text(s[m[2*group]:m[2*group+1]])
		}
		repl = repl[i+2:]
	}
}

// replaceMatches replaces the n-th match from byte start on, or all of them if n is 0.
func replaceMatches(rt *expr.Runtime, re *pattern, s, repl string, start, n int) (types.Datum,
	error) {
	w := newWriter(rt)
	last, k, limit := 0, 0, n
	if n == 0 {
		limit = -1
	}
	err := re.each(rt, s[start:], limit, func(m []int) error {
		if k++; n > 0 && k != n {
			return nil
		}
		shiftMatch(m, start)
		w.text(s[last:m[0]])
		w.expand(repl, s, m)
		last = m[1]
		shiftMatch(m, -start)
		return w.err
	})
	if err != nil {
		return types.Null, err
	}
	w.text(s[last:])
	return w.done()
}

func regexpReplace(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if len(a) > 3 && a[3].S != "" && a[3].S[0] >= '0' && a[3].S[0] <= '9' {
		return types.Null, errInvalid("invalid regular expression option: \"%c\"", a[3].S[0]).
			WithHint("If you meant to use regexp_replace() with a start parameter, cast the " +
				"fourth argument to integer explicitly.")
	}
	re, fl, err := regexArg(a, 3, "")
	if err != nil {
		return types.Null, err
	}
	n := 1
	if fl.Global {
		n = 0
	}
	return replaceMatches(rt, re, a[0].S, a[2].S, 0, n)
}

// atLeast checks an argument that is a number.
func atLeast(what string, v int64, least int64) error {
	if v < least {
		return errInvalid("invalid value for parameter \"%s\": %d", what, v)
	}
	return nil
}

// startAt returns the offset of the character of a[0] that argument i numbers, from 1; without one
// that of the first. It is behind the text if there is no such character, nor an end there.
func startAt(a []types.Datum, i int) (int, error) {
	start := intAt(a, i, 1)
	if start-1 > int64(utf8.RuneCountInString(a[0].S)) {
		return len(a[0].S) + 1, nil
	}
	return prefixLen(a[0].S, start-1), atLeast("start", start, 1)
}

func regexpReplaceFrom(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	start, err := startAt(a, 3)
	if err != nil {
		return types.Null, err
	}
	n := intAt(a, 4, 1)
	if err := atLeast("n", n, 0); err != nil {
		return types.Null, err
	}
	re, _, err := regexArg(a, 5, "")
	if err != nil || start > len(a[0].S) {
		return a[0], err
	}
	return replaceMatches(rt, re, a[0].S, a[2].S, start, int(n))
}

func regexpCount(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	start, err := startAt(a, 2)
	if err != nil {
		return types.Null, err
	}
	re, _, err := regexArg(a, 3, "regexp_count()")
	if err != nil || start > len(a[0].S) {
		return types.NewInt(0), err
	}
	count := int64(0)
	err = re.each(rt, a[0].S[start:], -1, func([]int) error { count++; return nil })
	return types.NewInt(count), err
}

// nthMatch returns the match that the arguments start and N (a[2], a[3]) of regexp_instr and
// regexp_substr select, with offsets in the whole text; nil if there is none. Requires: both are
// checked.
func nthMatch(rt *expr.Runtime, re *pattern, a []types.Datum) ([]int, error) {
	start, err := startAt(a, 2)
	if err != nil || start > len(a[0].S) {
		return nil, err
	}
	nth := intAt(a, 3, 1)
	var found []int
	k := int64(0)
	err = re.each(rt, a[0].S[start:], int(nth), func(m []int) error {
		if k++; k == nth {
			found = m
		}
		return nil
	})
	shiftMatch(found, start)
	return found, err
}

// checkNth checks the arguments start and N.
func checkNth(a []types.Datum) error {
	if err := atLeast("start", intAt(a, 2, 1), 1); err != nil {
		return err
	}
	return atLeast("n", intAt(a, 3, 1), 1)
}

// subMatch returns where group sub of a match begins and ends; nil if the group is not there or did
// not take part. Group 0 is the whole match, and so is group 1 of a pattern without groups.
func subMatch(m []int, sub int64) []int {
	if len(m) == 2 && sub == 1 {
		sub = 0
	}
	if sub >= int64(len(m)/2) || m[2*sub] < 0 {
		return nil
	}
	return m[2*sub : 2*sub+2]
}

func regexpInstr(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if err := checkNth(a); err != nil {
		return types.Null, err
	}
	end, sub := intAt(a, 4, 0), intAt(a, 6, 0)
	if end != 0 && end != 1 {
		return types.Null, errInvalid("invalid value for parameter \"endoption\": %d", end)
	}
	if err := atLeast("subexpr", sub, 0); err != nil {
		return types.Null, err
	}
	re, _, err := regexArg(a, 5, "regexp_instr()")
	if err != nil {
		return types.Null, err
	}
	m, err := nthMatch(rt, re, a)
	part := subMatch(m, sub)
	if err != nil || part == nil {
		return types.NewInt(0), err
	}
	return types.NewInt(int64(utf8.RuneCountInString(a[0].S[:part[end]]) + 1)), nil
}

func regexpSubstr(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if err := checkNth(a); err != nil {
		return types.Null, err
	}
	sub := intAt(a, 5, 0)
	if err := atLeast("subexpr", sub, 0); err != nil {
		return types.Null, err
	}
	re, _, err := regexArg(a, 4, "regexp_substr()")
	if err != nil {
		return types.Null, err
	}
	m, err := nthMatch(rt, re, a)
	part := subMatch(m, sub)
	if err != nil || part == nil {
		return types.Null, err
	}
	return types.NewString(a[0].S[part[0]:part[1]]), nil
}

// regexSplit calls emit for the parts of a text between the matches. An empty match at its start or
// end does not split it.
func regexSplit(rt *expr.Runtime, re *pattern, s string, emit func(types.Datum) error) error {
	last := 0
	err := re.eachPlain(rt, s, -1, func(m []int) error {
		if m[1] == m[0] && (m[0] == 0 || m[0] >= len(s) || m[0] == last) {
			return rt.Tick(matchCost)
		}
		part := types.NewString(s[last:m[0]])
		last = m[1]
		if err := emit(part); err != nil {
			return err
		}
		return rt.Tick(len(part.S) + matchCost)
	})
	if err != nil {
		return err
	}
	return emit(types.NewString(s[last:]))
}

func regexpSplitToArray(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	re, _, err := regexArg(a, 2, "regexp_split_to_array()")
	if err != nil {
		return types.Null, err
	}
	out := elements{rt: rt}
	if err := regexSplit(rt, re, a[0].S, out.add); err != nil {
		return types.Null, err
	}
	return types.NewArray(out.elems), nil
}

func regexpSplitToTable(rt *expr.Runtime, a []types.Datum, emit func([]types.Datum) error) error {
	re, _, err := regexArg(a, 2, "regexp_split_to_table()")
	if err != nil {
		return err
	}
	return regexSplit(rt, re, a[0].S, func(d types.Datum) error { return emit([]types.Datum{d}) })
}

// substringRegex is substring(string from pattern): the first group, or the whole match.
func substringRegex(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	re, err := compileRegex(a[1].S, are.Flags{})
	if err != nil {
		return types.Null, err
	}
	m, err := re.find(rt, a[0].S)
	k := 0
	if len(m) > 2 {
		k = 2
	}
	if err != nil || m == nil || m[k] < 0 {
		return types.Null, err
	}
	return types.NewString(a[0].S[m[k]:m[k+1]]), nil
}

// substringSimilar is substring(string similar pattern escape character): the part between the two
// separators, each an escape character and a double quote.
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
