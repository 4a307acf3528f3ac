package builtin

import (
	"math"
	"slices"
	"time"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// int1r makes a function from an operation on the integer form of a date, time or timestamp.
func int1r(op func(x int64) (int64, error)) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := op(a[0].I)
		return types.NewInt(r), err
	}
}

func int2r(op func(x, y int64) (int64, error)) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := op(a[0].I, a[1].I)
		return types.NewInt(r), err
	}
}

func iv1(op func(types.IntervalValue) (types.IntervalValue, error)) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := op(a[0].Iv)
		return types.NewInterval(r), err
	}
}

func iv2(op func(x, y types.IntervalValue) (types.IntervalValue, error)) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := op(a[0].Iv, a[1].Iv)
		return types.NewInterval(r), err
	}
}

// intIv makes a function from timestamp ± interval.
func intIv(op func(x int64, iv types.IntervalValue) (int64, error)) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := op(a[0].I, a[1].Iv)
		return types.NewInt(r), err
	}
}

// intIvZone makes a function from timestamptz ± interval, whose days and months are those of the
// session's time zone.
func intIvZone(op func(x int64, iv types.IntervalValue, loc *time.Location) (int64, error)) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := op(a[0].I, a[1].Iv, location(rt))
		return types.NewInt(r), err
	}
}

// intsIv makes a function from the difference of two timestamps.
func intsIv(op func(x, y int64) (types.IntervalValue, error)) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := op(a[0].I, a[1].I)
		return types.NewInterval(r), err
	}
}

// swapped returns a function of two arguments that exchanges them.
func swapped(fn scalar) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		b := [2]types.Datum{a[1], a[0]}
		return fn(rt, b[:])
	}
}

func dateIv(op func(int64, types.IntervalValue) (int64, error)) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		ts, err := types.DateToTimestamp(a[0].I)
		if err != nil {
			return types.Null, err
		}
		r, err := op(ts, a[1].Iv)
		return types.NewInt(r), err
	}
}

func noError(op func(int64, types.IntervalValue) int64) func(int64, types.IntervalValue) (int64,
	error) {
	return func(x int64, iv types.IntervalValue) (int64, error) { return op(x, iv), nil }
}

func datetimeOperators() []def {
	timePlus, timeMinus := intIv(noError(types.TimePlusInterval)),
		intIv(noError(types.TimeMinusInterval))
	ivTimes := func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := types.IntervalMul(a[0].Iv, a[1].F)
		return types.NewInterval(r), err
	}
	return []def{
		f("+(date,interval) timestamp", dateIv(types.TimestampPlusInterval)),
		f("+(date,int4) date", int2r(types.DatePlusDays)),
		f("+(timestamptz,interval) timestamptz", intIvZone(types.TimestampTZPlusInterval)).stable(),
		f("+(interval,interval) interval", iv2(types.IntervalAdd)),
		f("+(date,time) timestamp", int2r(types.DatePlusTime)),
		f("+(time,date) timestamp", swapped(int2r(types.DatePlusTime))),
		f("+(time,interval) time", timePlus),
		f("+(interval,time) time", swapped(timePlus)),
		f("+(timestamp,interval) timestamp", intIv(types.TimestampPlusInterval)),
		f("+(interval,date) timestamp", swapped(dateIv(types.TimestampPlusInterval))),
		f("+(interval,timestamp) timestamp", swapped(intIv(types.TimestampPlusInterval))),
		f("+(interval,timestamptz) timestamptz",
			swapped(intIvZone(types.TimestampTZPlusInterval))).stable(),
		f("+(int4,date) date", swapped(int2r(types.DatePlusDays))),
		f("-(date,interval) timestamp", dateIv(types.TimestampMinusInterval)),
		f("-(date,date) int4", int2r(types.DateDiff)),
		f("-(date,int4) date", int2r(types.DateMinusDays)),
		f("-(timestamptz,timestamptz) interval", intsIv(types.TimestampDiff)),
		f("-(timestamptz,interval) timestamptz",
			intIvZone(types.TimestampTZMinusInterval)).stable(),
		f("-(interval) interval", iv1(types.IntervalNeg)),
		f("-(interval,interval) interval", iv2(types.IntervalSub)),
		f("-(time,time) interval", func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
			return types.NewInterval(types.IntervalValue{Micros: a[0].I - a[1].I}), nil
		}),
		f("-(time,interval) time", timeMinus),
		f("-(timestamp,timestamp) interval", intsIv(types.TimestampDiff)),
		f("-(timestamp,interval) timestamp", intIv(types.TimestampMinusInterval)),
		f("*(interval,float8) interval", ivTimes),
		f("*(float8,interval) interval", swapped(ivTimes)),
		f("/(interval,float8) interval",
			func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
				r, err := types.IntervalDiv(a[0].Iv, a[1].F)
				return types.NewInterval(r), err
			}),
	}
}

// moment makes a function that returns a time of the statement or transaction.
func moment(at func(rt *expr.Runtime) time.Time) scalar {
	return func(rt *expr.Runtime, _ []types.Datum) (types.Datum, error) {
		return types.NewInt(types.TimestampFromTime(at(rt))), nil
	}
}

func txnTime(rt *expr.Runtime) time.Time       { return rt.TxnTime }
func statementTime(rt *expr.Runtime) time.Time { return rt.StatementTime }

// localMoment returns the transaction's time as a local time of the session.
func localMoment(rt *expr.Runtime) (int64, error) {
	return types.UTCToLocal(types.TimestampFromTime(rt.TxnTime), location(rt))
}

var datetimeFunctions = []def{
	f("now() timestamptz", moment(txnTime)).stable(),
	f("transaction_timestamp() timestamptz", moment(txnTime)).stable(),
	f("current_timestamp() timestamptz", moment(txnTime)).stable(),
	f("current_timestamp(int4) timestamptz", rounded(moment(txnTime))).stable(),
	f("statement_timestamp() timestamptz", moment(statementTime)).stable(),
	f("clock_timestamp() timestamptz",
		moment(func(*expr.Runtime) time.Time { return time.Now() })).volatile(),
	f("timeofday() text", func(rt *expr.Runtime, _ []types.Datum) (types.Datum, error) {
		return types.NewString(time.Now().In(location(rt)).Format("Mon Jan 02 15:04:05.000000 " +
			"2006 MST")), nil
	}).volatile(),
	f("localtimestamp() timestamp", func(rt *expr.Runtime, _ []types.Datum) (types.Datum, error) {
		r, err := localMoment(rt)
		return types.NewInt(r), err
	}).stable(),
	f("localtimestamp(int4) timestamp",
		rounded(func(rt *expr.Runtime, _ []types.Datum) (types.Datum, error) {
			r, err := localMoment(rt)
			return types.NewInt(r), err
		})).stable(),
	f("current_date() date", func(rt *expr.Runtime, _ []types.Datum) (types.Datum, error) {
		r, err := localMoment(rt)
		return types.NewInt(types.TimestampToDate(r)), err
	}).stable(),
	f("localtime() time", localTime).stable(),
	f("localtime(int4) time", rounded(localTime)).stable(),

	f("date_trunc(text,timestamp) timestamp",
		func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
			r, err := types.TruncTimestamp(a[0].S, a[1].I)
			return types.NewInt(r), err
		}),
	f("date_trunc(text,timestamptz) timestamptz",
		func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			r, err := types.TruncTimestampTZ(a[0].S, a[1].I, location(rt))
			return types.NewInt(r), err
		}).stable(),
	f("date_trunc(text,timestamptz,text) timestamptz",
		func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
			zone, err := types.ParseZone(a[2].S)
			if err != nil {
				return types.Null, err
			}
			r, err := types.TruncTimestampTZ(a[0].S, a[1].I, zone.Location)
			return types.NewInt(r), err
		}).stable(),
	f("date_trunc(text,interval) interval",
		func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
			r, err := types.TruncInterval(a[0].S, a[1].Iv)
			return types.NewInterval(r), err
		}),
	f("extract(text,date) numeric", extract("date")), f("date_part(text,date) float8",
		datePart("date")),
	f("extract(text,time) numeric", extract("time")), f("date_part(text,time) float8",
		datePart("time")),
	f("extract(text,timestamp) numeric", extract("timestamp")),
	f("date_part(text,timestamp) float8", datePart("timestamp")),
	f("extract(text,timestamptz) numeric", extract("timestamptz")).stable(),
	f("date_part(text,timestamptz) float8", datePart("timestamptz")).stable(),
	f("extract(text,interval) numeric", extract("interval")),
	f("date_part(text,interval) float8", datePart("interval")),

	f("age(timestamp,timestamp) interval", intsIv(types.TimestampAge)),
	f("age(timestamptz,timestamptz) interval",
		func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			r, err := types.TimestampTZAge(a[0].I, a[1].I, location(rt))
			return types.NewInterval(r), err
		}).stable(),
	f("age(timestamp) interval", func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		today, err := midnight(rt)
		if err != nil {
			return types.Null, err
		}
		r, err := types.TimestampAge(today, a[0].I)
		return types.NewInterval(r), err
	}).stable(),
	f("age(timestamptz) interval", func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		today, err := midnight(rt)
		if err != nil {
			return types.Null, err
		}
		if today, err = types.LocalToUTC(today, location(rt)); err != nil {
			return types.Null, err
		}
		r, err := types.TimestampTZAge(today, a[0].I, location(rt))
		return types.NewInterval(r), err
	}).stable(),
	f("date_bin(interval,timestamp,timestamp) timestamp", dateBin),
	f("date_bin(interval,timestamptz,timestamptz) timestamptz", dateBin),
	f("isfinite(date) bool", finite), f("isfinite(timestamp) bool",
		finite), f("isfinite(timestamptz) bool", finite),
	f("isfinite(interval) bool", func(*expr.Runtime, []types.Datum) (types.Datum, error) {
		return types.NewBool(true), nil
	}),
	f("justify_days(interval) interval", iv1(types.JustifyDays)),
	f("justify_hours(interval) interval", iv1(types.JustifyHours)),
	f("justify_interval(interval) interval", iv1(types.JustifyInterval)),

	f("make_date(int4,int4,int4) date",
		func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
			r, err := types.MakeDate(a[0].I, a[1].I, a[2].I)
			return types.NewInt(r), err
		}),
	f("make_time(int4,int4,float8) time",
		func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
			r, err := types.MakeTime(a[0].I, a[1].I, a[2].F)
			return types.NewInt(r), err
		}),
	f("make_timestamp(int4,int4,int4,int4,int4,float8) timestamp", makeTimestamp),
	f("make_timestamptz(int4,int4,int4,int4,int4,float8) timestamptz",
		func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			return toUTC(makeTimestamp(rt, a))(types.Zone{Location: location(rt)})
		}).stable(),
	f("make_timestamptz(int4,int4,int4,int4,int4,float8,text) timestamptz",
		func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			zone, err := types.ParseZoneOffset(a[6].S)
			if err != nil {
				return types.Null, err
			}
			return toUTC(makeTimestamp(rt, a))(zone)
		}).stable(),
	f("make_interval() interval", makeInterval), f("make_interval(int4) interval", makeInterval),
	f("make_interval(int4,int4) interval", makeInterval), f("make_interval(int4,int4,int4) "+
		"interval", makeInterval),
	f("make_interval(int4,int4,int4,int4) interval", makeInterval),
	f("make_interval(int4,int4,int4,int4,int4) interval", makeInterval),
	f("make_interval(int4,int4,int4,int4,int4,int4) interval", makeInterval),
	f("make_interval(int4,int4,int4,int4,int4,int4,float8) interval", makeInterval),
	f("to_timestamp(float8) timestamptz",
		func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
			r, err := types.TimestampFromUnix(a[0].F)
			return types.NewInt(r), err
		}),

	f("timezone(text,timestamptz) timestamp", atZone(types.Zone.ToLocal)),
	f("timezone(text,timestamp) timestamptz", atZone(types.Zone.ToUTC)),
	f("timezone(interval,timestamptz) timestamp", atIntervalZone(types.Zone.ToLocal)),
	f("timezone(interval,timestamp) timestamptz", atIntervalZone(types.Zone.ToUTC)),

	f("date(timestamp) date", func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return types.NewInt(types.TimestampToDate(a[0].I)), nil
	}),
	f("date(timestamptz) date", func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := types.UTCToLocal(a[0].I, location(rt))
		return types.NewInt(types.TimestampToDate(r)), err
	}).stable(),
	f("timestamp(date) timestamp", int1r(types.DateToTimestamp)),
	f("timestamp(date,time) timestamp", int2r(types.DatePlusTime)),
	f("timestamp(timestamptz) timestamp",
		func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			r, err := types.UTCToLocal(a[0].I, location(rt))
			return types.NewInt(r), err
		}).stable(),
	f("timestamptz(timestamp) timestamptz",
		func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			r, err := types.LocalToUTC(a[0].I, location(rt))
			return types.NewInt(r), err
		}).stable(),
	n("overlaps(timestamp,timestamp,timestamp,timestamp) bool", overlaps),
	n("overlaps(timestamptz,timestamptz,timestamptz,timestamptz) bool", overlaps),
	n("overlaps(time,time,time,time) bool", overlaps),
	n("overlaps(timestamp,timestamp,timestamp,interval) bool", overlapsIn(timestampEnd, 3)),
	n("overlaps(timestamp,interval,timestamp,timestamp) bool", overlapsIn(timestampEnd, 1)),
	n("overlaps(timestamp,interval,timestamp,interval) bool", overlapsIn(timestampEnd, 1, 3)),
	n("overlaps(timestamptz,timestamptz,timestamptz,interval) bool",
		overlapsIn(timestamptzEnd, 3)).stable(),
	n("overlaps(timestamptz,interval,timestamptz,timestamptz) bool",
		overlapsIn(timestamptzEnd, 1)).stable(),
	n("overlaps(timestamptz,interval,timestamptz,interval) bool",
		overlapsIn(timestamptzEnd, 1, 3)).stable(),
	n("overlaps(time,time,time,interval) bool", overlapsIn(timeEnd, 3)),
	n("overlaps(time,interval,time,time) bool", overlapsIn(timeEnd, 1)),
	n("overlaps(time,interval,time,interval) bool", overlapsIn(timeEnd, 1, 3)),
}

func timestampEnd(_ *expr.Runtime, start int64, iv types.IntervalValue) (int64, error) {
	return types.TimestampPlusInterval(start, iv)
}

func timestamptzEnd(rt *expr.Runtime, start int64, iv types.IntervalValue) (int64, error) {
	return types.TimestampTZPlusInterval(start, iv, location(rt))
}

func timeEnd(_ *expr.Runtime, start int64, iv types.IntervalValue) (int64, error) {
	return types.TimePlusInterval(start, iv), nil
}

// overlapsIn is OVERLAPS of two periods. lengths are the indexes of arguments that are intervals in
// place of an end; end adds one to its start.
func overlapsIn(end func(*expr.Runtime, int64, types.IntervalValue) (int64, error),
	lengths ...int) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		periods := slices.Clone(a)
		for _, i := range lengths {
			if a[i-1].Null || a[i].Null {
				periods[i] = types.Null
				continue
			}
			at, err := end(rt, a[i-1].I, a[i].Iv)
			if err != nil {
				return types.Null, err
			}
			periods[i] = types.NewInt(at)
		}
		return overlaps(rt, periods)
	}
}

func localTime(rt *expr.Runtime, _ []types.Datum) (types.Datum, error) {
	r, err := localMoment(rt)
	return types.NewInt(types.TimestampToTimeOfDay(r)), err
}

// rounded is current_timestamp(p) and the like.
func rounded(fn scalar) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		d, err := fn(rt, nil)
		if err != nil {
			return types.Null, err
		}
		r, err := types.RoundTimestamp(d.I, int32(min(max(a[0].I, 0), 6)))
		return types.NewInt(r), err
	}
}

// midnight returns the start of the session's day, as a local timestamp.
func midnight(rt *expr.Runtime) (int64, error) {
	r, err := localMoment(rt)
	if err != nil {
		return 0, err
	}
	return types.DateToTimestamp(types.TimestampToDate(r))
}

func extract(kind string) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		switch kind {
		case "date":
			return types.ExtractDate(a[0].S, a[1].I)
		case "time":
			return types.ExtractTime(a[0].S, a[1].I)
		case "timestamp":
			return types.ExtractTimestamp(a[0].S, a[1].I)
		case "timestamptz":
			return types.ExtractTimestampTZ(a[0].S, a[1].I, location(rt))
		}
		return types.ExtractInterval(a[0].S, a[1].Iv)
	}
}

func datePart(kind string) scalar {
	fn := extract(kind)
	if kind == "date" { // date_part converts a date to a timestamp
		fn = func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
			ts, err := types.DateToTimestamp(a[1].I)
			if err != nil {
				return types.Null, err
			}
			return types.ExtractTimestamp(a[0].S, ts)
		}
	}
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		d, err := fn(rt, a)
		if err != nil || d.Null {
			return types.Null, err
		}
		return types.DatePartFloat(d)
	}
}

func dateBin(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	r, err := types.DateBin(a[0].Iv, a[1].I, a[2].I)
	return types.NewInt(r), err
}

func finite(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return types.NewBool(!types.IsInfinite(a[0].I)), nil
}

func makeTimestamp(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	r, err := types.MakeTimestamp(a[0].I, a[1].I, a[2].I, a[3].I, a[4].I, a[5].F)
	return types.NewInt(r), err
}

// toUTC returns a function that converts a local timestamp in a zone to UTC.
func toUTC(local types.Datum, err error) func(types.Zone) (types.Datum, error) {
	return func(zone types.Zone) (types.Datum, error) {
		if err != nil {
			return types.Null, err
		}
		r, err := zone.ToUTC(local.I)
		return types.NewInt(r), err
	}
}

func makeInterval(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	var v [6]int64
	secs := 0.0
	for i, d := range a {
		if i == 6 {
			secs = d.F
		} else {
			v[i] = d.I
		}
	}
	if math.IsNaN(secs) || math.IsInf(secs, 0) {
		return types.Null, errIntervalRange()
	}
	r, err := types.MakeInterval(v[0], v[1], v[2], v[3], v[4], v[5], secs)
	return types.NewInterval(r), err
}

func atZone(op func(types.Zone, int64) (int64, error)) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		zone, err := types.ParseZone(a[0].S)
		if err != nil {
			return types.Null, err
		}
		r, err := op(zone, a[1].I)
		return types.NewInt(r), err
	}
}

func atIntervalZone(op func(types.Zone, int64) (int64, error)) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		zone, err := types.IntervalZone(a[0].Iv)
		if err != nil {
			return types.Null, err
		}
		r, err := op(zone, a[1].I)
		return types.NewInt(r), err
	}
}

// overlaps is (s1, e1) OVERLAPS (s2, e2). The end of a period may come before its start, and one of
// the two may be NULL.
func overlaps(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	s1, e1, s2, e2 := a[0], a[1], a[2], a[3]
	order := func(s, e *types.Datum) bool {
		if s.Null {
			if e.Null {
				return false
			}
			*s, *e = *e, *s
		} else if !e.Null && s.I > e.I {
			*s, *e = *e, *s
		}
		return true
	}
	if !order(&s1, &e1) || !order(&s2, &e2) {
		return types.Null, nil
	}
	if s1.I > s2.I {
		s1, e1, s2, e2 = s2, e2, s1, e1
	}
	switch {
	case s1.I == s2.I:
		if e1.Null || e2.Null {
			return types.Null, nil
		}
		return types.NewBool(true), nil
	case e1.Null:
		return types.Null, nil
	case s2.I < e1.I:
		return types.NewBool(true), nil
	case e2.Null:
		return types.Null, nil
	}
	return types.NewBool(false), nil
}
