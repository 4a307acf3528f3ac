package types

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/xml"
)

// A datum of type xml holds the text as it was written: a cast to text returns that, the output
// function changes the declaration with which it begins.

func parseXML(s string, f *Format) (string, error) {
	return s, xml.Check(s, f.XMLDocument, f.Work)
}

func xmlOutput(s string) string {
	text, _ := xml.Output(s)
	return text
}

// parseXMLBinary reads what a client sends: bytes in the encoding that they declare, UTF-8 without
// a declaration.
func parseXMLBinary(b []byte, f *Format) (string, error) {
	d, _, _ := xml.Declared(strings.ToValidUTF8(string(b[:min(len(b), declarationMax)]), "?"))
	text := string(b)
	if d.Encoding != "" {
		latin1, err := encodingOfXML(d.Encoding, b)
		if err != nil {
			return "", err
		}
		if latin1 {
			runes := make([]rune, len(b))
			for i, c := range b {
				runes[i] = rune(c)
			}
			text = string(runes)
		}
	}
	if err := CheckUTF8([]byte(text)); err != nil {
		return "", err
	}
	return parseXML(text, f)
}

// declarationMax is how many bytes a declaration has at most to be looked at for its encoding.
const declarationMax = 1 << 10

// otherEncodings are the names of PostgreSQL's encodings but UTF8 and LATIN1, without punctuation.
var otherEncodings = strings.Fields(`
	sqlascii abc alt big5 euccn eucjis2004 eucjp euckr euctw gb18030 gbk iso88592
	iso88593 iso88594 iso88595 iso88596 iso88597 iso88598 iso88599 iso885910 iso885913
	iso885914 iso885915 iso885916 johab koi8 koi8r koi8u latin2 latin3 latin4 latin5
	latin6 latin7 latin8 latin9 latin10 mskanji muleinternal shiftjis shiftjis2004 sjis
	tcvn tcvn5712 uhc vscii win win1250 win1251 win1252 win1253 win1254 win1255 win1256
	win1257 win1258 win866 win874 win932 win936 win949 win950 windows1250 windows1251
	windows1252 windows1253 windows1254 windows1255 windows1256 windows1257 windows1258
	windows866 windows874 windows932 windows936 windows949 windows950`)

// encodingOfXML reports whether bytes are in LATIN1; else they are UTF-8, or ASCII in an encoding
// whose characters beyond are not supported.
func encodingOfXML(name string, b []byte) (latin1 bool, err error) {
	plain := strings.Map(func(c rune) rune {
		switch {
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A'
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			return c
		}
		return -1
	}, name)
	switch {
	case plain == "utf8" || plain == "unicode":
		return false, nil
	case plain == "latin1" || plain == "iso88591":
		return true, nil
	case !slices.Contains(otherEncodings, plain):
		return false, sqlerr.New(sqlerr.InvalidParameterValue, "invalid encoding name \"%s\"", name)
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false, sqlerr.New(sqlerr.FeatureNotSupported,
				"xml in encoding \"%s\" is not supported", name)
		}
	}
	return false, nil
}
