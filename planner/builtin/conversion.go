package builtin

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// charmaps are the encodings of one byte a character that can be converted from and to UTF-8.
var charmaps = map[string]*charmap.Charmap{
	"LATIN1": charmap.ISO8859_1, "LATIN2": charmap.ISO8859_2, "LATIN3": charmap.ISO8859_3,
	"LATIN4": charmap.ISO8859_4, "LATIN5": charmap.ISO8859_9, "LATIN6": charmap.ISO8859_10,
	"LATIN7": charmap.ISO8859_13, "LATIN8": charmap.ISO8859_14, "LATIN9": charmap.ISO8859_15,
	"LATIN10": charmap.ISO8859_16, "ISO_8859_5": charmap.ISO8859_5,
	"ISO_8859_6": charmap.ISO8859_6, "ISO_8859_7": charmap.ISO8859_7,
	"ISO_8859_8": charmap.ISO8859_8, "WIN1250": charmap.Windows1250,
	"WIN1251": charmap.Windows1251, "WIN1252": charmap.Windows1252,
	"WIN1253": charmap.Windows1253, "WIN1254": charmap.Windows1254,
	"WIN1255": charmap.Windows1255, "WIN1256": charmap.Windows1256,
	"WIN1257": charmap.Windows1257, "WIN1258": charmap.Windows1258, "WIN874": charmap.Windows874,
	"WIN866": charmap.CodePage866, "KOI8R": charmap.KOI8R, "KOI8U": charmap.KOI8U,
}

// charset is an encoding of one byte a character, both ways. A byte that no character has is
// utf8.RuneError.
type charset struct {
	runes [256]rune
	bytes map[rune]byte
}

// charsetOf returns the table of an encoding, nil if there is none here. PostgreSQL's tables are
// those of charmap but for a few characters, and the control characters of ISO's encodings.
func charsetOf(name string) *charset {
	if c, ok := charsets.Load(name); ok {
		return c.(*charset)
	}
	m, ok := charmaps[name]
	if !ok {
		return nil
	}
	c := &charset{bytes: map[rune]byte{}}
	iso := strings.HasPrefix(name, "LATIN") || strings.HasPrefix(name, "ISO")
	for i := range c.runes {
		b := byte(i)
		c.runes[i] = m.DecodeByte(b)
		if iso && b >= 0x80 && b < 0xa0 {
			c.runes[i] = rune(b)
		}
	}
	switch name {
	case "WIN1255":
		c.runes[0xca] = utf8.RuneError
	case "KOI8U":
		c.runes[0xae], c.runes[0xbe] = '╝', '╬'
	}
	for i, r := range c.runes {
		if r != utf8.RuneError {
			c.bytes[r] = byte(i)
		}
	}
	charsets.Store(name, c)
	return c
}

// charsets has the charsets by their names, once they were asked for.
var charsets sync.Map

// encodingAliases are the other names of encodings.
var encodingAliases = map[string]string{"UNICODE": "UTF8", "ABC": "WIN1258", "ALT": "WIN866",
	"KOI8": "KOI8R", "TCVN": "WIN1258", "TCVN5712": "WIN1258", "VSCII": "WIN1258",
	"WIN": "WIN1251", "MSKANJI": "SJIS", "SHIFTJIS": "SJIS", "WIN932": "SJIS",
	"WINDOWS932": "SJIS", "WIN949": "UHC", "WINDOWS949": "UHC", "WIN936": "GBK",
	"WINDOWS936": "GBK", "WIN950": "BIG5", "WINDOWS950": "BIG5", "ISO88591": "LATIN1",
	"ISO88592": "LATIN2", "ISO88593": "LATIN3", "ISO88594": "LATIN4", "ISO88599": "LATIN5",
	"ISO885910": "LATIN6", "ISO885913": "LATIN7", "ISO885914": "LATIN8", "ISO885915": "LATIN9",
	"ISO885916": "LATIN10", "WINDOWS1250": "WIN1250", "WINDOWS1251": "WIN1251",
	"WINDOWS1252": "WIN1252", "WINDOWS1253": "WIN1253", "WINDOWS1254": "WIN1254",
	"WINDOWS1255": "WIN1255", "WINDOWS1256": "WIN1256", "WINDOWS1257": "WIN1257",
	"WINDOWS1258": "WIN1258", "WINDOWS866": "WIN866", "WINDOWS874": "WIN874"}

// encodingOf returns the number and the name of an encoding, -1 if there is none of the name.
func encodingOf(name string) (int, string) {
	plain := plainEncoding(name)
	if official, ok := encodingAliases[strings.ToUpper(plain)]; ok {
		plain = plainEncoding(official)
	}
	n := slices.IndexFunc(encodingNames, func(s string) bool { return plainEncoding(s) == plain })
	if n < 0 {
		return n, ""
	}
	return n, encodingNames[n]
}

// convert is convert(bytes, source, destination).
func convert(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	out, err := converted(a[0].S, a[1].S, a[2].S)
	return types.NewString(out), err
}

func convertTo(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	out, err := converted(a[0].S, "UTF8", a[1].S)
	return types.NewString(out), err
}

func convertFrom(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	out, err := converted(a[0].S, a[1].S, "UTF8")
	if err == nil {
		err = types.CheckUTF8([]byte(out))
	}
	return types.NewString(out), err
}

// converted returns a text of the encoding from in the encoding to. SQL_ASCII stands for bytes
// whose encoding is not known, which are left as they are.
func converted(text, from, to string) (string, error) {
	f, source := encodingOf(from)
	t, dest := encodingOf(to)
	switch {
	case f < 0:
		return "", errInvalid("invalid source encoding name \"%s\"", from)
	case t < 0:
		return "", errInvalid("invalid destination encoding name \"%s\"", to)
	}
	if err := checkEncoding(text, source); err != nil {
		return "", err
	}
	switch {
	case source == dest || dest == "SQL_ASCII":
		return text, nil
	case source == "SQL_ASCII":
		return text, checkEncoding(text, dest)
	case source == "UTF8" && charsetOf(dest) != nil:
		return fromUTF8(text, dest)
	case dest == "UTF8" && charsetOf(source) != nil:
		return toUTF8(text, source)
	}
	return "", sqlerr.Unsupported(0, fmt.Sprintf("conversion of encoding \"%s\" to \"%s\"", source,
		dest))
}

// checkEncoding returns an error for bytes that are no text of an encoding.
func checkEncoding(text, encoding string) error {
	switch {
	case encoding == "UTF8":
		return types.CheckUTF8([]byte(text))
	case encoding != "SQL_ASCII" && charmaps[encoding] == nil:
		return sqlerr.Unsupported(0, fmt.Sprintf("encoding \"%s\"", encoding))
	case strings.IndexByte(text, 0) >= 0:
		return sqlerr.New(sqlerr.CharacterNotInRepertoire,
			"invalid byte sequence for encoding \"%s\": 0x00", encoding)
	}
	return nil
}

func fromUTF8(text, dest string) (string, error) {
	out, known := make([]byte, 0, len(text)), charsetOf(dest).bytes
	for _, r := range text {
		b, ok := known[r]
		if !ok {
			return "", errUntranslatable(string(r), "UTF8", dest)
		}
		out = append(out, b)
	}
	return string(out), nil
}

func toUTF8(text, source string) (string, error) {
	out, known := make([]byte, 0, len(text)), &charsetOf(source).runes
	for i := range len(text) {
		r := known[text[i]]
		if r == utf8.RuneError {
			return "", errUntranslatable(text[i:i+1], source, "UTF8")
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out), nil
}

func errUntranslatable(char, source, dest string) error {
	var bytes strings.Builder
	for i := range len(char) {
		fmt.Fprintf(&bytes, " 0x%02x", char[i])
	}
	return sqlerr.New(sqlerr.UntranslatableCharacter, "character with byte sequence%s in encoding "+
		"\"%s\" has no equivalent in encoding \"%s\"", bytes.String(), source, dest)
}

// asciiTables has the ASCII characters that are like those of an encoding, from the byte first on.
// Bytes between ASCII and first become blanks.
var asciiTables = map[string]struct {
	first byte
	like  string
}{
	"LATIN1": {160, `  cL Y  "Ca  -R     'u .,      ?AAAAAAACEEEEIIII NOOOOOxOUUUUYTBaaaaaaaceeee` +
		`iiii nooooo/ouuuuyty`},
	"LATIN2": {160, ` A L LS "SSTZ-ZZ a,l'ls ,sstz"zzRAAAALCCCEEEEIIDDNNOOOOxRUUUUYTBraaaalccceee` +
		`eiiddnnoooo/ruuuuyt.`},
	"LATIN9": {160, `  cL YS sCa  -R     Zu .z   EeY?AAAAAAACEEEEIIII NOOOOOxOUUUUYTBaaaaaaaceeee` +
		`iiii nooooo/ouuuuyty`},
	"WIN1250": {128, "  ' \"    %S<STZZ `'\"\".--  s>stzz   L A  \"CS  -RZ  ,l'u .,as L\"lzRAAAA" +
		"LCCCEEEEIIDDNNOOOOxRUUUUYTBraaaalccceeeeiiddnnoooo/ruuuuyt "},
}

// toASCII replaces the bytes of a text in an encoding by ASCII characters like them.
func toASCII(text, encoding string) (types.Datum, error) {
	table, ok := asciiTables[encoding]
	if !ok {
		return types.Null, sqlerr.New(sqlerr.FeatureNotSupported,
			"encoding conversion from %s to ASCII not supported", encoding)
	}
	out := []byte(text)
	for i, b := range out {
		switch {
		case b < 128:
		case b < table.first:
			out[i] = ' '
		default:
			out[i] = table.like[b-table.first]
		}
	}
	return types.NewString(string(out)), nil
}

func toASCIINamed(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	n, name := encodingOf(a[1].S)
	if n < 0 {
		return types.Null, sqlerr.New(sqlerr.UndefinedObject, "%s is not a valid encoding name",
			a[1].S)
	}
	return toASCII(a[0].S, name)
}

func toASCIINumbered(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if n := a[1].I; n >= 0 && n < int64(len(encodingNames)) {
		return toASCII(a[0].S, encodingNames[n])
	}
	return types.Null, sqlerr.New(sqlerr.UndefinedObject, "%d is not a valid encoding code", a[1].I)
}
