package builtin

import (
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// toNumber is to_number: it reads a number laid out by a format, digits where it has digits, and nothing
// else of what stands between them.
func toNumber(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	nf, err := parseNumberFormat(a[1].S)
	switch {
	case err != nil:
		return types.Null, err
	case a[1].S == "":
		return types.Null, nil
	case nf.sci:
		return types.Null, sqlerr.New(sqlerr.FeatureNotSupported, "\"EEEE\" not supported for input")
	case nf.roman:
		return types.Null, sqlerr.Unsupported(0, "\"RN\" for input")
	}
	r := numberReader{rest: a[0].S, signAfter: nf.signAfter}
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
		factor, err := types.NumericPower(types.NumericFromInt(10), types.NumericFromInt(int64(-nf.multi)))
		if err != nil {
			return types.Null, err
		}
		if d, err = types.NumericMul(d, factor); err != nil {
			return types.Null, err
		}
	}
	return types.NewDecimal(d), nil
}

// numberReader takes a number out of a text, one node of the format after another.
type numberReader struct {
	rest      string
	digits    strings.Builder
	negative  bool
	signAfter bool // the format has its sign behind the digits
}

// node takes what a node of the format stands for. Requires: rest is not empty.
func (r *numberReader) node(key string) {
	switch key {
	case "9", "0":
		if r.digits.Len() == 0 && !r.signAfter {
			r.sign()
		}
		if r.atDigit() {
			r.digits.WriteByte(r.rest[0])
			r.rest = r.rest[1:]
		}
	case ".", "D":
		if r.rest[0] == '.' {
			r.digits.WriteByte('.')
			r.rest = r.rest[1:]
		}
	case ",", "G":
		if r.rest[0] == ',' {
			r.rest = r.rest[1:]
		}
	case "S", "MI", "PL", "SG":
		r.sign()
	case "TH":
		r.rest = r.rest[min(2, len(r.rest)):]
	case "PR", "FM", "B", "V":
	default: // anything else stands for one character
		if key != "L" || !r.atDigit() {
			_, end := dateText(r.rest, 0)
			r.rest = r.rest[end:]
		}
	}
}

func (r *numberReader) atDigit() bool { return r.rest != "" && r.rest[0] >= '0' && r.rest[0] <= '9' }

// sign takes a sign with the blanks before it, if there is one.
func (r *numberReader) sign() {
	r.rest = strings.TrimLeft(r.rest, " ")
	if r.rest == "" {
		return
	}
	switch r.rest[0] {
	case '-', '<':
		r.negative = true
		r.rest = r.rest[1:]
	case '+':
		r.rest = r.rest[1:]
	}
}

// text is what was read, for types.ParseNumeric: a blank when there were no digits, which it refuses.
func (r *numberReader) text() string {
	text := r.digits.String()
	if text == "" {
		text = " "
	}
	if r.negative || strings.HasPrefix(r.rest, "-") {
		text = "-" + text
	}
	return text
}
