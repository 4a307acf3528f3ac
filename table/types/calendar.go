package types

import (
	"math"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
)

// Microseconds in each unit of time.
const (
	MicrosPerSecond int64 = 1e6
	MicrosPerMinute       = 60 * MicrosPerSecond
	MicrosPerHour         = 60 * MicrosPerMinute
	MicrosPerDay          = 24 * MicrosPerHour

	secondsPerDay = 86400
	daysPerMonth  = 30 // to compare an interval's months with its days
)

// The infinities of dates and timestamps.
const (
	NegInfinity int64 = math.MinInt64
	PosInfinity int64 = math.MaxInt64
)

// The calendar's bounds, PostgreSQL's: from 4713-11-24 BC.
const (
	epochJulian  = 2451545 // Julian day of 2000-01-01
	unixEpochDay = -10957  // 1970-01-01 in days since 2000-01-01
	minDate      = -epochJulian
	endDate      = 2147483494 - epochJulian

	minTimestamp int64 = -211813488000000000
	endTimestamp int64 = 9223371331200000000
)

// ValidTimestamp reports whether ts is finite and within PostgreSQL's range.
func ValidTimestamp(ts int64) bool { return ts >= minTimestamp && ts < endTimestamp }

// IsInfinite reports whether a date or timestamp is one of the infinities.
func IsInfinite(v int64) bool { return v == NegInfinity || v == PosInfinity }

// julianDay returns the Julian day number of a Gregorian date; year 0 is 1 BC.
func julianDay(y, m, d int) int {
	if m > 2 {
		m++
		y += 4800
	} else {
		m += 13
		y += 4799
	}
	century := y / 100
	j := y*365 - 32167
	j += y/4 - century + century/4
	return j + 7834*m/256 + d
}

// julianToDate is the inverse of julianDay.
func julianToDate(jd int) (y, m, d int) {
	j := uint32(jd) + 32044
	q := j / 146097
	extra := (j-q*146097)*4 + 3
	j += 60 + q*3 + extra/146097
	q = j / 1461
	j -= q * 1461
	yy := int(j * 4 / 1461)
	if yy != 0 {
		j = (j + 305) % 365
	} else {
		j = (j + 306) % 366
	}
	j += 123
	yy += int(q) * 4
	y = yy - 4800
	q = j * 2141 / 65536
	d = int(j - 7834*q/256)
	m = int((q+10)%12) + 1
	return y, m, d
}

func isLeap(y int) bool { return y%4 == 0 && (y%100 != 0 || y%400 == 0) }

var monthDays = [12]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// daysInMonth returns the length of month m (1 to 12) of year y.
func daysInMonth(y, m int) int {
	if m == 2 && isLeap(y) {
		return 29
	}
	return monthDays[m-1]
}

// civil is a broken-down local time. Year 0 is 1 BC.
type civil struct {
	year, month, day     int
	hour, min, sec, usec int
}

func (c *civil) date() int64 { return DayNumber(c.year, c.month, c.day) }

func (c *civil) micros() int64 {
	return int64(c.hour)*MicrosPerHour + int64(c.min)*MicrosPerMinute +
		int64(c.sec)*MicrosPerSecond + int64(c.usec)
}

// timestamp returns the local timestamp; ok is false when it is out of range.
func (c *civil) timestamp() (int64, bool) {
	if c.year < -4713 || c.year > 294277 {
		return 0, false
	}
	days := c.date()
	ts := days*MicrosPerDay + c.micros()
	// days*MicrosPerDay overflows at most slightly: then the sum has the wrong sign.
	if days > 0 && ts < 0 || days < 0 && ts > 0 && days < -1 {
		return 0, false
	}
	return ts, ValidTimestamp(ts)
}

// splitTimestamp cuts a finite timestamp into days and microseconds of the day.
func splitTimestamp(ts int64) (days, micros int64) {
	days = ts / MicrosPerDay
	micros = ts - days*MicrosPerDay
	if micros < 0 {
		micros += MicrosPerDay
		days--
	}
	return days, micros
}

func (c *civil) setMicros(us int64) {
	c.hour = int(us / MicrosPerHour)
	us -= int64(c.hour) * MicrosPerHour
	c.min = int(us / MicrosPerMinute)
	us -= int64(c.min) * MicrosPerMinute
	c.sec = int(us / MicrosPerSecond)
	c.usec = int(us - int64(c.sec)*MicrosPerSecond)
}

func civilOf(ts int64) civil {
	days, us := splitTimestamp(ts)
	var c civil
	c.year, c.month, c.day = julianToDate(int(days) + epochJulian)
	c.setMicros(us)
	return c
}

// DayNumber returns the date by the calendar's arithmetic, also of a day that the month does not
// have.
func DayNumber(y, m, d int) int64 { return int64(julianDay(y, m, d) - epochJulian) }

// DateFromYMD returns the date; year 0 is 1 BC. ok is false when there is no such day or it is out
// of range.
func DateFromYMD(y, m, d int) (date int64, ok bool) {
	if m < 1 || m > 12 || d < 1 || y < -4713 || y > 5874898 || d > daysInMonth(y, m) {
		return 0, false
	}
	v := DayNumber(y, m, d)
	return v, v >= minDate && v < endDate
}

// FiniteDates returns the first and the last date that is not infinite.
func FiniteDates() (first, last int64) { return minDate, endDate - 1 }

// DateToYMD splits a finite date; year 0 is 1 BC.
func DateToYMD(date int64) (y, m, d int) { return julianToDate(int(date) + epochJulian) }

// TimestampFromTime converts a moment, truncated to microseconds, to a timestamptz.
func TimestampFromTime(t time.Time) int64 {
	return (t.Unix()+unixEpochDay*secondsPerDay)*MicrosPerSecond + int64(t.Nanosecond()/1000)
}

// TimestampToTime converts a finite timestamptz to a moment in UTC.
func TimestampToTime(ts int64) time.Time {
	sec := ts / MicrosPerSecond
	us := ts - sec*MicrosPerSecond
	if us < 0 {
		us += MicrosPerSecond
		sec--
	}
	return time.Unix(sec-unixEpochDay*secondsPerDay, us*1000).UTC()
}

func errTimestampRange() error {
	return sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range")
}
func errDateRange() error { return sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range") }
func errIntervalRange() error {
	return sqlerr.New(sqlerr.DatetimeFieldOverflow, "interval out of range")
}

// addInt64 adds, and reports whether the sum has not overflowed.
func addInt64(a, b int64) (int64, bool) {
	c := a + b
	return c, (c > a) == (b > 0)
}

func subInt64(a, b int64) (int64, bool) {
	c := a - b
	return c, (c < a) == (b > 0)
}

func addInt32(a, b int32) (int32, bool) {
	c := int64(a) + int64(b)
	return int32(c), c >= math.MinInt32 && c <= math.MaxInt32
}
