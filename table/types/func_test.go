package types

import (
	"strconv"
	"testing"

	"github.com/cockroachdb/apd/v3"
	"github.com/stretchr/testify/require"
)

type numeric1 = func(*apd.Decimal) (*apd.Decimal, error)
type numeric2 = func(a, b *apd.Decimal) (*apd.Decimal, error)

func pure(f func(*apd.Decimal) *apd.Decimal) numeric1 {
	return func(d *apd.Decimal) (*apd.Decimal, error) { return f(d), nil }
}

func counted(f func(*apd.Decimal) int) numeric1 {
	return func(d *apd.Decimal) (*apd.Decimal, error) {
		if d.Form != apd.Finite {
			return nil, nil
		}
		return NumericFromInt(int64(f(d))), nil
	}
}

var numericFuncs1 = map[string]numeric1{
	"num_ceil": NumericCeil, "num_floor": NumericFloor, "num_abs": pure(NumericAbs),
	"num_scale": counted(NumericScale), "num_min_scale": counted(NumericMinScale),
	"num_trim_scale": pure(NumericTrimScale), "num_sqrt": unticked1(NumericSqrt),
	"num_exp": unticked1(NumericExp),
	"num_ln":  unticked1(NumericLn), "num_log10": unticked1(NumericLog10),
	"num_sign": func(d *apd.Decimal) (*apd.Decimal, error) {
		if isNaN(d) {
			return d, nil
		}
		return NumericFromInt(int64(NumericSign(d))), nil
	},
}

var numericFuncs2 = map[string]numeric2{
	"num_add": NumericAdd, "num_sub": NumericSub, "num_mul": NumericMul, "num_div": NumericDiv,
	"num_mod": NumericMod, "num_idiv": NumericDivTrunc, "num_gcd": unticked(NumericGcd),
	"num_lcm": unticked(NumericLcm),
	"num_log": unticked(NumericLog), "num_power": unticked(NumericPower),
	"num_cmp": func(a, b *apd.Decimal) (*apd.Decimal, error) {
		c := int64(NumericCmp(a, b))
		return NumericFromInt(min(max(c, -1), 1)), nil
	},
}

func unticked1(op func(a *apd.Decimal, tick Tick) (*apd.Decimal, error)) numeric1 {
	return func(a *apd.Decimal) (*apd.Decimal, error) { return op(a, nil) }
}

func unticked(op func(a, b *apd.Decimal, tick Tick) (*apd.Decimal, error)) numeric2 {
	return func(a, b *apd.Decimal) (*apd.Decimal, error) { return op(a, b, nil) }
}

func numericOutcome(d *apd.Decimal, err error) string {
	if err == nil && d == nil {
		return "ok:<NULL>"
	}
	if err != nil {
		return outcome("", err)
	}
	return outcome(NumericString(d), nil)
}

func TestFunctionsLikePostgres(t *testing.T) {
	script(t, "func.txt", func(f *Format, fields []string) (string, string) {
		name, args, want := fields[0], fields[1:len(fields)-1], fields[len(fields)-1]
		num := func(i int) *apd.Decimal {
			d, err := ParseNumeric(args[i])
			require.NoError(t, err)
			return d
		}
		if fn, ok := numericFuncs1[name]; ok {
			return numericOutcome(fn(num(0))), want
		}
		if fn, ok := numericFuncs2[name]; ok {
			return numericOutcome(fn(num(0), num(1))), want
		}
		switch name {
		case "num_round", "num_trunc":
			n, err := strconv.Atoi(args[1])
			require.NoError(t, err)
			if name == "num_round" {
				return numericOutcome(NumericRound(num(0), n)), want
			}
			return numericOutcome(NumericTrunc(num(0), n)), want
		case "num_fact":
			n, err := strconv.ParseInt(args[0], 10, 64)
			require.NoError(t, err)
			return numericOutcome(NumericFactorial(n, nil)), want
		case "cast":
			return castOutcome(t, args[0], args[1], args[2], f), want
		}
		t.Fatalf("unknown function %s", name)
		return "", ""
	})
}

func castOutcome(t *testing.T, from, to, value string, f *Format) string {
	ft, tt := typeNamed(t, from), typeNamed(t, to)
	base := ft
	if ft.Family == String {
		base = ft.Apply(NoMod)
	}
	d, err := ParseText(base, value, f)
	if err == nil {
		d, err = Cast(d, base, ft, true, f)
	}
	if err == nil {
		d, err = Cast(d, ft, tt, true, f)
	}
	switch {
	case err != nil:
		return outcome("", err)
	case d.Null:
		return "ok:"
	}
	return outcome(string(AppendText(nil, tt, d, f)), nil)
}
