package types

import (
	"strings"
	"time"
)

// truncYear rounds a year down to its decade, century or millennium.
func truncYear(f Field, y int) int {
	switch f {
	case FieldMillennium:
		if y > 0 {
			return (y+999)/1000*1000 - 999
		}
		return -((999-(y-1))/1000)*1000 + 1
	case FieldCentury:
		if y > 0 {
			return (y+99)/100*100 - 99
		}
		return -((99-(y-1))/100)*100 + 1
	case FieldDecade:
		return floorDiv(y, 10) * 10
	}
	return y
}

// truncLocal truncates a finite local timestamp to a unit that truncField has found.
func truncLocal(f Field, ts int64) int64 {
	days, us := splitTimestamp(ts)
	if unit := clockUnits[f]; unit > 0 {
		return ts - us%unit
	}
	switch f {
	case FieldDay:
		return ts - us
	case FieldWeek:
		jd := int(days) + epochJulian
		return (days - int64(weekdayMonday(jd))) * MicrosPerDay
	case FieldMonth, FieldQuarter, FieldYear, FieldDecade, FieldCentury, FieldMillennium:
		y, m, _ := DateToYMD(days)
		switch f {
		case FieldMonth:
		case FieldQuarter:
			m = (m-1)/3*3 + 1
		default:
			y, m = truncYear(f, y), 1
		}
		return int64(julianDay(y, m, 1)-epochJulian) * MicrosPerDay
	}
	return 0
}

// truncField finds a unit to truncate to. Parts that are no units, such as epoch, are unknown here.
func truncField(name string, t *Type) (Field, error) {
	f := lookupUnit(strings.ToLower(name))
	if f < FieldMicrosecond || f > FieldMillennium {
		return FieldNone, errUnit(f != FieldNone, name, t)
	}
	return f, nil
}

// TruncTimestamp is date_trunc(name, timestamp).
func TruncTimestamp(name string, ts int64) (int64, error) {
	if IsInfinite(ts) {
		return ts, nil
	}
	f, err := truncField(name, TTimestamp)
	if err != nil {
		return 0, err
	}
	r := truncLocal(f, ts)
	if !ValidTimestamp(r) {
		return 0, errTimestampRange()
	}
	return r, nil
}

// TruncTimestampTZ is date_trunc(name, timestamptz) on loc's clocks.
func TruncTimestampTZ(name string, ts int64, loc *time.Location) (int64, error) {
	if IsInfinite(ts) {
		return ts, nil
	}
	f, err := truncField(name, TTimestampTZ)
	if err != nil {
		return 0, err
	}
	local, err := UTCToLocal(ts, loc)
	if err != nil {
		return 0, err
	}
	offset := local - ts
	r := truncLocal(f, local)
	if f >= FieldDay {
		return LocalToUTC(r, loc)
	}
	// Within a day the offset in force stays, so that a repeated hour keeps its own.
	if r -= offset; !ValidTimestamp(r) {
		return 0, errTimestampRange()
	}
	return r, nil
}

// TruncInterval is date_trunc(name, interval).
func TruncInterval(name string, iv IntervalValue) (IntervalValue, error) {
	f := lookupUnit(strings.ToLower(name))
	if unit := clockUnits[f]; unit > 0 {
		iv.Micros -= iv.Micros % unit
		return iv, nil
	}
	switch f {
	case FieldDay:
		return IntervalValue{Months: iv.Months, Days: iv.Days}, nil
	case FieldMonth:
		return IntervalValue{Months: iv.Months}, nil
	case FieldQuarter:
		return IntervalValue{Months: iv.Months / 3 * 3}, nil
	case FieldYear, FieldDecade, FieldCentury, FieldMillennium:
		months := 12 * int32(yearUnits[f])
		return IntervalValue{Months: iv.Months / months * months}, nil
	case FieldWeek:
		err := errUnit(true, name, TInterval)
		return IntervalValue{}, withDetail(err, "Months usually have fractional weeks.")
	}
	return IntervalValue{}, errUnit(f != FieldNone, name, TInterval)
}
