package builtin

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// defaultParser is the OID of the one text search parser in the catalogs.
const defaultParser = 3722

// tokenTypes are the kinds of words of the default parser.
var tokenTypes = []struct {
	id                 int64
	alias, description string
}{
	{1, "asciiword", "Word, all ASCII"},
	{2, "word", "Word, all letters"},
	{3, "numword", "Word, letters and digits"},
	{4, "email", "Email address"},
	{5, "url", "URL"},
	{6, "host", "Host"},
	{7, "sfloat", "Scientific notation"},
	{8, "version", "Version number"},
	{9, "hword_numpart", "Hyphenated word part, letters and digits"},
	{10, "hword_part", "Hyphenated word part, all letters"},
	{11, "hword_asciipart", "Hyphenated word part, all ASCII"},
	{12, "blank", "Space symbols"},
	{13, "tag", "XML tag"},
	{14, "protocol", "Protocol head"},
	{15, "numhword", "Hyphenated word, letters and digits"},
	{16, "asciihword", "Hyphenated word, all ASCII"},
	{17, "hword", "Hyphenated word, all letters"},
	{18, "url_path", "URL path"},
	{19, "file", "File or path name"},
	{20, "float", "Decimal notation"},
	{21, "int", "Signed integer"},
	{22, "uint", "Unsigned integer"},
	{23, "entity", "XML entity"},
}

// parserTokenTypes is ts_token_type: what the default parser recognises. Nothing parses with it.
func parserTokenTypes(_ *expr.Runtime, a []types.Datum, emit func([]types.Datum) error) error {
	if a[0].I != defaultParser {
		return sqlerr.New(sqlerr.InternalError, "cache lookup failed for text search parser %d",
			a[0].I)
	}
	for _, t := range tokenTypes {
		if err := emit([]types.Datum{types.NewInt(t.id), types.NewString(t.alias),
			types.NewString(t.description)}); err != nil {
			return err
		}
	}
	return nil
}
