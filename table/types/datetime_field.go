package types

import (
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/internal/sqlerr"
)

// Field is a unit or part of a date or time, as extract and date_trunc name them.
type Field uint8

// The fields.
const (
	FieldNone Field = iota
	FieldMicrosecond
	FieldMillisecond
	FieldSecond
	FieldMinute
	FieldHour
	FieldDay
	FieldWeek
	FieldMonth
	FieldQuarter
	FieldYear
	FieldDecade
	FieldCentury
	FieldMillennium
	FieldEpoch
	FieldDow
	FieldIsoDow
	FieldDoy
	FieldIsoYear
	FieldJulian
	FieldTimezone
	FieldTimezoneHour
	FieldTimezoneMinute
)

// unitNames are the words for units of time: in intervals, and in extract and date_trunc.
var unitNames = map[string]Field{
	"c": FieldCentury, "cent": FieldCentury, "centuries": FieldCentury, "century": FieldCentury,
	"d": FieldDay, "day": FieldDay, "days": FieldDay,
	"dec": FieldDecade, "decade": FieldDecade, "decades": FieldDecade, "decs": FieldDecade,
	"h": FieldHour, "hour": FieldHour, "hours": FieldHour, "hr": FieldHour, "hrs": FieldHour,
	"m": FieldMinute, "microsecon": FieldMicrosecond, "mil": FieldMillennium,
	"millennia": FieldMillennium, "millennium": FieldMillennium, "millenniu": FieldMillennium,
	"millisecon": FieldMillisecond, "mils": FieldMillennium, "min": FieldMinute,
	"mins": FieldMinute, "minute": FieldMinute, "minutes": FieldMinute,
	"mon": FieldMonth, "mons": FieldMonth, "month": FieldMonth, "months": FieldMonth,
	"ms": FieldMillisecond, "msec": FieldMillisecond, "msecond": FieldMillisecond,
	"mseconds": FieldMillisecond, "msecs": FieldMillisecond,
	"qtr": FieldQuarter, "quarter": FieldQuarter,
	"s": FieldSecond, "sec": FieldSecond, "second": FieldSecond, "seconds": FieldSecond,
	"secs": FieldSecond, "us": FieldMicrosecond, "usec": FieldMicrosecond,
	"usecond": FieldMicrosecond, "useconds": FieldMicrosecond, "usecs": FieldMicrosecond,
	"w": FieldWeek, "week": FieldWeek, "weeks": FieldWeek,
	"y": FieldYear, "year": FieldYear, "years": FieldYear, "yr": FieldYear, "yrs": FieldYear,
	"timezone": FieldTimezone, "timezone_h": FieldTimezoneHour, "timezone_m": FieldTimezoneMinute,
}

// clockUnits are the units of a time, in microseconds, and yearUnits those of years, in years.
var (
	clockUnits = map[Field]int64{FieldMicrosecond: 1, FieldMillisecond: 1000,
		FieldSecond: MicrosPerSecond, FieldMinute: MicrosPerMinute, FieldHour: MicrosPerHour}
	yearUnits = map[Field]int64{FieldYear: 1, FieldDecade: 10, FieldCentury: 100,
		FieldMillennium: 1000}
)

var partNames = map[string]Field{
	"epoch": FieldEpoch, "dow": FieldDow, "isodow": FieldIsoDow, "doy": FieldDoy,
	"isoyear": FieldIsoYear, "j": FieldJulian, "jd": FieldJulian, "julian": FieldJulian,
}

// lookupUnit finds a unit; like PostgreSQL it looks only at the first ten bytes of the word.
func lookupUnit(low string) Field {
	if len(low) > 10 {
		low = low[:10]
	}
	return unitNames[low]
}

// ParseField finds the field that extract, date_part or date_trunc names, in any case.
func ParseField(name string) (Field, bool) {
	low := strings.ToLower(name)
	if f := lookupUnit(low); f != FieldNone {
		return f, true
	}
	f, ok := partNames[low]
	return f, ok
}

func errUnit(known bool, name string, t *Type) error {
	typ := t.SQLName()
	if known {
		return sqlerr.New(sqlerr.FeatureNotSupported, "unit \"%s\" not supported for type %s",
			strings.ToLower(name), typ)
	}
	return sqlerr.New(sqlerr.InvalidParameterValue, "unit \"%s\" not recognized for type %s",
		strings.ToLower(name), typ)
}

func isoWeekStart(y int) int { // Julian day of the Monday of ISO week 1
	d4 := julianDay(y, 1, 4)
	return d4 - weekdayMonday(d4)
}

func weekdayMonday(jd int) int { return jd % 7 } // 0 is Monday: Julian day 0 was one

// isoWeek returns the ISO year and week of a Julian day.
func isoWeek(jd, y int) (isoYear, week int) {
	start := isoWeekStart(y)
	switch {
	case jd < start:
		y--
		start = isoWeekStart(y)
	case jd >= isoWeekStart(y+1):
		y++
		start = isoWeekStart(y)
	}
	return y, (jd-start)/7 + 1
}

// yearParts are the fields that count in years; year 0 is 1 BC on input, and there is none on
// output.
func yearPart(f Field, y int) int64 {
	switch f {
	case FieldYear:
		if y <= 0 {
			y--
		}
		return int64(y)
	case FieldDecade:
		return int64(floorDiv(y, 10))
	case FieldCentury:
		if y > 0 {
			return int64((y + 99) / 100)
		}
		return int64(-((99 - (y - 1)) / 100))
	}
	if y > 0 {
		return int64((y + 999) / 1000)
	}
	return int64(-((999 - (y - 1)) / 1000))
}

// calendarPart returns the fields of a date; ok is false for those of the time.
func calendarPart(f Field, y, m, d int) (v int64, ok bool) {
	jd := julianDay(y, m, d)
	switch f {
	case FieldDay:
		v = int64(d)
	case FieldMonth:
		v = int64(m)
	case FieldQuarter:
		v = int64((m-1)/3 + 1)
	case FieldWeek:
		_, w := isoWeek(jd, y)
		v = int64(w)
	case FieldIsoYear:
		iy, _ := isoWeek(jd, y)
		v = yearPart(FieldYear, iy)
	case FieldYear, FieldDecade, FieldCentury, FieldMillennium:
		v = yearPart(f, y)
	case FieldDow:
		v = int64((jd + 1) % 7)
	case FieldIsoDow:
		v = int64(weekdayMonday(jd) + 1)
	case FieldDoy:
		v = int64(jd - julianDay(y, 1, 1) + 1)
	default:
		return 0, false
	}
	return v, true
}

// clockPart returns the fields of a time of day or of an interval's time.
func clockPart(f Field, us int64) (*apd.Decimal, bool) {
	switch f {
	case FieldMicrosecond:
		return NumericFromInt(us % MicrosPerMinute), true
	case FieldMillisecond:
		return numericFromSigned(us%MicrosPerMinute, 3), true
	case FieldSecond:
		return numericFromSigned(us%MicrosPerMinute, 6), true
	case FieldMinute:
		return NumericFromInt(us / MicrosPerMinute % 60), true
	case FieldHour:
		return NumericFromInt(us / MicrosPerHour), true
	}
	return nil, false
}

func numericFromSigned(v int64, scale int) *apd.Decimal { return numericFromIntScale(v, scale) }

// infinitePart is extract of an infinite moment: infinity for fields that grow without bound, NULL
// for those that repeat.
func infinitePart(f Field, v int64) Datum {
	switch f {
	case FieldYear, FieldDecade, FieldCentury, FieldMillennium, FieldJulian, FieldIsoYear,
		FieldEpoch:
		return Datum{Dec: NumericInf(v == NegInfinity)}
	}
	return Null
}

// ExtractTimestamp is extract(name from timestamp): a numeric, or NULL for some fields of infinity.
func ExtractTimestamp(name string, ts int64) (Datum, error) {
	return extractTimestamp(name, ts, ts, 0, TTimestamp)
}

// ExtractTimestampTZ is extract(name from timestamptz) on loc's clocks.
func ExtractTimestampTZ(name string, ts int64, loc *time.Location) (Datum, error) {
	local, err := UTCToLocal(ts, loc)
	if err != nil {
		return Datum{}, err
	}
	return extractTimestamp(name, ts, local, utcOffset(ts, loc), TTimestampTZ)
}

func extractTimestamp(name string, ts, local int64, offset int, t *Type) (Datum, error) {
	f, known := ParseField(name)
	zoned := t.OID == OIDTimestampTZ
	switch {
	case !known:
		return Datum{}, errUnit(false, name, t)
	case IsInfinite(ts):
		return infinitePart(f, ts), nil
	case f >= FieldTimezone && !zoned:
		return Datum{}, errUnit(true, name, t)
	}
	switch f {
	case FieldEpoch:
		return Datum{Dec: epochOf(ts)}, nil
	case FieldTimezone:
		return Datum{Dec: NumericFromInt(int64(offset))}, nil
	case FieldTimezoneHour:
		return Datum{Dec: NumericFromInt(int64(offset / 3600))}, nil
	case FieldTimezoneMinute:
		return Datum{Dec: NumericFromInt(int64(offset % 3600 / 60))}, nil
	}
	days, us := splitTimestamp(local)
	if f == FieldJulian {
		frac, err := NumericDiv(NumericFromInt(us), NumericFromInt(MicrosPerDay))
		if err != nil {
			return Datum{}, err
		}
		r, err := NumericAdd(NumericFromInt(days+epochJulian), frac)
		return Datum{Dec: r}, err
	}
	if d, ok := clockPart(f, us); ok {
		return Datum{Dec: d}, nil
	}
	y, m, d := DateToYMD(days)
	if v, ok := calendarPart(f, y, m, d); ok {
		return Datum{Dec: NumericFromInt(v)}, nil
	}
	return Datum{}, errUnit(true, name, t)
}

func epochOf(ts int64) *apd.Decimal {
	const shift = -unixEpochDay * secondsPerDay * MicrosPerSecond
	if us, ok := addInt64(ts, shift); ok {
		return numericFromSigned(us, 6)
	}
	r, err := NumericAdd(numericFromSigned(ts, 6), numericFromSigned(shift, 6))
	if err != nil {
		return numericNaN
	}
	return r
}

// ExtractDate is extract(name from date).
func ExtractDate(name string, date int64) (Datum, error) {
	f, known := ParseField(name)
	if !known {
		return Datum{}, errUnit(false, name, TDate)
	}
	switch f {
	case FieldMicrosecond, FieldMillisecond, FieldSecond, FieldMinute, FieldHour,
		FieldTimezone, FieldTimezoneHour, FieldTimezoneMinute:
		return Datum{}, errUnit(true, name, TDate)
	}
	if IsInfinite(date) {
		return infinitePart(f, date), nil
	}
	switch f {
	case FieldJulian:
		return Datum{Dec: NumericFromInt(date + epochJulian)}, nil
	case FieldEpoch:
		return Datum{Dec: NumericFromInt((date - unixEpochDay) * secondsPerDay)}, nil
	}
	y, m, d := DateToYMD(date)
	v, _ := calendarPart(f, y, m, d)
	return Datum{Dec: NumericFromInt(v)}, nil
}

// ExtractTime is extract(name from time).
func ExtractTime(name string, us int64) (Datum, error) {
	f, known := ParseField(name)
	if f == FieldEpoch {
		return Datum{Dec: numericFromSigned(us, 6)}, nil
	}
	if d, ok := clockPart(f, us); ok {
		return Datum{Dec: d}, nil
	}
	return Datum{}, errUnit(known, name, TTime)
}

// ExtractInterval is extract(name from interval).
func ExtractInterval(name string, iv IntervalValue) (Datum, error) {
	f, known := ParseField(name)
	if d, ok := clockPart(f, iv.Micros); ok {
		return Datum{Dec: d}, nil
	}
	years, months := int64(iv.Months/12), int64(iv.Months%12)
	var v int64
	switch f {
	case FieldDay:
		v = int64(iv.Days)
	case FieldMonth:
		v = months
	case FieldQuarter:
		v = months/3 + 1
	case FieldYear, FieldDecade, FieldCentury, FieldMillennium:
		v = years / yearUnits[f]
	case FieldEpoch:
		// A year is 365.25 days here, and a month 30.
		sec := years*31557600 + months*daysPerMonth*secondsPerDay + int64(iv.Days)*secondsPerDay
		r, err := NumericAdd(NumericFromInt(sec), numericFromSigned(iv.Micros, 6))
		return Datum{Dec: r}, err
	default:
		return Datum{}, errUnit(known, name, TInterval)
	}
	return Datum{Dec: NumericFromInt(v)}, nil
}

// DatePartFloat turns extract's result into date_part's double precision.
func DatePartFloat(d Datum) (Datum, error) {
	if d.Null {
		return Null, nil
	}
	f, err := NumericToFloat(d.Dec)
	return Datum{F: f}, err
}
