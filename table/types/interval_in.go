package types

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ParseInterval reads an interval in any of PostgreSQL's forms; mod limits its fields and rounds.
func ParseInterval(s string, mod int32) (IntervalValue, error) {
	return parseIntervalStyle(s, mod, "postgres")
}

func parseIntervalStyle(s string, mod int32, style string) (IntervalValue, error) {
	fields := IntervalFullRange
	if mod >= 0 {
		fields, _ = IntervalModParts(mod)
	}
	b := &intervalBuilder{}
	lexed, err := lexDateTime(s)
	if err == nil {
		err = b.decode(lexed, fields, style)
	}
	if errors.Is(err, errDTFormat) {
		*b = intervalBuilder{}
		err = b.decodeISO(s)
	}
	if err != nil {
		if errors.Is(err, errDTField) {
			err = errDTInterval
		}
		return IntervalValue{}, dateTimeError(err, "interval", s)
	}
	iv, err := newInterval(b.years*12+b.months, b.days, b.micros)
	if err != nil {
		return IntervalValue{}, err
	}
	return IntervalWithMod(iv, mod)
}

// intervalBuilder adds up the fields of an interval.
type intervalBuilder struct {
	years, months, days, micros int64
}

func addTo(sum *int64, v int64, lo, hi int64) bool {
	r, ok := addInt64(*sum, v)
	if !ok && v != 0 || r < lo || r > hi {
		return false
	}
	*sum = r
	return true
}

func (b *intervalBuilder) addMicros(v int64) bool {
	return addTo(&b.micros, v, math.MinInt64, math.MaxInt64)
}
func (b *intervalBuilder) addDays(v int64) bool {
	return addTo(&b.days, v, math.MinInt32, math.MaxInt32)
}
func (b *intervalBuilder) addMonths(v int64) bool {
	return addTo(&b.months, v, math.MinInt32, math.MaxInt32)
}

func mulFits(v, by int64) (int64, bool) {
	if v == 0 {
		return 0, true
	}
	r := v * by
	return r, r/by == v && !(v == math.MinInt64 && by == -1)
}

// addFraction adds frac units of scale microseconds.
func (b *intervalBuilder) addFraction(frac float64, scale int64) bool {
	if frac == 0 {
		return true
	}
	frac *= float64(scale)
	us := math.Trunc(frac)
	switch rest := frac - us; {
	case rest > 0.5:
		us++
	case rest < -0.5:
		us--
	}
	return b.addMicros(int64(us))
}

func (b *intervalBuilder) addTimeUnit(v int64, frac float64, scale int64) bool {
	us, ok := mulFits(v, scale)
	return ok && b.addMicros(us) && b.addFraction(frac, scale)
}

func (b *intervalBuilder) addDayUnit(v int64, frac float64, scale int64) bool {
	d, ok := mulFits(v, scale)
	if !ok || !b.addDays(d) {
		return false
	}
	return b.addFractionDays(frac, scale)
}

func (b *intervalBuilder) addFractionDays(frac float64, scale int64) bool {
	frac *= float64(scale)
	whole := math.Trunc(frac)
	return b.addDays(int64(whole)) && b.addFraction(frac-whole, MicrosPerDay)
}

func (b *intervalBuilder) addYearUnit(v int64, frac float64, years int64) bool {
	y, ok := mulFits(v, years)
	return ok && addTo(&b.years, y, math.MinInt32, math.MaxInt32) &&
		b.addMonths(int64(math.RoundToEven(frac*float64(years)*12)))
}

// add adds v + frac of a unit.
func (b *intervalBuilder) add(unit Field, v int64, frac float64) error {
	ok := false
	micros, years := clockUnits[unit], yearUnits[unit]
	switch {
	case micros > 0:
		ok = b.addTimeUnit(v, frac, micros)
	case unit == FieldDay:
		ok = b.addDayUnit(v, 0, 1) && b.addFraction(frac, MicrosPerDay)
	case unit == FieldWeek:
		ok = b.addDayUnit(v, frac, 7)
	case unit == FieldMonth:
		ok = b.addMonths(v) && b.addFractionDays(frac, daysPerMonth)
	case years > 0:
		ok = b.addYearUnit(v, frac, years)
	default:
		return errDTFormat
	}
	if !ok {
		return errDTField
	}
	return nil
}

// defaultUnit is the unit of a bare number: the smallest field of the type modifier.
func defaultUnit(fields int) Field {
	switch fields {
	case IntervalYear:
		return FieldYear
	case IntervalMonth, IntervalYear | IntervalMonth:
		return FieldMonth
	case IntervalDay:
		return FieldDay
	case IntervalHour, IntervalDay | IntervalHour:
		return FieldHour
	case IntervalMinute, IntervalHour | IntervalMinute, IntervalDay | IntervalHour | IntervalMinute:
		return FieldMinute
	}
	return FieldSecond
}

const maskAllSeconds = 1<<FieldSecond | 1<<FieldMillisecond | 1<<FieldMicrosecond

// onlyFirstNegative reports whether the first field has a minus and no other one a sign. In the SQL
// standard's style the minus is then that of all fields.
func onlyFirstNegative(fs []lexeme) bool {
	return len(fs) > 0 && fs[0].text[0] == '-' &&
		!slices.ContainsFunc(fs[1:],
			func(f lexeme) bool { return f.text[0] == '-' || f.text[0] == '+' })
}

// decode reads the fields backwards, as units come after their values.
func (b *intervalBuilder) decode(fs []lexeme, fields int, style string) error {
	forceNeg := style == "sql_standard" && onlyFirstNegative(fs)
	unit, ago, mask := FieldNone, false, 0
	for i := len(fs) - 1; i >= 0; i-- {
		f := fs[i]
		got := 0
		var err error
		switch f.kind {
		case lexTime:
			got, err = b.clock(f.text, fields, forceNeg)
			unit = FieldDay
		case lexZone, lexDate, lexNumber:
			if f.kind == lexZone && strings.Contains(f.text, ":") {
				if got, err = b.clock(f.text[1:], fields, forceNeg ||
					f.text[0] == '-'); err == nil {
					unit = FieldDay
					break
				}
			}
			if unit == FieldNone {
				unit = defaultUnit(fields)
			}
			unit, got, err = b.number(f.text, unit, forceNeg)
		default:
			if f.text == "ago" {
				ago = true
				continue
			}
			if unit = lookupUnit(f.text); unit == FieldNone || unit >= FieldEpoch ||
				unit == FieldQuarter {
				return errDTFormat
			}
		}
		if err != nil {
			return err
		}
		if got&mask != 0 {
			return errDTFormat
		}
		mask |= got
	}
	if mask == 0 {
		return errDTFormat
	}
	if ago {
		return b.negate()
	}
	return nil
}

func (b *intervalBuilder) negate() error {
	if b.micros == math.MinInt64 {
		return errDTField
	}
	b.years, b.months, b.days, b.micros = -b.years, -b.months, -b.days, -b.micros
	return nil
}

func (b *intervalBuilder) clock(s string, fields int, negative bool) (got int, err error) {
	h, m, sec, us, err := clockParts(s, fields)
	if err != nil {
		return 0, err
	}
	v, ok := mulFits(h, MicrosPerHour)
	rest := int64(m)*MicrosPerMinute + int64(sec)*MicrosPerSecond + int64(us)
	if ok {
		v, ok = addInt64(v, rest)
		ok = ok || rest == 0
	}
	if negative {
		v = -v
	}
	if !ok || !b.addMicros(v) {
		return 0, errDTField
	}
	return 1<<FieldHour | 1<<FieldMinute | maskAllSeconds, nil
}

// yearsAndMonths returns the months of SQL's years-months.
func yearsAndMonths(years int64, months string) (int64, error) {
	m, err := strconv.ParseInt(months, 10, 32)
	if err != nil {
		return 0, errDTFormat
	}
	y, ok := mulFits(years, 12)
	if m < 0 || m >= 12 || !ok {
		return 0, errDTField
	}
	return y + m, nil
}

// number adds a number of units, or SQL's years-months. It returns the unit of the next number to
// the left.
func (b *intervalBuilder) number(s string, unit Field, forceNeg bool) (next Field, got int,
	err error) {
	neg := s[0] == '-'
	body := strings.TrimLeft(s, "+-")
	n := digitsPrefix(body)
	val := int64(0)
	if n > 0 {
		if val, err = strconv.ParseInt(body[:n], 10, 64); err != nil {
			return unit, 0, errDTField
		}
	}
	frac := 0.0
	switch rest := body[n:]; {
	case rest == "":
		if n == 0 {
			return unit, 0, errDTFormat
		}
	case rest[0] == '-':
		if val, err = yearsAndMonths(val, rest[1:]); err != nil {
			return unit, 0, err
		}
		unit = FieldMonth
	case rest[0] == '.':
		if rest != "." {
			if frac, err = strconv.ParseFloat("0"+rest, 64); err != nil ||
				digitsPrefix(rest[1:]) != len(rest)-1 {
				return unit, 0, errDTFormat
			}
		}
	default:
		return unit, 0, errDTFormat
	}
	if neg || forceNeg {
		val, frac = -val, -frac
	}
	if err := b.add(unit, val, frac); err != nil {
		return unit, 0, err
	}
	got = 1 << unit
	switch {
	case unit == FieldSecond && frac != 0:
		got = maskAllSeconds
	case unit == FieldHour:
		return FieldDay, got, nil
	}
	return unit, got, nil
}
