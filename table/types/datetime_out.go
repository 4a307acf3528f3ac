package types

import (
	"strconv"
	"time"
)

func appendYear(dst []byte, y int) []byte {
	if y <= 0 {
		y = 1 - y
	}
	for least := 1000; y < least && least > 1; least /= 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, int64(y), 10)
}

func appendInfinity(dst []byte, v int64) []byte {
	if v < 0 {
		dst = append(dst, '-')
	}
	return append(dst, "infinity"...)
}

func appendParts(dst []byte, sep byte, parts ...int) []byte {
	for i, p := range parts {
		if i > 0 {
			dst = append(dst, sep)
		}
		dst = appendPad2(dst, p)
	}
	return dst
}

// appendYMD writes the date of every style except Postgres's timestamps.
func appendYMD(dst []byte, y, m, d int, f *Format) []byte {
	dmy := f.DateOrder == "DMY"
	switch f.DateStyle {
	case "SQL":
		if dmy {
			m, d = d, m
		}
		dst = appendYear(append(appendParts(dst, '/', m, d), '/'), y)
	case "German":
		dst = appendYear(append(appendParts(dst, '.', d, m), '.'), y)
	case "Postgres":
		if dmy {
			m, d = d, m
		}
		dst = appendYear(append(appendParts(dst, '-', m, d), '-'), y)
	default:
		dst = appendParts(append(appendYear(dst, y), '-'), '-', m, d)
	}
	return dst
}

// AppendDate writes a date in the format's style.
func AppendDate(dst []byte, date int64, f *Format) []byte {
	if IsInfinite(date) {
		return appendInfinity(dst, date)
	}
	y, m, d := DateToYMD(date)
	dst = appendYMD(dst, y, m, d, f)
	if y <= 0 {
		dst = append(dst, " BC"...)
	}
	return dst
}

// AppendTime writes a time of day.
func AppendTime(dst []byte, us int64) []byte {
	var c civil
	c.setMicros(us)
	return appendClock(dst, &c)
}

func appendClock(dst []byte, c *civil) []byte {
	dst = appendParts(dst, ':', c.hour, c.min, c.sec)
	return appendFraction(dst, c.usec)
}

// appendFraction writes microseconds without trailing zeros, or nothing.
func appendFraction(dst []byte, us int) []byte {
	if us == 0 {
		return dst
	}
	var b [7]byte
	b[0] = '.'
	for i := 6; i > 0; i-- {
		b[i] = byte('0' + us%10)
		us /= 10
	}
	n := 7
	for b[n-1] == '0' {
		n--
	}
	return append(dst, b[:n]...)
}

// AppendTimestamp writes a timestamp without time zone.
func AppendTimestamp(dst []byte, ts int64, f *Format) []byte {
	if IsInfinite(ts) {
		return appendInfinity(dst, ts)
	}
	return appendMoment(dst, ts, f, false, 0, "")
}

// AppendTimestampTZ writes a timestamp with time zone as the format's location shows it.
func AppendTimestampTZ(dst []byte, ts int64, f *Format) []byte {
	if IsInfinite(ts) {
		return appendInfinity(dst, ts)
	}
	off, abbrev := 0, "UTC"
	if f.Location != nil && f.Location != time.UTC {
		off, abbrev = zoneAt(ts, f.Location)
	}
	return appendMoment(dst, ts+int64(off)*MicrosPerSecond, f, true, off, abbrev)
}

func appendMoment(dst []byte, local int64, f *Format, zoned bool, off int, abbrev string) []byte {
	c := civilOf(local)
	switch f.DateStyle {
	case "Postgres":
		jd := julianDay(c.year, c.month, c.day)
		month := time.Month(c.month).String()[:3]
		dst = append(append(dst, time.Weekday((jd + 1) % 7).String()[:3]...), ' ')
		if f.DateOrder == "DMY" {
			dst = append(append(appendPad2(dst, c.day), ' '), month...)
		} else {
			dst = appendPad2(append(append(dst, month...), ' '), c.day)
		}
		dst = appendClock(append(dst, ' '), &c)
		dst = appendYear(append(dst, ' '), c.year)
	default:
		dst = appendYMD(dst, c.year, c.month, c.day, f)
		dst = appendClock(append(dst, ' '), &c)
	}
	switch {
	case !zoned:
	case f.DateStyle == "SQL" || f.DateStyle == "German" || f.DateStyle == "Postgres":
		dst = append(append(dst, ' '), abbrev...)
	default:
		dst = appendOffset(dst, off)
	}
	if c.year <= 0 {
		dst = append(dst, " BC"...)
	}
	return dst
}
