package builtin

import (
	"slices"
	"strings"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// citextFunctions are those of the extension citext. A function of texts that is not among them
// takes a citext as the text that it is.
func citextFunctions() []def {
	return slices.Concat(
		comparisonsNamed([]string{"citext_eq", "citext_ne", "citext_lt", "citext_le", "citext_gt",
			"citext_ge"}, "(citext,citext)", expr.Immutable, compareByArgType),
		comparisonsNamed([]string{"", "", "citext_pattern_lt", "citext_pattern_le",
			"citext_pattern_gt", "citext_pattern_ge"}, "(citext,citext)",
			expr.Immutable, compareByArgType),
		[]def{
			f("citext_cmp|citext_pattern_cmp(citext,citext) int4", compareTwo),
			f("citext_smaller(citext,citext) citext", extremeOfTwo(-1)),
			f("citext_larger(citext,citext) citext", extremeOfTwo(1)),
			matching("texticlike(citext,citext|text) bool", true, like(true, false)),
			matching("texticnlike(citext,citext|text) bool", false, like(true, false)),
			matching("texticregexeq(citext,citext|text) bool", true, regex(true)),
			matching("texticregexne(citext,citext|text) bool", false, regex(true)),
			f("regexp_match(citext,citext,text?) text[]", folded(2, regexpMatch)),
			s("regexp_matches(citext,citext,text?) text[]", "", foldedSet(regexpMatches)),
			f("regexp_replace(citext,citext,text,text?) text", folded(3, regexpReplace)),
			f("regexp_split_to_array(citext,citext,text?) text[]", folded(2, regexpSplitToArray)),
			s("regexp_split_to_table(citext,citext,text?) text", "", foldedSet(regexpSplitToTable)),
			f("strpos(citext,citext) int4", foldedPosition),
			f("replace(citext,citext,citext) text", foldedReplace),
			f("split_part(citext,citext,int4) text", foldedPart),
			f("translate(citext,citext,text) text", foldedTranslate),
		})
}

// citextOperators are those of the extension citext.
func citextOperators() []def {
	return slices.Concat(
		compareBy("(citext,citext)", expr.Immutable, compareByArgType),
		comparisonsNamed([]string{"", "", "~<~", "~<=~", "~>~", "~>=~"}, "(citext,citext)",
			expr.Immutable, compareByArgType),
		[]def{
			matching("~(citext,citext|text) bool", true, regex(true)),
			matching("!~(citext,citext|text) bool", false, regex(true)),
			matching("~*(citext,citext|text) bool", true, regex(true)),
			matching("!~*(citext,citext|text) bool", false, regex(true)),
			matching("~~(citext,citext|text) bool", true, like(true, false)),
			matching("!~~(citext,citext|text) bool", false, like(true, false)),
			matching("~~*(citext,citext|text) bool", true, like(true, false)),
			matching("!~~*(citext,citext|text) bool", false, like(true, false)),
		})
}

var citextAggregates = []aggDef{
	agg("min(citext) citext", extreme(-1)), agg("max(citext) citext", extreme(1)),
}

// compareTwo is the three-way comparison of two values of one type.
func compareTwo(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return types.NewInt(int64(types.Compare(rt.ArgTypes[0], a[0], a[1]))), nil
}

// extremeOfTwo is the greater of two values of one type, or with sign -1 the lesser; of equal ones
// the second.
func extremeOfTwo(sign int) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		if sign*types.Compare(rt.ArgTypes[0], a[0], a[1]) > 0 {
			return a[0], nil
		}
		return a[1], nil
	}
}

// folded makes a function that ignores case of one over texts, whose argument i has the flags of a
// regular expression: unless the call has the flag c, there is an i.
func folded(i int, of scalar) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return of(rt, foldedFlags(a, i))
	}
}

// foldedSet is folded for a function that returns a set. Its flags are the third argument.
func foldedSet(of setBody) setBody {
	return func(rt *expr.Runtime, a []types.Datum, emit func(row []types.Datum) error) error {
		return of(rt, foldedFlags(a, 2), emit)
	}
}

func foldedFlags(a []types.Datum, i int) []types.Datum {
	flags := textAt(a, i, "")
	if !strings.Contains(flags, "c") {
		flags += "i"
	}
	return append(slices.Clone(a[:i]), types.NewString(flags))
}

func foldedPosition(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if err := rt.Grow(int64(len(a[0].S) + len(a[1].S))); err != nil {
		return types.Null, err
	}
	return position(rt, []types.Datum{types.NewString(types.FoldCase(a[0].S)),
		types.NewString(types.FoldCase(a[1].S))})
}

// literalPattern returns the regular expression that matches a text only.
func literalPattern(text string) types.Datum {
	var b strings.Builder
	for _, r := range text {
		word := r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !word {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return types.NewString(b.String())
}

func foldedReplace(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return regexpReplace(rt, []types.Datum{a[0], literalPattern(a[1].S), a[2],
		types.NewString("gi")})
}

// foldedPart is NULL where there is no such part.
func foldedPart(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	parts, err := regexpSplitToArray(rt, []types.Datum{a[0], literalPattern(a[1].S),
		types.NewString("i")})
	if err != nil || a[2].I < 1 || a[2].I > int64(len(parts.Arr.Elems)) {
		return types.Null, err
	}
	return parts.Arr.Elems[a[2].I-1], nil
}

// foldedTranslate replaces characters in lower case, then those in upper case.
func foldedTranslate(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	out, err := translate(rt, []types.Datum{a[0], types.NewString(strings.ToLower(a[1].S)), a[2]})
	if err != nil {
		return types.Null, err
	}
	return translate(rt, []types.Datum{out, types.NewString(strings.ToUpper(a[1].S)), a[2]})
}
