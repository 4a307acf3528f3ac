package builtin

import (
	"fmt"
	"strings"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// A dateNode is an element of a date format: a keyword with its modifiers, or text.
type dateNode struct {
	key   string // upper case; "" for text
	text  string // the text, or the keyword as written
	fill  bool   // FM: no padding
	th    string // "th" or "TH"
	quote bool   // text in double quotes
}

// dateKeywords in the order of search: a longer keyword precedes its prefixes.
var dateKeywords = []string{
	"A.D.", "A.M.", "AD", "AM", "B.C.", "BC", "CC", "DAY", "DDD", "DD", "DY", "D", "FF1", "FF2",
	"FF3", "FF4", "FF5", "FF6", "HH24", "HH12", "HH", "IDDD", "ID", "IW", "IYYY", "IYY", "IY", "I",
	"J", "MI", "MM", "MONTH", "MON", "MS", "OF", "P.M.", "PM", "Q", "RM", "SSSSS", "SSSS", "SS",
	"TZH", "TZM", "TZ", "US", "WW", "W", "Y,YYY", "YYYY", "YYY", "YY", "Y",
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
		if key := dateKeyword(rest); key != "" {
			n := dateNode{key: key, text: rest[:len(key)], fill: fill}
			i += len(key)
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

func dateKeyword(s string) string {
	for _, k := range dateKeywords {
		if len(s) < len(k) {
			continue
		}
		w := s[:len(k)]
		if w == k || w == strings.ToLower(k) || w == k[:1]+strings.ToLower(k[1:]) &&
			(k == "MONTH" || k == "MON" || k == "DAY" || k == "DY") {
			return k
		}
	}
	return ""
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
		if n.key == "" {
			b.WriteString(n.text)
			continue
		}
		text, err := t.field(n)
		if err != nil {
			return types.Null, err
		}
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

var romanMonths = []string{"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"}

func (t *brokenTime) field(n *dateNode) (string, error) {
	if t.interval {
		switch n.key {
		case "B.C.", "BC", "A.D.", "AD", "DAY", "DY", "D", "ID", "MONTH", "MON", "TZ", "TZH", "TZM",
			"OF":
			return "", errNotForInterval()
		}
	}
	switch n.key {
	case "A.M.", "P.M.", "AM", "PM":
		half := "AM"
		if ((t.hour%24)+24)%24 >= 12 {
			half = "PM"
		}
		if len(n.key) == 4 {
			half = half[:1] + "." + half[1:] + "."
		}
		return n.name(half, 0), nil
	case "B.C.", "BC", "A.D.", "AD":
		era := "AD"
		if t.year <= 0 {
			era = "BC"
		}
		if len(n.key) == 4 {
			era = era[:1] + "." + era[1:] + "."
		}
		return n.name(era, 0), nil
	case "HH", "HH12":
		h := t.hour % 12
		if h == 0 {
			h = 12
		}
		return n.signed(h, 2, t.hour), nil
	case "HH24":
		return n.signed(t.hour, 2, t.hour), nil
	case "MI":
		return n.signed(t.min, 2, t.min), nil
	case "SS":
		return n.signed(t.sec, 2, t.sec), nil
	case "MS", "FF3":
		return fmt.Sprintf("%03d", t.micros/1000), nil
	case "US", "FF6":
		return fmt.Sprintf("%06d", t.micros), nil
	case "FF1", "FF2", "FF4", "FF5":
		return fmt.Sprintf("%06d", t.micros)[:n.key[2]-'0'], nil
	case "SSSS", "SSSSS":
		return fmt.Sprint(t.hour*3600 + t.min*60 + t.sec), nil
	case "TZ":
		return n.name(t.zone, 0), nil
	case "TZH":
		return offsetHours(t.offset), nil
	case "TZM":
		return fmt.Sprintf("%02d", abs(t.offset)/60%60), nil
	case "OF":
		if m := abs(t.offset) / 60 % 60; m != 0 {
			return fmt.Sprintf("%s:%02d", offsetHours(t.offset), m), nil
		}
		return offsetHours(t.offset), nil
	}
	return t.dateField(n), nil
}

func abs(x int) int { return max(x, -x) }

func offsetHours(offset int) string {
	sign := "+"
	if offset < 0 {
		sign = "-"
	}
	return fmt.Sprintf("%s%02d", sign, abs(offset)/3600)
}

func (t *brokenTime) dateField(n *dateNode) string {
	switch n.key {
	case "Y,YYY":
		y := t.era(t.year)
		return fmt.Sprintf("%d,%03d", y/1000, y%1000)
	case "YYYY", "YYY", "YY", "Y":
		return n.year(t.era(t.year), len(n.key), t.era(t.year))
	case "IYYY", "IYY", "IY", "I":
		y, _ := t.isoWeek()
		return n.year(t.era(y), len(n.key), t.era(t.year))
	case "MONTH", "MON", "RM":
		return t.monthName(n)
	case "MM":
		return n.signed(t.month, 2, t.month)
	case "DAY":
		return n.name(t.weekday().String(), 9)
	case "DY":
		return n.name(t.weekday().String()[:3], 0)
	case "DDD":
		return n.digits(t.yearDay(), 3)
	case "IDDD":
		_, w := t.isoWeek()
		return n.digits((w-1)*7+(int(t.weekday())+6)%7+1, 3)
	case "DD":
		return n.digits(t.day, 2)
	case "D":
		return fmt.Sprint(int(t.weekday()) + 1)
	case "ID":
		return fmt.Sprint((int(t.weekday())+6)%7 + 1)
	case "WW":
		return n.digits((t.yearDay()-1)/7+1, 2)
	case "IW":
		_, w := t.isoWeek()
		return n.digits(w, 2)
	case "W":
		return fmt.Sprint((t.day-1)/7 + 1)
	case "Q":
		if t.month == 0 {
			return ""
		}
		return fmt.Sprint((t.month-1)/3 + 1)
	case "CC":
		return t.century(n)
	}
	return fmt.Sprint(t.date + 2451545) // J
}

func (t *brokenTime) monthName(n *dateNode) string {
	if n.key == "RM" {
		return t.romanMonth(n)
	}
	name := time.Month(t.month).String()
	if n.key == "MON" {
		return n.name(name[:3], 0)
	}
	return n.name(name, 9)
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

func (t *brokenTime) weekday() time.Weekday {
	return time.Weekday(((t.date+6)%7 + 7) % 7) // 2000-01-01 was a Saturday
}

func (t *brokenTime) yearDay() int {
	if t.interval {
		return t.year*360 + t.month*30 + t.day
	}
	first, _ := types.DateFromYMD(t.year, 1, 1)
	return int(t.date-first) + 1
}

// isoWeek returns the ISO 8601 year and week.
func (t *brokenTime) isoWeek() (year, week int) {
	thursday := t.date - int64((int(t.weekday())+6)%7) + 3
	year, _, _ = types.DateToYMD(thursday)
	first, _ := types.DateFromYMD(year, 1, 1)
	return year, int(thursday-first)/7 + 1
}
