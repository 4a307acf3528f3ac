package types

import (
	"encoding/binary"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
)

func appendRange(dst []byte, t *Type, r RangeValue, f *Format) []byte {
	if r.Empty {
		return append(dst, "empty"...)
	}
	open, end := byte('('), byte(')')
	if r.Lower.Inclusive {
		open = '['
	}
	if r.Upper.Inclusive {
		end = ']'
	}
	dst = append(dst, open)
	if !r.Lower.Infinite {
		dst = appendBound(dst, Text(t.Sub, r.Lower.Value, f))
	}
	dst = append(dst, ',')
	if !r.Upper.Infinite {
		dst = appendBound(dst, Text(t.Sub, r.Upper.Value, f))
	}
	return append(dst, end)
}

func appendBound(dst []byte, s string) []byte {
	if s != "" && !strings.ContainsAny(s, "\"\\()[],"+spaces) {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			dst = append(dst, s[i])
		}
		dst = append(dst, s[i])
	}
	return append(dst, '"')
}

func appendMultiRange(dst []byte, t *Type, ranges []RangeValue, f *Format) []byte {
	dst = append(dst, '{')
	for i, r := range ranges {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendRange(dst, t.Sub, r, f)
	}
	return append(dst, '}')
}

func malformedRange(kind, s, detail string) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, "malformed %s literal: \"%s\"", kind, s).
		WithDetail("%s", detail)
}

func parseRange(t *Type, s string, f *Format) (RangeValue, error) {
	bad := func(detail string) (RangeValue, error) {
		return RangeValue{}, malformedRange("range", s, detail)
	}
	w := strings.TrimLeft(s, spaces)
	if len(w) >= 5 && strings.EqualFold(w[:5], "empty") {
		if strings.Trim(w[5:], spaces) != "" {
			return bad("Junk after \"empty\" key word.")
		}
		return EmptyRange(), nil
	}
	if w == "" || w[0] != '[' && w[0] != '(' {
		return bad("Missing left parenthesis or bracket.")
	}
	lower, upper := Bound{Inclusive: w[0] == '['}, Bound{}
	low, w, ok := cutBound(w[1:])
	switch {
	case !ok:
		return bad("Unexpected end of input.")
	case w[0] != ',':
		return bad("Missing comma after lower bound.")
	}
	high, w, ok := cutBound(w[1:])
	switch {
	case !ok:
		return bad("Unexpected end of input.")
	case w[0] == ',':
		return bad("Too many commas.")
	case strings.Trim(w[1:], spaces) != "":
		return bad("Junk after right parenthesis or bracket.")
	}
	upper.Inclusive = w[0] == ']'
	var err error
	if lower.Value, err = parseBound(t.Sub, low, f); err != nil {
		return RangeValue{}, err
	}
	if upper.Value, err = parseBound(t.Sub, high, f); err != nil {
		return RangeValue{}, err
	}
	lower.Infinite, upper.Infinite = low == nil, high == nil
	return MakeRange(t, lower, upper)
}

// cutBound reads a bound up to the character that ends it; nil is an infinite one.
func cutBound(s string) (text *string, rest string, ok bool) {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case !quoted && (c == ',' || c == ')' || c == ']'):
			if i == 0 {
				return nil, s, true
			}
			out := b.String()
			return &out, s[i:], true
		case c == '\\':
			if i++; i == len(s) {
				return nil, "", false
			}
			b.WriteByte(s[i])
		case c == '"' && quoted && i+1 < len(s) && s[i+1] == '"':
			i++
			b.WriteByte('"')
		case c == '"':
			quoted = !quoted
		default:
			b.WriteByte(c)
		}
	}
	return nil, "", false
}

func parseBound(sub *Type, text *string, f *Format) (Datum, error) {
	if text == nil {
		return Null, nil
	}
	return ParseText(sub, *text, f)
}

// parseMultiRange reads {range,…}.
func parseMultiRange(t *Type, s string, f *Format) (Datum, error) {
	bad := func(detail string) (Datum, error) {
		return Datum{}, malformedRange("multirange", s, detail)
	}
	w := strings.TrimLeft(s, spaces)
	if w == "" || w[0] != '{' {
		return bad("Missing left brace.")
	}
	w = strings.TrimLeft(w[1:], spaces)
	var ranges []RangeValue
	for first := true; ; first = false {
		switch {
		case w == "":
			return bad("Unexpected end of input.")
		case w[0] == '[' || w[0] == '(':
			n := rangeLen(w)
			if n < 0 {
				return bad("Unexpected end of input.")
			}
			r, err := parseRange(t.Sub, w[:n], f)
			if err != nil {
				return Datum{}, err
			}
			ranges, w = append(ranges, r), w[n:]
		case len(w) >= 5 && strings.EqualFold(w[:5], "empty"):
			w = w[5:]
		case w[0] != '}' || !first:
			return bad("Expected range start.")
		}
		if w = strings.TrimLeft(w, spaces); w == "" {
			return bad("Unexpected end of input.")
		}
		if w[0] == '}' {
			break
		}
		if w[0] != ',' {
			return bad("Expected comma or end of multirange.")
		}
		w = strings.TrimLeft(w[1:], spaces)
	}
	if strings.Trim(w[1:], spaces) != "" {
		return bad("Junk after closing right brace.")
	}
	return MultiRangeDatum(MakeMultiRange(t.Sub, ranges)), nil
}

// rangeLen returns the length of the range at the start of s, or -1 if it does not end.
func rangeLen(s string) int {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ']' || c == ')'):
			return i + 1
		}
	}
	return -1
}

func appendRangeBinary(dst []byte, t *Type, r RangeValue) []byte {
	dst = append(dst, byte(r.flags()))
	if !r.Empty && !r.Lower.Infinite {
		dst = appendSized(dst, t.Sub, r.Lower.Value)
	}
	if !r.Empty && !r.Upper.Infinite {
		dst = appendSized(dst, t.Sub, r.Upper.Value)
	}
	return dst
}

func parseRangeBinary(t *Type, b []byte, f *Format) (RangeValue, error) {
	if len(b) == 0 {
		return RangeValue{}, errShortMessage()
	}
	rd := &binaryReader{b: b[1:], f: f}
	flags := int64(b[0]) & (rangeEmpty | rangeLowerInc | rangeUpperInc | rangeLowerInf |
		rangeUpperInf)
	var bounds [2]Datum
	for i, absent := range [2]int64{rangeEmpty | rangeLowerInf, rangeEmpty | rangeUpperInf} {
		if flags&absent != 0 {
			continue
		}
		var err error
		if bounds[i], err = rd.sized(t.Sub); err != nil {
			return RangeValue{}, err
		}
		if bounds[i].Null {
			return RangeValue{}, errBinaryFormat()
		}
	}
	r := rangeOf(bounds[0], bounds[1], flags)
	if len(rd.b) > 0 {
		return r, errBinaryFormat()
	}
	if r.Empty {
		return r, nil
	}
	return MakeRange(t, r.Lower, r.Upper)
}

func appendMultiRangeBinary(dst []byte, t *Type, d Datum) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(d.Arr.Elems)))
	for _, r := range d.Arr.Elems {
		dst = appendSized(dst, t.Sub, r)
	}
	return dst
}

func parseMultiRangeBinary(t *Type, b []byte, f *Format) (Datum, error) {
	rd := &binaryReader{b: b, f: f}
	n, err := rd.uint32()
	if err != nil {
		return Datum{}, err
	}
	var ranges []RangeValue
	for range n {
		d, err := rd.sized(t.Sub)
		if err != nil {
			return Datum{}, err
		}
		if d.Null {
			return Datum{}, errBinaryFormat()
		}
		ranges = append(ranges, RangeFrom(d))
	}
	if len(rd.b) > 0 {
		return Datum{}, errBinaryFormat()
	}
	return MultiRangeDatum(MakeMultiRange(t.Sub, ranges)), nil
}
