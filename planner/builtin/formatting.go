package builtin

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

var formattingFunctions = []def{
	f("to_char(timestamp,text) text", toCharTimestamp).stable(),
	f("to_char(timestamptz,text) text", toCharTimestampTZ).stable(),
	f("to_char(interval,text) text", toCharInterval).stable(),
	f("to_char(numeric,text) text", toCharNumeric).stable(),
	f("to_char(int4,text) text", toCharInt4).stable(),
	f("to_char(int8,text) text", toCharInt).stable(),
	f("to_char(float4,text) text", toCharFloat(6)).stable(),
	f("to_char(float8,text) text", toCharFloat(15)).stable(),
	f("to_number(text,text) numeric", toNumber).stable(),
	f("to_date(text,text) date", toDate).stable(),
	f("to_timestamp(text,text) timestamptz", toTimestamp).stable(),
}

// dateInput has the fields that to_date and to_timestamp have read. Fields that were not in the
// input are 0 or unset.
type dateInput struct {
	year, month, day, yearDay   int
	hour, min, sec, micros      int
	pm, am, bc, clock12         bool
	isoYear, isoWeek, isoDay    int
	julian, century, week, secs int
	yearWidth                   int // digits of the year in the format
	convention                  dateConvention
	hasZone                     bool
	zone                        int // seconds east of UTC
	zoneMinutes                 int
}

func errDateValue(format string, args ...any) *sqlerr.Error {
	return sqlerr.New(sqlerr.InvalidDatetimeFormat, format, args...)
}

// readDate reads a text by a format.
func readDate(s, format string) (*dateInput, error) {
	nodes, fx := parseDateFormat(format)
	in := &dateInput{}
	for i := range nodes {
		n := &nodes[i]
		if n.field == nil {
			s = skipText(s, n, fx)
			continue
		}
		if !fx {
			s = strings.TrimLeft(s, " \t\n")
		}
		if s == "" {
			break
		}
		fixed := i+1 < len(nodes) && nodes[i+1].isNumeric()
		rest, err := in.field(n, s, fixed)
		if err != nil {
			return nil, err
		}
		if s = rest; n.th != "" && len(s) >= 2 {
			s = s[2:]
		}
	}
	return in, nil
}

// isNumeric reports whether the node begins with a digit.
func (n *dateNode) isNumeric() bool {
	if n.field != nil {
		return n.field.isNumeric()
	}
	return n.text != "" && isDigit(n.text[0])
}

// skipText skips a separator or literal text. Without FX, a separator in the format matches any
// number of separators, or none.
func skipText(s string, n *dateNode, fx bool) string {
	if fx || n.quote {
		return s[min(len(n.text), len(s)):]
	}
	if isSeparator(n.text[0]) {
		s = strings.TrimLeft(s, " \t\n")
		if s != "" && isSeparator(s[0]) {
			s = s[1:]
		}
		return s
	}
	return s[min(len(n.text), len(s)):]
}

func isSeparator(c byte) bool {
	return c > 0x20 && c < 0x7f && !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z') &&
		!(c >= '0' && c <= '9') || c == ' '
}

// takeInt reads an integer. If the width is fixed, it reads at most width bytes, sign included.
func takeInt(s string, n *dateNode, width int, fixed bool) (v int, rest string, err error) {
	end := 0
	if s != "" && (s[0] == '-' || s[0] == '+') {
		end = 1
	}
	start := end
	for end < len(s) && s[end] >= '0' && s[end] <= '9' && (!fixed && !n.fill || end < width) &&
		end-start < 9 {
		end++
	}
	if end == start {
		bad := s[:min(width, len(s))]
		return 0, "", errDateValue("invalid value \"%s\" for \"%s\"", bad,
			n.text).WithDetail("Value must be an integer.")
	}
	v, _ = strconv.Atoi(s[:end])
	return v, s[end:], nil
}

// checkFixed refuses a number that is shorter than the fixed width of its field.
func checkFixed(s, rest string, n *dateNode, width int) error {
	const hint = "If your source string is not fixed-width, try using the \"FM\" modifier."
	switch got := len(s) - len(rest); {
	case len(s) < width:
		return errDateValue("source string too short for \"%s\" formatting field", n.text).
			WithDetail("Field requires %d characters, but only %d remain.", width,
				len(s)).WithHint(hint)
	case got < width:
		return errDateValue("invalid value \"%s\" for \"%s\"", s[:width], n.text).
			WithDetail("Field requires %d characters, but only %d could be parsed.", width,
				got).WithHint(hint)
	}
	return nil
}

// dateConvention is how a field counts days.
type dateConvention uint8

const (
	anyConvention dateConvention = iota
	byMonths
	byISOWeeks
)

func conventionOf(key string) dateConvention {
	switch key {
	case "IYYY", "IYY", "IY", "I", "IW", "IDDD", "ID":
		return byISOWeeks
	case "YYYY", "Y,YYY", "YYY", "YY", "Y", "MONTH", "MON", "MM", "RM", "DDD", "DD", "D", "WW", "W":
		return byMonths
	}
	return anyConvention
}

// follow refuses a field that counts otherwise than those before it.
func (in *dateInput) follow(n *dateNode) error {
	c := conventionOf(n.field.key)
	if c == anyConvention || in.convention == anyConvention || c == in.convention {
		in.convention = max(in.convention, c)
		return nil
	}
	return errDateValue("invalid combination of date conventions").
		WithHint("Do not mix Gregorian and ISO week date conventions in a formatting template.")
}

func (in *dateInput) field(n *dateNode, s string, fixed bool) (string, error) {
	if err := in.follow(n); err != nil {
		return "", err
	}
	switch n.field.key {
	case "A.M.", "P.M.", "AM", "PM", "B.C.", "BC", "A.D.", "AD":
		return in.half(n, s)
	case "MONTH", "MON", "DAY", "DY", "RM":
		return in.name(n, s)
	case "Y,YYY":
		var a, b int
		if k, err := fmt.Sscanf(s, "%d,%3d", &a, &b); err != nil || k != 2 {
			return "", errDateValue("invalid input string for \"Y,YYY\"")
		}
		in.year, in.yearWidth = a*1000+b, 4
		return strings.TrimLeft(s, "0123456789,"), nil
	case "TZ", "OF":
		return "", sqlerr.New(sqlerr.FeatureNotSupported,
			"formatting field \"%s\" is only supported in to_char", n.field.key)
	case "TZH":
		in.hasZone = true
		sign := 1
		if s[0] == '-' {
			sign = -1
		}
		v, rest, err := takeInt(strings.TrimLeft(s, "+- "), n, 2, true)
		in.zone = sign * v * 3600
		return rest, err
	}
	width := n.field.width
	strict := fixed && !n.fill
	v, rest, err := takeInt(s, n, width, fixed)
	if err == nil && strict {
		err = checkFixed(s, rest, n, width)
	}
	if err != nil {
		return "", err
	}
	return rest, in.set(n, v, len(s)-len(rest))
}

// set stores the number v, which was read from digits bytes.
func (in *dateInput) set(n *dateNode, v, digits int) error {
	if n.field.place != nil {
		place := n.field.place(in)
		if *place != 0 && *place != v {
			return errDateValue("conflicting values for \"%s\" field in formatting string",
				n.text).WithDetail("This value contradicts a previous setting for the same field " +
				"type.")
		}
		*place = v
		return nil
	}
	switch n.field.key {
	case "HH", "HH12":
		in.hour, in.clock12 = v, true
	case "MS":
		for ; digits < 3; digits++ {
			v *= 10
		}
		in.micros += v * 1000
	case "US", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6":
		for ; digits < 6; digits++ {
			v *= 10
		}
		in.micros += v
	case "YYYY", "YYY", "YY", "Y":
		in.year, in.yearWidth = completeYear(v, digits, n.field.width), n.field.width
	case "IYYY", "IYY", "IY", "I":
		in.isoYear = completeYear(v, digits, n.field.width)
	case "WW":
		in.yearDay = (v-1)*7 + 1
	case "IDDD":
		in.isoWeek, in.isoDay = (v-1)/7+1, (v-1)%7+1
	}
	return nil // D and Q are read and ignored
}

// completeYear completes a year of fewer than four digits, of a field with fewer than four, to the
// year nearest to 2020.
func completeYear(y, digits, width int) int {
	switch {
	case width >= 4 || digits >= 4:
		return y
	case y < 70:
		return y + 2000
	case y < 100:
		return y + 1900
	case y < 520:
		return y + 2000
	case y < 1000:
		return y + 1000
	}
	return y
}

func errNotAllowed(value string, n *dateNode) error {
	return errDateValue("invalid value \"%s\" for \"%s\"", value, n.text).
		WithDetail("The given value did not match any of the allowed values for this field.")
}

func (in *dateInput) half(n *dateNode, s string) (string, error) {
	w := len(n.field.key)
	if len(s) < w {
		return "", errNotAllowed(firstWord(s), n)
	}
	switch strings.ToUpper(strings.ReplaceAll(s[:w], ".", "")) {
	case "AM":
		in.am = true
	case "PM":
		in.pm = true
	case "AD":
	case "BC":
		in.bc = true
	default:
		return "", errNotAllowed(firstWord(s), n)
	}
	return s[w:], nil
}

func (in *dateInput) name(n *dateNode, s string) (string, error) {
	upper := strings.ToUpper(s)
	count, name := 12, func(i int) string { return time.Month(i + 1).String() }
	switch n.field.key {
	case "DAY", "DY":
		count, name = 7, func(i int) string { return time.Weekday(i).String() }
	case "RM":
		name = func(i int) string { return romanMonths[i] }
	}
	for i := count - 1; i >= 0; i-- { // VIII before its prefixes VII and VI
		word := strings.ToUpper(name(i))
		if n.field.key == "MON" || n.field.key == "DY" {
			word = word[:3]
		}
		if !strings.HasPrefix(upper, word) {
			continue
		}
		if count == 12 { // the weekday is read and ignored
			in.month = i + 1
		}
		return s[len(word):], nil
	}
	return "", errNotAllowed(firstWord(s), n)
}

// firstWord returns the text up to the first white space, which an error shows.
func firstWord(s string) string {
	if i := strings.IndexAny(s, " \t\n\r\f"); i >= 0 {
		return s[:i]
	}
	return s
}

func errFieldRange(text string) error {
	return sqlerr.New(sqlerr.DatetimeFieldOverflow, "date/time field value out of range: \"%s\"",
		text)
}

// astronomicalYear returns the year that was read, counting 1 BC as 0. A negative year is a year
// BC, unless the era is BC already. A century applies if the year has at most two digits.
func (in *dateInput) astronomicalYear() int {
	year, century := in.year, in.century
	if in.bc {
		year, century = -year, -century
	}
	switch {
	case in.year == 0 && century > 0:
		return (century-1)*100 + 1
	case in.year == 0 && century < 0:
		return century*100 + 1
	case century == 0 || in.yearWidth > 2:
		if year < 0 {
			year++
		}
		return year
	}
	switch y := in.year % 100; {
	case y == 0 && century > 0:
		return century * 100
	case y == 0:
		return century*100 + 1
	case century > 0:
		return (century-1)*100 + y
	default:
		return (century+1)*100 - y + 1
	}
}

// date returns the day that was read; month and day are 1 if they were not.
func (in *dateInput) date(text string) (int64, error) {
	year := in.astronomicalYear()
	switch {
	case in.julian > 0:
		return int64(in.julian) - 2451545, nil
	case in.isoWeek > 0:
		jan4, _ := types.DateFromYMD(in.isoYear, 1, 4)
		t := brokenTime{date: jan4}
		monday := jan4 - int64(t.isoDay()-1)
		return monday + int64(in.isoWeek-1)*7 + int64(max(in.isoDay, 1)-1), nil
	case in.yearDay > 0 && in.day == 0:
		first, ok := types.DateFromYMD(year, 1, 1)
		if !ok {
			return 0, errFieldRange(text)
		}
		return first + int64(in.yearDay) - 1, nil
	}
	month, day := in.month, in.day
	if month == 0 {
		month = 1
	}
	if in.week > 0 && day == 0 {
		day = (in.week-1)*7 + 1
	}
	if day == 0 {
		day = 1
	}
	d, ok := types.DateFromYMD(year, month, day)
	if y, m, dd := types.DateToYMD(d); !ok || y != year || m != month || dd != day {
		return 0, errFieldRange(text)
	}
	return d, nil
}

func toDate(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	in, err := readDate(a[0].S, a[1].S)
	if err != nil {
		return types.Null, err
	}
	d, err := in.date(a[0].S)
	return types.NewInt(d), err
}

func toTimestamp(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	in, err := readDate(a[0].S, a[1].S)
	if err != nil {
		return types.Null, err
	}
	d, err := in.date(a[0].S)
	if err != nil {
		return types.Null, err
	}
	secs, err := in.secondsOfDay(a[0].S)
	if err != nil {
		return types.Null, err
	}
	ts, err := types.DateToTimestamp(d)
	if err != nil {
		return types.Null, err
	}
	ts += int64(secs)*1_000_000 + int64(in.micros)
	if in.hasZone {
		off := in.zone
		if off < 0 {
			off -= in.zoneMinutes * 60
		} else {
			off += in.zoneMinutes * 60
		}
		return types.NewInt(ts - int64(off)*1_000_000), nil
	}
	r, err := types.LocalToUTC(ts, location(rt))
	return types.NewInt(r), err
}

// secondsOfDay returns the time of day that was read from text.
func (in *dateInput) secondsOfDay(text string) (int, error) {
	hour := in.hour
	if in.clock12 && (hour < 1 || hour > 12) {
		return 0, errDateValue("hour \"%d\" is invalid for the 12-hour clock", hour).
			WithHint("Use the 24-hour clock, or give an hour between 1 and 12.")
	}
	if in.pm && hour < 12 {
		hour += 12
	} else if hour == 12 && (in.am || in.clock12 && !in.pm) {
		hour = 0
	}
	if hour > 23 || in.min > 59 || in.sec > 59 || in.secs >= 24*3600 || hour < 0 || in.min < 0 ||
		in.sec < 0 || in.secs < 0 || in.micros < 0 || in.micros >= 1_000_000 {
		return 0, errFieldRange(text)
	}
	if in.secs > 0 {
		return in.secs, nil
	}
	return hour*3600 + in.min*60 + in.sec, nil
}
