package types

import (
	"cmp"
	"math"
	"math/bits"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
)

// IntervalNeg returns -iv.
func IntervalNeg(iv IntervalValue) (IntervalValue, error) {
	if iv.Months == math.MinInt32 || iv.Days == math.MinInt32 || iv.Micros == math.MinInt64 {
		return IntervalValue{}, errIntervalRange()
	}
	return IntervalValue{Months: -iv.Months, Days: -iv.Days, Micros: -iv.Micros}, nil
}

// IntervalAdd returns a + b, field by field.
func IntervalAdd(a, b IntervalValue) (IntervalValue, error) {
	m, ok1 := addInt32(a.Months, b.Months)
	d, ok2 := addInt32(a.Days, b.Days)
	us, ok3 := addInt64(a.Micros, b.Micros)
	if !ok1 || !ok2 || !ok3 && b.Micros != 0 {
		return IntervalValue{}, errIntervalRange()
	}
	return IntervalValue{Months: m, Days: d, Micros: us}, nil
}

// IntervalSub returns a - b, field by field.
func IntervalSub(a, b IntervalValue) (IntervalValue, error) {
	us, ok := subInt64(a.Micros, b.Micros)
	if !ok && b.Micros != 0 {
		return IntervalValue{}, errIntervalRange()
	}
	return newInterval(int64(a.Months)-int64(b.Months), int64(a.Days)-int64(b.Days), us)
}

func newInterval(months, days, micros int64) (IntervalValue, error) {
	if !fitsInt32(months) || !fitsInt32(days) {
		return IntervalValue{}, errIntervalRange()
	}
	return IntervalValue{Months: int32(months), Days: int32(days), Micros: micros}, nil
}

func fitsInt32(v int64) bool { return v >= math.MinInt32 && v <= math.MaxInt32 }

// roundSecs rounds to microseconds, as PostgreSQL's TSROUND.
func roundSecs(x float64) float64 { return math.RoundToEven(x*1e6) / 1e6 }

// IntervalMul multiplies, passing fractions of months to days and of days to the time.
func IntervalMul(iv IntervalValue, f float64) (IntervalValue, error) {
	return scaleInterval(iv, func(x float64) float64 { return x * f })
}

// IntervalDiv divides, passing fractions of months to days and of days to the time.
func IntervalDiv(iv IntervalValue, f float64) (IntervalValue, error) {
	if f == 0 {
		return IntervalValue{}, errDivZero()
	}
	return scaleInterval(iv, func(x float64) float64 { return x / f })
}

func scaleInterval(iv IntervalValue, scale func(float64) float64) (IntervalValue, error) {
	months, days := scale(float64(iv.Months)), scale(float64(iv.Days))
	if !fitsFloat32Int(months) || !fitsFloat32Int(days) {
		return IntervalValue{}, errIntervalRange()
	}
	m, d := math.Trunc(months), math.Trunc(days)
	monthDays := roundSecs((months - m) * daysPerMonth)
	sec := roundSecs((days - d + monthDays - math.Trunc(monthDays)) * secondsPerDay)
	day := int64(d)
	if math.Abs(sec) >= secondsPerDay {
		whole := math.Trunc(sec / secondsPerDay)
		day += int64(whole)
		sec -= whole * secondsPerDay
	}
	day += int64(monthDays)
	us := math.RoundToEven(scale(float64(iv.Micros)) + sec*1e6)
	if math.IsNaN(us) || us < math.MinInt64 || us >= math.MaxInt64 {
		return IntervalValue{}, errIntervalRange()
	}
	return newInterval(int64(m), day, int64(us))
}

func fitsFloat32Int(f float64) bool { return f >= math.MinInt32 && f <= math.MaxInt32 }

// intervalSpan is the interval in microseconds with months of 30 days and days of 24 hours: a
// 128-bit number, hi signed.
func intervalSpan(iv IntervalValue) (hi int64, lo uint64) {
	days := int64(iv.Months)*daysPerMonth + int64(iv.Days)
	neg := days < 0
	if neg {
		days = -days
	}
	h, l := bits.Mul64(uint64(days), uint64(MicrosPerDay))
	if neg {
		var borrow uint64
		l, borrow = bits.Sub64(0, l, 0)
		h, _ = bits.Sub64(0, h, borrow)
	}
	l, carry := bits.Add64(l, uint64(iv.Micros), 0)
	h, _ = bits.Add64(h, uint64(iv.Micros>>63), carry)
	return int64(h), l
}

// IntervalSpan returns the value by which intervals are ordered: microseconds with months of 30
// days and days of 24 hours, as a 128-bit two's complement number.
func IntervalSpan(iv IntervalValue) (hi int64, lo uint64) { return intervalSpan(iv) }

// IntervalDuration is an interval as a time to wait: months of 30 days, and days of 24 hours.
func IntervalDuration(iv IntervalValue) time.Duration {
	const most = 1 << 62 // nanoseconds, 146 years
	hi, lo := intervalSpan(iv)
	switch {
	case hi < 0:
		return -1
	case hi > 0 || lo > most/1000:
		return most
	}
	return time.Duration(lo) * time.Microsecond
}

// IntervalCmp orders intervals with months of 30 days and days of 24 hours.
func IntervalCmp(a, b IntervalValue) int {
	ah, al := intervalSpan(a)
	bh, bl := intervalSpan(b)
	return cmp.Or(cmp.Compare(ah, bh), cmp.Compare(al, bl))
}

// JustifyHours turns whole days of time into days.
func JustifyHours(iv IntervalValue) (IntervalValue, error) {
	day, us := sameSign(int64(iv.Days)+iv.Micros/MicrosPerDay, iv.Micros%MicrosPerDay, MicrosPerDay)
	return newInterval(int64(iv.Months), day, us)
}

// sameSign gives a number of units and what is left of one the same sign.
func sameSign(units, rest, unit int64) (int64, int64) {
	switch {
	case units > 0 && rest < 0:
		return units - 1, rest + unit
	case units < 0 && rest > 0:
		return units + 1, rest - unit
	}
	return units, rest
}

// JustifyDays turns each 30 days into a month.
func JustifyDays(iv IntervalValue) (IntervalValue, error) {
	days := int64(iv.Days)
	month, day := sameSign(int64(iv.Months)+days/daysPerMonth, days%daysPerMonth, daysPerMonth)
	return newInterval(month, day, iv.Micros)
}

// JustifyInterval is JustifyHours and JustifyDays together, with one sign for all fields.
func JustifyInterval(iv IntervalValue) (IntervalValue, error) {
	day := int64(iv.Days) + iv.Micros/MicrosPerDay
	us := iv.Micros % MicrosPerDay
	month := int64(iv.Months) + day/daysPerMonth
	day %= daysPerMonth
	switch {
	case month > 0 && (day < 0 || day == 0 && us < 0):
		day += daysPerMonth
		month--
	case month < 0 && (day > 0 || day == 0 && us > 0):
		day -= daysPerMonth
		month++
	}
	day, us = sameSign(day, us, MicrosPerDay)
	return newInterval(month, day, us)
}

// MakeInterval builds an interval of its parts.
func MakeInterval(years, months, weeks, days, hours, mins int64, secs float64) (IntervalValue,
	error) {
	m := years*12 + months
	d := weeks*7 + days
	us := float64(hours)*float64(MicrosPerHour) + float64(mins)*float64(MicrosPerMinute) + secs*1e6
	if math.IsNaN(us) || math.IsInf(us, 0) || math.Abs(us) >= math.MaxInt64 {
		return IntervalValue{}, errIntervalRange()
	}
	whole := hours*MicrosPerHour + mins*MicrosPerMinute
	return newInterval(m, d, whole+int64(math.RoundToEven(secs*1e6)))
}

// IntervalWithMod applies an interval type modifier: which fields are kept, and to what fraction
// the seconds are rounded.
func IntervalWithMod(iv IntervalValue, mod int32) (IntervalValue, error) {
	if mod < 0 {
		return iv, nil
	}
	fields, precision := IntervalModParts(mod)
	us := iv.Micros
	switch fields {
	case IntervalYear:
		iv.Months, iv.Days, us = iv.Months/12*12, 0, 0
	case IntervalMonth, IntervalYear | IntervalMonth:
		iv.Days, us = 0, 0
	case IntervalDay:
		us = 0
	case IntervalHour, IntervalDay | IntervalHour:
		us = us / MicrosPerHour * MicrosPerHour
	case IntervalMinute, IntervalHour | IntervalMinute, IntervalDay | IntervalHour | IntervalMinute:
		us = us / MicrosPerMinute * MicrosPerMinute
	}
	iv.Micros = roundMicros(us, precision)
	return iv, nil
}

// Field bits of an interval type modifier's upper half.
const (
	IntervalMonth     = 1 << 1
	IntervalYear      = 1 << 2
	IntervalDay       = 1 << 3
	IntervalHour      = 1 << 10
	IntervalMinute    = 1 << 11
	IntervalSecond    = 1 << 12
	IntervalFullRange = 0x7fff
)

// IntervalModParts splits an interval type modifier; precision is -1 when not given.
func IntervalModParts(mod int32) (fields int, precision int32) {
	precision = mod & 0xffff
	if precision == 0xffff {
		precision = -1
	}
	return int(mod>>16) & 0x7fff, precision
}

// IntervalToTime is the cast of an interval to time: its time within a day.
func IntervalToTime(iv IntervalValue) int64 {
	r := iv.Micros % MicrosPerDay
	if r < 0 {
		r += MicrosPerDay
	}
	return r
}

func errIntervalField(s string) *sqlerr.Error {
	return sqlerr.New(sqlerr.IntervalFieldOverflow, "interval field value out of range: \"%s\"", s)
}
