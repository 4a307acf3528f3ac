package builtin

import (
	"fmt"
	"strings"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// A dateNode is an element of a date format: a field with its modifiers, or text.
type dateNode struct {
	field *dateField // nil for text
	text  string     // the text, or the keyword as written
	fill  bool       // FM: no padding
	th    string     // "th" or "TH"
	quote bool       // text in double quotes
}

// parseDateFormat splits a format into nodes. fx is set if it begins with FX.
func parseDateFormat(f string) (nodes []dateNode, fx bool) {
	fill := false
	for i := 0; i < len(f); {
		rest := f[i:]
		upper := strings.ToUpper(rest[:min(len(rest), 5)])
		switch {
		case strings.HasPrefix(upper, "FM"):
			fill = true
			i += 2
			continue
		case strings.HasPrefix(upper, "FX"):
			fx = true
			i += 2
			continue
		case strings.HasPrefix(upper, "TM"):
			i += 2
			continue
		}
		if field := dateFieldOf(rest); field != nil {
			n := dateNode{field: field, text: rest[:len(field.key)], fill: fill}
			i += len(n.text)
			if strings.HasPrefix(f[i:], "TH") || strings.HasPrefix(f[i:], "th") {
				n.th = f[i : i+2]
				i += 2
			}
			nodes, fill = append(nodes, n), false
			continue
		}
		var n dateNode
		n, i = dateText(f, i)
		nodes, fill = append(nodes, n), false
	}
	return nodes, fx
}

// dateText reads text in double quotes, or one character.
func dateText(f string, i int) (dateNode, int) {
	if f[i] == '"' {
		var b strings.Builder
		for i++; i < len(f) && f[i] != '"'; i++ {
			if f[i] == '\\' && i+1 < len(f) {
				i++
			}
			b.WriteByte(f[i])
		}
		return dateNode{text: b.String(), quote: true}, min(i+1, len(f))
	}
	if f[i] == '\\' && i+1 < len(f) && f[i+1] == '"' {
		i++
	}
	n := 1
	for i+n < len(f) && f[i+n]&0xc0 == 0x80 {
		n++
	}
	return dateNode{text: f[i : i+n]}, i + n
}

// brokenTime is a moment split into fields for formatting; an interval has neither weekday nor era.
type brokenTime struct {
	year, month, day int
	hour, min, sec   int
	micros           int
	interval         bool
	zone             string
	offset           int // seconds east of UTC
	date             int64
}

func breakTimestamp(ts int64) brokenTime {
	d := types.TimestampToDate(ts)
	us := types.TimestampToTimeOfDay(ts)
	t := brokenTime{date: d}
	t.year, t.month, t.day = types.DateToYMD(d)
	t.micros = int(us % 1_000_000)
	s := int(us / 1_000_000)
	t.hour, t.min, t.sec = s/3600, s/60%60, s%60
	return t
}

func breakInterval(iv types.IntervalValue) brokenTime {
	t := brokenTime{interval: true, year: int(iv.Months / 12), month: int(iv.Months % 12),
		day: int(iv.Days)}
	us := iv.Micros
	t.micros = int(us % 1_000_000)
	s := us / 1_000_000
	t.hour, t.min, t.sec = int(s/3600), int(s/60%60), int(s%60)
	t.date = types.DayNumber(t.year, t.month, t.day) // need not be a valid date
	return t
}

func toCharTimestamp(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if types.IsInfinite(a[0].I) || a[1].S == "" {
		return types.Null, nil
	}
	return formatBroken(breakTimestamp(a[0].I), a[1].S)
}

func toCharTimestampTZ(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if types.IsInfinite(a[0].I) || a[1].S == "" {
		return types.Null, nil
	}
	local, err := types.UTCToLocal(a[0].I, location(rt))
	if err != nil {
		return types.Null, err
	}
	t := breakTimestamp(local)
	t.zone, t.offset = types.TimestampToTime(a[0].I).In(location(rt)).Zone()
	return formatBroken(t, a[1].S)
}

func toCharInterval(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if a[1].S == "" {
		return types.Null, nil
	}
	return formatBroken(breakInterval(a[0].Iv), a[1].S)
}

func formatBroken(t brokenTime, f string) (types.Datum, error) {
	nodes, _ := parseDateFormat(f)
	var b strings.Builder
	for i := range nodes {
		n := &nodes[i]
		if n.field == nil {
			b.WriteString(n.text)
			continue
		}
		if t.interval && n.field.calendar {
			return types.Null, errNotForInterval()
		}
		text := n.field.write(&t, n)
		b.WriteString(text)
		if n.th != "" {
			b.WriteString(ordinal(text, n.th))
		}
	}
	return types.NewString(b.String()), nil
}

// ordinal returns the suffix of an ordinal number with these digits.
func ordinal(digits, th string) string {
	suffix := "th"
	d := strings.TrimSpace(digits)
	if d == "" {
		return ""
	}
	if len(d) < 2 || d[len(d)-2] != '1' {
		switch d[len(d)-1] {
		case '1':
			suffix = "st"
		case '2':
			suffix = "nd"
		case '3':
			suffix = "rd"
		}
	}
	if th == "TH" {
		return strings.ToUpper(suffix)
	}
	return suffix
}

// digits formats a number with leading zeros to a width, unless FM is set.
func (n *dateNode) digits(v, width int) string {
	if n.fill {
		width = 0
	}
	return fmt.Sprintf("%0*d", width, v)
}

// signed is digits for a part of whole. It is a column wider where whole is negative, even if the
// part is not.
func (n *dateNode) signed(v, width, whole int) string {
	if whole < 0 {
		width++
	}
	return n.digits(v, width)
}

// name formats a name in the case of the keyword. A long one is padded to nine characters.
func (n *dateNode) name(s string, width int) string {
	switch {
	case n.text == strings.ToUpper(n.text):
		s = strings.ToUpper(s)
	case n.text == strings.ToLower(n.text):
		s = strings.ToLower(s)
	}
	if !n.fill && width > len(s) {
		s += strings.Repeat(" ", width-len(s))
	}
	return s
}

func errNotForInterval() error {
	return sqlerr.New(sqlerr.InvalidDatetimeFormat,
		"invalid format specification for an interval value").
		WithHint("Intervals are not tied to specific calendar dates.")
}

// era returns the year of the calendar era: 1 BC is the year before 1.
func (t *brokenTime) era(year int) int {
	if !t.interval && year <= 0 {
		return 1 - year
	}
	return year
}

func abs(x int) int { return max(x, -x) }

func offsetHours(offset int) string {
	sign := "+"
	if offset < 0 {
		sign = "-"
	}
	return fmt.Sprintf("%s%02d", sign, abs(offset)/3600)
}

// romanMonth returns the month in Roman numerals. It counts the months of a negative interval from
// the year's end. Whole years are twelve months.
func (t *brokenTime) romanMonth(n *dateNode) string {
	m := t.month
	switch {
	case m == 0 && t.year == 0:
		return ""
	case m == 0 && t.year > 0:
		m = 12
	case m == 0:
		m = 1
	case m < 0:
		m += 13
	}
	return n.name(romanMonths[m-1], 4)
}

// year formats the last digits of a year, with a column for the sign where whole is negative.
func (n *dateNode) year(y, width, whole int) string {
	switch width {
	case 3:
		y %= 1000
	case 2:
		y %= 100
	case 1:
		return n.digits(y%10, 1)
	}
	return n.signed(y, width, whole)
}

func (t *brokenTime) century(n *dateNode) string {
	c := t.year / 100
	switch {
	case t.interval:
	case t.year > 0:
		c = (t.year-1)/100 + 1
	default:
		c = t.year/100 - 1
	}
	if c <= 99 && c >= -99 {
		return n.signed(c, 2, c)
	}
	return fmt.Sprint(c)
}

// half formats the half of a day, or the era, with points if the keyword has them.
func (n *dateNode) half(text string) string {
	if len(n.field.key) == 4 {
		text = text[:1] + "." + text[1:] + "."
	}
	return n.name(text, 0)
}

func (t *brokenTime) weekday() time.Weekday {
	return time.Weekday(((t.date+6)%7 + 7) % 7) // 2000-01-01 was a Saturday
}

// isoDay is the day of the week from 1, a Monday.
func (t *brokenTime) isoDay() int { return (int(t.weekday())+6)%7 + 1 }

func (t *brokenTime) yearDay() int {
	if t.interval {
		return t.year*360 + t.month*30 + t.day
	}
	first, _ := types.DateFromYMD(t.year, 1, 1)
	return int(t.date-first) + 1
}

// isoWeek returns the ISO 8601 year and week.
func (t *brokenTime) isoWeek() (year, week int) {
	thursday := t.date - int64(t.isoDay()) + 4
	year, _, _ = types.DateToYMD(thursday)
	first, _ := types.DateFromYMD(year, 1, 1)
	return year, int(thursday-first)/7 + 1
}
