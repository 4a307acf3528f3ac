package builtin

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/ctxtest"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// account is a statement's account that also records its peak.
type account struct{ used, most, limit int64 }

func (a *account) Grow(n int64) error {
	if a.used += n; a.used > a.limit {
		return sqlerr.New(sqlerr.OutOfMemory, "out of memory")
	}
	a.most = max(a.most, a.used)
	return nil
}

func (a *account) Shrink(n int64) { a.used -= n }

// heavyCall is a call whose result or work is much larger than its arguments.
type heavyCall struct {
	name string
	ts   []*types.Type
	args []types.Datum
}

func heavy(name string, args ...any) heavyCall {
	c := heavyCall{name: name}
	for _, a := range args {
		switch a := a.(type) {
		case string:
			c.ts, c.args = append(c.ts, types.TText), append(c.args, types.NewString(a))
		case int:
			c.ts, c.args = append(c.ts, types.TInt4), append(c.args, types.NewInt(int64(a)))
		case []int:
			var elems []types.Datum
			for _, i := range a {
				elems = append(elems, types.NewInt(int64(i)))
			}
			c.ts = append(c.ts, types.ArrayOf(types.TInt4))
			c.args = append(c.args, types.NewArray(elems))
		case []string:
			var elems []types.Datum
			for _, s := range a {
				elems = append(elems, types.NewString(s))
			}
			c.ts = append(c.ts, types.ArrayOf(types.TText))
			c.args = append(c.args, types.NewArray(elems))
		}
	}
	return c
}

func (c heavyCall) run(t *testing.T, rt *expr.Runtime) error {
	t.Helper()
	var fn *expr.Func
	var err error
	if c.name == "||" {
		fn, _, err = ResolveOperator(c.name, c.ts[0], c.ts[1])
	} else {
		fn, _, err = ResolveFunction(c.name, c.ts)
	}
	require.NoError(t, err, c.name)
	rt.ArgTypes, rt.Format = c.ts, types.DefaultFormat
	_, err = fn.Scalar(rt, c.args)
	return err
}

func heavyCalls() []heavyCall {
	x, y := strings.Repeat("x", 4<<10), strings.Repeat("y", 4<<10)
	commas := strings.Repeat("a,", 1<<20)
	large := strings.Repeat("l", 8<<20)
	ones := make([]int, 1<<18)
	return []heavyCall{
		heavy("repeat", "xyz", 8<<20),
		heavy("lpad", "x", 8<<20, "abc"),
		heavy("rpad", "x", 8<<20),
		heavy("replace", x, "x", y),
		heavy("regexp_replace", x, "x", y, "g"),
		heavy("regexp_replace", x, "x", y, 1, 0),
		heavy("regexp_replace", x, "x", strings.Repeat(`\&`, 4<<10), "g"),
		heavy("regexp_split_to_array", commas, ","),
		heavy("string_to_array", commas, ","),
		heavy("array_fill", 0, []int{1 << 20}),
		heavy("array_fill", 0, []int{1 << 10, 1 << 10}),
		heavy("||", large, large),
		heavy("||", ones, ones),
		heavy("array_append", ones, 1),
		heavy("array_prepend", 1, ones),
		heavy("array_remove", ones, 1),
		heavy("array_replace", ones, 1, 2),
		heavy("array_positions", ones, 0),
		heavy("array_to_string", make([]string, 4<<10), y),
		heavy("overlay", large, large, 1),
		heavy("translate", large, "l", "é"),
		heavy("format", "%10000000s %10000000s", "a", "b"),
		heavy("concat", large, large),
		heavy("concat_ws", large, "a", "b", "c"),
		heavy("upper", large),
		heavy("initcap", large),
		heavy("reverse", large),
	}
}

func TestHeavyCallsAreBounded(t *testing.T) {
	for _, c := range heavyCalls() {
		acc := &account{limit: 2 << 20}
		rt := &expr.Runtime{Memory: acc}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := c.run(t, rt)
		runtime.ReadMemStats(&after)
		require.Error(t, err, c.name)
		code := err.(interface{ SQLState() string }).SQLState()
		require.Contains(t, []string{sqlerr.OutOfMemory, sqlerr.ProgramLimitExceeded}, code, c.name)
		require.LessOrEqual(t, acc.most, acc.limit, c.name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4*acc.limit), c.name)
		held := rt.Taken()
		require.Equal(t, acc.used, held, c.name)
		rt.Release(&held)
		require.Zero(t, acc.used, c.name)
	}
}

func TestHeavyCallsAreCancelled(t *testing.T) {
	for _, c := range heavyCalls() {
		all := &ctxtest.Ending{}
		require.NoError(t, c.run(t, &expr.Runtime{Ctx: all, Memory: &account{limit: 1 << 40}}),
			c.name)
		require.Positive(t, all.Checks, c.name)
		for n := 1; n <= min(all.Checks, 3); n++ {
			ctx := &ctxtest.Ending{N: n}
			err := c.run(t, &expr.Runtime{Ctx: ctx, Memory: &account{limit: 1 << 40}})
			require.ErrorIs(t, err, context.Canceled, c.name)
			require.Equal(t, n, ctx.Checks, "%s went on after its statement had ended", c.name)
		}
	}
}

// TestReadersOfALargeTextAreCancelled: functions with a small result check the context while they
// read a large text.
func TestReadersOfALargeTextAreCancelled(t *testing.T) {
	large := strings.Repeat("é1a ", 2<<20)
	for _, c := range []heavyCall{
		heavy("md5", large), heavy("length", large), heavy("char_length", large),
		heavy("position", large, "nowhere"), heavy("strpos", large+"here", "here"),
		heavy("upper", large), heavy("initcap", large), heavy("reverse", large),
	} {
		ctx := &ctxtest.Ending{N: 2}
		err := c.run(t, &expr.Runtime{Ctx: ctx, Memory: &account{limit: 1 << 40}})
		require.ErrorIs(t, err, context.Canceled, c.name)
		require.Equal(t, 2, ctx.Checks, c.name)
	}
}

// TestPiecesMakeNoDifference compares results that are computed in pieces with results that are
// computed at once.
func TestPiecesMakeNoDifference(t *testing.T) {
	large := strings.Repeat("x", copyPiece-1) + strings.Repeat("éß1 a", copyPiece/3) + "end"
	call := func(name string, args ...any) types.Datum {
		c := heavy(name, args...)
		fn, _, err := ResolveFunction(c.name, c.ts)
		require.NoError(t, err)
		d, err := fn.Scalar(&expr.Runtime{ArgTypes: c.ts, Format: types.DefaultFormat,
			Memory: &account{limit: 1 << 40}}, c.args)
		require.NoError(t, err)
		return d
	}
	runes := []rune(large)
	require.EqualValues(t, len(runes), call("length", large).I)
	require.EqualValues(t, len(runes)-2, call("strpos", large, "end").I)
	require.EqualValues(t, copyPiece, call("strpos", large, "éß1 a").I)
	require.Equal(t, strings.ToUpper(large), call("upper", large).S)
	slices.Reverse(runes)
	require.Equal(t, string(runes), call("reverse", large).S)
	require.Equal(t, "X"+large[1:copyPiece-1], call("initcap", large).S[:copyPiece-1])
	sum := md5.Sum([]byte(large))
	require.Equal(t, hex.EncodeToString(sum[:]), call("md5", large).S)
}

// A copy of n MiB checks the context at least n times.
func TestOneLookPerMebibyte(t *testing.T) {
	ctx := &ctxtest.Ending{}
	rt := &expr.Runtime{Ctx: ctx, Memory: &account{limit: 1 << 40}}
	require.NoError(t, heavy("repeat", "x", 64<<20).run(t, rt))
	require.GreaterOrEqual(t, ctx.Checks, 63)
}

func TestLargeNumbersAreCancelled(t *testing.T) {
	ten := heavy("gcd")
	big, err := types.ParseNumeric(strings.Repeat("1234567890123", 1000) +
		strings.Repeat("98765", 2000))
	require.NoError(t, err)
	other, err := types.ParseNumeric(strings.Repeat("31415926", 2500) +
		strings.Repeat("2718281", 300))
	require.NoError(t, err)
	for _, name := range []string{"gcd", "lcm"} {
		ten.name, ten.ts = name, []*types.Type{types.TNumeric, types.TNumeric}
		ten.args = []types.Datum{types.NewDecimal(big), types.NewDecimal(other)}
		ctx := &ctxtest.Ending{N: 2}
		require.ErrorIs(t, ten.run(t, &expr.Runtime{Ctx: ctx}), context.Canceled)
		require.Equal(t, 2, ctx.Checks)
	}
	for _, c := range []struct{ name, a, b string }{
		{"sqrt", strings.Repeat("7319", 32_000) + ".5", ""},
		{"exp", "5000." + strings.Repeat("7319", 250), ""},
		{"ln", strings.Repeat("7319", 32_000) + "." + strings.Repeat("7319", 2000), ""},
		{"power", "1." + strings.Repeat("7319", 4000), "500000"},
	} {
		var call heavyCall
		call.name = c.name
		for _, text := range []string{c.a, c.b} {
			if text != "" {
				d, err := types.ParseNumeric(text)
				require.NoError(t, err)
				call.ts, call.args = append(call.ts, types.TNumeric), append(call.args,
					types.NewDecimal(d))
			}
		}
		ctx := &ctxtest.Ending{N: 2}
		require.ErrorIs(t, call.run(t, &expr.Runtime{Ctx: ctx}), context.Canceled, c.name)
		require.Equal(t, 2, ctx.Checks, c.name)
	}
	ctx := &ctxtest.Ending{N: 2}
	require.ErrorIs(t, heavy("factorial", 20000).run(t, &expr.Runtime{Ctx: ctx}), context.Canceled)
	require.Equal(t, 2, ctx.Checks)
}

// Without a statement, as in constant folding, a fixed bound applies.
func TestHeavyCallsWithoutAStatementAreBounded(t *testing.T) {
	require.Error(t, heavy("repeat", "x", 1<<29).run(t, &expr.Runtime{}))
	require.Error(t, heavy("array_fill", 0, []int{1 << 24}).run(t, &expr.Runtime{}))
	require.NoError(t, heavy("repeat", "x", 1<<20).run(t, &expr.Runtime{}))
}

func TestReplacementsAreThoseOfPackageRegexp(t *testing.T) {
	for _, text := range []string{"", "a", "aXbXc", "éXé", "foo bar  baz", "aaa", "\xff\xfea",
		"X\naX", "ab abab b"} {
		for _, re := range []string{"X", "", "a*", `\b`, "^", "$", `\B`, "(a)|b", "x*?", "é?",
			`^a|a`, `(?m)^.`, `\b(a|ab)`, `\ba*?`} {
			for _, longest := range []bool{false, true} {
				p, err := newPattern(re, longest)
				require.NoError(t, err)
				want := p.FindAllStringSubmatchIndex(text, -1)
				// In one call, and with a text that is read by characters.
				for _, weight := range []int{1, 2 * searchWork} {
					p.weight = weight
					var got [][]int
					err = p.eachPlain(&expr.Runtime{}, text, -1, func(m []int) error {
						got = append(got, m)
						return nil
					})
					require.NoError(t, err)
					starts := func(all [][]int) (out [][]int) {
						for _, m := range all {
							out = append(out, m[:2])
						}
						return out
					}
					require.Equal(t, starts(want), starts(got), "%q in %q, longest %v, weight %d",
						re, text, longest, weight)
				}
			}
		}
	}
}

// TestASearchInALargeTextIsCancelled: a match over many megabytes, or of an expression with many
// instructions, checks the context while it runs.
func TestASearchInALargeTextIsCancelled(t *testing.T) {
	large := strings.Repeat("abc ", 512<<10)
	calls := []heavyCall{
		heavy("regexp_like", large, "(b|c)+$x"),
		heavy("regexp_like", large, "x"),
		heavy("regexp_like", large, "xyz"),
		heavy("regexp_like", large[:64<<10], "([ab]{100}){10}x"),
		heavy("regexp_match", large, `(\w+ )*x`),
		heavy("regexp_count", large, `\bx`),
		heavy("regexp_count", large, "(?n)^a|x"),
		heavy("regexp_replace", large, `\yabcd`, "x", "g"),
		heavy("regexp_substr", large, "[a-z]x"),
		heavy("substring", large, "(x)"),
		heavy("regexp_split_to_array", large, `\b\d`),
	}
	for _, c := range calls {
		all := &ctxtest.Ending{}
		require.NoError(t, c.run(t, &expr.Runtime{Ctx: all, Memory: &account{limit: 1 << 40}}),
			c.args[1].S)
		require.GreaterOrEqual(t, all.Checks, len(c.args[0].S)>>20, c.args[1].S)
		for n := 1; n <= all.Checks; n += 1 + all.Checks/3 {
			ctx := &ctxtest.Ending{N: n}
			err := c.run(t, &expr.Runtime{Ctx: ctx, Memory: &account{limit: 1 << 40}})
			require.ErrorIs(t, err, context.Canceled, c.args[1].S)
			require.Equal(t, n, ctx.Checks, "%s went on after its statement had ended", c.args[1].S)
		}
	}
}

// Every function accepts huge arguments without allocating much more than its account allows, or
// than the size of its arguments. So a new function cannot forget to ask its account.
func TestNoFunctionMultipliesItsInputUnasked(t *testing.T) {
	const limit, factor = 1 << 19, 40
	text := strings.Repeat("a,", 1<<13)
	for name, fns := range load().functions {
		for _, fn := range fns {
			if fn.Scalar == nil || fn.Volatility == expr.Volatile || name == "pg_sleep" {
				continue
			}
			for variant := range 4 {
				args, ok := hugeArguments(fn, text, variant)
				if !ok {
					continue
				}
				rt := &expr.Runtime{Memory: &account{limit: limit}, ArgTypes: fn.Args,
					Format: types.DefaultFormat}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := fn.Scalar(rt, args)
				runtime.ReadMemStats(&after)
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(factor*limit),
					"%s, variant %d: %v", Signature(name, fn.Args), variant, errors.Unwrap(err))
			}
		}
	}
}

// hugeArguments returns large values for a function of texts, integers and arrays of these.
// Variants differ in which texts are large, and in the integers.
func hugeArguments(fn *expr.Func, text string, variant int) ([]types.Datum, bool) {
	texts := []string{text, []string{"a", ",", text[:512]}[variant%3], text, "g"}
	number := []int64{1 << 30, 1 << 20, 1, 1 << 24}[variant]
	k := 0
	var out []types.Datum
	for _, t := range fn.Args {
		switch {
		case t == types.TText || t == types.TBytea || t == types.TVarchar:
			out = append(out, types.NewString(texts[min(k, len(texts)-1)]))
			k++
		case t == types.TInt4 || t == types.TInt8:
			out = append(out, types.NewInt(number))
		case t.Family == types.Array && t.Elem == types.TText:
			out = append(out, types.NewArray([]types.Datum{types.NewString("a"),
				types.NewString(text)}))
		case t.Family == types.Array && t.Elem == types.TInt4:
			out = append(out, types.NewArray([]types.Datum{types.NewInt(number)}))
		case t.Family == types.Bool:
			out = append(out, types.NewBool(true))
		default:
			return nil, false
		}
	}
	return out, len(out) > 0
}
