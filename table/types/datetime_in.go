package types

import (
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
)

func (f *Format) now() int64 {
	t := f.Now
	if t.IsZero() {
		t = time.Now()
	}
	return TimestampFromTime(t)
}

func decodeInput(s string, f *Format, timeOnly bool) (*dateDecoder, error) {
	if f == nil {
		f = &DefaultFormat
	}
	fields, err := lexDateTime(s)
	if err != nil {
		return nil, err
	}
	d := &dateDecoder{fields: fields, format: f, timeOnly: timeOnly}
	return d, d.decode()
}

// ParseDate reads a date as PostgreSQL's date_in.
func ParseDate(s string, f *Format) (int64, error) {
	if v, ok := fastDate(s); ok {
		return v, nil
	}
	d, err := decodeInput(s, f, false)
	if err != nil {
		return 0, dateTimeError(err, "date", s)
	}
	switch d.special {
	case wordLate:
		return PosInfinity, nil
	case wordEarly:
		return NegInfinity, nil
	case wordEpoch:
		return unixEpochDay, nil
	}
	v, ok := DateFromYMD(d.c.year, d.c.month, d.c.day)
	if !ok {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range: \"%s\"", s)
	}
	return v, nil
}

// fastDate reads exactly YYYY-MM-DD.
func fastDate(s string) (int64, bool) {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	n := [3]int{}
	for i, r := range [3][2]int{{0, 4}, {5, 7}, {8, 10}} {
		for _, c := range []byte(s[r[0]:r[1]]) {
			if !isDigit(c) {
				return 0, false
			}
			n[i] = n[i]*10 + int(c-'0')
		}
	}
	if n[0] == 0 {
		return 0, false
	}
	return DateFromYMD(n[0], n[1], n[2])
}

// ParseTime reads a time of day as PostgreSQL's time_in, rounded to the modifier's precision.
func ParseTime(s string, mod int32, f *Format) (int64, error) {
	d, err := decodeInput(s, f, true)
	if err == nil {
		_, err = d.timeOffset() // a zone that needs a date is refused here too
	}
	if err != nil {
		return 0, dateTimeError(err, "time", s)
	}
	return roundMicros(d.c.micros(), mod), nil
}

// ParseTimestamp reads a timestamp as PostgreSQL's timestamp_in; a zone in it is ignored.
func ParseTimestamp(s string, mod int32, f *Format) (int64, error) {
	return parseMoment(s, mod, f, "timestamp", false)
}

// ParseTimestampTZ reads a timestamp with time zone, in the format's location when it names none.
func ParseTimestampTZ(s string, mod int32, f *Format) (int64, error) {
	return parseMoment(s, mod, f, "timestamp with time zone", true)
}

func parseMoment(s string, mod int32, f *Format, typ string, zoned bool) (int64, error) {
	d, err := decodeInput(s, f, false)
	if err != nil {
		return 0, dateTimeError(err, typ, s)
	}
	var ts int64
	switch d.special {
	case wordLate:
		return PosInfinity, nil
	case wordEarly:
		return NegInfinity, nil
	case wordEpoch:
		ts = unixEpochDay * MicrosPerDay
	default:
		outOfRange := sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range: \"%s\"", s)
		days, ok := d.c.roughTimestamp()
		if !ok {
			return 0, outOfRange
		}
		ts = days
		if zoned {
			off := d.offset
			switch {
			case d.zone.Location != nil:
				off = d.zone.localOffset(ts)
			case !d.has(fieldZone):
				off = localOffset(ts, d.format.Location)
			}
			ts -= int64(off) * MicrosPerSecond
		}
		if !ValidTimestamp(ts) {
			return 0, outOfRange
		}
	}
	return RoundTimestamp(ts, mod)
}

// roughTimestamp is timestamp without the last range check: a zone may still bring it in range.
func (c *civil) roughTimestamp() (int64, bool) {
	if c.year < -4713 || c.year > 294277 {
		return 0, false
	}
	ts, ok := addInt64(c.date()*MicrosPerDay, c.micros())
	return ts, ok || c.micros() == 0
}
