package builtin

import (
	"strings"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// toNumber is to_number: it reads a number by a format, taking digits where the format has digits,
// and ignoring the text between them.
func toNumber(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	nf, err := parseNumberFormat(a[1].S)
	switch {
	case err != nil:
		return types.Null, err
	case a[1].S == "":
		return types.Null, nil
	case nf.sci:
		return types.Null, sqlerr.New(sqlerr.FeatureNotSupported,
			"\"EEEE\" not supported for input")
	case nf.roman:
		return types.Null, sqlerr.Unsupported(0, "\"RN\" for input")
	}
	r := numberReader{numberFormat: nf, rest: a[0].S}
	for i := range nf.nodes {
		if r.rest == "" {
			break
		}
		r.node(nf.nodes[i].key)
	}
	d, err := types.ParseNumeric(r.text())
	if err != nil {
		return types.Null, err
	}
	if nf.shift {
		if d, err = timesPowerOf10(d, -nf.multi); err != nil {
			return types.Null, err
		}
	}
	return types.NewDecimal(d), nil
}

// numberReader reads a number from a text, one node of the format at a time. It follows
// NUM_numpart_from_char and NUM_processor of PostgreSQL's formatting.c.
type numberReader struct {
	*numberFormat
	rest   string
	digits strings.Builder
	sign   byte // '+', '-', or 0 if none was read
	before int  // digits read before the point
	after  int  // and after it
	point  bool // the point was read
}

// node reads what a node of the format describes. Requires: rest is not empty.
func (r *numberReader) node(key string) {
	switch key {
	case "9", "0", ".", "D":
		r.digit(key)
		r.skip()
	case ",", "G":
		if r.rest[0] == ',' {
			r.skip()
		}
	case "MI", "PL", "SG":
		if c := r.rest[0]; c == '-' && key != "PL" || c == '+' && key != "MI" {
			r.sign = c
			r.skip()
		} else {
			r.skipText(1)
		}
	case "L":
		r.skipText(1)
	case "TH":
		if r.sign != '-' && !r.decimal {
			r.skipText(2)
		}
	case "":
		_, end := dateText(r.rest, 0)
		r.rest = r.rest[end:]
	}
}

// digit reads a digit or the point, and a sign before or after it. The last byte of the text is
// left to node, which skips it whatever it is.
func (r *numberReader) digit(key string) {
	if r.rest[0] == ' ' {
		r.skip()
	}
	if r.rest == "" {
		return
	}
	if r.sign == 0 && (key == "9" || key == "0") && r.before+r.after == 0 {
		r.leadingSign()
	}
	if r.rest == "" {
		return
	}
	read := false
	switch c := r.rest[0]; {
	case isDigit(c) && r.point && r.after == r.post:
		return
	case isDigit(c) && r.point:
		r.after++
		read = true
	case isDigit(c):
		r.before++
		read = true
	case c == '.' && r.decimal && !r.point:
		r.point, read = true, true
	}
	if read {
		r.digits.WriteByte(r.rest[0])
	}
	if r.sign == 0 && r.before+r.after > 0 {
		r.trailingSign(read)
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (r *numberReader) leadingSign() {
	switch c := r.rest[0]; {
	case c == '-' || c == '<' && r.bracket:
		r.sign = '-'
		r.skip()
	case c == '+':
		r.sign = '+'
		r.skip()
	}
}

// trailingSign reads the sign of S directly after what was read, or records that of MI, PL or SG if
// nothing was read.
func (r *numberReader) trailingSign(read bool) {
	isSign := func(c byte) bool { return c == '-' || c == '+' }
	switch {
	case r.numberFormat.sign && read:
		if len(r.rest) > 1 && isSign(r.rest[1]) {
			r.sign = r.rest[1]
			r.skip()
		}
	case !r.numberFormat.sign && !read && (r.plus || r.minus) && isSign(r.rest[0]):
		r.sign = r.rest[0]
	}
}

func (r *numberReader) skip() {
	if r.rest != "" {
		r.rest = r.rest[1:]
	}
}

// skipText skips n characters, except those that a number may contain.
func (r *numberReader) skipText(n int) {
	for ; n > 0 && r.rest != "" && strings.IndexByte("0123456789.,+-", r.rest[0]) < 0; n-- {
		_, size := utf8.DecodeRuneInString(r.rest)
		r.rest = r.rest[size:]
	}
}

// text returns what was read, for types.ParseNumeric: a blank if there were no digits, which it
// refuses.
func (r *numberReader) text() string {
	text := strings.TrimSuffix(r.digits.String(), ".")
	if text == "" {
		text = " "
	}
	if r.sign == '-' {
		text = "-" + text
	}
	return text
}
