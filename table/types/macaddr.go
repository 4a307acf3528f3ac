package types

import (
	"math"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
)

// A macaddr is held as its six bytes, a macaddr8 as its eight.

func appendMAC(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	for i := range len(s) {
		if i > 0 {
			dst = append(dst, ':')
		}
		dst = append(dst, digits[s[i]>>4], digits[s[i]&15])
	}
	return dst
}

// macForms are the forms of a macaddr, in the order in which PostgreSQL tries them: a width of the
// numbers, 0 for any, and the character behind each but the last, a blank for none.
var macForms = []struct {
	width int
	after string
}{
	{0, ":::::"}, {0, "-----"}, {2, "  :  "}, {2, "  -  "}, {2, " . . "}, {2, " - - "},
	{2, "     "},
}

func parseMAC(s string) (string, error) {
	for _, form := range macForms {
		octets, ok := scanMAC(s, form.width, form.after)
		if !ok {
			continue
		}
		out := make([]byte, len(octets))
		for i, o := range octets {
			if o < 0 || o > 255 {
				return "", sqlerr.New(sqlerr.NumericValueOutOfRange,
					"invalid octet value in \"macaddr\" value: \"%s\"", s)
			}
			out[i] = byte(o)
		}
		return string(out), nil
	}
	return "", errSyntaxFor(TMacAddr, s)
}

func scanMAC(s string, width int, after string) (octets [6]int64, ok bool) {
	for i := range octets {
		if octets[i], s, ok = scanHex(s, width); !ok {
			return octets, false
		}
		if i == len(after) || after[i] == ' ' {
			continue
		}
		if s == "" || s[0] != after[i] {
			return octets, false
		}
		s = s[1:]
	}
	return octets, strings.Trim(s, " \t\n\r\v\f") == ""
}

// scanHex reads a hexadecimal number as scanf's %x does: behind blanks, with a sign and 0x.
func scanHex(s string, width int) (v int64, rest string, ok bool) {
	s = strings.TrimLeft(s, " \t\n\r\v\f")
	end := len(s)
	if width > 0 {
		end = min(end, width)
	}
	i, negative := 0, false
	if i < end && (s[i] == '+' || s[i] == '-') {
		negative = s[i] == '-'
		i++
	}
	if i+2 < end && s[i] == '0' && s[i+1]|0x20 == 'x' {
		if _, ok := hexDigit(s[i+2]); ok {
			i += 2
		}
	}
	from := i
	for ; i < end; i++ {
		d, ok := hexDigit(s[i])
		if !ok {
			break
		}
		v = min(v<<4|int64(d), math.MaxInt32)
	}
	if negative {
		v = -v
	}
	return v, s[i:], i > from
}

// parseMAC8 reads six or eight pairs of digits with the same character, or none, between them.
func parseMAC8(s string) (string, error) {
	bad := errSyntaxFor(TMacAddr8, s)
	w := strings.TrimLeft(s, " \t\n\r\v\f")
	var out []byte
	separator := byte(0)
	for len(w) > 1 {
		hi, ok1 := hexDigit(w[0])
		lo, ok2 := hexDigit(w[1])
		if !ok1 || !ok2 || len(out) == 8 {
			return "", bad
		}
		out = append(out, hi<<4|lo)
		w = w[2:]
		if w != "" && (w[0] == ':' || w[0] == '-' || w[0] == '.') {
			if separator != 0 && separator != w[0] {
				return "", bad
			}
			separator, w = w[0], w[1:]
		}
		if (len(out) == 6 || len(out) == 8) && w != "" && isSpace(w[0]) {
			if strings.Trim(w, " \t\n\r\v\f") != "" {
				return "", bad
			}
			w = ""
		}
	}
	switch len(out) {
	case 6:
		return macTo8(string(out)), nil
	case 8:
		return string(out), nil
	}
	return "", bad
}

// macTo8 is the cast of a macaddr to macaddr8, which has FF:FE in the middle.
func macTo8(s string) string { return s[:3] + "\xff\xfe" + s[3:] }

func mac8To6(s string) (string, error) {
	if s[3:5] != "\xff\xfe" {
		return "", sqlerr.New(sqlerr.NumericValueOutOfRange,
			"macaddr8 data out of range to convert to macaddr").
			WithHint("Only addresses that have FF and FE as values in the 4th and 5th bytes " +
				"from the left, for example xx:xx:xx:ff:fe:xx:xx:xx, are eligible to be " +
				"converted from macaddr8 to macaddr.")
	}
	return s[:3] + s[5:], nil
}

func fromMAC(d Datum, from, to *Type) (Datum, error) {
	var err error
	switch {
	case from.Family == to.Family:
	case to.Family == MacAddr8:
		d.S = macTo8(d.S)
	case to.Family == MacAddr:
		d.S, err = mac8To6(d.S)
	default:
		return Datum{}, ErrCannotCast(from, to)
	}
	return d, err
}
