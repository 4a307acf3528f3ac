package types

import (
	"math"
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
)

// formatG is C's %.*g.
func formatG(f float64, prec int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	prec = max(prec, 1)
	s := strconv.FormatFloat(f, 'e', prec-1, 64)
	m, e, _ := strings.Cut(s, "e")
	exp, _ := strconv.Atoi(e)
	if exp < -4 || exp >= prec {
		if strings.Contains(m, ".") {
			m = strings.TrimRight(strings.TrimRight(m, "0"), ".")
		}
		return m + "e" + e
	}
	s = strconv.FormatFloat(f, 'f', prec-1-exp, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// AppendFloat writes a float of 32 or 64 bits: its shortest exact form when extraDigits is above
// zero, as in PostgreSQL 12 and later, else rounded to 6 or 15 digits plus extraDigits.
func AppendFloat(dst []byte, f float64, bits, extraDigits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	digits := 15
	if bits == 32 {
		digits = 6
	}
	if extraDigits <= 0 {
		return append(dst, formatG(f, digits+extraDigits)...)
	}
	if n := digitsWithinBounds(f, bits); n > 0 {
		return appendShortest(dst, f, digits, n-1, bits)
	}
	if a := math.Abs(f); f == 0 || a >= 1e-3 && a < 1e5 {
		return strconv.AppendFloat(dst, f, 'f', -1, bits)
	}
	return appendShortest(dst, f, digits, -1, bits)
}

// appendShortest writes f with prec fractional digits of its scientific form (-1: as many as it
// takes), in that form unless the exponent is from -4 to below digits.
func appendShortest(dst []byte, f float64, digits, prec, bits int) []byte {
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', prec, bits)
	e := strings.LastIndexByte(string(dst[start:]), 'e')
	exp, _ := strconv.Atoi(string(dst[start+e+1:]))
	if exp < -4 || exp >= digits {
		return dst
	}
	return strconv.AppendFloat(dst[:start], f, 'f', -1, bits)
}

// unsigned takes one sign off.
func unsigned(s string) string {
	if s[0] == '+' || s[0] == '-' {
		return s[1:]
	}
	return s
}

// ParseFloat reads a float of 32 or 64 bits as PostgreSQL does.
func ParseFloat(s string, bits int) (float64, error) {
	name := "double precision"
	if bits == 32 {
		name = "real"
	}
	t := strings.Trim(s, " \t\n\r\v\f")
	bad := func() error {
		return sqlerr.New(sqlerr.InvalidTextRepresentation,
			"invalid input syntax for type %s: \"%s\"", name, s)
	}
	if t == "" || strings.ContainsRune(t, '_') {
		return 0, bad()
	}
	switch strings.ToLower(unsigned(t)) {
	case "nan":
		return math.NaN(), nil
	case "inf", "infinity":
		if t[0] == '-' {
			return math.Inf(-1), nil
		}
		return math.Inf(1), nil
	}
	f, err := strconv.ParseFloat(t, bits)
	if err != nil {
		if hex := strings.ToLower(strings.TrimLeft(t, "+-")); strings.HasPrefix(hex, "0x") &&
			!strings.Contains(hex, "p") {
			f, err = strconv.ParseFloat(t+"p0", bits) // C takes hexadecimal without an exponent
		}
	}
	if err != nil {
		if math.IsInf(f, 0) {
			return 0, sqlerr.New(sqlerr.NumericValueOutOfRange,
				"\"%s\" is out of range for type %s", t, name)
		}
		return 0, bad()
	}
	if f == 0 && strings.ContainsAny(mantissaOf(t), "123456789") {
		return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, "\"%s\" is out of range for type %s", t,
			name)
	}
	return f, nil
}

func mantissaOf(s string) string {
	if i := strings.IndexAny(s, "eEpP"); i >= 0 {
		return s[:i]
	}
	return s
}
