package builtin

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// unicodeFunctions are about the characters of texts: their normal forms, and ASCII.
var unicodeFunctions = []def{
	f("normalize(text,text?) text", func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		form, err := normalForm(textAt(a, 1, "NFC"))
		if err != nil {
			return types.Null, err
		}
		return types.NewString(form.String(a[0].S)), nil
	}),
	f("is_normalized(text,text?) bool", func(rt *expr.Runtime,
		a []types.Datum) (types.Datum, error) {
		form, err := normalForm(textAt(a, 1, "NFC"))
		if err != nil {
			return types.Null, err
		}
		return types.NewBool(form.IsNormalString(a[0].S)), nil
	}),
	f("to_ascii(text) text", func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return toASCII(a[0].S, "UTF8")
	}),
	f("to_ascii(text,name) text", toASCIINamed),
	f("to_ascii(text,int4) text", toASCIINumbered),
}

var normalForms = map[string]norm.Form{"NFC": norm.NFC, "NFD": norm.NFD, "NFKC": norm.NFKC,
	"NFKD": norm.NFKD}

func normalForm(name string) (norm.Form, error) {
	form, ok := normalForms[strings.ToUpper(name)]
	if !ok {
		return 0, errInvalid("invalid normalization form: %s", name)
	}
	return form, nil
}
