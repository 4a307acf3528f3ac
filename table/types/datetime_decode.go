package types

import (
	"math"
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
)

// What the fields have set so far.
const (
	fieldYear = 1 << iota
	fieldMonth
	fieldDay
	fieldHour
	fieldMinute
	fieldSecond
	fieldZone
	fieldDayOfYear
	fieldDow
	fieldAMPM
	fieldADBC
	fieldDST
	fieldOddZone // of daylight saving time or with a history; no date of numbers may follow it

	fieldsDate = fieldYear | fieldMonth | fieldDay
	fieldsTime = fieldHour | fieldMinute | fieldSecond
)

// dateDecoder interprets the fields of a date or time input.
type dateDecoder struct {
	fields   []lexeme
	format   *Format
	timeOnly bool

	c         civil
	mask      int // fields seen
	prefix    wordKind
	special   wordKind // wordEpoch, wordLate or wordEarly
	textMonth bool
	julian    bool
	twoDigits bool
	bc        bool
	pm, am    bool
	yday      int
	offset    int  // seconds east of UTC
	zone      Zone // with a location when the offset depends on the moment
}

func (d *dateDecoder) has(mask int) bool { return d.mask&mask == mask }

func (d *dateDecoder) decode() error {
	for i := range d.fields {
		got, err := d.field(i)
		if err != nil {
			return err
		}
		if got&d.mask != 0 {
			return errDTFormat
		}
		d.mask |= got
	}
	if d.prefix != wordNone {
		return errDTFormat
	}
	if d.special != wordNone {
		if d.timeOnly {
			return errDTFormat
		}
		return nil
	}
	if err := d.validate(); err != nil {
		return err
	}
	return d.finish()
}

func (d *dateDecoder) finish() error {
	c := &d.c
	if (d.am || d.pm) && c.hour > 12 {
		return errDTField
	}
	switch {
	case d.am && c.hour == 12:
		c.hour = 0
	case d.pm && c.hour != 12:
		c.hour += 12
	}
	if d.mask&fieldDST != 0 && (d.zone.Location != nil || !d.has(fieldZone)) {
		return errDTFormat
	}
	if d.timeOnly {
		if c.overflows() {
			return errDTField
		}
		if !d.has(fieldsTime) {
			return errDTFormat
		}
		return nil
	}
	if !d.has(fieldsDate) {
		return errDTFormat
	}
	return nil
}

// overflows reports whether the time of day is past 24:00:00 or its parts are out of range.
func (c *civil) overflows() bool {
	if c.hour < 0 || c.hour > 24 || c.min < 0 || c.min > 59 || c.sec < 0 || c.sec > 60 ||
		c.usec < 0 || c.usec > int(MicrosPerSecond) {
		return true
	}
	return c.micros() > MicrosPerDay
}

func (d *dateDecoder) field(i int) (got int, err error) {
	l := d.fields[i]
	switch l.kind {
	case lexDate:
		return d.dateField(i, l.text)
	case lexTime:
		if d.prefix != wordNone && d.prefix != wordIsoTime {
			return 0, errDTFormat
		}
		d.prefix = wordNone
		if err := d.time(l.text); err != nil {
			return 0, err
		}
		if !d.timeOnly && d.c.overflows() {
			return 0, errDTField
		}
		return fieldsTime, nil
	case lexZone:
		d.offset, err = decodeOffset(l.text)
		return fieldZone, err
	case lexNumber:
		return d.numberField(i, l.text)
	}
	return d.word(l.text)
}

// dateField decodes a field that looks like a date: one, or a zone name with punctuation, or a
// run-together time with a zone.
func (d *dateDecoder) dateField(i int, s string) (int, error) {
	if d.prefix == wordJulian {
		n := digitsPrefix(s)
		v, err := strconv.Atoi(s[:n])
		if err != nil || v > math.MaxInt32 {
			return 0, errDTField
		}
		d.setJulian(v)
		d.prefix = wordNone
		d.offset, err = decodeOffset(s[n:])
		return fieldsDate | fieldsTime | fieldZone, err
	}
	if d.timeOnly {
		next := len(d.fields) >= 2 &&
			(d.fields[len(d.fields)-1].kind == lexDate || d.fields[1].kind == lexTime)
		if i == 0 && next {
			return d.date(s)
		}
	} else if d.prefix == wordNone && !d.has(fieldMonth|fieldDay) {
		return d.date(s)
	}
	if isDigit(s[0]) || d.prefix != wordNone {
		if d.prefix != wordNone && d.prefix != wordIsoTime {
			return 0, errDTFormat
		}
		d.prefix = wordNone
		cut := strings.IndexByte(s, '-')
		if d.has(fieldsTime) || cut < 0 {
			return 0, errDTFormat
		}
		var err error
		if d.offset, err = decodeOffset(s[cut:]); err != nil {
			return 0, err
		}
		mask := d.mask
		if d.timeOnly {
			mask |= fieldsDate
		}
		got, err := d.runTogether(s[:cut], mask)
		return got | fieldZone, err
	}
	return fieldZone, d.zoneName(s, true)
}

// zoneName reads a named zone. With required, an unknown name has an error of its own.
func (d *dateDecoder) zoneName(s string, required bool) error {
	l, ok := namedZone(s)
	if !ok {
		l, ok = posixZone(s)
		ok = ok && strings.ContainsAny(s, "0123456789")
	}
	if !ok {
		if required {
			return sqlerr.New(sqlerr.InvalidParameterValue, "time zone \"%s\" not recognized", s)
		}
		return errDTFormat
	}
	d.zone = Zone{Location: l}
	return nil
}

func (d *dateDecoder) setJulian(v int) {
	d.c.year, d.c.month, d.c.day = julianToDate(v)
	d.julian = true
}

func digitsPrefix(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

func (d *dateDecoder) numberField(i int, s string) (int, error) {
	if d.prefix != wordNone {
		return d.prefixedNumber(s)
	}
	point := strings.IndexByte(s, '.')
	if d.timeOnly {
		return d.timeNumber(i, s, point)
	}
	switch {
	case point >= 0 && d.mask&fieldsDate == 0:
		return d.date(s)
	case point > 2:
		return d.runTogether(s, d.mask)
	case len(s) >= 6 && (d.mask&fieldsDate == 0 || d.mask&fieldsTime == 0):
		return d.runTogether(s, d.mask)
	}
	return d.number(s, d.mask)
}

// timeNumber decodes a number of a time without a date. point is the place of its decimal point.
func (d *dateDecoder) timeNumber(i int, s string, point int) (int, error) {
	switch {
	case point >= 0 && i == 0 && len(d.fields) >= 2 && d.fields[len(d.fields)-1].kind == lexDate:
		return d.date(s)
	case point > 2, point < 0 && len(s) > 4:
		return d.runTogether(s, d.mask|fieldsDate)
	case point >= 0:
		return 0, errDTFormat
	}
	return d.number(s, d.mask|fieldsDate)
}

// prefixedNumber decodes the number after "j" (a Julian day) or "t" (a time).
func (d *dateDecoder) prefixedNumber(s string) (int, error) {
	prefix := d.prefix
	d.prefix = wordNone
	n := digitsPrefix(s)
	switch prefix {
	case wordJulian:
		v, err := strconv.Atoi(s[:n])
		if err != nil || v > math.MaxInt32 {
			return 0, errDTField
		}
		d.setJulian(v)
		if n == len(s) {
			return fieldsDate, nil
		}
		frac, err := strconv.ParseFloat("0"+s[n:], 64)
		if err != nil {
			return 0, errDTFormat
		}
		d.c.setMicros(int64(frac * float64(MicrosPerDay)))
		return fieldsDate | fieldsTime, nil
	case wordIsoTime:
		got, err := d.runTogether(s, d.mask|fieldsDate)
		if err == nil && got != fieldsTime {
			err = errDTFormat
		}
		return got, err
	}
	return 0, errDTFormat
}

// date decodes a date of two or three parts, one of which may be a month's name.
func (d *dateDecoder) date(s string) (got int, err error) {
	split, err := splitDate(s)
	if err != nil {
		return 0, err
	}
	mask := d.mask
	textMonth := false
	take := func(g int) error {
		if mask&g != 0 {
			return errDTFormat
		}
		mask |= g
		got |= g
		return nil
	}
	for i, p := range split {
		if !isAlpha(p[0]) {
			continue
		}
		w := dateWords[truncWord(p)]
		split[i] = ""
		if w.kind == wordIgnore {
			continue
		}
		if w.kind != wordMonth {
			return 0, errDTFormat
		}
		d.c.month, textMonth = w.val, true
		if err := take(fieldMonth); err != nil {
			return 0, err
		}
	}
	saved := d.textMonth
	d.textMonth = textMonth
	defer func() { d.textMonth = saved }()
	for _, p := range split {
		if p == "" {
			continue
		}
		g, err := d.number(p, mask)
		if err != nil {
			return 0, err
		}
		if err := take(g); err != nil {
			return 0, err
		}
	}
	if mask&^(fieldDayOfYear|fieldZone)&fieldsDate != fieldsDate ||
		mask&^(fieldDayOfYear|fieldZone|fieldsDate) != 0 {
		return 0, errDTFormat
	}
	return got, nil
}

// splitDate cuts a date into runs of digits and of letters. One character after each run is
// dropped, whatever it is, as PostgreSQL does.
func splitDate(s string) ([]string, error) {
	var parts []string
	for i := 0; i < len(s); i++ {
		for i < len(s) && !isDigit(s[i]) && !isAlpha(s[i]) {
			i++
		}
		if i == len(s) {
			return nil, errDTFormat
		}
		start := i
		same := isAlpha
		if isDigit(s[i]) {
			same = isDigit
		}
		for i < len(s) && same(s[i]) {
			i++
		}
		parts = append(parts, s[start:i])
	}
	return parts, nil
}

// number decodes one numeric part of a date, or a time when the date is complete.
func (d *dateDecoder) number(s string, mask int) (int, error) {
	n := digitsPrefix(s)
	if n == 0 {
		return 0, errDTFormat
	}
	v, err := strconv.ParseInt(s[:n], 10, 32)
	if err != nil {
		return 0, errDTField
	}
	val := int(v)
	if n < len(s) {
		if s[n] != '.' {
			return 0, errDTFormat
		}
		if n > 2 {
			return d.runTogether(s, mask|fieldsDate)
		}
		if d.c.usec, err = fractionMicros(s[n:]); err != nil {
			return 0, err
		}
	}
	if len(s) == 3 && mask&fieldsDate == fieldYear && val >= 1 && val <= 366 {
		d.yday = val
		return fieldDayOfYear | fieldMonth | fieldDay, nil
	}
	seen := mask & fieldsDate
	if seen == fieldsDate {
		return d.runTogether(s, mask)
	}
	if seen == fieldYear|fieldMonth && d.textMonth && len(s) >= 3 && d.twoDigits {
		// The first number was the day after all: 01-Feb-2003 in YMD order.
		d.c.day, d.c.year, d.twoDigits = d.c.year, val, false
		return fieldDay, nil
	}
	got := d.numberMeans(seen, len(s))
	switch got {
	case fieldYear:
		d.c.year, d.twoDigits = val, len(s) <= 2
	case fieldMonth:
		d.c.month = val
	case fieldDay:
		d.c.day = val
	default:
		return 0, errDTFormat
	}
	return got, nil
}

// numberMeans returns which field of a date a number of so many digits is, after the fields
// seen; 0: none.
func (d *dateDecoder) numberMeans(seen, digits int) int {
	long := digits >= 3 || d.format.DateOrder == "YMD"
	switch seen {
	case 0:
		switch {
		case long:
			return fieldYear
		case d.format.DateOrder == "DMY":
			return fieldDay
		}
		return fieldMonth
	case fieldYear, fieldDay:
		return fieldMonth
	case fieldMonth:
		if d.textMonth && long {
			return fieldYear
		}
		return fieldDay
	case fieldYear | fieldMonth:
		return fieldDay
	case fieldMonth | fieldDay:
		return fieldYear
	}
	return 0
}

// runTogether decodes 20200102, 040506.789, 0405 and their like.
func (d *dateDecoder) runTogether(s string, mask int) (int, error) {
	num := func(a, b int) int {
		v, err := strconv.Atoi(s[a:b])
		if err != nil {
			return math.MaxInt32
		}
		return min(v, math.MaxInt32)
	}
	if p := strings.IndexByte(s, '.'); p >= 0 {
		frac := 0.0
		if len(s) > p+1 {
			var err error
			if frac, err = strconv.ParseFloat("0"+s[p:], 64); err != nil {
				return 0, errDTFormat
			}
		}
		d.c.usec = int(math.RoundToEven(frac * 1e6))
		s = s[:p]
	} else if mask&fieldsDate != fieldsDate && len(s) >= 6 {
		n := len(s)
		d.c.day, d.c.month, d.c.year = num(n-2, n), num(n-4, n-2), num(0, n-4)
		d.twoDigits = d.twoDigits || n == 6
		return fieldsDate, nil
	}
	if mask&fieldsTime != fieldsTime {
		switch len(s) {
		case 6:
			d.c.hour, d.c.min, d.c.sec = num(0, 2), num(2, 4), num(4, 6)
			return fieldsTime, nil
		case 4:
			d.c.hour, d.c.min, d.c.sec = num(0, 2), num(2, 4), 0
			return fieldsTime, nil
		}
	}
	return 0, errDTFormat
}

// fractionMicros reads ".123456…", rounded to microseconds.
func fractionMicros(s string) (int, error) {
	if s == "." {
		return 0, nil
	}
	f, err := strconv.ParseFloat("0"+s, 64)
	if err != nil || digitsPrefix(s[1:]) != len(s)-1 {
		return 0, errDTFormat
	}
	return int(math.RoundToEven(f * 1e6)), nil
}

// time decodes h:m[:s[.f]], or m:s.f.
func (d *dateDecoder) time(s string) error {
	h, m, sec, us, err := clockParts(s, 0)
	if err != nil {
		return err
	}
	if h > math.MaxInt32 {
		return errDTField
	}
	d.c.hour, d.c.min, d.c.sec, d.c.usec = int(h), m, sec, us
	return nil
}

// clockParts reads a time with colons. A two-part one is h:m, but m:s with a fraction or when the
// interval's fields say so.
func clockParts(s string, fields int) (h int64, m, sec, us int, err error) {
	parts := strings.SplitN(s, ":", 4)
	if len(parts) < 2 || len(parts) > 3 {
		return 0, 0, 0, 0, errDTFormat
	}
	last := parts[len(parts)-1]
	frac := ""
	if p := strings.IndexByte(last, '.'); p >= 0 {
		last, frac = last[:p], last[p:]
		parts[len(parts)-1] = last
		if us, err = fractionMicros(frac); err != nil {
			return 0, 0, 0, 0, err
		}
	}
	n, err := clockNumbers(parts)
	if err != nil {
		return 0, 0, 0, 0, err
	}
	if len(parts) == 2 && (frac != "" || fields == IntervalMinute|IntervalSecond) {
		if n[0] > math.MaxInt32 {
			return 0, 0, 0, 0, errDTField
		}
		n = [3]int64{0, n[0], n[1]}
	}
	if n[1] > 59 || n[2] > 60 || us > int(MicrosPerSecond) {
		return 0, 0, 0, 0, errDTField
	}
	return n[0], int(n[1]), int(n[2]), us, nil
}

// clockNumbers reads the parts of a time as numbers. PostgreSQL reads an empty part as zero.
func clockNumbers(parts []string) (n [3]int64, err error) {
	for i, p := range parts {
		if p == "" {
			continue
		}
		if digitsPrefix(p) != len(p) {
			return n, errDTFormat
		}
		if n[i], err = strconv.ParseInt(p, 10, 64); err != nil || i > 0 && n[i] > math.MaxInt32 {
			return n, errDTField
		}
	}
	return n, nil
}

// decodeOffset reads +hh[:mm[:ss]] and +hhmm; the result is east of UTC.
func decodeOffset(s string) (int, error) {
	if s == "" || s[0] != '+' && s[0] != '-' {
		return 0, errDTFormat
	}
	rest := s[1:]
	n := [3]int{}
	for i := range n {
		d := digitsPrefix(rest)
		v, err := strconv.ParseInt("0"+rest[:d], 10, 32)
		if err != nil {
			return 0, errDTZone
		}
		n[i], rest = int(v), rest[d:]
		if i == 2 || !strings.HasPrefix(rest, ":") {
			break
		}
		rest = rest[1:]
	}
	if rest == "" && len(s) > 3 && !strings.Contains(s, ":") {
		n[0], n[1] = n[0]/100, n[0]%100
	}
	switch {
	case n[0] > 15 || n[1] > 59 || n[2] > 59:
		return 0, errDTZone
	case rest != "":
		return 0, errDTFormat
	}
	sec := (n[0]*60+n[1])*60 + n[2]
	if s[0] == '-' {
		sec = -sec
	}
	return sec, nil
}
