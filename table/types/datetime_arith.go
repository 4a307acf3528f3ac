package types

import (
	"math"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
)

// addMonths moves the date by months, clipping the day to the new month's length.
func (c *civil) addMonths(months int32) {
	m := c.year*12 + c.month - 1 + int(months)
	c.year = floorDiv(m, 12)
	c.month = m - c.year*12 + 1
	c.day = min(c.day, daysInMonth(c.year, c.month))
}

// TimestampPlusInterval adds months, then days, then time to a timestamp.
func TimestampPlusInterval(ts int64, iv IntervalValue) (int64, error) {
	if IsInfinite(ts) {
		return ts, nil
	}
	var ok bool
	if iv.Months != 0 {
		c := civilOf(ts)
		c.addMonths(iv.Months)
		if ts, ok = c.timestamp(); !ok {
			return 0, errTimestampRange()
		}
	}
	if iv.Days != 0 {
		if ts, ok = addDays(ts, iv.Days); !ok {
			return 0, errTimestampRange()
		}
	}
	if ts, ok = addInt64(ts, iv.Micros); !ok && iv.Micros != 0 || !ValidTimestamp(ts) {
		return 0, errTimestampRange()
	}
	return ts, nil
}

func addDays(ts int64, n int32) (int64, bool) {
	days, us := splitTimestamp(ts)
	days += int64(n)
	if days < minDate || days > endTimestamp/MicrosPerDay {
		return 0, false
	}
	ts = days*MicrosPerDay + us
	return ts, ValidTimestamp(ts)
}

// TimestampMinusInterval subtracts an interval from a timestamp.
func TimestampMinusInterval(ts int64, iv IntervalValue) (int64, error) {
	n, err := IntervalNeg(iv)
	if err != nil {
		return 0, err
	}
	return TimestampPlusInterval(ts, n)
}

// TimestampTZPlusInterval adds months and days on loc's calendar and clock, then the time.
func TimestampTZPlusInterval(ts int64, iv IntervalValue, loc *time.Location) (int64, error) {
	if IsInfinite(ts) {
		return ts, nil
	}
	if iv.Months == 0 && iv.Days == 0 || loc == time.UTC || loc == nil {
		return TimestampPlusInterval(ts, iv)
	}
	local, err := UTCToLocal(ts, loc)
	if err != nil {
		return 0, err
	}
	if iv.Months != 0 { // PostgreSQL resolves the zone after the months and again after the days
		if local, err = TimestampPlusInterval(local, IntervalValue{Months: iv.Months}); err != nil {
			return 0, err
		}
		if ts, err = LocalToUTC(local, loc); err != nil {
			return 0, err
		}
		if local, err = UTCToLocal(ts, loc); err != nil {
			return 0, err
		}
	}
	if iv.Days != 0 {
		if local, err = TimestampPlusInterval(local, IntervalValue{Days: iv.Days}); err != nil {
			return 0, err
		}
		if ts, err = LocalToUTC(local, loc); err != nil {
			return 0, err
		}
	}
	return TimestampPlusInterval(ts, IntervalValue{Micros: iv.Micros})
}

// TimestampTZMinusInterval subtracts an interval on loc's calendar.
func TimestampTZMinusInterval(ts int64, iv IntervalValue, loc *time.Location) (int64, error) {
	n, err := IntervalNeg(iv)
	if err != nil {
		return 0, err
	}
	return TimestampTZPlusInterval(ts, n, loc)
}

// TimestampDiff returns a - b in days and time.
func TimestampDiff(a, b int64) (IntervalValue, error) {
	if IsInfinite(a) || IsInfinite(b) {
		return IntervalValue{}, sqlerr.New(sqlerr.DatetimeFieldOverflow,
			"cannot subtract infinite timestamps")
	}
	d, ok := subInt64(a, b)
	if !ok && b != 0 {
		return IntervalValue{}, errIntervalRange()
	}
	return JustifyHours(IntervalValue{Micros: d})
}

// TimestampAge returns a - b in years, months and days as people count them.
func TimestampAge(a, b int64) (IntervalValue, error) {
	if !ValidTimestamp(a) || !ValidTimestamp(b) {
		return IntervalValue{}, errTimestampRange()
	}
	ca, cb := civilOf(a), civilOf(b)
	swap := a < b
	hi, lo := ca, cb
	if swap {
		hi, lo = cb, ca
	}
	us := hi.micros() - lo.micros()
	day, mon, year := hi.day-lo.day, hi.month-lo.month, hi.year-lo.year
	if us < 0 {
		us += MicrosPerDay
		day--
	}
	for day < 0 {
		// The days come from the month of the earlier moment: lo, in both directions.
		day += daysInMonth(lo.year, lo.month)
		mon--
	}
	for mon < 0 {
		mon += 12
		year--
	}
	iv := IntervalValue{Months: int32(year*12 + mon), Days: int32(day), Micros: us}
	if swap {
		return IntervalNeg(iv)
	}
	return iv, nil
}

// TimestampTZAge is TimestampAge on loc's clocks.
func TimestampTZAge(a, b int64, loc *time.Location) (IntervalValue, error) {
	la, err := UTCToLocal(a, loc)
	if err != nil {
		return IntervalValue{}, err
	}
	lb, err := UTCToLocal(b, loc)
	if err != nil {
		return IntervalValue{}, err
	}
	return TimestampAge(la, lb)
}

// DatePlusDays adds days to a date.
func DatePlusDays(d, n int64) (int64, error) {
	if IsInfinite(d) {
		return d, nil
	}
	r := d + n
	if n < math.MinInt32*2 || n > math.MaxInt32*2 || r < minDate || r >= endDate {
		return 0, errDateRange()
	}
	return r, nil
}

// DateMinusDays subtracts days from a date.
func DateMinusDays(d, n int64) (int64, error) { return DatePlusDays(d, -n) }

// DateDiff returns the days from b to a.
func DateDiff(a, b int64) (int64, error) {
	if IsInfinite(a) || IsInfinite(b) {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "cannot subtract infinite dates")
	}
	return a - b, nil
}

// DateToTimestamp returns midnight of the date.
func DateToTimestamp(d int64) (int64, error) {
	if IsInfinite(d) {
		return d, nil
	}
	if d >= endTimestamp/MicrosPerDay {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range for timestamp")
	}
	return d * MicrosPerDay, nil
}

// DateToTimestampTZ returns midnight of the date on loc's clocks.
func DateToTimestampTZ(d int64, loc *time.Location) (int64, error) {
	local, err := DateToTimestamp(d)
	if err != nil || IsInfinite(d) {
		return local, err
	}
	ts := local - int64(localOffset(local, loc))*MicrosPerSecond
	if !ValidTimestamp(ts) {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range for timestamp")
	}
	return ts, nil
}

// TimestampToDate returns the day of a timestamp.
func TimestampToDate(ts int64) int64 {
	if IsInfinite(ts) {
		return ts
	}
	d, _ := splitTimestamp(ts)
	return d
}

// TimestampToTimeOfDay returns the time of day of a finite timestamp.
func TimestampToTimeOfDay(ts int64) int64 {
	_, us := splitTimestamp(ts)
	return us
}

// DatePlusTime returns the timestamp of a time on a date.
func DatePlusTime(d, t int64) (int64, error) {
	ts, err := DateToTimestamp(d)
	if err != nil || IsInfinite(ts) {
		return ts, err
	}
	if ts += t; !ValidTimestamp(ts) {
		return 0, errTimestampRange()
	}
	return ts, nil
}

// TimePlusInterval adds the interval's time, wrapping at midnight.
func TimePlusInterval(t int64, iv IntervalValue) int64 {
	r := (t + iv.Micros%MicrosPerDay) % MicrosPerDay
	if r < 0 {
		r += MicrosPerDay
	}
	return r
}

// TimeMinusInterval subtracts the interval's time, wrapping at midnight.
func TimeMinusInterval(t int64, iv IntervalValue) int64 {
	return TimePlusInterval(t, IntervalValue{Micros: -(iv.Micros % MicrosPerDay)})
}

// RoundTimestamp rounds to the number of fractional digits of a type modifier, 0 to 6.
func RoundTimestamp(ts int64, digits int32) (int64, error) {
	if digits < 0 || digits >= 6 || IsInfinite(ts) {
		return ts, nil
	}
	r := roundMicros(ts, digits)
	if !ValidTimestamp(r) {
		return 0, errTimestampRange()
	}
	return r, nil
}

// roundMicros rounds half away from zero to 10^-digits seconds.
func roundMicros(us int64, digits int32) int64 {
	if digits < 0 || digits >= 6 {
		return us
	}
	unit := int64(1)
	for range 6 - digits {
		unit *= 10
	}
	if us >= 0 {
		if us > math.MaxInt64-unit/2 {
			return us
		}
		return (us + unit/2) / unit * unit
	}
	if us < math.MinInt64+unit/2 {
		return us
	}
	return -((-us + unit/2) / unit * unit)
}

// MakeDate builds a date; negative years are BC.
func MakeDate(y, m, d int64) (int64, error) {
	yy := y
	if y < 0 {
		yy = y + 1
	}
	if v, ok := DateFromYMD(clampInt(yy), clampInt(m), clampInt(d)); ok && y != 0 {
		return v, nil
	}
	if y != 0 && m >= 1 && m <= 12 && d >= 1 && d <= 31 &&
		d <= int64(daysInMonth(int(yy%400)+400, int(m))) {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range: %d-%02d-%02d", yy, m,
			d)
	}
	return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow,
		"date field value out of range: %d-%02d-%02d", y, m, d)
}

func clampInt(v int64) int { return int(min(max(v, -10_000_000), 10_000_000)) }

// MakeTime builds a time of day.
func MakeTime(h, m int64, sec float64) (int64, error) {
	us := math.RoundToEven(sec * 1e6)
	if h < 0 || h > 24 || m < 0 || m > 59 || !(us >= 0 && us <= 60e6) {
		return 0, errTimeField(h, m, sec)
	}
	t := h*MicrosPerHour + m*MicrosPerMinute + int64(us)
	if t > MicrosPerDay {
		return 0, errTimeField(h, m, sec)
	}
	return t, nil
}

func errTimeField(h, m int64, sec float64) error {
	return sqlerr.New(sqlerr.DatetimeFieldOverflow, "time field value out of range: %d:%02d:%s", h,
		m, paddedSeconds(sec))
}

// paddedSeconds is C's %02g.
func paddedSeconds(sec float64) string {
	s := formatG(sec, 6)
	if len(s) < 2 {
		s = "0" + s
	}
	return s
}

// MakeTimestamp builds a timestamp; negative years are BC.
func MakeTimestamp(y, mo, d, h, mi int64, sec float64) (int64, error) {
	date, err := MakeDate(y, mo, d)
	if err != nil {
		return 0, err
	}
	t, err := MakeTime(h, mi, sec)
	if err != nil {
		return 0, err
	}
	if date > endTimestamp/MicrosPerDay {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow,
			"timestamp out of range: %d-%02d-%02d %d:%02d:%s", y, mo, d, h, mi, paddedSeconds(sec))
	}
	return DatePlusTime(date, t)
}

// TimestampFromUnix converts seconds since 1970, as to_timestamp(double precision) does.
func TimestampFromUnix(sec float64) (int64, error) {
	switch {
	case math.IsNaN(sec):
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp cannot be NaN")
	case math.IsInf(sec, 1):
		return PosInfinity, nil
	case math.IsInf(sec, -1):
		return NegInfinity, nil
	}
	us := math.RoundToEven((sec + unixEpochDay*secondsPerDay) * 1e6)
	if us < float64(minTimestamp) || us >= float64(endTimestamp) {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range: \"%s\"",
			formatG(sec, 6))
	}
	return int64(us), nil
}

// DateBin moves ts down to a multiple of stride from the origin: date_bin.
func DateBin(stride IntervalValue, ts, origin int64) (int64, error) {
	if IsInfinite(ts) {
		return ts, nil
	}
	if IsInfinite(origin) {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "origin out of range")
	}
	if stride.Months != 0 {
		return 0, sqlerr.New(sqlerr.FeatureNotSupported,
			"timestamps cannot be binned into intervals containing months or years")
	}
	step, ok := addInt64(int64(stride.Days)*MicrosPerDay, stride.Micros)
	if !ok && stride.Micros != 0 {
		return 0, errIntervalRange()
	}
	if step <= 0 {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "stride must be greater than zero")
	}
	diff, ok := subInt64(ts, origin)
	if !ok && origin != 0 {
		return 0, errIntervalRange()
	}
	mod := diff % step
	r := origin + diff - mod
	if mod < 0 {
		if r, ok = subInt64(r, step); !ok || !ValidTimestamp(r) {
			return 0, errTimestampRange()
		}
	}
	return r, nil
}
