package types

import (
	"math"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/geometry"
)

// noLine is the error for a line without a direction.
const noLine = "invalid line specification: A and B cannot both be zero"

// appendShape writes a value as the type's output function does.
func appendShape(dst []byte, t *Type, d Datum, f *Format) []byte {
	w := shapeWriter{dst, f.ExtraFloatDigits}
	switch t.OID {
	case OIDPoint:
		w.points(ShapeOf[geometry.Point](d))
	case OIDLseg:
		s := ShapeOf[geometry.Segment](d)
		w.byte('[')
		w.points(s.P, s.Q)
		w.byte(']')
	case OIDLine:
		l := ShapeOf[geometry.Line](d)
		w.byte('{')
		w.numbers(l.A, l.B, l.C)
		w.byte('}')
	case OIDBox:
		b := ShapeOf[geometry.Box](d)
		w.points(b.High, b.Low)
	case OIDPath:
		w.path(ShapeOf[geometry.Path](d))
	case OIDPolygon:
		w.path(ShapeOf[geometry.Polygon](d).Path())
	case OIDCircle:
		k := ShapeOf[geometry.Circle](d)
		w.byte('<')
		w.points(k.Center)
		w.byte(',')
		w.numbers(k.Radius)
		w.byte('>')
	}
	return w.dst
}

// shapeWriter appends to dst.
type shapeWriter struct {
	dst         []byte
	extraDigits int
}

func (w *shapeWriter) byte(c byte) { w.dst = append(w.dst, c) }

func (w *shapeWriter) numbers(numbers ...float64) {
	for i, x := range numbers {
		if i > 0 {
			w.byte(',')
		}
		w.dst = AppendFloat(w.dst, x, 64, w.extraDigits)
	}
}

func (w *shapeWriter) points(points ...geometry.Point) {
	for i, p := range points {
		if i > 0 {
			w.byte(',')
		}
		w.byte('(')
		w.numbers(p.X, p.Y)
		w.byte(')')
	}
}

func (w *shapeWriter) path(p geometry.Path) {
	open, end := byte('['), byte(']')
	if p.Closed {
		open, end = '(', ')'
	}
	w.byte(open)
	w.points(p.Points...)
	w.byte(end)
}

// parseShape reads a value as the type's input function does.
func parseShape(t *Type, s string, f *Format) (Datum, error) {
	p := shapeParser{t: t, s: s, pieces: pieces{work: f.Work}}
	d := p.shape()
	if p.err == nil && p.i < len(s) {
		p.bad()
	}
	if p.err != nil {
		return Datum{}, p.err
	}
	return d, nil
}

// shapeParser reads the text of a shape. After an error it reads on without effect.
type shapeParser struct {
	t   *Type
	s   string
	i   int
	err error
	pieces
}

func (p *shapeParser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *shapeParser) bad() { p.fail(errSyntaxFor(p.t, p.s)) }

func (p *shapeParser) shape() Datum {
	switch p.t.OID {
	case OIDPoint:
		return ShapeDatum(p.pair())
	case OIDLseg:
		points, _ := p.sequence(2, true)
		return ShapeDatum(geometry.Segment{P: points[0], Q: points[1]})
	case OIDBox:
		points, _ := p.sequence(2, false)
		return ShapeDatum(geometry.Box{High: points[0], Low: points[1]}.Ordered())
	case OIDLine:
		return p.line()
	case OIDCircle:
		return p.circle()
	}
	n := strings.Count(p.s, ",")
	if n%2 == 0 {
		p.bad()
		return Datum{}
	}
	if n = (n + 1) / 2; n > PointsMax {
		p.fail(sqlerr.New(sqlerr.ProgramLimitExceeded, "too many points requested"))
		return Datum{}
	}
	if p.t.OID == OIDPath {
		return p.path(n)
	}
	points, _ := p.sequence(n, false)
	return ShapeDatum(geometry.Polygon(points))
}

func (p *shapeParser) space() {
	for p.i < len(p.s) && isSpace(p.s[p.i]) {
		p.i++
	}
}

// next reports whether the next character is c.
func (p *shapeParser) next(c byte) bool { return p.i < len(p.s) && p.s[p.i] == c }

// take reads one character if it is c.
func (p *shapeParser) take(c byte) bool {
	if !p.next(c) {
		return false
	}
	p.i++
	return true
}

func (p *shapeParser) need(c byte) {
	if !p.take(c) {
		p.bad()
	}
}

// number reads a number with blanks around it.
func (p *shapeParser) number() float64 {
	p.space()
	n := floatPrefix(p.s[p.i:])
	if n == 0 {
		p.bad()
	}
	if p.err != nil {
		return 0
	}
	text := p.s[p.i : p.i+n]
	p.i += n
	p.space()
	if strings.HasSuffix(text, ")") { // nan(…)
		return math.NaN()
	}
	v, err := ParseFloat(text, 64)
	if err != nil {
		p.fail(err)
	}
	return v
}

// pair reads x,y or (x,y).
func (p *shapeParser) pair() (out geometry.Point) {
	p.space()
	enclosed := p.take('(')
	out.X = p.number()
	p.need(',')
	out.Y = p.number()
	if enclosed {
		p.need(')')
		p.space()
	}
	return out
}

// sequence reads n points, in parentheses or not, if open in brackets as well, which it reports.
func (p *shapeParser) sequence(n int, open bool) (points []geometry.Point, bracket bool) {
	p.space()
	enclosed := false
	switch {
	case p.take('['):
		enclosed, bracket = true, true
		if !open {
			p.bad()
		}
	case p.next('('):
		enclosed = p.doubled() || strings.LastIndexByte(p.s, '(') == p.i
		if enclosed {
			p.i++
		}
	}
	points = make([]geometry.Point, 0, 2)
	for range n {
		points = append(points, p.pair())
		p.take(',')
		if p.err == nil {
			p.err = p.reach(p.i)
		}
		if p.err != nil {
			return make([]geometry.Point, 2), false
		}
	}
	if enclosed {
		if !p.take(')') && !(bracket && p.take(']')) {
			p.bad()
		}
		p.space()
	}
	return points, bracket
}

// doubled reports whether another parenthesis follows the next character, which is one.
func (p *shapeParser) doubled() bool {
	at := p.i + 1
	for at < len(p.s) && isSpace(p.s[at]) {
		at++
	}
	return at < len(p.s) && p.s[at] == '('
}

// path reads a path of n points, which may be in single parentheses as well.
func (p *shapeParser) path(n int) Datum {
	p.space()
	enclosed := p.next('(') && strings.LastIndexByte(p.s, '(') == p.i
	if enclosed {
		p.i++
	}
	points, open := p.sequence(n, true)
	if enclosed {
		p.need(')')
		p.space()
	}
	return ShapeDatum(geometry.Path{Closed: !open, Points: points})
}

// line reads {A,B,C} or two points of the line.
func (p *shapeParser) line() Datum {
	p.space()
	if p.take('{') {
		var l geometry.Line
		l.A = p.number()
		p.need(',')
		l.B = p.number()
		p.need(',')
		l.C = p.number()
		p.need('}')
		p.space()
		if p.i == len(p.s) && l.NoLine() {
			p.fail(sqlerr.New(sqlerr.InvalidTextRepresentation, noLine))
		}
		return ShapeDatum(l)
	}
	points, _ := p.sequence(2, true)
	var c geometry.Calc
	if p.err == nil && p.i == len(p.s) {
		if points[0].Same(points[1]) {
			p.fail(geometry.ErrSamePoint(sqlerr.InvalidTextRepresentation))
			return Datum{}
		}
		l := c.LineThrough(points[0], points[1])
		p.err = c.Err()
		return ShapeDatum(l)
	}
	return Datum{}
}

// circle reads <(x,y),r>, ((x,y),r), (x,y),r or x,y,r.
func (p *shapeParser) circle() Datum {
	p.space()
	angle := p.take('<')
	enclosed := angle
	if !angle && p.next('(') && p.doubled() {
		enclosed = true
		p.i++
		p.space()
	}
	var k geometry.Circle
	k.Center = p.pair()
	p.take(',')
	k.Radius = p.number()
	if k.Radius < 0 {
		p.bad()
	}
	if enclosed {
		if !p.take(')') && !p.take('>') {
			p.bad()
		}
		p.space()
	}
	return ShapeDatum(k)
}

// floatPrefix returns the length of the number at the beginning of s that C's strtod reads; 0 if
// there is none.
func floatPrefix(s string) int {
	i := 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	word := func(w string) bool {
		return len(s)-i >= len(w) && strings.EqualFold(s[i:i+len(w)], w)
	}
	switch {
	case word("infinity"):
		return i + len("infinity")
	case word("inf"):
		return i + len("inf")
	case word("nan"):
		return i + len("nan") + payloadLen(s[i+len("nan"):])
	case word("0x"):
		if n := digitsAndExponent(s[i+2:], 'p', func(c byte) bool {
			_, ok := hexDigit(c)
			return ok
		}); n > 0 {
			return i + 2 + n
		}
	}
	if n := digitsAndExponent(s[i:], 'e', isDigit); n > 0 {
		return i + n
	}
	return 0
}

// payloadLen returns the length of (…) behind nan, if it is well formed.
func payloadLen(s string) int {
	if s == "" || s[0] != '(' {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch c := s[i] | 0x20; {
		case s[i] == ')':
			return i + 1
		case s[i] == '_' || isDigit(s[i]) || c >= 'a' && c <= 'z':
		default:
			return 0
		}
	}
	return 0
}

// digitsAndExponent returns the length of digits with a point and an exponent at the beginning of
// s; 0 if there is no digit.
func digitsAndExponent(s string, exponent byte, digit func(byte) bool) int {
	i, digits := 0, 0
	for ; i < len(s) && digit(s[i]); i++ {
		digits++
	}
	if i < len(s) && s[i] == '.' {
		for i++; i < len(s) && digit(s[i]); i++ {
			digits++
		}
	}
	if digits == 0 {
		return 0
	}
	if i < len(s) && s[i]|0x20 == exponent {
		from := i + 1
		if from < len(s) && (s[from] == '+' || s[from] == '-') {
			from++
		}
		if n := digitsPrefix(s[min(from, len(s)):]); n > 0 {
			return from + n
		}
	}
	return i
}
