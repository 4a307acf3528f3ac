package builtin

import (
	"math"
	"strings"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

var moneyFunctions = []def{
	f("cash_words(money) text", sure1(moneyWords)),
	f("pg_wal_lsn_diff(pg_lsn,pg_lsn) numeric", lsnDiff),
	f("pg_lsn(numeric) pg_lsn", func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return types.LSNFromNumeric(a[0].Dec)
	}),
}

var moneyOperators = []def{
	f("+(money,money) money", lift2(addMoney)),
	f("-(money,money) money", lift2(func(x, y int64) (int64, error) {
		r := x - y
		if (x >= 0) != (y >= 0) && (r >= 0) != (x >= 0) {
			return 0, types.ErrMoneyRange()
		}
		return r, nil
	})),
	f("*(money,int2|int4|int8) money", lift2(timesMoney)),
	f("*(int2|int4|int8,money) money", lift2(timesMoney)),
	f("/(money,int2|int4|int8) money", lift2(func(x, y int64) (int64, error) {
		switch y {
		case 0:
			return 0, errDivisionByZero()
		case -1:
			return timesMoney(x, -1)
		}
		return x / y, nil
	})),
	f("*(money,float4|float8) money", lift2(timesMoneyFloat)),
	f("*(float4|float8,money) money", lift2(func(y float64, x int64) (int64, error) {
		return timesMoneyFloat(x, y)
	})),
	f("/(money,float4|float8) money", lift2(func(x int64, y float64) (int64, error) {
		if y == 0 {
			return 0, errDivisionByZero()
		}
		return types.MoneyFromFloat(float64(x) / y)
	})),
	f("/(money,money) float8", lift2(func(x, y int64) (float64, error) {
		if y == 0 {
			return 0, errDivisionByZero()
		}
		return float64(x) / float64(y), nil
	})),
	f("-(pg_lsn,pg_lsn) numeric", lsnDiff),
	f("+(pg_lsn,numeric) pg_lsn", lsnPlus),
	f("+(numeric,pg_lsn) pg_lsn", swapped(lsnPlus)),
	f("-(pg_lsn,numeric) pg_lsn", func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return types.LSNPlus(a[0], a[1].Dec, true)
	}),
}

var moneyAggregates = []aggDef{
	agg("sum(money) money", newFold(func(sum, next types.Datum) (types.Datum, error) {
		r, err := addMoney(sum.I, next.I)
		return types.NewInt(r), err
	})),
}

func addMoney(x, y int64) (int64, error) {
	r := x + y
	if (x >= 0) == (y >= 0) && (r >= 0) != (x >= 0) {
		return 0, types.ErrMoneyRange()
	}
	return r, nil
}

func timesMoney(x, y int64) (int64, error) {
	r := x * y
	if x != 0 && (r/x != y || x == -1 && y == math.MinInt64) {
		return 0, types.ErrMoneyRange()
	}
	return r, nil
}

func timesMoneyFloat(x int64, y float64) (int64, error) {
	return types.MoneyFromFloat(float64(x) * y)
}

func lsnPlus(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return types.LSNPlus(a[0], a[1].Dec, false)
}

func lsnDiff(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	d, err := types.NumericSub(types.LSNToNumeric(a[0]), types.LSNToNumeric(a[1]))
	return types.Datum{Dec: d}, err
}

var smallNumbers = strings.Fields("zero one two three four five six seven eight nine ten eleven " +
	"twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty " +
	"fifty sixty seventy eighty ninety")

// numberWords writes a number below 1000.
func numberWords(n uint64) string {
	small := func(i uint64) string { return smallNumbers[i] }
	tens := func(i uint64) string { return smallNumbers[18+i] }
	rest := n % 100
	words := ""
	switch {
	case n <= 20:
		return small(n)
	case rest == 0:
		return small(n/100) + " hundred"
	case n > 99:
		words = small(n/100) + " hundred "
	}
	switch {
	case n%10 == 0 && rest > 10:
		return words + tens(rest/10)
	case rest < 20 && n > 99:
		return words + "and " + small(rest)
	case rest < 20:
		return small(rest)
	}
	return words + tens(rest/10) + " " + small(rest%10)
}

// moneyWords is cash_words.
func moneyWords(cents int64) string {
	var b strings.Builder
	v := uint64(cents)
	if cents < 0 {
		b.WriteString("minus ")
		v = -v
	}
	whole := v / 100
	for _, scale := range []struct {
		unit uint64
		name string
	}{{1e15, " quadrillion "}, {1e12, " trillion "}, {1e9, " billion "}, {1e6, " million "},
		{1e3, " thousand "}, {1, ""}} {
		if n := whole / scale.unit % 1000; n > 0 {
			b.WriteString(numberWords(n) + scale.name)
		}
	}
	if whole == 0 {
		b.WriteString("zero")
	}
	if b.WriteString(" dollars and "); whole == 1 {
		s := b.String()
		b.Reset()
		b.WriteString(strings.TrimSuffix(s, "s and ") + " and ")
	}
	b.WriteString(numberWords(v % 100))
	if b.WriteString(" cent"); v%100 != 1 {
		b.WriteString("s")
	}
	s := b.String()
	return strings.ToUpper(s[:1]) + s[1:]
}
