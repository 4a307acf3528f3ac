package types

import (
	"github.com/minidb/minidb/internal/sqlerr"
)

// parseRecord is record_in: (a,b,…), in which a field without text is NULL, and quotes and
// backslashes protect commas and parentheses.
func parseRecord(t *Type, s string, f *Format) (Datum, error) {
	fields := t.Fields()
	if fields == nil {
		return Datum{}, sqlerr.New(sqlerr.FeatureNotSupported,
			"input of anonymous composite types is not implemented")
	}
	p := &recordParser{s: s}
	p.space()
	if !p.take('(') {
		return Datum{}, p.malformed("Missing left parenthesis.")
	}
	elems := make([]Datum, len(fields))
	for i, a := range fields {
		if i > 0 && !p.take(',') {
			return Datum{}, p.malformed("Too few columns.")
		}
		text, null, err := p.field()
		switch {
		case err != nil:
			return Datum{}, err
		case null:
			if elems[i], err = a.Type.Null(f); err != nil {
				return Datum{}, err
			}
			continue
		}
		if elems[i], err = ParseText(a.Type, text, f); err != nil {
			return Datum{}, err
		}
	}
	if !p.take(')') {
		return Datum{}, p.malformed("Too many columns.")
	}
	if p.space(); p.i < len(s) {
		return Datum{}, p.malformed("Junk after right parenthesis.")
	}
	return NewRecord(t, elems), nil
}

type recordParser struct {
	s string
	i int
}

func (p *recordParser) malformed(detail string) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, "malformed record literal: \"%s\"", p.s).
		WithDetail("%s", detail)
}

func (p *recordParser) space() {
	for p.i < len(p.s) && isSpace(p.s[p.i]) {
		p.i++
	}
}

func (p *recordParser) take(c byte) bool {
	if p.i < len(p.s) && p.s[p.i] == c {
		p.i++
		return true
	}
	return false
}

// field reads up to the next comma or parenthesis that is not protected.
func (p *recordParser) field() (text string, null bool, err error) {
	var b []byte
	quoted, any := false, false
	for ; ; p.i++ {
		if p.i >= len(p.s) {
			return "", false, p.malformed("Unexpected end of input.")
		}
		c := p.s[p.i]
		switch {
		case !quoted && (c == ',' || c == ')'):
			return string(b), !any, nil
		case c == '\\':
			if p.i++; p.i >= len(p.s) {
				return "", false, p.malformed("Unexpected end of input.")
			}
			b = append(b, p.s[p.i])
		case c == '"' && quoted && p.i+1 < len(p.s) && p.s[p.i+1] == '"':
			p.i++
			b = append(b, c)
		case c == '"':
			quoted = !quoted
		default:
			b = append(b, c)
		}
		any = true
	}
}

// parseRowBinary is record_recv of a type with known fields: as many as it has, of their types.
func parseRowBinary(t *Type, b []byte, f *Format) (Datum, error) {
	fields := t.Fields()
	r := &binaryReader{b: b, f: f}
	n, err := r.uint32()
	if err != nil {
		return Datum{}, err
	}
	if int(n) != len(fields) {
		return Datum{}, sqlerr.New(sqlerr.DatatypeMismatch,
			"wrong number of columns: %d, expected %d", n, len(fields))
	}
	elems := make([]Datum, n)
	for i, a := range fields {
		oid, err := r.uint32()
		if err != nil {
			return Datum{}, err
		}
		if OID(oid) != a.Type.OID {
			return Datum{}, sqlerr.New(sqlerr.DatatypeMismatch,
				"binary data has type %d (%s) instead of expected %d (%s) in record column %d",
				oid, TypeName(OID(oid)), a.Type.OID, a.Type.SQLName(), i+1)
		}
		if elems[i], err = r.sized(a.Type); err != nil {
			return Datum{}, err
		}
	}
	if len(r.b) > 0 {
		return Datum{}, errBinaryFormat()
	}
	return NewRecord(t, elems), nil
}
