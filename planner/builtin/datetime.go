package builtin

import (
	"time"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// swapped returns a function of two arguments that exchanges them.
func swapped(fn scalar) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		b := [2]types.Datum{a[1], a[0]}
		return fn(rt, b[:])
	}
}

// dateIv makes a function of a date from one of a timestamp.
func dateIv(op func(int64, types.IntervalValue) (int64, error)) scalar {
	return lift2(func(date int64, iv types.IntervalValue) (int64, error) {
		ts, err := types.DateToTimestamp(date)
		if err != nil {
			return 0, err
		}
		return op(ts, iv)
	})
}

func datetimeOperators() []def {
	timePlus, timeMinus := sure2(types.TimePlusInterval), sure2(types.TimeMinusInterval)
	ivTimes := lift2(types.IntervalMul)
	return []def{
		f("+(date,interval) timestamp", dateIv(types.TimestampPlusInterval)),
		f("+(date,int4) date", lift2(types.DatePlusDays)),
		f("+(timestamptz,interval) timestamptz", zoned2(types.TimestampTZPlusInterval)).stable(),
		f("+(interval,interval) interval", lift2(types.IntervalAdd)),
		f("+(date,time) timestamp", lift2(types.DatePlusTime)),
		f("+(time,date) timestamp", swapped(lift2(types.DatePlusTime))),
		f("+(time,interval) time", timePlus),
		f("+(interval,time) time", swapped(timePlus)),
		f("+(timestamp,interval) timestamp", lift2(types.TimestampPlusInterval)),
		f("+(interval,date) timestamp", swapped(dateIv(types.TimestampPlusInterval))),
		f("+(interval,timestamp) timestamp", swapped(lift2(types.TimestampPlusInterval))),
		f("+(interval,timestamptz) timestamptz",
			swapped(zoned2(types.TimestampTZPlusInterval))).stable(),
		f("+(int4,date) date", swapped(lift2(types.DatePlusDays))),
		f("-(date,interval) timestamp", dateIv(types.TimestampMinusInterval)),
		f("-(date,date) int4", lift2(types.DateDiff)),
		f("-(date,int4) date", lift2(types.DateMinusDays)),
		f("-(timestamptz,timestamptz) interval", lift2(types.TimestampDiff)),
		f("-(timestamptz,interval) timestamptz", zoned2(types.TimestampTZMinusInterval)).stable(),
		f("-(interval) interval", lift1(types.IntervalNeg)),
		f("-(interval,interval) interval", lift2(types.IntervalSub)),
		f("-(time,time) interval", sure2(func(x, y int64) types.IntervalValue {
			return types.IntervalValue{Micros: x - y}
		})),
		f("-(time,interval) time", timeMinus),
		f("-(timestamp,timestamp) interval", lift2(types.TimestampDiff)),
		f("-(timestamp,interval) timestamp", lift2(types.TimestampMinusInterval)),
		f("*(interval,float8) interval", ivTimes),
		f("*(float8,interval) interval", swapped(ivTimes)),
		f("/(interval,float8) interval", lift2(types.IntervalDiv)),
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
	f("now|transaction_timestamp|current_timestamp() timestamptz", moment(txnTime)).stable(),
	f("current_timestamp(int4) timestamptz", rounded(moment(txnTime))).stable(),
	f("statement_timestamp() timestamptz", moment(statementTime)).stable(),
	f("clock_timestamp() timestamptz",
		moment(func(*expr.Runtime) time.Time { return time.Now() })).volatile(),
	f("timeofday() text", func(rt *expr.Runtime, _ []types.Datum) (types.Datum, error) {
		return types.NewString(time.Now().In(location(rt)).Format("Mon Jan 02 15:04:05.000000 " +
			"2006 MST")), nil
	}).volatile(),
	f("localtimestamp() timestamp", localTimestamp).stable(),
	f("localtimestamp(int4) timestamp", rounded(localTimestamp)).stable(),
	f("current_date() date", func(rt *expr.Runtime, _ []types.Datum) (types.Datum, error) {
		r, err := localMoment(rt)
		return types.NewInt(types.TimestampToDate(r)), err
	}).stable(),
	f("localtime() time", localTime).stable(),
	f("localtime(int4) time", rounded(localTime)).stable(),

	f("date_trunc(text,timestamp) timestamp", lift2(types.TruncTimestamp)),
	f("date_trunc(text,timestamptz) timestamptz", zoned2(types.TruncTimestampTZ)).stable(),
	f("date_trunc(text,timestamptz,text) timestamptz",
		lift3(func(unit string, ts int64, name string) (int64, error) {
			zone, err := types.ParseZone(name)
			if err != nil {
				return 0, err
			}
			return types.TruncTimestampTZ(unit, ts, zone.Location)
		})).stable(),
	f("date_trunc(text,interval) interval", lift2(types.TruncInterval)),
	f("extract(text,date) numeric", extract(types.ExtractDate)),
	f("extract(text,time) numeric", extract(types.ExtractTime)),
	f("extract(text,timestamp) numeric", extract(types.ExtractTimestamp)),
	f("extract(text,timestamptz) numeric", extractZoned).stable(),
	f("extract(text,interval) numeric", extract(types.ExtractInterval)),
	f("date_part(text,date) float8", datePart(extract(extractDateAsTimestamp))),
	f("date_part(text,time) float8", datePart(extract(types.ExtractTime))),
	f("date_part(text,timestamp) float8", datePart(extract(types.ExtractTimestamp))),
	f("date_part(text,timestamptz) float8", datePart(extractZoned)).stable(),
	f("date_part(text,interval) float8", datePart(extract(types.ExtractInterval))),

	f("age(timestamp,timestamp) interval", lift2(types.TimestampAge)),
	f("age(timestamptz,timestamptz) interval", zoned2(types.TimestampTZAge)).stable(),
	f("age(timestamp) interval", ageToday(false)).stable(),
	f("age(timestamptz) interval", ageToday(true)).stable(),
	f("date_bin(interval,timestamp,timestamp) timestamp", lift3(types.DateBin)),
	f("date_bin(interval,timestamptz,timestamptz) timestamptz", lift3(types.DateBin)),
	f("isfinite(date|timestamp|timestamptz) bool", finite),
	f("isfinite(interval) bool", sure1(func(types.IntervalValue) bool { return true })),
	f("justify_days(interval) interval", lift1(types.JustifyDays)),
	f("justify_hours(interval) interval", lift1(types.JustifyHours)),
	f("justify_interval(interval) interval", lift1(types.JustifyInterval)),

	f("make_date(int4,int4,int4) date", lift3(types.MakeDate)),
	f("make_time(int4,int4,float8) time", lift3(types.MakeTime)),
	f("make_timestamp(int4,int4,int4,int4,int4,float8) timestamp", makeTimestamp),
	f("make_timestamptz(int4,int4,int4,int4,int4,float8) timestamptz",
		func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			return makeZoned(a, types.Zone{Location: location(rt)})
		}).stable(),
	f("make_timestamptz(int4,int4,int4,int4,int4,float8,text) timestamptz",
		func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
			zone, err := types.ParseZoneOffset(a[6].S)
			if err != nil {
				return types.Null, err
			}
			return makeZoned(a, zone)
		}).stable(),
	f("make_interval(int4?,int4?,int4?,int4?,int4?,int4?,float8?) interval", makeInterval),
	f("to_timestamp(float8) timestamptz", lift1(types.TimestampFromUnix)),

	f("timezone(text,timestamptz) timestamp", atZone(types.ParseZone, types.Zone.ToLocal)),
	f("timezone(text,timestamp) timestamptz", atZone(types.ParseZone, types.Zone.ToUTC)),
	f("timezone(interval,timestamptz) timestamp", atZone(types.IntervalZone, types.Zone.ToLocal)),
	f("timezone(interval,timestamp) timestamptz", atZone(types.IntervalZone, types.Zone.ToUTC)),

	f("date(timestamp) date", sure1(types.TimestampToDate)),
	f("date(timestamptz) date", func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := types.UTCToLocal(a[0].I, location(rt))
		return types.NewInt(types.TimestampToDate(r)), err
	}).stable(),
	f("timestamp(date) timestamp", lift1(types.DateToTimestamp)),
	f("timestamp(date,time) timestamp", lift2(types.DatePlusTime)),
	f("timestamp(timestamptz) timestamp", zoned1(types.UTCToLocal)).stable(),
	f("timestamptz(timestamp) timestamptz", zoned1(types.LocalToUTC)).stable(),
	n("overlaps(timestamp,timestamp|interval,timestamp,timestamp|interval) bool",
		overlaps(timestampEnd)),
	n("overlaps(time,time|interval,time,time|interval) bool", overlaps(timeEnd)),
	n("overlaps(timestamptz,timestamptz,timestamptz,timestamptz) bool", overlaps(timestamptzEnd)),
	n("overlaps(timestamptz,interval,timestamptz,timestamptz|interval) bool",
		overlaps(timestamptzEnd)).stable(),
	n("overlaps(timestamptz,timestamptz,timestamptz,interval) bool",
		overlaps(timestamptzEnd)).stable(),
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

// overlaps is OVERLAPS of two periods, each a start and an end, or a start and an interval, which
// end adds to it.
func overlaps(end func(*expr.Runtime, int64, types.IntervalValue) (int64, error)) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		periods := [4]types.Datum{a[0], a[1], a[2], a[3]}
		for _, i := range []int{1, 3} {
			if rt.ArgTypes[i].Family != types.Interval {
				continue
			}
			if periods[i] = types.Null; a[i-1].Null || a[i].Null {
				continue
			}
			at, err := end(rt, a[i-1].I, a[i].Iv)
			if err != nil {
				return types.Null, err
			}
			periods[i] = types.NewInt(at)
		}
		return periodsOverlap(types.TTimestamp, periods[0], periods[1], periods[2], periods[3]), nil
	}
}

func localTimestamp(rt *expr.Runtime, _ []types.Datum) (types.Datum, error) {
	r, err := localMoment(rt)
	return types.NewInt(r), err
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

// ageToday is age of a moment at the beginning of the session's day.
func ageToday(zoned bool) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		loc := time.UTC
		today, err := midnight(rt)
		if err == nil && zoned {
			loc = location(rt)
			today, err = types.LocalToUTC(today, loc)
		}
		if err != nil {
			return types.Null, err
		}
		r, err := types.TimestampTZAge(today, a[0].I, loc)
		return types.NewInterval(r), err
	}
}

func extract[A goValue](of func(field string, from A) (types.Datum, error)) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return of(a[0].S, argument[A](&a[1]))
	}
}

func extractZoned(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return types.ExtractTimestampTZ(a[0].S, a[1].I, location(rt))
}

// extractDateAsTimestamp is for date_part, which converts a date to a timestamp.
func extractDateAsTimestamp(field string, date int64) (types.Datum, error) {
	ts, err := types.DateToTimestamp(date)
	if err != nil {
		return types.Null, err
	}
	return types.ExtractTimestamp(field, ts)
}

func datePart(extract scalar) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		d, err := extract(rt, a)
		if err != nil {
			return types.Null, err
		}
		return types.DatePartFloat(d)
	}
}

var finite = sure1(func(moment int64) bool { return !types.IsInfinite(moment) })

func makeTimestamp(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	r, err := types.MakeTimestamp(a[0].I, a[1].I, a[2].I, a[3].I, a[4].I, a[5].F)
	return types.NewInt(r), err
}

// makeZoned makes a timestamptz of the parts of a local timestamp in a zone.
func makeZoned(a []types.Datum, zone types.Zone) (types.Datum, error) {
	local, err := makeTimestamp(nil, a)
	if err != nil {
		return types.Null, err
	}
	r, err := zone.ToUTC(local.I)
	return types.NewInt(r), err
}

func makeInterval(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	var v [7]types.Datum
	copy(v[:], a)
	r, err := types.MakeInterval(v[0].I, v[1].I, v[2].I, v[3].I, v[4].I, v[5].I, v[6].F)
	return types.NewInterval(r), err
}

// atZone is AT TIME ZONE. zoneOf finds the zone that a value names.
func atZone[Z goValue](zoneOf func(Z) (types.Zone, error),
	op func(types.Zone, int64) (int64, error)) scalar {
	return lift2(func(name Z, at int64) (int64, error) {
		if types.IsInfinite(at) { // in every zone
			return at, nil
		}
		zone, err := zoneOf(name)
		if err != nil {
			return 0, err
		}
		return op(zone, at)
	})
}

// periodsOverlap is (s1, e1) OVERLAPS (s2, e2). The end of a period may come before its start, and
// one of the two may be NULL.
func periodsOverlap(t *types.Type, s1, e1, s2, e2 types.Datum) types.Datum {
	order := func(s, e *types.Datum) (known bool) {
		if s.Null && e.Null {
			return false
		}
		if s.Null || !e.Null && types.Compare(t, *s, *e) > 0 {
			*s, *e = *e, *s
		}
		return true
	}
	if !order(&s1, &e1) || !order(&s2, &e2) {
		return types.Null
	}
	before := func(a, b types.Datum) bool { return types.Compare(t, a, b) < 0 }
	if before(s2, s1) {
		s1, e1, s2, e2 = s2, e2, s1, e1
	}
	switch {
	case !before(s1, s2) && !e1.Null && !e2.Null, before(s1, s2) && !e1.Null && before(s2, e1):
		return types.NewBool(true)
	case e1.Null, e2.Null:
		return types.Null
	}
	return types.NewBool(false)
}
