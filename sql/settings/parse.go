package settings

import (
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/table/types"
)

// Canonical checks value for the parameter and gives it the form in which it is kept.
func (d *Def) Canonical(value string) (string, error) {
	out, err := d.parse(value)
	if err != nil {
		return "", err
	}
	if d.Fixed && out != d.Default {
		return "", sqlerr.New(sqlerr.FeatureNotSupported,
			"setting \"%s\" to \"%s\" is not supported", d.Name, value).
			WithHint("The only value is \"%s\".", d.Default)
	}
	return out, nil
}

func (d *Def) parse(value string) (string, error) {
	switch d.Kind {
	case Bool:
		b, ok := types.ParseBool(value)
		if !ok {
			return "", sqlerr.New(sqlerr.InvalidParameterValue,
				"parameter \"%s\" requires a Boolean value", d.Name)
		}
		return OnOff(b), nil
	case Int:
		return d.parseInt(value)
	case Real:
		return d.parseReal(value)
	case Enum:
		return d.parseEnum(value)
	}
	switch d.Name {
	case "DateStyle":
		return parseDateStyle(value)
	case "TimeZone":
		_, show, err := types.ParseZoneSetting(value)
		if err != nil {
			return "", d.invalid(value)
		}
		return show, nil
	case "client_encoding":
		return parseEncoding(value)
	case "application_name":
		return cleanName(value), nil
	case "search_path":
		if _, ok := sqlname.SplitList(value); !ok {
			return "", d.invalid(value).WithDetail("List syntax is invalid.")
		}
	}
	return value, nil
}

func (d *Def) invalid(value string) *sqlerr.Error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter \"%s\": \"%s\"",
		d.Name, value)
}

// OnOff writes a Boolean as parameters show it: on or off.
func OnOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

func (d *Def) parseEnum(value string) (string, error) {
	for _, e := range d.Enum {
		if strings.EqualFold(e, value) {
			return e, nil
		}
	}
	if b, ok := types.ParseBool(value); ok { // synchronous_commit = true
		for _, e := range d.Enum {
			if e == OnOff(b) {
				return e, nil
			}
		}
	}
	if d.Name == "client_min_messages" {
		switch strings.ToLower(value) { // accepted, but not listed
		case "info":
			return "notice", nil
		case "debug":
			return "debug2", nil
		}
	}
	if (d.Name == "log_min_messages" || d.Name == "log_min_error_statement") &&
		strings.EqualFold(value, "debug") { // accepted, but not listed
		return "debug2", nil
	}
	return "", d.invalid(value).WithHint("Available values: %s.", strings.Join(d.Enum, ", "))
}

// units maps a unit to what it is worth in the smallest one of its kind.
var (
	timeUnits = []unit{{"d", 86_400_000_000}, {"h", 3_600_000_000}, {"min", 60_000_000},
		{"s", 1_000_000}, {"ms", 1000}, {"us", 1}}
	sizeUnits = []unit{{"TB", 1 << 40}, {"GB", 1 << 30}, {"MB", 1 << 20}, {"kB", 1 << 10}, {"B", 1}}
)

type unit struct {
	name  string
	worth int64
}

func (d *Def) units() []unit {
	switch d.Unit {
	case "ms", "s", "min":
		return timeUnits
	case "B", "kB", "8kB", "MB":
		return sizeUnits
	}
	return nil
}

// base is what the unit in which the value is kept is worth.
func (d *Def) base() int64 {
	if d.Unit == "8kB" {
		return 8 << 10
	}
	for _, u := range d.units() {
		if u.name == d.Unit {
			return u.worth
		}
	}
	return 1
}

func (d *Def) parseInt(value string) (string, error) {
	text := strings.TrimSpace(value)
	end := 0
	for end < len(text) && strings.IndexByte("+-.0123456789", text[end]) >= 0 {
		end++
	}
	f, err := strconv.ParseFloat(text[:end], 64)
	if err != nil {
		return "", d.invalid(value)
	}
	if suffix := strings.TrimSpace(text[end:]); suffix != "" {
		worth := int64(0)
		for _, u := range d.units() {
			if u.name == suffix {
				worth = u.worth
			}
		}
		if worth == 0 {
			e := d.invalid(value)
			switch d.Unit {
			case "ms", "s", "min":
				_ = e.WithHint("Valid units for this parameter are \"us\", \"ms\", \"s\", " +
					"\"min\", \"h\", and \"d\".")
			case "B", "kB", "8kB", "MB":
				_ = e.WithHint("Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\"," +
					" and \"TB\".")
			}
			return "", e
		}
		f = f * float64(worth) / float64(d.base())
	}
	if f < float64(d.Min) || f > float64(d.Max) {
		unit := ""
		if d.Unit != "" {
			unit = " " + d.Unit
		}
		return "", outside(strconv.FormatInt(int64(f), 10)+unit, d.Name,
			strconv.FormatInt(d.Min, 10), strconv.FormatInt(d.Max, 10))
	}
	if f < 0 {
		f -= 0.5
	} else {
		f += 0.5
	}
	return strconv.FormatInt(int64(f), 10), nil
}

func outside(value, name, low, high string) error {
	return sqlerr.New(sqlerr.InvalidParameterValue,
		"%s is outside the valid range for parameter \"%s\" (%s .. %s)", value, name, low, high)
}

// Display is value as SHOW gives it: with the largest unit that divides it.
func (d *Def) Display(value string) string {
	if d.Kind != Int || d.Unit == "" {
		return value
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n <= 0 {
		return value
	}
	n *= d.base()
	for _, u := range d.units() {
		if n%u.worth == 0 {
			return strconv.FormatInt(n/u.worth, 10) + u.name
		}
	}
	return value
}

// cleanName replaces what is not printable ASCII, as PostgreSQL does for application names.
func cleanName(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c < ' ' || c > '~' {
			b[i] = '?'
		}
	}
	if len(b) > 63 {
		b = b[:63]
	}
	return string(b)
}

func parseEncoding(value string) (string, error) {
	name := strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "", "'", "").Replace(value))
	switch name {
	case "utf8", "unicode":
		return "UTF8", nil
	case "sqlascii", "latin1", "iso88591", "latin9", "win1252", "win1251", "win1250", "eucjp",
		"sjis", "gbk", "gb18030", "big5", "euckr", "koi8r":
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "client encoding \"%s\" is not supported",
			value).
			WithHint("The only client encoding is UTF8.")
	}
	return "", Lookup("client_encoding").invalid(value)
}

func parseDateStyle(value string) (string, error) {
	style, order := "", ""
	for part := range strings.SplitSeq(value, ",") {
		switch p := strings.ToUpper(strings.TrimSpace(part)); {
		case p == "ISO":
			style = "ISO"
		case p == "SQL":
			style = "SQL"
		case strings.HasPrefix(p, "POSTGRES"):
			style = "Postgres"
		case p == "GERMAN":
			style = "German"
			if order == "" {
				order = "DMY"
			}
		case p == "YMD":
			order = "YMD"
		case p == "DMY", strings.HasPrefix(p, "EURO"):
			order = "DMY"
		case p == "MDY", p == "US", strings.HasPrefix(p, "NONEURO"):
			order = "MDY"
		case p == "DEFAULT":
			style, order = "ISO", "MDY"
		default:
			return "", Lookup("DateStyle").invalid(value).WithDetail(
				"Unrecognized key word: \"%s\".", strings.TrimSpace(part))
		}
	}
	return style + ", " + order, nil
}

// completeDateStyle fills the half that SET DateStyle left out from the present value.
func completeDateStyle(value, present string) string {
	style, order, _ := strings.Cut(value, ", ")
	oldStyle, oldOrder, _ := strings.Cut(present, ", ")
	if style == "" {
		style = oldStyle
	}
	if order == "" {
		order = oldOrder
	}
	return style + ", " + order
}
