package types

import (
	"errors"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
)

// The input of dates and times follows PostgreSQL's datetime.c step by step, because only that code
// defines which inputs are valid: the text is cut into fields (lexDateTime), then the fields are
// interpreted one by one, each of which restricts what the next can be.

// Reasons for refusing an input; dateTimeError turns them into SQLSTATEs.
var (
	errDTFormat   = errors.New("bad format")
	errDTField    = errors.New("field overflow")
	errDTMonthDay = errors.New("month or day overflow")
	errDTInterval = errors.New("interval overflow")
	errDTZone     = errors.New("zone displacement overflow")
)

func dateTimeError(err error, typ, input string) error {
	out := func(code, format string) *sqlerr.Error {
		return sqlerr.New(code, format+": \"%s\"", input)
	}
	switch {
	case errors.Is(err, errDTField):
		return out(sqlerr.DatetimeFieldOverflow, "date/time field value out of range")
	case errors.Is(err, errDTMonthDay):
		return out(sqlerr.DatetimeFieldOverflow, "date/time field value out of range").
			WithHint("Perhaps you need a different \"datestyle\" setting.")
	case errors.Is(err, errDTInterval):
		return errIntervalField(input)
	case errors.Is(err, errDTZone):
		return out(sqlerr.InvalidTimeZoneDisplacement, "time zone displacement out of range")
	case errors.Is(err, errDTFormat):
		return out(sqlerr.InvalidDatetimeFormat, "invalid input syntax for type "+typ)
	}
	return err
}

type lexKind uint8

const (
	lexNumber lexKind = iota
	lexDate
	lexTime
	lexZone
	lexWord
	lexSpecial
)

type lexeme struct {
	kind lexKind
	text string // letters are lower case
}

const maxDateFields = 25

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlpha(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func isPunct(c byte) bool { return c > ' ' && c < 127 && !isDigit(c) && !isAlpha(c) }

// lexDateTime cuts the text into fields by their first character and what follows it.
func lexDateTime(s string) ([]lexeme, error) {
	var out []lexeme
	i := 0
	at := func(j int) byte {
		if j < len(s) {
			return s[j]
		}
		return 0
	}
	run := func(ok func(byte) bool) {
		for i < len(s) && ok(s[i]) {
			i++
		}
	}
	for i < len(s) {
		if isSpace(s[i]) {
			i++
			continue
		}
		if len(out) >= maxDateFields {
			return nil, errDTFormat
		}
		start := i
		kind := lexNumber
		switch c := s[i]; {
		case isDigit(c):
			kind, i = lexDigits(s, i)
		case c == '.':
			i++
			run(isDigit)
		case isAlpha(c):
			kind = lexWord
			run(isAlpha)
			isDate := false
			switch n := at(i); {
			case n == '-' || n == '/' || n == '.':
				isDate = true
			case n == '+' || isDigit(n):
				_, known := dateWords[truncWord(strings.ToLower(s[start:i]))]
				isDate = !known
			}
			if isDate {
				kind = lexDate
				run(func(b byte) bool {
					return strings.IndexByte("+-/_.:", b) >= 0 || isDigit(b) ||
						isAlpha(b)
				})
			}
		case c == '+' || c == '-':
			l, end, err := lexSigned(s, i)
			if err != nil {
				return nil, err
			}
			i = end
			out = append(out, l)
			continue
		case isPunct(c):
			i++
			continue
		default:
			return nil, errDTFormat
		}
		out = append(out, lexeme{kind, strings.ToLower(s[start:i])})
	}
	return out, nil
}

// lexSigned reads a field behind a sign: a zone's offset or a signed number, or a special word.
func lexSigned(s string, i int) (lexeme, int, error) {
	sign := s[i : i+1]
	for i++; i < len(s) && isSpace(s[i]); i++ {
	}
	from, kind := i, lexZone
	more := func(b byte) bool { return isDigit(b) || b == ':' || b == '.' || b == '-' }
	switch {
	case i < len(s) && isDigit(s[i]):
	case i < len(s) && isAlpha(s[i]):
		kind, more = lexSpecial, isAlpha
	default:
		return lexeme{}, 0, errDTFormat
	}
	for i < len(s) && more(s[i]) {
		i++
	}
	return lexeme{kind, sign + strings.ToLower(s[from:i])}, i, nil
}

// lexDigits reads a field that starts with a digit: a number, a time, or a date.
func lexDigits(s string, i int) (lexKind, int) {
	run := func(ok func(byte) bool) {
		for i < len(s) && ok(s[i]) {
			i++
		}
	}
	run(isDigit)
	if i == len(s) {
		return lexNumber, i
	}
	switch delim := s[i]; delim {
	case ':':
		run(func(b byte) bool { return isDigit(b) || b == ':' || b == '.' })
		return lexTime, i
	case '-', '/', '.':
		i++
		if i < len(s) && isDigit(s[i]) {
			kind := lexDate
			if delim == '.' {
				kind = lexNumber
			}
			run(isDigit)
			if i < len(s) && s[i] == delim {
				kind = lexDate
				run(func(b byte) bool { return isDigit(b) || b == delim })
			}
			return kind, i
		}
		run(func(b byte) bool { return isDigit(b) || isAlpha(b) || b == delim })
		return lexDate, i
	}
	return lexNumber, i
}

// wordKind is what a word means in a date.
type wordKind uint8

const (
	wordNone wordKind = iota
	wordNow
	wordToday
	wordYesterday
	wordTomorrow
	wordZulu
	wordEpoch
	wordLate
	wordEarly
	wordMonth
	wordDST
	wordAMPM
	wordADBC
	wordDow
	wordJulian
	wordUnit
	wordIsoTime
	wordIgnore
)

type dateWord struct {
	kind wordKind
	val  int
}

func truncWord(w string) string {
	if len(w) > 10 {
		return w[:10]
	}
	return w
}

// dateWords are the words of dates; only ten bytes of a word count.
var dateWords = map[string]dateWord{
	"+infinity": {wordLate, 0}, "-infinity": {wordEarly, 0}, "infinity": {wordLate, 0},
	"epoch": {wordEpoch, 0}, "now": {wordNow, 0}, "today": {wordToday, 0},
	"tomorrow": {wordTomorrow, 0}, "yesterday": {wordYesterday, 0}, "allballs": {wordZulu, 0},
	"ad": {wordADBC, 0}, "bc": {wordADBC, 1}, "am": {wordAMPM, 0}, "pm": {wordAMPM, 1},
	"at": {wordIgnore, 0}, "on": {wordIgnore, 0}, "dst": {wordDST, 3600}, "t": {wordIsoTime, 0},
	"j": {wordJulian, 0}, "jd": {wordJulian, 0}, "julian": {wordJulian, 0},
	"d": {wordUnit, 0}, "h": {wordUnit, 0}, "m": {wordUnit, 0}, "mm": {wordUnit, 0},
	"s": {wordUnit, 0}, "y": {wordUnit, 0}, "dow": {wordUnit, 0}, "doy": {wordUnit, 0},
	"isodow": {wordUnit, 0}, "isoyear": {wordUnit, 0},
	"jan": {wordMonth, 1}, "january": {wordMonth, 1}, "feb": {wordMonth, 2}, "february": {wordMonth,
		2},
	"mar": {wordMonth, 3}, "march": {wordMonth, 3}, "apr": {wordMonth, 4}, "april": {wordMonth, 4},
	"may": {wordMonth, 5}, "jun": {wordMonth, 6}, "june": {wordMonth, 6}, "jul": {wordMonth, 7},
	"july": {wordMonth, 7}, "aug": {wordMonth, 8}, "august": {wordMonth, 8}, "sep": {wordMonth, 9},
	"sept": {wordMonth, 9}, "september": {wordMonth, 9}, "oct": {wordMonth, 10},
	"october": {wordMonth, 10}, "nov": {wordMonth, 11}, "november": {wordMonth, 11},
	"dec": {wordMonth, 12}, "december": {wordMonth, 12},
	"sun": {wordDow, 0}, "sunday": {wordDow, 0}, "mon": {wordDow, 1}, "monday": {wordDow, 1},
	"tue": {wordDow, 2}, "tues": {wordDow, 2}, "tuesday": {wordDow, 2}, "wed": {wordDow, 3},
	"weds": {wordDow, 3}, "wednesday": {wordDow, 3}, "thu": {wordDow, 4}, "thur": {wordDow, 4},
	"thurs": {wordDow, 4}, "thursday": {wordDow, 4}, "fri": {wordDow, 5}, "friday": {wordDow, 5},
	"sat": {wordDow, 6}, "saturday": {wordDow, 6},
}
