package types

import "strconv"

// ivParts are the fields that an interval is shown in.
type ivParts struct {
	year, mon, day, hour, min, sec, usec int64
}

func partsOf(iv IntervalValue) ivParts {
	us := iv.Micros
	return ivParts{
		year: int64(iv.Months / 12), mon: int64(iv.Months % 12), day: int64(iv.Days),
		hour: us / MicrosPerHour, min: us / MicrosPerMinute % 60, sec: us / MicrosPerSecond % 60,
		usec: us % MicrosPerSecond,
	}
}

func abs64(v int64) int64 { return max(v, -v) }

func (p *ivParts) timeNegative() bool { return p.hour < 0 || p.min < 0 || p.sec < 0 || p.usec < 0 }
func (p *ivParts) hasTime() bool {
	return p.hour != 0 || p.min != 0 || p.sec != 0 || p.usec != 0
}

// AppendInterval writes an interval in the IntervalStyle.
func AppendInterval(dst []byte, iv IntervalValue, style string) []byte {
	p := partsOf(iv)
	switch style {
	case "iso_8601":
		return appendIntervalISO(dst, p)
	case "sql_standard":
		return appendIntervalSQL(dst, p)
	case "postgres_verbose":
		return appendIntervalVerbose(dst, p)
	}
	return appendIntervalPostgres(dst, p)
}

// appendSeconds writes |sec|[.fraction], two digits wide when padded.
func appendSeconds(dst []byte, p *ivParts, pad bool) []byte {
	sec := abs64(p.sec)
	if pad {
		dst = appendPad2(dst, int(sec))
	} else {
		dst = strconv.AppendInt(dst, sec, 10)
	}
	return appendFraction(dst, int(abs64(p.usec)))
}

// appendHours writes |hours| with at least two digits.
func appendHours(dst []byte, h int64) []byte {
	h = abs64(h)
	if h < 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, h, 10)
}

func appendIntervalPostgres(dst []byte, p ivParts) []byte {
	isZero, isBefore := true, false
	part := func(v int64, unit string) {
		if v == 0 {
			return
		}
		if !isZero {
			dst = append(dst, ' ')
		}
		if isBefore && v > 0 {
			dst = append(dst, '+')
		}
		dst = append(append(strconv.AppendInt(dst, v, 10), ' '), unit...)
		if v != 1 {
			dst = append(dst, 's')
		}
		isBefore, isZero = v < 0, false
	}
	part(p.year, "year")
	part(p.mon, "mon")
	part(p.day, "day")
	if !isZero && !p.hasTime() {
		return dst
	}
	if !isZero {
		dst = append(dst, ' ')
	}
	switch {
	case p.timeNegative():
		dst = append(dst, '-')
	case isBefore:
		dst = append(dst, '+')
	}
	dst = append(appendHours(dst, p.hour), ':')
	dst = append(appendPad2(dst, int(abs64(p.min))), ':')
	return appendSeconds(dst, &p, true)
}

// signs reports whether there are parts below zero, and whether there are parts above.
func (p *ivParts) signs() (neg, pos bool) {
	neg = p.year < 0 || p.mon < 0 || p.day < 0 || p.timeNegative()
	pos = p.year > 0 || p.mon > 0 || p.day > 0 || p.hour > 0 || p.min > 0 || p.sec > 0 ||
		p.usec > 0
	return neg, pos
}

func appendIntervalSQL(dst []byte, p ivParts) []byte {
	neg, pos := p.signs()
	hasYM := p.year != 0 || p.mon != 0
	hasDT := p.day != 0 || p.hasTime()
	standard := !(neg && pos) && !(hasYM && hasDT)
	sign := func(minus bool) {
		if minus {
			dst = append(dst, '-')
		} else {
			dst = append(dst, '+')
		}
	}
	number := func(v int64) { dst = strconv.AppendInt(dst, abs64(v), 10) }
	clock := func() {
		number(p.hour)
		dst = append(appendPad2(append(dst, ':'), int(abs64(p.min))), ':')
		dst = appendSeconds(dst, &p, true)
	}
	if neg && standard {
		dst = append(dst, '-')
	}
	switch {
	case !neg && !pos:
		dst = append(dst, '0')
	case !standard:
		sign(p.year < 0 || p.mon < 0)
		number(p.year)
		dst = append(dst, '-')
		number(p.mon)
		dst = append(dst, ' ')
		sign(p.day < 0)
		number(p.day)
		dst = append(dst, ' ')
		sign(p.timeNegative())
		clock()
	case hasYM:
		number(p.year)
		dst = append(dst, '-')
		number(p.mon)
	case p.day != 0:
		number(p.day)
		dst = append(dst, ' ')
		clock()
	default:
		clock()
	}
	return dst
}

func appendIntervalISO(dst []byte, p ivParts) []byte {
	if p == (ivParts{}) {
		return append(dst, "PT0S"...)
	}
	part := func(v int64, unit byte) {
		if v != 0 {
			dst = append(strconv.AppendInt(dst, v, 10), unit)
		}
	}
	dst = append(dst, 'P')
	part(p.year, 'Y')
	part(p.mon, 'M')
	part(p.day, 'D')
	if p.hasTime() {
		dst = append(dst, 'T')
	}
	part(p.hour, 'H')
	part(p.min, 'M')
	if p.sec != 0 || p.usec != 0 {
		if p.sec < 0 || p.usec < 0 {
			dst = append(dst, '-')
		}
		dst = append(appendSeconds(dst, &p, false), 'S')
	}
	return dst
}

func appendIntervalVerbose(dst []byte, p ivParts) []byte {
	isZero, isBefore := true, false
	part := func(v int64, unit string) {
		if v == 0 {
			return
		}
		if isZero {
			isBefore, v = v < 0, abs64(v)
		} else if isBefore {
			v = -v
		}
		dst = append(append(strconv.AppendInt(append(dst, ' '), v, 10), ' '), unit...)
		if v != 1 {
			dst = append(dst, 's')
		}
		isZero = false
	}
	dst = append(dst, '@')
	part(p.year, "year")
	part(p.mon, "mon")
	part(p.day, "day")
	part(p.hour, "hour")
	part(p.min, "min")
	if p.sec != 0 || p.usec != 0 {
		dst = append(dst, ' ')
		switch neg := p.sec < 0 || p.sec == 0 && p.usec < 0; {
		case neg && isZero:
			isBefore = true
		case neg != isBefore:
			dst = append(dst, '-')
		}
		dst = append(appendSeconds(dst, &p, false), " sec"...)
		if abs64(p.sec) != 1 || p.usec != 0 {
			dst = append(dst, 's')
		}
		isZero = false
	}
	if isZero {
		dst = append(dst, " 0"...)
	}
	if isBefore {
		dst = append(dst, " ago"...)
	}
	return dst
}
