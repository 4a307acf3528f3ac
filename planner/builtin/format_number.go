package builtin

import (
	"fmt"
	"math"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// A numberNode is an element of a number format: a keyword, or a character of text.
type numberNode struct {
	key  string // "" for text
	text string
}

var numberKeywords = []string{
	"EEEE", "FM", "MI", "PL", "PR", "RN", "SG", "SP", "TH", ",", ".", "0", "9", "B", "C", "D", "G",
	"L", "S", "V",
}

// numberFormat is the contents of a number format.
type numberFormat struct {
	nodes                    []numberNode
	pre, post, multi         int // digits before and after the point, and after V
	zeroStart, zeroEnd       int
	zero, decimal, fill, sci bool
	sign                     bool // S
	signAfter                bool // S follows the digits
	signDigits               int  // digits before S
	plus, minus, bracket     bool
	roman, lowerRoman, shift bool
}

func errNumberFormat(format string, args ...any) error {
	return sqlerr.New(sqlerr.SyntaxError, format, args...)
}

func parseNumberFormat(f string) (*numberFormat, error) {
	nf := &numberFormat{}
	for i := 0; i < len(f); {
		key := ""
		for _, k := range numberKeywords {
			if len(f)-i >= len(k) && strings.EqualFold(f[i:i+len(k)], k) &&
				(f[i:i+len(k)] == k || f[i:i+len(k)] == strings.ToLower(k)) {
				key = k
				break
			}
		}
		if key == "" {
			n, end := dateText(f, i)
			nf.nodes = append(nf.nodes, numberNode{text: n.text})
			i = end
			continue
		}
		n := numberNode{key: key, text: f[i : i+len(key)]}
		i += len(key)
		nf.nodes = append(nf.nodes, n)
		if err := nf.note(n); err != nil {
			return nil, err
		}
	}
	return nf, nil
}

// note adds a keyword to the format.
func (nf *numberFormat) note(n numberNode) error {
	if nf.sci && n.key != "EEEE" {
		return errNumberFormat("\"EEEE\" must be the last pattern used")
	}
	switch n.key {
	case "9":
		switch {
		case nf.bracket:
			return errNumberFormat("\"9\" must be ahead of \"PR\"")
		case nf.shift:
			nf.multi++
		case nf.decimal:
			nf.post++
		default:
			nf.pre++
		}
	case "0":
		if nf.bracket {
			return errNumberFormat("\"0\" must be ahead of \"PR\"")
		}
		if !nf.zero && !nf.decimal {
			nf.zero, nf.zeroStart = true, nf.pre
		}
		if nf.decimal {
			nf.post++
		} else {
			nf.pre++
		}
		nf.zeroEnd = nf.pre + nf.post
	case ".", "D":
		if nf.decimal {
			return errNumberFormat("multiple decimal points")
		}
		if nf.shift {
			return errNumberFormat("cannot use \"V\" and decimal point together")
		}
		nf.decimal = true
	case "FM":
		nf.fill = true
	case "S":
		if nf.sign {
			return errNumberFormat("cannot use \"S\" twice")
		}
		if nf.plus || nf.minus || nf.bracket {
			return errNumberFormat("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together")
		}
		nf.sign, nf.signAfter, nf.signDigits = true, nf.decimal, nf.pre
	case "MI", "PL", "SG", "PR":
		if nf.sign || n.key == "PR" && (nf.plus || nf.minus) {
			return errNumberFormat("cannot use \"S\" and \"%s\" together", n.key)
		}
		nf.minus = nf.minus || n.key == "MI" || n.key == "SG"
		nf.plus = nf.plus || n.key == "PL" || n.key == "SG"
		nf.bracket = nf.bracket || n.key == "PR"
	case "RN":
		nf.roman, nf.lowerRoman = true, n.text == "rn"
	case "V":
		if nf.decimal {
			return errNumberFormat("cannot use \"V\" and decimal point together")
		}
		nf.shift = true
	case "EEEE":
		if nf.fill || nf.sign || nf.bracket || nf.minus || nf.plus || nf.roman || nf.shift {
			return errNumberFormat("\"EEEE\" is incompatible with other formats")
		}
		nf.sci = true
	}
	return nil
}

func toCharNumeric(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return formatDecimal(a[0].Dec, a[1].S)
}

// toCharInt4 formats an integer with an exponent as a double.
func toCharInt4(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	nf, err := parseNumberFormat(a[1].S)
	if err == nil && nf.sci {
		return types.NewString(nf.scientificFloat(float64(a[0].I))), nil
	}
	return toCharInt(rt, a)
}

func toCharInt(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return formatDecimal(types.NumericFromInt(a[0].I), a[1].S)
}

// toCharFloat formats the digits that a double has, and no more.
func toCharFloat(digits int) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		nf, err := parseNumberFormat(a[1].S)
		if err != nil || a[1].S == "" {
			return types.NewString(""), err
		}
		x := a[0].F
		if nf.roman {
			return types.NewString(nf.romanText(types.NumericFromFloat(math.RoundToEven(x), 64))),
				nil
		}
		if nf.sci {
			return types.NewString(nf.scientificFloat(x)), nil
		}
		if nf.shift {
			x *= math.Pow(10, float64(nf.multi))
			nf.pre += nf.multi
		}
		pre := len(fixedPoint(math.Abs(x), 0))
		post := nf.post
		if pre >= digits {
			post = 0
		} else {
			post = min(post, digits-pre)
		}
		nf.post = post
		return types.NewString(nf.write(fixedPoint(x, post))), nil
	}
}

// fixedPoint formats as PostgreSQL's %.*f, which spells infinity out.
func fixedPoint(x float64, post int) string {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return string(types.AppendFloat(nil, x, 64, 1))
	}
	return fmt.Sprintf("%.*f", post, x)
}

func formatDecimal(d *apd.Decimal, f string) (types.Datum, error) {
	if f == "" {
		return types.NewString(""), nil
	}
	nf, err := parseNumberFormat(f)
	if err != nil {
		return types.Null, err
	}
	switch {
	case nf.roman && d.Form == apd.NaN:
		return types.Null, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert NaN to integer")
	case nf.roman && d.Form == apd.Infinite:
		return types.Null, sqlerr.New(sqlerr.FeatureNotSupported,
			"cannot convert infinity to integer")
	case nf.roman:
		return types.NewString(nf.romanText(d)), nil
	case nf.sci:
		return types.NewString(nf.scientific(d)), nil
	}
	if nf.shift {
		if d, err = timesPowerOf10(d, nf.multi); err != nil {
			return types.Null, err
		}
		nf.pre += nf.multi
	}
	if d, err = types.NumericRound(d, nf.post); err != nil {
		return types.Null, err
	}
	return types.NewString(nf.write(types.NumericString(d))), nil
}

func timesPowerOf10(d *apd.Decimal, n int) (*apd.Decimal, error) {
	ten, power := types.NumericFromInt(10), types.NumericFromInt(int64(n))
	factor, err := types.NumericPower(ten, power, nil)
	if err != nil {
		return nil, err
	}
	return types.NumericMul(d, factor)
}

// romanText formats the number in Roman numerals, in fifteen columns.
func (nf *numberFormat) romanText(d *apd.Decimal) string {
	text := strings.Repeat("#", 15)
	if r, err := types.NumericRound(d, 0); err == nil {
		if v, ok := types.NumericToInt64(r); ok && v > 0 && v < 4000 {
			text = romanNumeral(int(v))
		}
	}
	if nf.lowerRoman {
		text = strings.ToLower(text)
	}
	if nf.fill {
		return text
	}
	return fmt.Sprintf("%15s", text)
}

func romanNumeral(v int) string {
	var b strings.Builder
	for _, r := range []struct {
		value int
		text  string
	}{
		{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"},
		{40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"},
	} {
		for ; v >= r.value; v -= r.value {
			b.WriteString(r.text)
		}
	}
	return b.String()
}

// scientific formats a numeric with one digit before the point. As in PostgreSQL, a number that is
// rounded to ten keeps its exponent: 9.999 is 10.00e+00.
func (nf *numberFormat) scientific(d *apd.Decimal) string {
	if d.Form != apd.Finite {
		return nf.noNumber()
	}
	var digits apd.Decimal
	exp := 0
	if !d.IsZero() {
		exp = int(d.NumDigits()) + int(d.Exponent) - 1
		digits.Set(d)
		digits.Exponent -= int32(exp)
	}
	rounded, err := types.NumericRound(&digits, nf.post)
	if err != nil { // it has at most two digits before the point
		return ""
	}
	return blankPlus(fmt.Sprintf("%se%+03d", types.NumericString(rounded), exp))
}

// scientificFloat is scientific for a double, which is formatted as in C.
func (nf *numberFormat) scientificFloat(x float64) string {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nf.noNumber()
	}
	return blankPlus(fmt.Sprintf("%.*e", nf.post, x))
}

// noNumber formats infinities and NaN.
func (nf *numberFormat) noNumber() string {
	return " " + strings.Repeat("#", nf.pre) + "." + strings.Repeat("#", nf.post+4)
}

// blankPlus adds a blank in the place of the sign of a number that is not negative.
func blankPlus(text string) string {
	if strings.HasPrefix(text, "-") {
		return text
	}
	return " " + text
}

// numberWriter distributes the digits of a number to the nodes of a format. It follows
// NUM_processor of PostgreSQL's formatting.c step by step, since the columns depend on each step.
type numberWriter struct {
	*numberFormat
	out       strings.Builder
	number    string // digits and point
	at        int    // next byte of number
	sign      byte
	wrote     bool // the sign is written, or there is none
	spaces    int  // columns before the first digit
	column    int
	count     int
	last      int // last digit that FM keeps, or -1
	inNumber  bool
	signAfter bool
}

// write formats a number, given as text with exactly post digits after the point.
func (nf *numberFormat) write(text string) string {
	w := numberWriter{numberFormat: nf, number: text, sign: '+', last: -1, signAfter: nf.signAfter}
	if strings.HasPrefix(text, "-") {
		w.sign, w.number = '-', text[1:]
	}
	digits := len(w.number)
	if p := strings.IndexByte(w.number, '.'); p >= 0 {
		digits = p
	}
	if digits < nf.pre {
		w.spaces = nf.pre - digits
	} else if digits > nf.pre {
		w.number = strings.Repeat("#", nf.pre) + "." + strings.Repeat("#", nf.post)
	}
	w.prepare()
	for i := range nf.nodes {
		w.node(&nf.nodes[i])
	}
	return w.out.String()
}

func (w *numberWriter) prepare() {
	if w.plus || w.minus {
		w.wrote = !(w.plus && !w.minus)
	} else {
		if w.sign != '-' && w.bracket && w.fill {
			f := *w.numberFormat
			f.bracket = false
			w.numberFormat = &f
		}
		w.wrote = w.sign == '+' && w.fill && !w.numberFormat.sign
		if w.numberFormat.sign && !w.signAfter && w.pre == w.signDigits {
			w.signAfter = true
		}
	}
	w.count = w.post + w.pre - 1
	if w.fill && w.decimal {
		w.last = lastRelevant(w.number)
		if w.last >= 0 && w.zeroEnd > w.spaces {
			w.last = max(w.last, min(len(w.number)-1, w.zeroEnd-w.spaces))
		}
	}
	if !w.wrote && w.spaces == 0 {
		w.count++
	}
}

// lastRelevant returns the index of the last digit after the point that is not zero, or of the
// point.
func lastRelevant(number string) int {
	p := strings.IndexByte(number, '.')
	if p < 0 {
		return -1
	}
	last := p
	for i := p + 1; i < len(number); i++ {
		if number[i] != '0' {
			last = i
		}
	}
	return last
}

func (w *numberWriter) node(n *numberNode) {
	switch n.key {
	case "":
		w.out.WriteString(n.text)
	case "9", "0", ".", "D":
		w.digit(n.key)
	case ",", "G":
		if w.inNumber {
			w.out.WriteByte(',')
		} else if !w.fill {
			w.out.WriteByte(' ')
		}
	case "L":
		w.out.WriteByte(' ')
	case "TH":
		if w.number[0] != '#' && w.sign != '-' && !w.decimal {
			w.out.WriteString(ordinal(w.number, n.text))
		}
	case "MI":
		if w.sign == '-' {
			w.out.WriteByte('-')
		} else if !w.fill {
			w.out.WriteByte(' ')
		}
	case "PL":
		if w.sign == '+' {
			w.out.WriteByte('+')
		} else if !w.fill {
			w.out.WriteByte(' ')
		}
	case "SG":
		w.out.WriteByte(w.sign)
	}
}

// next returns the next digit to write, 0 at the end.
func (w *numberWriter) next() byte {
	if w.at < len(w.number) {
		return w.number[w.at]
	}
	return 0
}

// beforePoint reports whether the digit is the zero of 0.1 in a format without a zero there.
func (w *numberWriter) beforePoint() bool {
	return !w.zero && w.at == 0 && w.number[0] == '0' && w.post != 0
}

func (w *numberWriter) keepsPointOnly() bool { return w.last >= 0 && w.number[w.last] == '.' }

func (w *numberWriter) writeSign() {
	if w.wrote || w.column < w.spaces && !(w.zero && w.zeroStart == w.column) ||
		w.beforePoint() && !w.keepsPointOnly() {
		return
	}
	switch {
	case w.numberFormat.sign:
		if !w.signAfter {
			w.out.WriteByte(w.sign)
			w.wrote = true
		}
	case w.bracket:
		if w.sign == '+' {
			w.out.WriteByte(' ')
		} else {
			w.out.WriteByte('<')
		}
		w.wrote = true
	case w.sign == '+':
		if !w.fill {
			w.out.WriteByte(' ')
		}
		w.wrote = true
	default:
		w.out.WriteByte('-')
		w.wrote = true
	}
}

func (w *numberWriter) digit(key string) {
	w.inNumber = false
	w.writeSign()
	switch {
	case w.column < w.spaces && (w.zeroStart > w.column || !w.zero):
		if !w.fill {
			w.out.WriteByte(' ')
		}
	case w.zero && w.column < w.spaces && w.zeroStart <= w.column:
		w.out.WriteByte('0')
		w.inNumber = true
	default:
		w.numberByte(key)
		if w.at < len(w.number) {
			w.at++
		}
	}
	end := w.count
	if w.spaces > 0 {
		end++
	}
	if w.decimal {
		end++
	}
	if w.last >= 0 && w.last == w.at {
		end = w.column
	}
	if w.column+1 == end {
		if w.wrote && w.bracket {
			if w.sign == '+' {
				w.out.WriteByte(' ')
			} else {
				w.out.WriteByte('>')
			}
		} else if w.numberFormat.sign && w.signAfter {
			w.out.WriteByte(w.sign)
		}
	}
	w.column++
}

func (w *numberWriter) numberByte(key string) {
	c := w.next()
	switch {
	case c == '.':
		w.out.WriteByte('.')
	case w.last >= 0 && w.at > w.last && key != "0":
	case w.beforePoint():
		if !w.fill {
			w.out.WriteByte(' ')
		} else if w.keepsPointOnly() {
			w.out.WriteByte('0')
		}
	case c != 0:
		w.out.WriteByte(c)
		w.inNumber = true
	}
}
