package types

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/sqlerr"
)

// AppendText writes a value as PostgreSQL's output function does. Requires: d is not NULL and of
// type t. A nil format is DefaultFormat.
func AppendText(dst []byte, t *Type, d Datum, f *Format) []byte {
	if f == nil {
		f = &DefaultFormat
	}
	t = t.Base()
	switch t.Family {
	case Bool:
		if d.I != 0 {
			return append(dst, 't')
		}
		return append(dst, 'f')
	case Int:
		return appendInt(dst, t, d.I, f)
	case Float:
		return AppendFloat(dst, d.F, t.floatBits(), f.ExtraFloatDigits)
	case Decimal:
		return AppendNumeric(dst, d.Dec)
	case String:
		if t.OID == OIDChar && d.S != "" && d.S[0] >= 0x80 {
			return append(dst, '\\', '0'+d.S[0]>>6, '0'+d.S[0]>>3&7, '0'+d.S[0]&7)
		}
		dst = append(dst, d.S...)
		if t.OID == OIDBPChar && t.Mod >= 4 {
			for n := int(t.Mod-4) - utf8.RuneCountInString(d.S); n > 0; n-- {
				dst = append(dst, ' ')
			}
		}
		return dst
	case JSON, CIText:
		return append(dst, d.S...)
	case HStore:
		return appendHStore(dst, d)
	case JSONPath:
		return appendJSONPath(dst, d.S)
	case XML:
		return append(dst, xmlOutput(d.S)...)
	case Bytes:
		return appendBytea(dst, d.S, f)
	case Date:
		return AppendDate(dst, d.I, f)
	case Time:
		return AppendTime(dst, d.I)
	case Timestamp:
		if t.OID == OIDTimestampTZ {
			return AppendTimestampTZ(dst, d.I, f)
		}
		return AppendTimestamp(dst, d.I, f)
	case Interval:
		return AppendInterval(dst, d.Iv, f.IntervalStyle)
	case UUID:
		return appendUUID(dst, d.S)
	case Bit:
		return appendBits(dst, d.S)
	case TID:
		return appendTID(dst, d.S)
	case Inet:
		return appendInet(dst, t, d)
	case MacAddr, MacAddr8:
		return appendMAC(dst, d.S)
	case Geometric:
		return appendShape(dst, t, d, f)
	case TimeTZ:
		return appendTimeTZ(dst, d)
	case Money:
		return appendMoney(dst, d.I)
	case LSN:
		return appendLSN(dst, d)
	case Range:
		return appendRange(dst, t, RangeFrom(d), f)
	case MultiRange:
		return appendMultiRange(dst, t, RangesFrom(d), f)
	case Array:
		return appendArray(dst, t, d.Arr, f)
	case Record:
		return appendRecord(dst, d.Arr, f)
	case Enum:
		return append(dst, LabelOf(t, d.S)...)
	}
	return dst
}

// Text is AppendText as a string.
func Text(t *Type, d Datum, f *Format) string {
	t = t.Base()
	switch {
	case t.Family == String && t.OID != OIDBPChar && t.OID != OIDChar, t.Family == JSON,
		t.Family == CIText:
		return d.S
	case t.Family == XML:
		return xmlOutput(d.S)
	case t.Family == Enum:
		return LabelOf(t, d.S)
	}
	return string(AppendText(nil, t, d, f))
}

// IsReg reports whether a type is one of the reg* types: its values are the OIDs of objects of the
// catalog, whose names are the text.
func (t *Type) IsReg() bool {
	switch t.OID {
	case OIDRegClass, OIDRegType, OIDRegProc, OIDRegNamespace, TRegProcedure.OID, TRegRole.OID,
		TRegCollation.OID, TRegOper.OID, TRegOperator.OID, TRegConfig.OID, TRegDict.OID:
		return true
	}
	return false
}

func appendInt(dst []byte, t *Type, v int64, f *Format) []byte {
	switch {
	case t.OID == TXid8.OID:
		return strconv.AppendUint(dst, uint64(v), 10)
	case !t.IsReg():
		return strconv.AppendInt(dst, v, 10)
	}
	if v == 0 {
		return append(dst, noObject(t)...)
	}
	if f.Reg != nil {
		if name, ok := f.Reg.RegName(t.OID, OID(v)); ok {
			return append(dst, name...)
		}
	}
	if t.OID == OIDRegType {
		if bt, ok := ByOID(OID(v)); ok {
			return append(dst, bt.SQLName()...)
		}
	}
	return strconv.AppendInt(dst, v, 10)
}

func appendBytea(dst []byte, s string, f *Format) []byte {
	if f.ByteaOutput != "escape" {
		dst = append(dst, '\\', 'x')
		return hex.AppendEncode(dst, []byte(s))
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			dst = append(dst, '\\', '\\')
		case c < 0x20 || c > 0x7e:
			dst = append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func appendUUID(dst []byte, s string) []byte {
	if len(s) != 16 {
		return dst
	}
	b := []byte(s)
	for i, r := range [5][2]int{{0, 4}, {4, 6}, {6, 8}, {8, 10}, {10, 16}} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, b[r[0]:r[1]])
	}
	return dst
}

func errSyntaxFor(t *Type, s string) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type %s: \"%s\"",
		t.SQLName(), s)
}

// ParseText reads a value as PostgreSQL's input function does, applying the type's modifier and the
// constraints of a domain. A nil format is DefaultFormat. s is valid by CheckUTF8: what comes from
// a client is checked where it comes in.
func ParseText(t *Type, s string, f *Format) (Datum, error) {
	if f == nil {
		f = &DefaultFormat
	}
	if !t.IsDomain() {
		return parseText(t, s, f)
	}
	d, err := parseText(t.Base(), s, f)
	if err == nil {
		err = t.Admit(d, f)
	}
	return d, err
}

func parseText(t *Type, s string, f *Format) (Datum, error) {
	var d Datum
	var err error
	switch t.Family {
	case Bool:
		v, ok := ParseBool(s)
		if !ok {
			return Datum{}, errSyntaxFor(TBool, s)
		}
		return NewBool(v), nil
	case Int:
		d.I, err = parseInt(t, s, f)
	case Float:
		d.F, err = ParseFloat(s, t.floatBits())
	case Decimal:
		if d.Dec, err = ParseNumeric(s); err == nil {
			d.Dec, err = NumericWithMod(d.Dec, t.Mod)
		}
	case String:
		if items, ok := f.Reg.(AccessItems); ok && t.OID == TACLItem.OID {
			d.S, err = items.AccessItem(s)
			return d, err
		}
		return parseString(t, s, f.Work)
	case CIText:
		return Datum{S: s}, nil
	case HStore:
		return parseHStore(s, f.Work)
	case JSON:
		d.S, err = CanonicalJSON(s, f.Work)
	case JSONPath:
		d.S, err = parseJSONPathText(s, f.Work)
	case XML:
		d.S, err = parseXML(s, f)
	case Bytes:
		d.S, err = parseBytea(s)
	case Date:
		d.I, err = ParseDate(s, f)
	case Time:
		d.I, err = ParseTime(s, t.Mod, f)
	case Timestamp:
		if t.OID == OIDTimestampTZ {
			d.I, err = ParseTimestampTZ(s, t.Mod, f)
		} else {
			d.I, err = ParseTimestamp(s, t.Mod, f)
		}
	case Interval:
		d.Iv, err = parseIntervalStyle(s, t.Mod, f.IntervalStyle)
	case UUID:
		d.S, err = parseUUID(s)
	case Bit:
		return parseBits(t, s)
	case TID:
		d.S, err = parseTID(s)
	case Inet:
		return parseInet(t, s)
	case Geometric:
		return parseShape(t, s, f)
	case TimeTZ:
		return parseTimeTZ(s, t.Mod, f)
	case Money:
		d.I, err = parseMoney(s)
	case LSN:
		return parseLSN(s)
	case MacAddr:
		d.S, err = parseMAC(s)
	case MacAddr8:
		d.S, err = parseMAC8(s)
	case Range:
		r, err := parseRange(t, s, f)
		return r.Datum(), err
	case MultiRange:
		return parseMultiRange(t, s, f)
	case Array:
		d.Arr, err = parseArray(t, s, f)
	case Record:
		return parseRecord(t, s, f)
	case Enum:
		return parseEnum(t, s, f)
	case Void:
		err = errPseudoInput(t)
	}
	if err != nil {
		return Datum{}, err
	}
	return d, nil
}

// ParseBool reads a boolean: any unique prefix of a word for it, in any case, or a digit.
func ParseBool(s string) (value, ok bool) {
	w := strings.ToLower(strings.Trim(s, " \t\n\r\v\f"))
	prefix := func(full string, least int) bool {
		return len(w) >= least && strings.HasPrefix(full, w)
	}
	switch {
	case w == "1", prefix("true", 1), prefix("yes", 1), w == "on":
		return true, true
	case w == "0", prefix("false", 1), prefix("no", 1), prefix("off", 2):
		return false, true
	}
	return false, false
}

func parseInt(t *Type, s string, f *Format) (int64, error) {
	switch {
	case t.IsReg():
		return parseReg(t, s, f)
	case isTransactionID(t):
		return parseTransactionID(t, s), nil
	}
	w := strings.Trim(s, " \t\n\r\v\f")
	u := w
	if w != "" && (w[0] == '+' || w[0] == '-') {
		u = w[1:]
	}
	if u == "" || digitsPrefix(u) != len(u) {
		return 0, errSyntaxFor(t, s)
	}
	v, err := strconv.ParseInt(w, 10, 64)
	if err != nil || !intFits(t, v) {
		return 0, sqlerr.New(sqlerr.NumericValueOutOfRange,
			"value \"%s\" is out of range for type %s", s, t.SQLName())
	}
	if t.Len == 4 && t.OID != OIDInt4 {
		v = int64(uint32(v))
	}
	return v, nil
}

// intFits reports whether v is in the range of an integer type; OIDs may be written as negatives.
func intFits(t *Type, v int64) bool {
	switch {
	case t.OID == OIDInt2:
		return v >= -1<<15 && v < 1<<15
	case t.OID == OIDInt4:
		return v >= -1<<31 && v < 1<<31
	case t.Len == 4:
		return v >= -1<<31 && v < 1<<32
	}
	return true
}

// noObject is the text of the OID 0. "-" is an operator.
func noObject(t *Type) string {
	if t.OID == TRegOper.OID || t.OID == TRegOperator.OID {
		return "0"
	}
	return "-"
}

func parseReg(t *Type, s string, f *Format) (int64, error) {
	if s == noObject(t) {
		return 0, nil
	}
	if n, err := strconv.ParseUint(s, 10, 32); err == nil {
		return int64(n), nil
	}
	if f.Reg != nil {
		oid, err := f.Reg.RegOID(t.OID, s)
		return int64(oid), err
	}
	if t.OID == OIDRegType {
		if bt, ok := ByName(strings.ToLower(strings.TrimPrefix(strings.TrimSpace(s),
			"pg_catalog."))); ok {
			return int64(bt.OID), nil
		}
		for _, bt := range All() {
			if strings.EqualFold(bt.SQLName(), strings.TrimSpace(s)) {
				return int64(bt.OID), nil
			}
		}
		return 0, sqlerr.New(sqlerr.UndefinedObject, "type \"%s\" does not exist", s)
	}
	return 0, errSyntaxFor(t, s)
}

const nameMax = 63 // NAMEDATALEN - 1

// TruncateName cuts an identifier to PostgreSQL's 63 bytes, at a character's end.
func TruncateName(s string) string {
	if len(s) <= nameMax {
		return s
	}
	n := nameMax
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func parseString(t *Type, s string, w Work) (Datum, error) {
	switch t.OID {
	case OIDVarchar, OIDBPChar:
		return coerceLength(t, s, false)
	case OIDName:
		return Datum{S: TruncateName(s)}, nil
	case OIDChar:
		return Datum{S: parseChar(s)}, nil
	case OIDJSON:
		return Datum{S: s}, CheckJSON(s, w)
	}
	if IsSnapshot(t) {
		return parseSnapshot(s)
	}
	return Datum{S: s}, nil
}

// parseChar reads a "char": a byte, or its octal form. Bytes above 127 are only ever shown in
// octal.
func parseChar(s string) string {
	if len(s) == 4 && s[0] == '\\' {
		if v, err := strconv.ParseUint(s[1:], 8, 8); err == nil {
			if v == 0 {
				return ""
			}
			return string([]byte{byte(v)})
		}
	}
	return s[:min(len(s), 1)]
}

func firstChar(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}

// coerceLength fits s into varchar(n) or char(n). Explicit casts cut; else only blanks may go.
func coerceLength(t *Type, s string, explicit bool) (Datum, error) {
	if t.Mod >= 4 {
		if n := int(t.Mod - 4); len(s) > n {
			cut := runeOffset(s, n)
			if rest := s[cut:]; rest != "" && !explicit && strings.Trim(rest, " ") != "" {
				return Datum{}, sqlerr.New(sqlerr.StringDataRightTruncation,
					"value too long for type %s", t.String())
			}
			s = s[:cut]
		}
	}
	if t.OID == OIDBPChar {
		s = strings.TrimRight(s, " ")
	}
	return Datum{S: s}, nil
}

// runeOffset returns the byte offset of character n, or the length.
func runeOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

func parseBytea(s string) (string, error) {
	if strings.HasPrefix(s, "\\x") {
		return ParseHex(s[2:])
	}
	return ParseEscaped(s)
}

// ParseEscaped decodes bytes in which a backslash escapes itself or precedes three octal digits.
func ParseEscaped(s string) (string, error) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	b := make([]byte, 0, len(s))
	octal := func(i int, top byte) bool { return i < len(s) && s[i] >= '0' && s[i] <= top }
	for i := 0; i < len(s); {
		switch {
		case s[i] != '\\':
			b = append(b, s[i])
			i++
		case octal(i+1, '3') && octal(i+2, '7') && octal(i+3, '7'):
			b = append(b, (s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'))
			i += 4
		case i+1 < len(s) && s[i+1] == '\\':
			b = append(b, '\\')
			i += 2
		default:
			return "", sqlerr.New(sqlerr.InvalidTextRepresentation,
				"invalid input syntax for type bytea")
		}
	}
	return string(b), nil
}

// ParseHex decodes hexadecimal digits with blanks between pairs, as bytea's input and decode() do.
func ParseHex(s string) (string, error) {
	b := make([]byte, 0, len(s)/2)
	for i := 0; i < len(s); i++ {
		if isSpace(s[i]) && s[i] != '\v' && s[i] != '\f' {
			continue
		}
		hi, ok := hexDigit(s[i])
		if !ok {
			return "", errHexDigit(s[i:])
		}
		if i++; i == len(s) {
			return "", sqlerr.New(sqlerr.InvalidParameterValue,
				"invalid hexadecimal data: odd number of digits")
		}
		lo, ok := hexDigit(s[i])
		if !ok {
			return "", errHexDigit(s[i:])
		}
		b = append(b, hi<<4|lo)
	}
	return string(b), nil
}

func errHexDigit(s string) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "invalid hexadecimal digit: \"%s\"",
		firstChar(s))
}

// parseUUID takes 32 hexadecimal digits, with a hyphen after any group of four, braced or not.
func parseUUID(s string) (string, error) {
	bad := errSyntaxFor(TUUID, s)
	w := s
	braced := strings.HasPrefix(w, "{")
	if braced {
		w = w[1:]
	}
	var b [16]byte
	for i := range b {
		if len(w) < 2 {
			return "", bad
		}
		hi, ok1 := hexDigit(w[0])
		lo, ok2 := hexDigit(w[1])
		if !ok1 || !ok2 {
			return "", bad
		}
		b[i] = hi<<4 | lo
		w = w[2:]
		if i%2 == 1 && i < 15 && strings.HasPrefix(w, "-") {
			w = w[1:]
		}
	}
	if braced {
		if !strings.HasPrefix(w, "}") {
			return "", bad
		}
		w = w[1:]
	}
	if w != "" {
		return "", bad
	}
	return string(b[:]), nil
}
