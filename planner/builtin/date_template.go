package builtin

import (
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// readTemplate reads a text by a datetime template of SQL/JSON. A template is a format of to_date
// that is read strictly: separators must be those of the text, and the text must end where the
// template does. Its fields decide the type of the value: a date, a time, or both, with a zone or
// without.
func readTemplate(rt *expr.Runtime, s, template string) (*pathMoment, error) {
	nodes, _ := parseDateFormat(template)
	for i := range nodes {
		if n := &nodes[i]; n.field == nil && !n.quote && !strings.Contains("-./,':; ", n.text) {
			return nil, &templateError{errDateValue("invalid datetime format separator: \"%s\"",
				n.text)}
		}
	}
	t := templateReader{rest: s}
	if err := t.read(nodes); err != nil {
		return nil, err
	}
	has, err := templateFields(nodes)
	if err != nil {
		return nil, err
	}
	return t.moment(rt, s, has)
}

// templateError is an error of the template itself, which is raised in any case.
type templateError struct{ error }

func (e *templateError) Unwrap() error { return e.error }

// templateReader reads a text strictly.
type templateReader struct {
	dateInput
	rest     string
	zoneSign int // 0: no zone was read
	digits   int // of a fraction, as the template gives it (FF1 to FF6); 0: it does not
}

func (t *templateReader) read(nodes []dateNode) error {
	i := 0
	for ; i < len(nodes) && t.rest != ""; i++ {
		n := &nodes[i]
		var err error
		if n.field == nil {
			err = t.literal(n)
		} else {
			err = t.field(n, i+1 < len(nodes) && nodes[i+1].isNumeric())
		}
		if err != nil {
			return err
		}
	}
	if i < len(nodes) {
		return errDateValue("input string is too short for datetime format")
	}
	if strings.TrimLeft(t.rest, " \t\n\r\v\f") != "" {
		return errDateValue("trailing characters remain in input string after datetime format")
	}
	return nil
}

// literal reads a separator, or text that the template has in quotes.
func (t *templateReader) literal(n *dateNode) error {
	if !n.quote {
		if t.rest[0] != n.text[0] {
			return errDateValue("unmatched format separator \"%s\"", n.text)
		}
		t.rest = t.rest[1:]
		return nil
	}
	for _, c := range n.text {
		if t.rest == "" {
			return errDateValue("input string is too short for datetime format")
		}
		if !strings.HasPrefix(t.rest, string(c)) {
			return errDateValue("unmatched format character \"%s\"", string(c))
		}
		t.rest = t.rest[len(string(c)):]
	}
	return nil
}

func (t *templateReader) field(n *dateNode, fixed bool) (err error) {
	switch key := n.field.key; key {
	case "TZH":
		t.zoneSign = 1
		if t.rest[0] == '+' || t.rest[0] == '-' || t.rest[0] == ' ' {
			if t.rest[0] == '-' {
				t.zoneSign = -1
			}
			t.rest = t.rest[1:]
		}
		t.zone, t.rest, err = takeInt(strings.TrimLeft(t.rest, " \t\n"), n, 2, fixed)
		return err
	case "TZM":
		if t.zoneSign == 0 {
			t.zoneSign = 1
		}
		t.zoneMinutes, t.rest, err = takeInt(strings.TrimLeft(t.rest, " \t\n"), n, 2, fixed)
		return err
	default:
		if n.isNumeric() {
			t.rest = strings.TrimLeft(t.rest, " \t\n")
		}
		if strings.HasPrefix(key, "FF") {
			t.digits = n.field.width
		}
		if t.rest, err = t.dateInput.field(n, t.rest, fixed); err != nil {
			return err
		}
		if n.th != "" && len(t.rest) >= 2 {
			t.rest = t.rest[2:]
		}
		return nil
	}
}

// templateHas is what the fields of a template make.
type templateHas struct{ date, time, zone bool }

func templateFields(nodes []dateNode) (has templateHas, err error) {
	for i := range nodes {
		if nodes[i].field == nil {
			continue
		}
		switch key := nodes[i].field.key; key {
		case "A.M.", "P.M.", "AM", "PM", "HH", "HH12", "HH24", "MI", "SS", "MS", "US", "FF1",
			"FF2", "FF3", "FF4", "FF5", "FF6", "SSSS", "SSSSS":
			has.time = true
		case "TZH", "TZM":
			has.zone = true
		case "TZ", "OF":
			return has, sqlerr.New(sqlerr.FeatureNotSupported,
				"formatting field \"%s\" is only supported in to_char", nodes[i].text)
		default:
			has.date = true
		}
	}
	switch {
	case !has.date && !has.time:
		return has, errDateValue("datetime format is not dated and not timed")
	case has.zone && !has.time:
		return has, errDateValue("datetime format is zoned but not timed")
	}
	return has, nil
}

const zoneHoursMax = 15

// moment makes the value of what was read from text.
func (t *templateReader) moment(rt *expr.Runtime, text string, has templateHas) (*pathMoment,
	error) {
	m := &pathMoment{}
	var date, clock int64
	var err error
	if has.zone {
		if t.zone < 0 || t.zone > zoneHoursMax || t.zoneMinutes < 0 || t.zoneMinutes > 59 {
			return nil, sqlerr.New(sqlerr.InvalidTimeZoneDisplacement,
				"time zone displacement out of range: \"%s\"", text)
		}
		m.east = int32(t.zoneSign * (t.zone*3600 + t.zoneMinutes*60))
	}
	if has.date {
		if date, err = t.date(text); err != nil {
			return nil, err
		}
	}
	if has.time {
		secs, err := t.secondsOfDay(text)
		if err != nil {
			return nil, err
		}
		clock = int64(secs)*types.MicrosPerSecond + int64(t.micros)
	}
	if !has.date && t.digits > 0 {
		// A time may be rounded up to 24:00:00.
		if clock, err = types.RoundTimestamp(clock, int32(t.digits)); err != nil {
			return nil, err
		}
	}
	switch {
	case has.date && !has.time:
		m.t, m.d = types.TDate, types.NewInt(date)
		return m, nil
	case !has.date && has.zone:
		m.t = types.TTimeTZ
		m.d = types.ZonedTime{Micros: clock, West: -m.east}.Datum()
		return m, nil
	case !has.date:
		m.t, m.d = types.TTime, types.NewInt(clock)
		return m, nil
	}
	ts, err := types.DateToTimestamp(date)
	if err != nil {
		return nil, err
	}
	ts += clock - int64(m.east)*types.MicrosPerSecond
	if t.digits > 0 {
		if ts, err = types.RoundTimestamp(ts, int32(t.digits)); err != nil {
			return nil, err
		}
	}
	m.t, m.d = types.TTimestamp, types.NewInt(ts)
	if has.zone {
		m.t = types.TTimestampTZ
	}
	return m, rt.TickSteps(1)
}
