package types

import (
	"math"
	"strconv"
)

// isoScanner reads the numbers of an ISO 8601 duration.
type isoScanner struct {
	s string
	i int
}

func (p *isoScanner) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

// number reads a decimal number as whole part and fraction of one sign; digits counts those before
// the point.
func (p *isoScanner) number() (val int64, frac float64, digits int, err error) {
	start := p.i
	if p.peek() == '-' {
		p.i++
	}
	for isDigit(p.peek()) {
		p.i++
		digits++
	}
	if p.peek() == '.' {
		p.i++
		for isDigit(p.peek()) {
			p.i++
		}
	}
	f, perr := strconv.ParseFloat(p.s[start:p.i], 64)
	if perr != nil {
		return 0, 0, 0, errDTFormat
	}
	if math.Abs(f) >= math.MaxInt64 {
		return 0, 0, 0, errDTField
	}
	whole := math.Trunc(f)
	return int64(whole), f - whole, digits, nil
}

var isoDateUnits = map[byte]Field{'Y': FieldYear, 'M': FieldMonth, 'W': FieldWeek, 'D': FieldDay}
var isoTimeUnits = map[byte]Field{'H': FieldHour, 'M': FieldMinute, 'S': FieldSecond}

// decodeISO reads P1Y2M3DT4H5M6S and the alternative forms P0001-02-03T04:05:06, P00010203T040506.
func (b *intervalBuilder) decodeISO(s string) error {
	if len(s) < 2 || s[0] != 'P' {
		return errDTFormat
	}
	p := &isoScanner{s: s, i: 1}
	datePart, have := true, false
	for p.i < len(s) {
		if p.peek() == 'T' {
			datePart, have = false, false
			p.i++
			continue
		}
		val, frac, digits, err := p.number()
		if err != nil {
			return err
		}
		units := isoDateUnits
		if !datePart {
			units = isoTimeUnits
		}
		c := p.peek()
		if unit, ok := units[c]; ok {
			p.i++
			have = true
			if err := b.add(unit, val, frac); err != nil {
				return err
			}
			continue
		}
		if have {
			return errDTFormat
		}
		if datePart {
			err = b.isoDate(p, val, frac, digits)
		} else {
			err = b.isoTime(p, val, frac, digits)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func firstError(errs ...error) error {
	for _, e := range errs {
		if e != nil {
			return e
		}
	}
	return nil
}

// isoDate reads the rest of yyyymmdd or yyyy-mm-dd.
func (b *intervalBuilder) isoDate(p *isoScanner, val int64, frac float64, digits int) error {
	c := p.peek()
	if c != 0 && c != 'T' && c != '-' {
		return errDTFormat
	}
	if digits == 8 && c != '-' {
		return firstError(b.add(FieldYear, val/10000, 0), b.add(FieldMonth, val/100%100, 0),
			b.add(FieldDay, val%100, frac))
	}
	if err := b.add(FieldYear, val, frac); err != nil {
		return err
	}
	if err := b.isoRest(p, '-', FieldMonth, FieldDay); err != nil {
		return err
	}
	if c := p.peek(); c != 0 && c != 'T' {
		return errDTFormat
	}
	return nil
}

// isoRest reads numbers with a separator before each, as far as there are any.
func (b *intervalBuilder) isoRest(p *isoScanner, separator byte, units ...Field) error {
	for _, unit := range units {
		if p.peek() != separator {
			return nil
		}
		p.i++
		v, f, _, err := p.number()
		if err != nil {
			return err
		}
		if err := b.add(unit, v, f); err != nil {
			return err
		}
	}
	return nil
}

// isoTime reads the rest of hhmmss or hh:mm:ss.
func (b *intervalBuilder) isoTime(p *isoScanner, val int64, frac float64, digits int) error {
	c := p.peek()
	if c != 0 && c != ':' {
		return errDTFormat
	}
	if digits == 6 && c == 0 {
		return firstError(b.add(FieldHour, val/10000, 0), b.add(FieldMinute, val/100%100, 0),
			b.add(FieldSecond, val%100, frac))
	}
	if err := b.add(FieldHour, val, frac); err != nil {
		return err
	}
	if err := b.isoRest(p, ':', FieldMinute, FieldSecond); err != nil {
		return err
	}
	if p.peek() != 0 {
		return errDTFormat
	}
	return nil
}
