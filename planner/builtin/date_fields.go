package builtin

import (
	"fmt"
	"strings"
	"time"
)

// dateField is a field of date formats: what to_char writes for it, and where to_date stores its
// number.
type dateField struct {
	key   string // upper case
	width int    // digits of its number when it is read; 0: it is not a number
	write func(t *brokenTime, n *dateNode) string
	// place is where its number is stored as it is; nil for the fields that dateInput.set treats.
	place    func(in *dateInput) *int
	calendar bool // an interval does not have it
}

// dateFields in the order of search: a longer keyword precedes its prefixes.
var dateFields = []dateField{
	{key: "A.D.", write: writeEra, calendar: true},
	{key: "A.M.", write: writeHalf},
	{key: "AD", write: writeEra, calendar: true},
	{key: "AM", write: writeHalf},
	{key: "B.C.", write: writeEra, calendar: true},
	{key: "BC", write: writeEra, calendar: true},
	{"CC", 2, (*brokenTime).century, func(in *dateInput) *int { return &in.century }, false},
	{key: "DAY", write: writeDay, calendar: true},
	{"DDD", 3, func(t *brokenTime, n *dateNode) string { return n.digits(t.yearDay(), 3) },
		func(in *dateInput) *int { return &in.yearDay }, false},
	{"DD", 2, func(t *brokenTime, n *dateNode) string { return n.digits(t.day, 2) },
		func(in *dateInput) *int { return &in.day }, false},
	{key: "DY", write: writeDay, calendar: true},
	{key: "D", width: 1, calendar: true,
		write: func(t *brokenTime, _ *dateNode) string { return fmt.Sprint(int(t.weekday()) + 1) }},
	{key: "FF1", width: 1, write: writeFraction},
	{key: "FF2", width: 2, write: writeFraction},
	{key: "FF3", width: 3, write: writeMillis},
	{key: "FF4", width: 4, write: writeFraction},
	{key: "FF5", width: 5, write: writeFraction},
	{key: "FF6", width: 6, write: writeMicros},
	{"HH24", 2, func(t *brokenTime, n *dateNode) string { return n.signed(t.hour, 2, t.hour) },
		func(in *dateInput) *int { return &in.hour }, false},
	{key: "HH12", width: 2, write: writeHour12},
	{key: "HH", width: 2, write: writeHour12},
	{key: "IDDD", width: 3, write: func(t *brokenTime, n *dateNode) string {
		_, week := t.isoWeek()
		return n.digits((week-1)*7+t.isoDay(), 3)
	}},
	{"ID", 1, func(t *brokenTime, _ *dateNode) string { return fmt.Sprint(t.isoDay()) },
		func(in *dateInput) *int { return &in.isoDay }, true},
	{"IW", 2, func(t *brokenTime, n *dateNode) string {
		_, week := t.isoWeek()
		return n.digits(week, 2)
	}, func(in *dateInput) *int { return &in.isoWeek }, false},
	{key: "IYYY", width: 4, write: writeISOYear},
	{key: "IYY", width: 3, write: writeISOYear},
	{key: "IY", width: 2, write: writeISOYear},
	{key: "I", width: 1, write: writeISOYear},
	{"J", 9, func(t *brokenTime, _ *dateNode) string { return fmt.Sprint(t.date + 2451545) },
		func(in *dateInput) *int { return &in.julian }, false},
	{"MI", 2, func(t *brokenTime, n *dateNode) string { return n.signed(t.min, 2, t.min) },
		func(in *dateInput) *int { return &in.min }, false},
	{"MM", 2, func(t *brokenTime, n *dateNode) string { return n.signed(t.month, 2, t.month) },
		func(in *dateInput) *int { return &in.month }, false},
	{key: "MONTH", write: writeMonth, calendar: true},
	{key: "MON", write: writeMonth, calendar: true},
	{key: "MS", width: 3, write: writeMillis},
	{key: "OF", write: writeOffset, calendar: true},
	{key: "P.M.", write: writeHalf},
	{key: "PM", write: writeHalf},
	{key: "Q", width: 1, write: func(t *brokenTime, _ *dateNode) string {
		if t.month == 0 {
			return ""
		}
		return fmt.Sprint((t.month-1)/3 + 1)
	}},
	{key: "RM", write: (*brokenTime).romanMonth},
	{"SSSSS", 5, writeSeconds, func(in *dateInput) *int { return &in.secs }, false},
	{"SSSS", 5, writeSeconds, func(in *dateInput) *int { return &in.secs }, false},
	{"SS", 2, func(t *brokenTime, n *dateNode) string { return n.signed(t.sec, 2, t.sec) },
		func(in *dateInput) *int { return &in.sec }, false},
	{key: "TZH", calendar: true,
		write: func(t *brokenTime, _ *dateNode) string { return offsetHours(t.offset) }},
	{"TZM", 2, func(t *brokenTime, _ *dateNode) string {
		return fmt.Sprintf("%02d", abs(t.offset)/60%60)
	}, func(in *dateInput) *int { return &in.zoneMinutes }, true},
	{key: "TZ", calendar: true,
		write: func(t *brokenTime, n *dateNode) string { return n.name(t.zone, 0) }},
	{key: "US", width: 6, write: writeMicros},
	{key: "WW", width: 2,
		write: func(t *brokenTime, n *dateNode) string { return n.digits((t.yearDay()-1)/7+1, 2) }},
	{"W", 1, func(t *brokenTime, _ *dateNode) string { return fmt.Sprint((t.day-1)/7 + 1) },
		func(in *dateInput) *int { return &in.week }, false},
	{key: "Y,YYY", width: 4, write: func(t *brokenTime, _ *dateNode) string {
		y := t.era(t.year)
		return fmt.Sprintf("%d,%03d", y/1000, y%1000)
	}},
	{key: "YYYY", width: 4, write: writeYear},
	{key: "YYY", width: 3, write: writeYear},
	{key: "YY", width: 2, write: writeYear},
	{key: "Y", width: 1, write: writeYear},
}

// dateFieldOf returns the field whose keyword s begins with; nil: there is none.
func dateFieldOf(s string) *dateField {
	for i := range dateFields {
		f := &dateFields[i]
		k := f.key
		if len(s) < len(k) {
			continue
		}
		w := s[:len(k)]
		if w == k || w == strings.ToLower(k) || w == k[:1]+strings.ToLower(k[1:]) &&
			(k == "MONTH" || k == "MON" || k == "DAY" || k == "DY") {
			return f
		}
	}
	return nil
}

// isNumeric reports whether a number may begin with the field, so that one before it ends at its
// width.
func (f *dateField) isNumeric() bool { return f.width > 0 && f.key != "TZM" }

var romanMonths = []string{"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"}

func writeHalf(t *brokenTime, n *dateNode) string {
	if ((t.hour%24)+24)%24 >= 12 {
		return n.half("PM")
	}
	return n.half("AM")
}

func writeEra(t *brokenTime, n *dateNode) string {
	if t.year <= 0 {
		return n.half("BC")
	}
	return n.half("AD")
}

func writeHour12(t *brokenTime, n *dateNode) string {
	h := t.hour % 12
	if h == 0 {
		h = 12
	}
	return n.signed(h, 2, t.hour)
}

func writeMillis(t *brokenTime, _ *dateNode) string { return fmt.Sprintf("%03d", t.micros/1000) }

func writeMicros(t *brokenTime, _ *dateNode) string { return fmt.Sprintf("%06d", t.micros) }

func writeFraction(t *brokenTime, n *dateNode) string { return writeMicros(t, n)[:n.field.width] }

func writeSeconds(t *brokenTime, _ *dateNode) string {
	return fmt.Sprint(t.hour*3600 + t.min*60 + t.sec)
}

func writeOffset(t *brokenTime, _ *dateNode) string {
	if m := abs(t.offset) / 60 % 60; m != 0 {
		return fmt.Sprintf("%s:%02d", offsetHours(t.offset), m)
	}
	return offsetHours(t.offset)
}

func writeDay(t *brokenTime, n *dateNode) string {
	name := t.weekday().String()
	if n.field.key == "DY" {
		return n.name(name[:3], 0)
	}
	return n.name(name, 9)
}

func writeMonth(t *brokenTime, n *dateNode) string {
	name := time.Month(t.month).String()
	if n.field.key == "MON" {
		return n.name(name[:3], 0)
	}
	return n.name(name, 9)
}

func writeYear(t *brokenTime, n *dateNode) string {
	return n.year(t.era(t.year), n.field.width, t.era(t.year))
}

func writeISOYear(t *brokenTime, n *dateNode) string {
	y, _ := t.isoWeek()
	return n.year(t.era(y), n.field.width, t.era(t.year))
}
