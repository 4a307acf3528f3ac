package types

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
)

// ZonedTime is a time of day, in microseconds, with an offset from UTC.
type ZonedTime struct {
	Micros int64
	West   int32 // seconds west of UTC
}

// zonedTimeLen is the length of a timetz's value: eight bytes of the time in UTC, four of the
// offset, each with its sign flipped. So the order of the bytes is PostgreSQL's: by the instant,
// then by the offset.
const zonedTimeLen = 12

func (t ZonedTime) utc() int64 { return t.Micros + int64(t.West)*MicrosPerSecond }

// Datum returns the value of type timetz.
func (t ZonedTime) Datum() Datum {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, zonedTimeLen), uint64(t.utc())^1<<63)
	return Datum{S: string(binary.BigEndian.AppendUint32(b, uint32(t.West)^1<<31))}
}

// ZonedTimeOf returns what a datum of type timetz holds.
func ZonedTimeOf(d Datum) ZonedTime {
	if len(d.S) != zonedTimeLen {
		return ZonedTime{}
	}
	b := []byte(d.S)
	west := int32(binary.BigEndian.Uint32(b[8:]) ^ 1<<31)
	utc := int64(binary.BigEndian.Uint64(b) ^ 1<<63)
	return ZonedTime{Micros: utc - int64(west)*MicrosPerSecond, West: west}
}

// In returns the same instant at another offset, in seconds west of UTC.
func (t ZonedTime) In(west int32) ZonedTime {
	us := (t.utc() - int64(west)*MicrosPerSecond) % MicrosPerDay
	if us < 0 {
		us += MicrosPerDay
	}
	return ZonedTime{Micros: us, West: west}
}

// Plus adds an interval's time, wrapping at midnight.
func (t ZonedTime) Plus(iv IntervalValue) ZonedTime {
	return ZonedTime{Micros: TimePlusInterval(t.Micros, iv), West: t.West}
}

// timeTZOfTimestampTZ returns the time of day of a finite timestamptz in a zone.
func timeTZOfTimestampTZ(ts int64, loc *time.Location) (ZonedTime, error) {
	local, err := UTCToLocal(ts, loc)
	return ZonedTime{Micros: TimestampToTimeOfDay(local), West: -int32(utcOffset(ts, loc))}, err
}

// timeTZOfTime gives a time the offset that the format's zone has today at that time.
func timeTZOfTime(us int64, f *Format) (ZonedTime, error) {
	today, err := UTCToLocal(f.now(), f.Location)
	if err != nil {
		return ZonedTime{}, err
	}
	at := today - TimestampToTimeOfDay(today) + us
	return ZonedTime{Micros: us, West: -int32(localOffset(at, f.Location))}, nil
}

// OffsetNow returns how many seconds west of UTC the zone's clocks are at a timestamptz.
func (z Zone) OffsetNow(ts int64) int32 {
	if offset, ok := z.meaning(ts); ok {
		return -int32(offset)
	}
	return -int32(utcOffset(ts, z.Location))
}

func appendTimeTZ(dst []byte, d Datum) []byte {
	t := ZonedTimeOf(d)
	return appendOffset(AppendTime(dst, t.Micros), -int(t.West))
}

// parseTimeTZ reads a time with a zone. Without one it has the zone of the format; a zone whose
// offset changes needs a date, which the time may have.
func parseTimeTZ(s string, mod int32, f *Format) (Datum, error) {
	d, err := decodeInput(s, f, true)
	var west int32
	if err == nil {
		west, err = d.timeOffset()
	}
	if err != nil {
		return Datum{}, dateTimeError(err, "time with time zone", s)
	}
	return ZonedTime{Micros: roundMicros(d.c.micros(), mod), West: west}.Datum(), nil
}

// timeOffset returns the offset of a time that was read, in seconds west of UTC.
func (d *dateDecoder) timeOffset() (int32, error) {
	dated := d.mask&fieldsDate != 0
	switch {
	case dated && !d.has(fieldsDate):
		return 0, errDTFormat
	case d.has(fieldZone) && d.zone.Location == nil:
		return -int32(d.offset), nil
	case d.has(fieldZone) && d.zone.abbrev == "" && !dated:
		start, end := time.Unix(0, 0).In(d.zone.Location).ZoneBounds()
		if !start.IsZero() || !end.IsZero() {
			return 0, errDTFormat
		}
		return -int32(utcOffset(0, d.zone.Location)), nil
	}
	zone := d.zone
	if !d.has(fieldZone) {
		zone = Zone{Location: d.format.Location}
	}
	at, ok := int64(0), true
	if dated {
		at, ok = d.c.roughTimestamp()
	} else {
		today, err := UTCToLocal(d.format.now(), d.format.Location)
		if err != nil {
			return 0, err
		}
		at = today - TimestampToTimeOfDay(today) + d.c.micros()
	}
	if !ok {
		return 0, errDTField
	}
	return -int32(zone.localOffset(at)), nil
}

// zoneLimit is above the largest offset, in seconds.
const zoneLimit = 16 * 3600

func parseTimeTZBinary(b []byte) (Datum, error) {
	t := ZonedTime{Micros: int64(binary.BigEndian.Uint64(b)),
		West: int32(binary.BigEndian.Uint32(b[8:]))}
	switch {
	case t.Micros < 0 || t.Micros > MicrosPerDay:
		return Datum{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "time out of range")
	case t.West <= -zoneLimit || t.West >= zoneLimit:
		return Datum{}, sqlerr.New("22009", "time zone displacement out of range")
	}
	return t.Datum(), nil
}

func appendTimeTZBinary(dst []byte, d Datum) []byte {
	t := ZonedTimeOf(d)
	dst = binary.BigEndian.AppendUint64(dst, uint64(t.Micros))
	return binary.BigEndian.AppendUint32(dst, uint32(t.West))
}

func timeTZWithMod(d Datum, mod int32) Datum {
	t := ZonedTimeOf(d)
	t.Micros = roundMicros(t.Micros, mod)
	return t.Datum()
}

// DatePlusTimeTZ is the timestamptz of a date and a time with its offset.
func DatePlusTimeTZ(date int64, t ZonedTime) (int64, error) {
	if IsInfinite(date) {
		return date, nil
	}
	ts, ok := int64(0), false
	if date > math.MinInt32 && date < math.MaxInt32 {
		ts, ok = addInt64(date*MicrosPerDay, t.utc())
	}
	if !ok || !ValidTimestamp(ts) {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range for timestamp")
	}
	return ts, nil
}

// ExtractTimeTZ is extract(name from timetz).
func ExtractTimeTZ(name string, t ZonedTime) (Datum, error) {
	f, known := ParseField(name)
	var v int64
	switch f {
	case FieldTimezone:
		v = -int64(t.West)
	case FieldTimezoneHour:
		v = -int64(t.West) / 3600
	case FieldTimezoneMinute:
		v = -int64(t.West) / 60 % 60
	case FieldEpoch:
		return Datum{Dec: numericFromSigned(t.utc(), 6)}, nil
	default:
		if d, ok := clockPart(f, t.Micros); ok {
			return Datum{Dec: d}, nil
		}
		return Datum{}, errUnit(known, name, TTimeTZ)
	}
	return Datum{Dec: NumericFromInt(v)}, nil
}

// toTimeTZ is the cast of a time, or of a timestamptz, which gives NULL for the infinite ones.
func toTimeTZ(v int64, moment bool, f *Format) (Datum, error) {
	of := timeTZOfTime
	if moment {
		if IsInfinite(v) {
			return Null, nil
		}
		of = func(ts int64, f *Format) (ZonedTime, error) {
			return timeTZOfTimestampTZ(ts, f.Location)
		}
	}
	t, err := of(v, f)
	return t.Datum(), err
}
