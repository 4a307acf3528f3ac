package builtin

import (
	"time"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

var timeTZFunctions = []def{
	f("current_time() timetz", currentTime).stable(),
	f("current_time(int4) timetz", func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		now, err := currentTime(rt, nil)
		if err != nil {
			return types.Null, err
		}
		t := types.TTimeTZ.WithMod(int32(min(max(a[0].I, 0), 6)))
		return types.Cast(now, t, t, true, &rt.Format)
	}).stable(),
	f("extract(text,timetz) numeric", extractTimeTZ),
	f("date_part(text,timetz) float8", datePartTimeTZ),
	f("timezone(text,timetz) timetz", timeTZAtZone(types.ParseZone)).stable(),
	f("timezone(interval,timetz) timetz", timeTZAtZone(types.IntervalZone)),
	f("timestamptz(date,timetz) timestamptz", datePlusTimeTZ),
	n("overlaps(timetz,timetz,timetz,timetz) bool", func(_ *expr.Runtime,
		a []types.Datum) (types.Datum, error) {
		return periodsOverlap(types.TTimeTZ, a[0], a[1], a[2], a[3]), nil
	}),
}

var timeTZOperators = []def{
	f("+(timetz,interval) timetz", timeTZPlus),
	f("+(interval,timetz) timetz", swapped(timeTZPlus)),
	f("-(timetz,interval) timetz", func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		back := types.IntervalValue{Micros: -(a[1].Iv.Micros % types.MicrosPerDay)}
		return types.ZonedTimeOf(a[0]).Plus(back).Datum(), nil
	}),
	f("+(date,timetz) timestamptz", datePlusTimeTZ),
	f("+(timetz,date) timestamptz", swapped(datePlusTimeTZ)),
}

func currentTime(rt *expr.Runtime, _ []types.Datum) (types.Datum, error) {
	now := types.NewInt(types.TimestampFromTime(rt.TxnTime))
	return types.Cast(now, types.TTimestampTZ, types.TTimeTZ, true, &rt.Format)
}

func extractTimeTZ(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return types.ExtractTimeTZ(a[0].S, types.ZonedTimeOf(a[1]))
}

// datePartTimeTZ computes the epoch in floating point, as PostgreSQL does.
func datePartTimeTZ(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if field, _ := types.ParseField(a[0].S); field == types.FieldEpoch {
		t := types.ZonedTimeOf(a[1])
		seconds := float64(t.Micros) / float64(types.MicrosPerSecond)
		return types.NewFloat(seconds + float64(t.West)), nil
	}
	return datePart(extractTimeTZ)(rt, a)
}

// timeTZAtZone is AT TIME ZONE: the same instant at the offset that the zone has now.
func timeTZAtZone[A goValue](zone func(A) (types.Zone, error)) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		z, err := zone(argument[A](&a[0]))
		if err != nil {
			return types.Null, err
		}
		now := rt.TxnTime
		if now.IsZero() {
			now = time.Now()
		}
		west := z.OffsetNow(types.TimestampFromTime(now))
		return types.ZonedTimeOf(a[1]).In(west).Datum(), nil
	}
}

func timeTZPlus(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return types.ZonedTimeOf(a[0]).Plus(a[1].Iv).Datum(), nil
}

func datePlusTimeTZ(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	ts, err := types.DatePlusTimeTZ(a[0].I, types.ZonedTimeOf(a[1]))
	return types.NewInt(ts), err
}
