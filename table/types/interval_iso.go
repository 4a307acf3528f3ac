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
			err = b.isoPart(p, val, frac, digits == 8, '-', FieldYear, FieldMonth, FieldDay)
		} else {
			err = b.isoPart(p, val, frac, digits == 6, ':', FieldHour, FieldMinute, FieldSecond)
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

// isoPart reads the rest of yyyy-mm-dd or hh:mm:ss, or of a number with enough digits for
// yyyymmdd or hhmmss. Behind a date may follow a time.
func (b *intervalBuilder) isoPart(p *isoScanner, val int64, frac float64, enough bool,
	separator byte, units ...Field) error {
	atEnd := func() bool { return p.peek() == 0 || p.peek() == 'T' && separator == '-' }
	switch {
	case !atEnd() && p.peek() != separator:
		return errDTFormat
	case atEnd() && enough:
		return firstError(b.add(units[0], val/10000, 0), b.add(units[1], val/100%100, 0),
			b.add(units[2], val%100, frac))
	}
	if err := b.add(units[0], val, frac); err != nil {
		return err
	}
	for _, unit := range units[1:] {
		if p.peek() != separator {
			break
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
	if !atEnd() {
		return errDTFormat
	}
	return nil
}
