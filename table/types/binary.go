package types

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/internal/sqlerr"
)

// AppendBinary writes a value as PostgreSQL's send function does. Requires: d is not NULL and of
// type t.
func AppendBinary(dst []byte, t *Type, d Datum) []byte {
	be := binary.BigEndian
	t = t.Base()
	switch t.Family {
	case Bool:
		return append(dst, byte(d.I))
	case Int:
		switch t.Len {
		case 2:
			return be.AppendUint16(dst, uint16(d.I))
		case 4:
			return be.AppendUint32(dst, uint32(d.I))
		}
		return be.AppendUint64(dst, uint64(d.I))
	case Float:
		if t.OID == OIDFloat4 {
			return be.AppendUint32(dst, math.Float32bits(float32(d.F)))
		}
		if math.IsNaN(d.F) {
			return be.AppendUint64(dst, 0x7ff8<<48)
		}
		return be.AppendUint64(dst, math.Float64bits(d.F))
	case Decimal:
		return appendNumericBinary(dst, d.Dec)
	case String:
		if t.OID == OIDChar {
			if d.S == "" {
				return append(dst, 0)
			}
			return append(dst, d.S[0])
		}
		return AppendText(dst, t, d, &DefaultFormat)
	case CIText:
		return append(dst, d.S...)
	case HStore:
		return appendHStoreBinary(dst, d)
	case Inet:
		return appendInetBinary(dst, t, d)
	case TimeTZ:
		return appendTimeTZBinary(dst, d)
	case LSN:
		return be.AppendUint64(dst, LSNValue(d))
	case Bytes, UUID, MacAddr, MacAddr8, Geometric:
		return append(dst, d.S...)
	case TID:
		return append(dst, d.S[:tidLen]...)
	case Date:
		switch d.I {
		case NegInfinity:
			return be.AppendUint32(dst, 1<<31)
		case PosInfinity:
			return be.AppendUint32(dst, math.MaxInt32)
		}
		return be.AppendUint32(dst, uint32(d.I))
	case Time, Timestamp, Money:
		return be.AppendUint64(dst, uint64(d.I))
	case Interval:
		dst = be.AppendUint64(dst, uint64(d.Iv.Micros))
		dst = be.AppendUint32(dst, uint32(d.Iv.Days))
		return be.AppendUint32(dst, uint32(d.Iv.Months))
	case JSON:
		return append(append(dst, 1), d.S...)
	case JSONPath:
		return appendJSONPath(append(dst, jsonPathVersion), d.S)
	case XML:
		return append(dst, xmlOutput(d.S)...)
	case Bit:
		return appendBitsBinary(dst, d.S)
	case Range:
		return appendRangeBinary(dst, t, RangeFrom(d))
	case MultiRange:
		return appendMultiRangeBinary(dst, t, d)
	case Array:
		return appendArrayBinary(dst, t, d.Arr)
	case Record:
		dst = be.AppendUint32(dst, uint32(len(d.Arr.Elems)))
		for i, e := range d.Arr.Elems {
			ft := d.Arr.fieldType(i)
			dst = be.AppendUint32(dst, uint32(ft.OID))
			dst = appendSized(dst, ft, e)
		}
	case Enum:
		return append(dst, LabelOf(t, d.S)...)
	}
	return dst
}

// appendSized writes a length and a value; -1 for NULL.
func appendSized(dst []byte, t *Type, d Datum) []byte {
	if d.Null {
		return binary.BigEndian.AppendUint32(dst, math.MaxUint32)
	}
	at := len(dst)
	dst = AppendBinary(append(dst, 0, 0, 0, 0), t, d)
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

func appendArrayBinary(dst []byte, t *Type, a *ArrayValue) []byte {
	be := binary.BigEndian
	hasNull := uint32(0)
	for _, e := range a.Elems {
		if e.Null {
			hasNull = 1
		}
	}
	dst = be.AppendUint32(dst, uint32(len(a.Dims)))
	dst = be.AppendUint32(dst, hasNull)
	dst = be.AppendUint32(dst, uint32(t.Elem.OID))
	for i, n := range a.Dims {
		dst = be.AppendUint32(dst, uint32(n))
		dst = be.AppendUint32(dst, uint32(a.Lower[i]))
	}
	for _, e := range a.Elems {
		dst = appendSized(dst, t.Elem, e)
	}
	return dst
}

const (
	numericSignNeg  = 0x4000
	numericSignNaN  = 0xc000
	numericSignPInf = 0xd000
	numericSignNInf = 0xf000
	numericInfScale = 0x20 // what PostgreSQL sends beside an infinity
)

// appendNumericBinary writes base-10000 digits, as numeric_send.
func appendNumericBinary(dst []byte, d *apd.Decimal) []byte {
	be := binary.BigEndian
	special := func(sign, scale uint16) []byte {
		return be.AppendUint16(be.AppendUint16(append(dst, 0, 0, 0, 0), sign), scale)
	}
	switch {
	case isNaN(d):
		return special(numericSignNaN, 0)
	case isInf(d) && d.Negative:
		return special(numericSignNInf, numericInfScale)
	case isInf(d):
		return special(numericSignPInf, numericInfScale)
	}
	scale := int(-d.Exponent)
	digits := d.Coeff.Append(nil, 10)
	if d.Coeff.Sign() == 0 {
		return be.AppendUint16(append(dst, 0, 0, 0, 0, 0, 0), uint16(scale))
	}
	// Align the point to a multiple of four digits on both sides.
	intDigits := len(digits) - scale
	for range (4 - scale%4) % 4 {
		digits = append(digits, '0')
	}
	lead := (4 - (len(digits))%4) % 4
	padded := append([]byte("0000")[:lead], digits...)
	weight := floorDiv(intDigits-1, 4)
	groups := make([]uint16, 0, len(padded)/4)
	for i := 0; i < len(padded); i += 4 {
		g := uint16(0)
		for _, c := range padded[i : i+4] {
			g = g*10 + uint16(c-'0')
		}
		groups = append(groups, g)
	}
	for len(groups) > 0 && groups[len(groups)-1] == 0 {
		groups = groups[:len(groups)-1]
	}
	sign := uint16(0)
	if d.Negative {
		sign = numericSignNeg
	}
	dst = be.AppendUint16(dst, uint16(len(groups)))
	dst = be.AppendUint16(dst, uint16(weight))
	dst = be.AppendUint16(dst, sign)
	dst = be.AppendUint16(dst, uint16(scale))
	for _, g := range groups {
		dst = be.AppendUint16(dst, g)
	}
	return dst
}

func errShortMessage() error {
	return sqlerr.New(sqlerr.ProtocolViolation, "insufficient data left in message")
}

// WrongBinary is the message of the error for bytes that are more than those of a value.
const WrongBinary = "incorrect binary data format"

func errBinaryFormat() error {
	return sqlerr.New(sqlerr.InvalidBinaryRepresentation, WrongBinary)
}

// ParseBinary reads a value as PostgreSQL's receive function does, applying the type's modifier and
// the constraints of a domain. A nil format is DefaultFormat.
func ParseBinary(t *Type, b []byte, f *Format) (Datum, error) {
	if f == nil {
		f = &DefaultFormat
	}
	if t.IsDomain() {
		d, err := ParseBinary(t.Base(), b, f)
		if err == nil {
			err = t.Admit(d, f)
		}
		return d, err
	}
	if n := fixedSize(t, len(b)); n >= 0 {
		switch {
		case len(b) < n:
			return Datum{}, errShortMessage()
		case len(b) > n:
			return Datum{}, errBinaryFormat()
		}
	}
	d, err := parseBinary(t, b, f)
	if err != nil {
		return Datum{}, err
	}
	return coerceMod(d, t, false)
}

// fixedSize is the size of the type's binary form, or -1. A macaddr8 may come as a macaddr: then a
// message of n bytes should have that size.
func fixedSize(t *Type, n int) int {
	switch t.Family {
	case Bool, Int, Float, Date, Time, Timestamp, Interval, UUID, TID, MacAddr,
		TimeTZ, Money, LSN, Geometric:
		return int(t.Len)
	}
	switch {
	case t.OID == OIDChar:
		return 1
	case t.Family == MacAddr8 && n == 6:
		return 6
	case t.Family == MacAddr8:
		return 8
	}
	return -1
}

func parseBinary(t *Type, b []byte, f *Format) (Datum, error) {
	be := binary.BigEndian
	switch t.Family {
	case Bool:
		return NewBool(b[0] != 0), nil
	case Int:
		return Datum{I: parseIntBinary(t, b)}, nil
	case Float:
		if t.OID == OIDFloat4 {
			return Datum{F: float64(math.Float32frombits(be.Uint32(b)))}, nil
		}
		return Datum{F: math.Float64frombits(be.Uint64(b))}, nil
	case Decimal:
		d, err := parseNumericBinary(b)
		return Datum{Dec: d}, err
	case String:
		return parseStringBinary(t, b, f.Work)
	case CIText:
		return Datum{S: string(b)}, CheckUTF8(b)
	case HStore:
		return parseHStoreBinary(b)
	case Inet:
		return parseInetBinary(t, b)
	case Geometric:
		return parseShapeBinary(t, b)
	case TimeTZ:
		return parseTimeTZBinary(b)
	case Money:
		return Datum{I: int64(be.Uint64(b))}, nil
	case LSN:
		return NewLSN(be.Uint64(b)), nil
	case MacAddr8:
		if len(b) == 6 {
			return Datum{S: macTo8(string(b))}, nil
		}
		return Datum{S: string(b)}, nil
	case Bytes, UUID, TID, MacAddr:
		return Datum{S: string(b)}, nil
	case Date:
		return dateFromBinary(int32(be.Uint32(b)))
	case Time:
		v := int64(be.Uint64(b))
		if v < 0 || v > MicrosPerDay {
			return Datum{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "time out of range")
		}
		return Datum{I: v}, nil
	case Timestamp:
		v := int64(be.Uint64(b))
		if !IsInfinite(v) && !ValidTimestamp(v) {
			return Datum{}, errTimestampRange()
		}
		return Datum{I: v}, nil
	case Interval:
		return Datum{Iv: IntervalValue{
			Micros: int64(be.Uint64(b)), Days: int32(be.Uint32(b[8:])),
			Months: int32(be.Uint32(b[12:])),
		}}, nil
	case JSON:
		return parseJSONBinary(b, f.Work)
	case JSONPath:
		s, err := parseJSONPathBinary(b, f.Work)
		return Datum{S: s}, err
	case XML:
		s, err := parseXMLBinary(b, f)
		return Datum{S: s}, err
	case Bit:
		return parseBitsBinary(b)
	case Range:
		r, err := parseRangeBinary(t, b, f)
		return r.Datum(), err
	case MultiRange:
		return parseMultiRangeBinary(t, b, f)
	case Array:
		a, err := parseArrayBinary(t, b, f)
		return Datum{Arr: a}, err
	case Record:
		if t.Fields() != nil {
			return parseRowBinary(t, b, f)
		}
		a, err := parseRecordBinary(b, f)
		return Datum{Arr: a}, err
	case Enum:
		if err := CheckUTF8(b); err != nil {
			return Datum{}, err
		}
		return parseEnum(t, string(b), f)
	}
	return Datum{}, nil
}

func parseIntBinary(t *Type, b []byte) int64 {
	be := binary.BigEndian
	switch {
	case t.Len == 2:
		return int64(int16(be.Uint16(b)))
	case t.OID == OIDInt4:
		return int64(int32(be.Uint32(b)))
	case t.Len == 4:
		return int64(be.Uint32(b))
	}
	return int64(be.Uint64(b))
}

func dateFromBinary(v int32) (Datum, error) {
	switch {
	case v == math.MinInt32:
		return Datum{I: NegInfinity}, nil
	case v == math.MaxInt32:
		return Datum{I: PosInfinity}, nil
	case v < minDate || v >= endDate:
		return Datum{}, errDateRange()
	}
	return Datum{I: int64(v)}, nil
}

func parseJSONBinary(b []byte, w Work) (Datum, error) {
	if len(b) == 0 {
		return Datum{}, errShortMessage()
	}
	if b[0] != 1 {
		return Datum{}, sqlerr.New(sqlerr.InternalError, "unsupported jsonb version number %d",
			b[0])
	}
	if err := CheckUTF8(b[1:]); err != nil {
		return Datum{}, err
	}
	s, err := CanonicalJSON(string(b[1:]), w)
	return Datum{S: s}, err
}

// CheckUTF8 is 22021 unless b is valid UTF-8 without zero bytes.
func CheckUTF8(b []byte) error {
	for i := 0; i < len(b); {
		if b[i] != 0 && b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if b[i] == 0 || r == utf8.RuneError && n <= 1 {
			// PostgreSQL shows as many bytes as the first one announces.
			want := 1
			switch c := b[i]; {
			case c >= 0xf0 && c < 0xf8:
				want = 4
			case c >= 0xe0 && c < 0xf0:
				want = 3
			case c >= 0xc0 && c < 0xe0:
				want = 2
			}
			var hex []string
			for _, c := range b[i:min(i+want, len(b))] {
				const digits = "0123456789abcdef"
				hex = append(hex, "0x"+string([]byte{digits[c>>4], digits[c&15]}))
			}
			return sqlerr.New(sqlerr.CharacterNotInRepertoire,
				"invalid byte sequence for encoding \"UTF8\": %s", strings.Join(hex, " "))
		}
		i += n
	}
	return nil
}

func parseStringBinary(t *Type, b []byte, w Work) (Datum, error) {
	if t.OID == OIDChar {
		if b[0] == 0 {
			return Datum{}, nil
		}
		return Datum{S: string(b)}, nil
	}
	if err := CheckUTF8(b); err != nil {
		return Datum{}, err
	}
	return parseString(t, string(b), w)
}

func parseNumericBinary(b []byte) (*apd.Decimal, error) {
	be := binary.BigEndian
	if len(b) < 8 {
		return nil, errShortMessage()
	}
	n, weight := int(be.Uint16(b)), int(int16(be.Uint16(b[2:])))
	sign, scale := be.Uint16(b[4:]), int(be.Uint16(b[6:]))
	bad := func(what string) error {
		return sqlerr.New(sqlerr.InvalidBinaryRepresentation,
			"invalid %s in external \"numeric\" value", what)
	}
	if len(b) < 8+2*n {
		return nil, errShortMessage()
	}
	if len(b) > 8+2*n {
		return nil, errBinaryFormat()
	}
	switch sign {
	case numericSignNaN:
		return numericNaN, nil
	case numericSignPInf:
		return numericInf, nil
	case numericSignNInf:
		return numericNegInf, nil
	case 0, numericSignNeg:
	default:
		return nil, bad("sign")
	}
	if scale > numericMaxScale {
		return nil, bad("scale")
	}
	digits, ok := decimalDigits(b[8:])
	if !ok {
		return nil, bad("digit")
	}
	// The value is digits × 10^(4·(weight+1-n)); digits beyond the scale are cut off.
	have := 4 * (n - 1 - weight)
	if len(digits)-have > numericMaxIntDigits+4 {
		return nil, errNumericOverflow()
	}
	if have > scale {
		digits = digits[:max(len(digits)-(have-scale), 0)]
		have = scale
	}
	d, err := numericFromDigits(sign == numericSignNeg, bytes.TrimLeft(digits, "0"), have)
	if err != nil {
		return nil, err
	}
	if int(-d.Exponent) != scale {
		setScale(d, d, scale, roundDown)
	}
	return d, nil
}

// decimalDigits writes digits to the base 10000 as decimal ones; false if one is too large.
func decimalDigits(b []byte) ([]byte, bool) {
	digits := make([]byte, 0, 2*len(b))
	for ; len(b) > 0; b = b[2:] {
		g := binary.BigEndian.Uint16(b)
		if g >= 10000 {
			return nil, false
		}
		digits = append(digits, byte('0'+g/1000), byte('0'+g/100%10), byte('0'+g/10%10),
			byte('0'+g%10))
	}
	return digits, true
}

// binaryReader cuts a message into its parts.
type binaryReader struct {
	b []byte
	f *Format
}

func (r *binaryReader) uint32() (uint32, error) {
	if len(r.b) < 4 {
		return 0, errShortMessage()
	}
	v := binary.BigEndian.Uint32(r.b)
	r.b = r.b[4:]
	return v, nil
}

func (r *binaryReader) sized(t *Type) (Datum, error) {
	n, err := r.uint32()
	if err != nil {
		return Datum{}, err
	}
	if n == math.MaxUint32 {
		return t.Null(r.f)
	}
	if uint64(n) > uint64(len(r.b)) {
		return Datum{}, errShortMessage()
	}
	d, err := ParseBinary(t, r.b[:n], r.f)
	r.b = r.b[n:]
	return d, err
}

// arrayHead reads what precedes an array's dimensions, and returns their number.
func (r *binaryReader) arrayHead(t *Type) (ndim int, err error) {
	var head [3]uint32
	for i := range head {
		if head[i], err = r.uint32(); err != nil {
			return 0, err
		}
	}
	switch {
	case head[0] > arrayMaxDims:
		if int32(head[0]) < 0 {
			return 0, sqlerr.New(sqlerr.InvalidBinaryRepresentation,
				"invalid number of dimensions: %d", int32(head[0]))
		}
		return 0, errTooManyDims(int(head[0]))
	case head[1] > 1:
		return 0, sqlerr.New(sqlerr.InvalidBinaryRepresentation, "invalid array flags")
	case OID(head[2]) != t.Elem.OID:
		return 0, sqlerr.New(sqlerr.DatatypeMismatch,
			"binary data has array element type %d (%s) instead of expected %d (%s)",
			head[2], TypeName(OID(head[2])), t.Elem.OID, t.Elem.SQLName())
	}
	return int(head[0]), nil
}

func parseArrayBinary(t *Type, b []byte, f *Format) (*ArrayValue, error) {
	r := &binaryReader{b: b, f: f}
	ndim, err := r.arrayHead(t)
	if err != nil {
		return nil, err
	}
	a := &ArrayValue{}
	total := uint64(1)
	for range ndim {
		n, err := r.uint32()
		if err != nil {
			return nil, err
		}
		lb, err := r.uint32()
		if err != nil {
			return nil, err
		}
		if total *= uint64(n); total > arrayMaxElems {
			return nil, sqlerr.New(sqlerr.ProgramLimitExceeded,
				"array size exceeds the maximum allowed (%d)", arrayMaxElems)
		}
		a.Dims, a.Lower = append(a.Dims, int(n)), append(a.Lower, int(int32(lb)))
	}
	if ndim == 0 || total == 0 {
		a.Dims, a.Lower = nil, nil
		total = 0
	}
	if total*4 > uint64(len(r.b)) {
		return nil, errShortMessage()
	}
	p := pieces{work: f.Work}
	for range total {
		if err := p.reach(len(b) - len(r.b)); err != nil {
			return nil, err
		}
		d, err := r.sized(t.Elem)
		if err != nil {
			return nil, err
		}
		a.Elems = append(a.Elems, d)
	}
	if len(r.b) > 0 {
		return nil, errBinaryFormat()
	}
	return a, nil
}

func parseRecordBinary(b []byte, f *Format) (*ArrayValue, error) {
	r := &binaryReader{b: b, f: f}
	n, err := r.uint32()
	if err != nil {
		return nil, err
	}
	a := &ArrayValue{}
	for range n {
		oid, err := r.uint32()
		if err != nil {
			return nil, err
		}
		t, ok := ByOID(OID(oid))
		if !ok {
			return nil, sqlerr.New(sqlerr.InvalidBinaryRepresentation, "unknown type %d in record",
				oid)
		}
		d, err := r.sized(t)
		if err != nil {
			return nil, err
		}
		a.Elems, a.Types = append(a.Elems, d), append(a.Types, t)
	}
	if len(r.b) > 0 {
		return nil, errBinaryFormat()
	}
	return a, nil
}
