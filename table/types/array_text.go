package types

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
)

const (
	arrayMaxDims  = 6
	arrayMaxElems = 1<<27 - 1 // PostgreSQL's MaxArraySize for pointers' worth of elements
)

func appendArray(dst []byte, t *Type, a *ArrayValue, f *Format) []byte {
	if t.OID == OIDInt2Vector || t.OID == OIDOidVector {
		for i, e := range a.Elems {
			if i > 0 {
				dst = append(dst, ' ')
			}
			dst = AppendText(dst, t.Elem, e, f)
		}
		return dst
	}
	if len(a.Elems) == 0 {
		return append(dst, '{', '}')
	}
	for _, l := range a.Lower {
		if l != 1 {
			for i, n := range a.Dims {
				dst = strconv.AppendInt(append(dst, '['), int64(a.Lower[i]), 10)
				dst = strconv.AppendInt(append(dst, ':'), int64(a.Lower[i]+n-1), 10)
				dst = append(dst, ']')
			}
			dst = append(dst, '=')
			break
		}
	}
	dst, _ = appendArrayDim(dst, t.Elem, a.Dims, a.Elems, f)
	return dst
}

// appendArrayDim writes one level of braces and returns the elements that it did not use.
func appendArrayDim(dst []byte, elem *Type, dims []int, elems []Datum, f *Format) ([]byte,
	[]Datum) {
	dst = append(dst, '{')
	for i := 0; i < dims[0] && len(elems) > 0; i++ {
		if i > 0 {
			dst = append(dst, elem.Delimiter())
		}
		if len(dims) > 1 {
			dst, elems = appendArrayDim(dst, elem, dims[1:], elems, f)
			continue
		}
		dst = appendArrayElem(dst, elem, elems[0], f)
		elems = elems[1:]
	}
	return append(dst, '}'), elems
}

func appendArrayElem(dst []byte, elem *Type, d Datum, f *Format) []byte {
	if d.Null {
		return append(dst, "NULL"...)
	}
	start := len(dst)
	dst = AppendText(dst, elem, d, f)
	s := dst[start:]
	if !arrayNeedsQuotes(s, elem.Delimiter()) {
		return dst
	}
	text := string(s)
	dst = append(dst[:start], '"')
	for i := 0; i < len(text); i++ {
		if text[i] == '"' || text[i] == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, text[i])
	}
	return append(dst, '"')
}

func arrayNeedsQuotes(s []byte, delimiter byte) bool {
	if len(s) == 0 || len(s) == 4 && strings.EqualFold(string(s), "null") {
		return true
	}
	return slices.ContainsFunc(s, func(c byte) bool {
		return c == '"' || c == '\\' || c == '{' || c == '}' || c == delimiter || isSpace(c)
	})
}

// arrayParser reads an array literal.
type arrayParser struct {
	s     string
	i     int
	elem  *Type
	f     *Format
	delim byte  // between elements
	dims  []int // sizes found; -1 while a level has not been closed once
	elems []Datum
	pieces
}

func (p *arrayParser) malformed(detail string) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, "malformed array literal: \"%s\"",
		p.s).WithDetail("%s", detail)
}

func (p *arrayParser) space() {
	for p.i < len(p.s) && isSpace(p.s[p.i]) {
		p.i++
	}
}

func parseArray(t *Type, s string, f *Format) (*ArrayValue, error) {
	if t.OID == OIDInt2Vector || t.OID == OIDOidVector {
		return parseVector(t, s, f)
	}
	elem := t.Elem
	if t.Mod != NoMod {
		elem = elem.WithMod(t.Mod)
	}
	p := &arrayParser{s: s, elem: elem, f: f, delim: elem.Delimiter(), pieces: pieces{work: f.Work}}
	lower, want, err := p.bounds()
	if err != nil {
		return nil, err
	}
	if p.i >= len(s) || s[p.i] != '{' {
		if lower != nil {
			return nil, p.malformed("Array contents must start with \"{\".")
		}
		return nil, p.malformed("Array value must start with \"{\" or dimension information.")
	}
	if err := p.level(0); err != nil {
		return nil, err
	}
	if p.space(); p.i < len(s) {
		return nil, p.malformed("Junk after closing right brace.")
	}
	if len(p.elems) == 0 {
		if lower != nil && want[0] > 0 {
			return nil, p.malformed("Specified array dimensions do not match array contents.")
		}
		return &ArrayValue{}, nil
	}
	switch {
	case lower == nil:
		lower = slices.Repeat([]int{1}, len(p.dims))
	case !slices.Equal(want, p.dims):
		return nil, p.malformed("Specified array dimensions do not match array contents.")
	}
	return &ArrayValue{Elems: p.elems, Dims: p.dims, Lower: lower}, nil
}

func parseVector(t *Type, s string, f *Format) (*ArrayValue, error) {
	a := &ArrayValue{}
	for w := range strings.FieldsSeq(s) {
		d, err := ParseText(t.Elem, w, f)
		if err != nil {
			return nil, err
		}
		a.Elems = append(a.Elems, d)
	}
	if len(a.Elems) > 0 {
		a.Dims, a.Lower = []int{len(a.Elems)}, []int{0}
	}
	return a, nil
}

// bounds reads [l:u][l:u]=, if it is there.
func (p *arrayParser) bounds() (lower, size []int, err error) {
	for {
		p.space()
		if p.i >= len(p.s) || p.s[p.i] != '[' {
			break
		}
		if len(lower) >= arrayMaxDims {
			return nil, nil, errTooManyDims(len(lower) + 1)
		}
		end := strings.IndexByte(p.s[p.i:], ']')
		if end < 0 {
			return nil, nil, p.malformed("Missing \"]\" after array dimensions.")
		}
		spec := p.s[p.i+1 : p.i+end]
		p.i += end + 1
		lo, hi := int64(1), int64(0)
		a, b, ranged := strings.Cut(spec, ":")
		var err1, err2 error
		if ranged {
			lo, err1 = strconv.ParseInt(a, 10, 32)
			hi, err2 = strconv.ParseInt(b, 10, 32)
		} else {
			hi, err2 = strconv.ParseInt(a, 10, 32)
		}
		if err1 != nil || err2 != nil {
			return nil, nil, p.malformed("\"[\" must introduce explicitly-specified array " +
				"dimensions.")
		}
		if hi < lo {
			return nil, nil, sqlerr.New(sqlerr.ArraySubscriptError,
				"upper bound cannot be less than lower bound")
		}
		if hi == math.MaxInt32 {
			return nil, nil, sqlerr.New(sqlerr.ProgramLimitExceeded,
				"array upper bound is too large: %d", hi)
		}
		lower, size = append(lower, int(lo)), append(size, int(hi-lo+1))
	}
	if lower == nil {
		return nil, nil, nil
	}
	if p.i >= len(p.s) || p.s[p.i] != '=' {
		return nil, nil, p.malformed("Missing \"=\" after array dimensions.")
	}
	p.i++
	p.space()
	return lower, size, nil
}

func errTooManyDims(n int) error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded,
		"number of array dimensions (%d) exceeds the maximum allowed (%d)", n, arrayMaxDims)
}

const errArrayShape = "Multidimensional arrays must have sub-arrays with matching dimensions."

// level reads one pair of braces at the given depth.
func (p *arrayParser) level(depth int) error {
	if depth >= arrayMaxDims {
		return errTooManyDims(depth + 1)
	}
	if depth == len(p.dims) {
		if len(p.elems) > 0 {
			return p.malformed(errArrayShape)
		}
		p.dims = append(p.dims, -1)
	}
	p.i++
	n, nested := 0, false
	if p.space(); p.i < len(p.s) && p.s[p.i] == '}' {
		if depth > 0 {
			return p.malformed("Unexpected \"}\" character.")
		}
		p.i++
		return p.closeLevel(depth, 0)
	}
	for {
		if err := p.reach(p.i); err != nil {
			return err
		}
		p.space()
		if p.i >= len(p.s) {
			return p.malformed("Unexpected end of input.")
		}
		if p.s[p.i] == '{' {
			if n > 0 && !nested {
				return p.malformed("Unexpected \"{\" character.")
			}
			nested = true
			if err := p.level(depth + 1); err != nil {
				return err
			}
		} else {
			if nested {
				return p.malformed("Unexpected array element.")
			}
			if depth+1 != len(p.dims) {
				return p.malformed(errArrayShape)
			}
			if err := p.element(); err != nil {
				return err
			}
		}
		n++
		p.space()
		switch {
		case p.i >= len(p.s):
			return p.malformed("Unexpected end of input.")
		case p.s[p.i] == p.delim:
			p.i++
		case p.s[p.i] == '}':
			p.i++
			return p.closeLevel(depth, n)
		default:
			return p.malformed("Unexpected array element.")
		}
	}
}

func (p *arrayParser) closeLevel(depth, n int) error {
	if p.dims[depth] >= 0 && p.dims[depth] != n {
		return p.malformed(errArrayShape)
	}
	p.dims[depth] = n
	if n == 0 && depth+1 < len(p.dims) {
		return p.malformed(errArrayShape)
	}
	return nil
}

// element reads one value, quoted or not.
func (p *arrayParser) element() error {
	if p.s[p.i] == '"' {
		text, err := p.quoted()
		if err != nil {
			return err
		}
		return p.add(text)
	}
	if p.s[p.i] == p.delim || p.s[p.i] == '}' {
		return p.malformed("Unexpected \"" + p.s[p.i:p.i+1] + "\" character.")
	}
	text, escaped, err := p.unquoted()
	switch {
	case err != nil:
		return err
	case !escaped && strings.EqualFold(text, "null"):
		p.elems = append(p.elems, Null)
		return p.elem.Admit(Null, p.f)
	}
	return p.add(text)
}

// unquoted reads up to the end of an element without quotes and reports whether it has escapes.
func (p *arrayParser) unquoted() (text string, escaped bool, err error) {
	var b []byte
	keep := 0 // length up to the last character that is not an unescaped blank
	for ; p.i < len(p.s); p.i++ {
		c := p.s[p.i]
		switch c {
		case p.delim, '}':
			return string(b[:keep]), escaped, nil
		case '{':
			return "", false, p.malformed("Unexpected \"{\" character.")
		case '"':
			return "", false, p.malformed("Unexpected array element.")
		case '\\':
			if p.i++; p.i >= len(p.s) {
				return "", false, p.malformed("Unexpected end of input.")
			}
			escaped = true
			b = append(b, p.s[p.i])
			keep = len(b)
			continue
		}
		b = append(b, c)
		if !isSpace(c) {
			keep = len(b)
		}
	}
	return "", false, p.malformed("Unexpected end of input.")
}

func (p *arrayParser) quoted() (string, error) {
	var b []byte
	for p.i++; p.i < len(p.s); p.i++ {
		switch c := p.s[p.i]; c {
		case '"':
			p.i++
			return string(b), nil
		case '\\':
			if p.i++; p.i < len(p.s) {
				b = append(b, p.s[p.i])
			}
		default:
			b = append(b, c)
		}
	}
	return "", p.malformed("Unexpected end of input.")
}

func (p *arrayParser) add(text string) error {
	d, err := ParseText(p.elem, text, p.f)
	if err != nil {
		return err
	}
	if len(p.elems) >= arrayMaxElems {
		return sqlerr.New(sqlerr.ProgramLimitExceeded,
			"array size exceeds the maximum allowed (%d)", arrayMaxElems)
	}
	p.elems = append(p.elems, d)
	return nil
}

// appendRecord writes (a,b,…).
func appendRecord(dst []byte, a *ArrayValue, f *Format) []byte {
	dst = append(dst, '(')
	for i, e := range a.Elems {
		if i > 0 {
			dst = append(dst, ',')
		}
		if !e.Null {
			dst = appendRecordField(dst, AppendText(nil, a.fieldType(i), e, f))
		}
	}
	return append(dst, ')')
}

// appendRecordField writes the text of a field, in quotes where it needs them.
func appendRecordField(dst, s []byte) []byte {
	special := func(c rune) bool {
		return strings.ContainsRune("\"\\(),", c) || c < 0x80 &&
			isSpace(byte(c))
	}
	if len(s) > 0 && !bytes.ContainsFunc(s, special) {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for _, c := range s {
		if c == '"' || c == '\\' {
			dst = append(dst, c)
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}
