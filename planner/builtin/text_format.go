package builtin

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

var textFormatFunctions = []def{
	n("concat(any*) text", concat).stable(),
	n("concat_ws(text,any*) text", concatWS).stable(),
	n("format(text,any*?) text", format).stable(),
	f("quote_ident(text) text", quoteIdentifier).dependsOnSetting(),
	f("quote_literal(text) text", wholeText(quoteLiteral)),
	f("quote_literal(anyelement) text", quoteNullable).stable(),
	n("quote_nullable(text) text", quoteNullable),
	n("quote_nullable(anyelement) text", quoteNullable).stable(),
	f("encode(bytea,text) text", encode),
	f("decode(text,text) bytea", decode),
	f("convert(bytea,name,name) bytea", convert).stable(),
	f("convert_to(text,name) bytea", convertTo).stable(),
	f("convert_from(bytea,name) text", convertFrom).stable(),
	f("get_byte(bytea,int4) int4", func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		if err := checkIndex(a[1].I, len(a[0].S)); err != nil {
			return types.Null, err
		}
		return types.NewInt(int64(a[0].S[a[1].I])), nil
	}),
	f("set_byte(bytea,int4,int4) bytea",
		func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
			if err := checkIndex(a[1].I, len(a[0].S)); err != nil {
				return types.Null, err
			}
			b := []byte(a[0].S)
			b[a[1].I] = byte(a[2].I)
			return types.NewString(string(b)), nil
		}),
	f("get_bit(bytea,int8) int4", func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		if err := checkIndex(a[1].I, 8*len(a[0].S)); err != nil {
			return types.Null, err
		}
		return types.NewInt(int64(a[0].S[a[1].I/8] >> (a[1].I % 8) & 1)), nil
	}),
	f("set_bit(bytea,int8,int4) bytea", setBit),
	f("bit_count(bytea) int8", func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		count := 0
		for _, c := range []byte(a[0].S) {
			count += bits.OnesCount8(c)
		}
		return types.NewInt(int64(count)), nil
	}),
	f("unistr(text) text", unistr),
	f("parse_ident(text,bool?) text[]", parseIdent),
}

func concat(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	w := newWriter(rt)
	for i, d := range a {
		if !d.Null {
			w.text(textOf(rt, rt.ArgTypes[i], d))
		}
	}
	return w.done()
}

func concatWS(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.Null, nil
	}
	w := newWriter(rt)
	first := true
	for i, d := range a[1:] {
		if d.Null {
			continue
		}
		if !first {
			w.text(a[0].S)
		}
		first = false
		w.text(textOf(rt, rt.ArgTypes[i+1], d))
	}
	return w.done()
}

// formatSpec is a conversion of format(): %[position$][-][width]type.
type formatSpec struct {
	position  int // 0: the next argument
	left      bool
	width     int
	starWidth bool
	starPos   int
	verb      byte
}

func format(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.Null, nil
	}
	f := a[0].S
	w := newWriter(rt)
	next := 1
	arg := func(pos int) (int, error) {
		if pos == 0 {
			pos = next
		}
		if pos >= len(a) {
			return 0, errInvalid("too few arguments for format()")
		}
		next = pos + 1
		return pos, nil
	}
	for i := 0; i < len(f) && w.err == nil; i++ {
		if f[i] != '%' {
			w.byte(f[i])
			continue
		}
		if i+1 < len(f) && f[i+1] == '%' {
			w.byte('%')
			i++
			continue
		}
		spec, end, err := parseFormatSpec(f, i+1)
		if err != nil {
			return types.Null, err
		}
		i = end
		if spec.starWidth {
			p, err := arg(spec.starPos)
			if err != nil {
				return types.Null, err
			}
			if spec.width = int(a[p].I); spec.width < 0 {
				spec.left, spec.width = true, -spec.width
			}
		}
		p, err := arg(spec.position)
		if err != nil {
			return types.Null, err
		}
		text, err := formatArgument(rt, spec.verb, rt.ArgTypes[p], a[p])
		if err != nil {
			return types.Null, err
		}
		w.padded(text, spec.width, spec.left)
	}
	return w.done()
}

// padded appends a text, padded with blanks to a width in characters: before it, or with left after
// it.
func (w *writer) padded(text string, width int, left bool) {
	blanks := int64(width - utf8.RuneCountInString(text))
	if !left {
		w.fill(" ", blanks)
	}
	w.text(text)
	if left {
		w.fill(" ", blanks)
	}
}

// parseFormatSpec parses a conversion and returns the index of its last byte.
func parseFormatSpec(f string, i int) (formatSpec, int, error) {
	var s formatSpec
	number := func() int {
		n := 0
		for i < len(f) && f[i] >= '0' && f[i] <= '9' && n < 1<<24 {
			n = n*10 + int(f[i]-'0')
			i++
		}
		return n
	}
	unterminated := errInvalid("unterminated format() type specifier").
		WithHint(`For a single "%%" use "%%%%".`)
	if n := number(); n > 0 || i > 0 && f[i-1] == '0' {
		if i < len(f) && f[i] == '$' {
			if n == 0 {
				return s, i, errInvalid("format specifies argument 0, but arguments are numbered " +
					"from 1")
			}
			s.position = n
			i++
		} else {
			s.width = n
		}
	}
	for i < len(f) && f[i] == '-' {
		s.left = true
		i++
	}
	if i < len(f) && f[i] == '*' {
		s.starWidth = true
		i++
		if n := number(); n > 0 {
			if i >= len(f) || f[i] != '$' {
				return s, i, errInvalid(`width argument position must be ended by "$"`)
			}
			s.starPos = n
			i++
		}
	} else if n := number(); n > 0 {
		s.width = n
	}
	if i >= len(f) {
		return s, i, unterminated
	}
	s.verb = f[i]
	if strings.IndexByte("sIL", s.verb) < 0 {
		r, _ := utf8.DecodeRuneInString(f[i:])
		return s, i, errInvalid("unrecognized format() type specifier \"%c\"", r).
			WithHint(`For a single "%%" use "%%%%".`)
	}
	return s, i, nil
}

func formatArgument(rt *expr.Runtime, verb byte, t *types.Type, d types.Datum) (string, error) {
	switch {
	case d.Null && verb == 's':
		return "", nil
	case d.Null && verb == 'I':
		return "", sqlerr.New(sqlerr.NullValueNotAllowed,
			"null values cannot be formatted as an SQL identifier")
	case d.Null:
		return "NULL", nil
	}
	text := textOf(rt, t, d)
	switch verb {
	case 'I':
		return quoteName(rt, text), nil
	case 'L':
		return quoteLiteral(text), nil
	}
	return text, nil
}

func quoteIdentifier(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return wholeText(func(name string) string { return quoteName(rt, name) })(rt, a)
}

// quoteName writes a name as an identifier: in quotes where it must be, or always, by
// quote_all_identifiers.
func quoteName(rt *expr.Runtime, name string) string {
	quoted := sqlname.Quote(name)
	if rt.Format.QuoteAll {
		return sqlname.QuoteAll(quoted)
	}
	return quoted
}

// quoteLiteral returns a literal that is read back under either value of
// standard_conforming_strings.
func quoteLiteral(s string) string {
	q := sqlname.Literal(s)
	if strings.Contains(s, `\`) {
		return "E" + strings.ReplaceAll(q, `\`, `\\`)
	}
	return q
}

func quoteNullable(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.NewString("NULL"), nil
	}
	// The argument is cast to text, which spells out booleans.
	if rt.ArgTypes[0].Family == types.Bool {
		return types.NewString(quoteLiteral(strconv.FormatBool(a[0].I != 0))), nil
	}
	return types.NewString(quoteLiteral(textOf(rt, rt.ArgTypes[0], a[0]))), nil
}

func encode(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	data := a[0].S
	switch strings.ToLower(a[1].S) {
	case "hex":
		return types.NewString(hex.EncodeToString([]byte(data))), nil
	case "base64":
		text := base64.StdEncoding.EncodeToString([]byte(data))
		var b strings.Builder
		for len(text) > 76 { // MIME's line length
			b.WriteString(text[:76] + "\n")
			text = text[76:]
		}
		b.WriteString(text)
		return types.NewString(b.String()), nil
	case "escape":
		var b strings.Builder
		for _, c := range []byte(data) {
			switch {
			case c == 0 || c >= 0x80:
				fmt.Fprintf(&b, `\%03o`, c)
			case c == '\\':
				b.WriteString(`\\`)
			default:
				b.WriteByte(c)
			}
		}
		return types.NewString(b.String()), nil
	}
	return types.Null, errInvalid("unrecognized encoding: \"%s\"", a[1].S)
}

func decode(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	text := a[0].S
	switch strings.ToLower(a[1].S) {
	case "hex":
		b, err := types.ParseHex(text)
		return types.NewString(b), err
	case "base64":
		clean := strings.NewReplacer("\n", "", "\r", "", " ", "", "\t", "").Replace(text)
		b, err := base64.StdEncoding.DecodeString(clean)
		if err != nil {
			return types.Null, decodeBase64Error(clean)
		}
		return types.NewString(string(b)), nil
	case "escape":
		b, err := types.ParseEscaped(text)
		return types.NewString(b), err
	}
	return types.Null, errInvalid("unrecognized encoding: \"%s\"", a[1].S)
}

func decodeBase64Error(text string) error {
	for _, r := range text {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' ||
			r == '/' || r == '=') {
			return errInvalid("invalid symbol \"%c\" found while decoding base64 sequence", r)
		}
	}
	return errInvalid("invalid base64 end sequence").
		WithHint("Input data is missing padding, is truncated, or is otherwise corrupted.")
}

// checkIndex checks the index of a byte or bit, of which there are n.
func checkIndex(i int64, n int) error {
	if i < 0 || i >= int64(n) {
		return errSubscripts("index %d out of valid range, 0..%d", i, n-1)
	}
	return nil
}

func setBit(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if err := checkIndex(a[1].I, 8*len(a[0].S)); err != nil {
		return types.Null, err
	}
	if a[2].I != 0 && a[2].I != 1 {
		return types.Null, errInvalid("new bit must be 0 or 1")
	}
	b := []byte(a[0].S)
	mask := byte(1) << (a[1].I % 8)
	b[a[1].I/8] &^= mask
	if a[2].I == 1 {
		b[a[1].I/8] |= mask
	}
	return types.NewString(string(b)), nil
}
