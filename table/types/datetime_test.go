package types

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// dtArgs reads the arguments of the date and time script.
type dtArgs struct {
	t    *testing.T
	f    *Format
	args []string
}

func (a *dtArgs) datum(i int, typ *Type) Datum {
	d, err := ParseText(typ, a.args[i], a.f)
	require.NoError(a.t, err)
	return d
}
func (a *dtArgs) ts(i int) int64         { return a.datum(i, TTimestamp).I }
func (a *dtArgs) tz(i int) int64         { return a.datum(i, TTimestampTZ).I }
func (a *dtArgs) iv(i int) IntervalValue { return a.datum(i, TInterval).Iv }
func (a *dtArgs) float(i int) float64    { return a.datum(i, TFloat8).F }
func (a *dtArgs) int(i int) int64        { return a.datum(i, TInt8).I }

func (a *dtArgs) micros(typ *Type, v int64, err error) string {
	if err != nil {
		return outcome("", err)
	}
	return outcome(string(AppendText(nil, typ, Datum{I: v}, a.f)), nil)
}

func (a *dtArgs) interval(iv IntervalValue, err error) string {
	return outcome(string(AppendInterval(nil, iv, "postgres")), err)
}

func (a *dtArgs) numeric(d Datum, err error) string {
	switch {
	case err != nil:
		return outcome("", err)
	case d.Null:
		return "ok:<NULL>"
	}
	return outcome(NumericString(d.Dec), nil)
}

func TestDateTimeLikePostgres(t *testing.T) {
	script(t, "datetime.txt", func(f *Format, fields []string) (string, string) {
		a := &dtArgs{t: t, f: f, args: fields[1 : len(fields)-1]}
		return a.call(fields[0]), fields[len(fields)-1]
	})
}

func (a *dtArgs) call(name string) string {
	loc := a.f.Location
	ts := func(v int64, err error) string { return a.micros(TTimestamp, v, err) }
	tz := func(v int64, err error) string { return a.micros(TTimestampTZ, v, err) }
	switch name {
	case "ts_add":
		return ts(TimestampPlusInterval(a.ts(0), a.iv(1)))
	case "ts_sub":
		return ts(TimestampMinusInterval(a.ts(0), a.iv(1)))
	case "tstz_add":
		return tz(TimestampTZPlusInterval(a.tz(0), a.iv(1), loc))
	case "ts_diff":
		return a.interval(TimestampDiff(a.ts(0), a.ts(1)))
	case "ts_age":
		return a.interval(TimestampAge(a.ts(0), a.ts(1)))
	case "tstz_age":
		return a.interval(TimestampTZAge(a.tz(0), a.tz(1), loc))
	case "ts_trunc":
		return ts(TruncTimestamp(a.args[0], a.ts(1)))
	case "tstz_trunc":
		return tz(TruncTimestampTZ(a.args[0], a.tz(1), loc))
	case "iv_trunc":
		return a.interval(TruncInterval(a.args[0], a.iv(1)))
	case "ts_extract":
		return a.numeric(ExtractTimestamp(a.args[0], a.ts(1)))
	case "tstz_extract":
		return a.numeric(ExtractTimestampTZ(a.args[0], a.tz(1), loc))
	case "date_extract":
		return a.numeric(ExtractDate(a.args[0], a.datum(1, TDate).I))
	case "time_extract":
		return a.numeric(ExtractTime(a.args[0], a.datum(1, TTime).I))
	case "iv_extract":
		return a.numeric(ExtractInterval(a.args[0], a.iv(1)))
	case "iv_mul":
		return a.interval(IntervalMul(a.iv(0), a.float(1)))
	case "iv_div":
		return a.interval(IntervalDiv(a.iv(0), a.float(1)))
	case "justify_hours":
		return a.interval(JustifyHours(a.iv(0)))
	case "justify_days":
		return a.interval(JustifyDays(a.iv(0)))
	case "justify_interval":
		return a.interval(JustifyInterval(a.iv(0)))
	case "iv_add":
		return a.interval(IntervalAdd(a.iv(0), a.iv(1)))
	case "iv_sub":
		return a.interval(IntervalSub(a.iv(0), a.iv(1)))
	case "iv_cmp":
		return outcome(strconv.Itoa(IntervalCmp(a.iv(0), a.iv(1))), nil)
	case "make_date":
		v, err := MakeDate(a.int(0), a.int(1), a.int(2))
		return a.micros(TDate, v, err)
	case "make_time":
		v, err := MakeTime(a.int(0), a.int(1), a.float(2))
		return a.micros(TTime, v, err)
	case "make_timestamp":
		return ts(MakeTimestamp(a.int(0), a.int(1), a.int(2), a.int(3), a.int(4), a.float(5)))
	case "make_interval":
		return a.interval(MakeInterval(a.int(0), a.int(1), a.int(2), a.int(3), a.int(4), a.int(5),
			a.float(6)))
	case "to_timestamp":
		return tz(TimestampFromUnix(a.float(0)))
	case "date_bin":
		origin, ok := DateFromYMD(2001, 1, 1)
		require.True(a.t, ok)
		return ts(DateBin(a.iv(0), a.ts(1), origin*MicrosPerDay))
	case "time_add":
		return a.micros(TTime, TimePlusInterval(a.datum(0, TTime).I, a.iv(1)), nil)
	case "time_sub":
		return a.micros(TTime, TimeMinusInterval(a.datum(0, TTime).I, a.iv(1)), nil)
	case "at_zone", "tz_at_zone":
		zone, err := ParseZone(a.args[0])
		if err != nil {
			return outcome("", err)
		}
		noon, err := ParseTimestamp("2020-07-01 12:00:00", NoMod, a.f)
		require.NoError(a.t, err)
		if name == "at_zone" {
			return tz(zone.ToUTC(noon))
		}
		return ts(zone.ToLocal(noon))
	}
	a.t.Fatalf("unknown function %s", name)
	return ""
}
