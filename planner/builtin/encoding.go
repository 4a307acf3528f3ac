package builtin

import (
	"slices"
	"strings"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// encodingNames are the encodings that PostgreSQL's catalogs number. A database here has UTF8.
var encodingNames = []string{"SQL_ASCII", "EUC_JP", "EUC_CN", "EUC_KR", "EUC_TW", "EUC_JIS_2004",
	"UTF8", "MULE_INTERNAL", "LATIN1", "LATIN2", "LATIN3", "LATIN4", "LATIN5", "LATIN6", "LATIN7",
	"LATIN8", "LATIN9", "LATIN10", "WIN1256", "WIN1258", "WIN866", "WIN874", "KOI8R", "WIN1251",
	"WIN1252", "ISO_8859_5", "ISO_8859_6", "ISO_8859_7", "ISO_8859_8", "WIN1250", "WIN1253",
	"WIN1254", "WIN1255", "WIN1257", "KOI8U", "SJIS", "BIG5", "GBK", "UHC", "GB18030", "JOHAB",
	"SHIFT_JIS_2004"}

// encodingName is pg_encoding_to_char: "" for a number that no encoding has.
func encodingName(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if n := a[0].I; n >= 0 && n < int64(len(encodingNames)) {
		return types.NewString(encodingNames[n]), nil
	}
	return types.NewString(""), nil
}

// encodingNumber is pg_char_to_encoding: -1 for an unknown name. Case, and what is neither a letter
// nor a digit, do not matter.
func encodingNumber(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	name := plainEncoding(a[0].S)
	n := slices.IndexFunc(encodingNames, func(s string) bool { return plainEncoding(s) == name })
	return types.NewInt(int64(n)), nil
}

func plainEncoding(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
}
