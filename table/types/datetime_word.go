package types

// word decodes a word: a zone's abbreviation, a month, a day of the week, a special date, …
func (d *dateDecoder) word(s string) (int, error) {
	if a, ok := zoneTables().abbrevs[s]; ok {
		d.offset = a.offset
		switch {
		case a.fixed == nil:
			d.zone = a.history() // its offset depends on the date and time
		case !a.daylight:
			return fieldZone, nil
		}
		return fieldZone | fieldOddZone, nil
	}
	w := dateWords[truncWord(s)]
	switch w.kind {
	case wordNone:
		return fieldZone, d.zoneName(s, false)
	case wordIgnore:
		return 0, nil
	case wordMonth:
		return d.monthWord(w.val)
	case wordDow:
		return fieldDow, nil
	case wordAMPM:
		d.am, d.pm = w.val == 0, w.val == 1
		return fieldAMPM, nil
	case wordADBC:
		d.bc = w.val == 1
		return fieldADBC, nil
	case wordDST:
		d.offset += w.val
		return fieldDST, nil
	case wordJulian, wordUnit:
		if d.prefix != wordNone {
			return 0, errDTFormat
		}
		d.prefix = w.kind
		return 0, nil
	case wordIsoTime:
		if d.prefix != wordNone || !d.timeOnly && !d.has(fieldsDate) {
			return 0, errDTFormat
		}
		d.prefix = w.kind
		return 0, nil
	}
	return d.specialWord(w.kind)
}

func (d *dateDecoder) monthWord(month int) (int, error) {
	got := fieldMonth
	if d.mask&fieldMonth != 0 && !d.textMonth && d.mask&fieldDay == 0 && d.c.month >= 1 &&
		d.c.month <= 31 {
		// The number taken for a month was the day.
		d.c.day = d.c.month
		got = fieldDay
	}
	d.textMonth = true
	d.c.month = month
	return got, nil
}

// specialWord decodes now, today, epoch and their like.
func (d *dateDecoder) specialWord(k wordKind) (int, error) {
	if d.timeOnly && k != wordNow && k != wordZulu {
		return 0, errDTFormat
	}
	switch k {
	case wordZulu:
		d.c.setMicros(0)
		d.offset = 0
		return fieldsTime | fieldZone, nil
	case wordEpoch, wordLate, wordEarly:
		d.special = k
		return fieldsDate | fieldsTime | fieldZone, nil
	}
	now := d.format.now()
	off := utcOffset(now, d.format.Location)
	local := now + int64(off)*MicrosPerSecond
	c := civilOf(local)
	if k == wordNow {
		d.offset = off
		if d.timeOnly {
			d.c.setMicros(c.micros())
			return fieldsTime, nil
		}
		d.c = c
		return fieldsDate | fieldsTime | fieldZone, nil
	}
	shift := 0
	switch k {
	case wordYesterday:
		shift = -1
	case wordTomorrow:
		shift = 1
	}
	d.c.year, d.c.month, d.c.day = julianToDate(julianDay(c.year, c.month, c.day) + shift)
	return fieldsDate, nil
}

// completeYear applies BC, and the century of a year of two digits.
func (d *dateDecoder) completeYear() error {
	c := &d.c
	switch {
	case d.twoDigits && !d.bc:
		if c.year < 70 {
			c.year += 2000
		} else if c.year < 100 {
			c.year += 1900
		}
	case c.year <= 0:
		return errDTField
	case d.bc:
		c.year = 1 - c.year
	}
	return nil
}

// validate completes the year and checks month and day.
func (d *dateDecoder) validate() error {
	c := &d.c
	if d.mask&fieldYear != 0 && !d.julian {
		if err := d.completeYear(); err != nil {
			return err
		}
	}
	if d.mask&fieldDayOfYear != 0 {
		c.year, c.month, c.day = julianToDate(julianDay(c.year, 1, 1) + d.yday - 1)
	}
	if d.mask&fieldMonth != 0 && (c.month < 1 || c.month > 12) {
		return errDTMonthDay
	}
	if d.mask&fieldDay != 0 && (c.day < 1 || c.day > 31) {
		return errDTMonthDay
	}
	if d.has(fieldsDate) && c.day > daysInMonth(c.year, c.month) {
		return errDTField
	}
	return nil
}
