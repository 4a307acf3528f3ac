package sqlname

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What PostgreSQL 15 prints under quote_all_identifiers.
func TestQuoteAll(t *testing.T) {
	for text, want := range map[string]string{
		"CHECK (((a > 5) AND (b = 'x y'::text)))": `CHECK ((("a" > 5) AND ("b" = 'x y'::"text")))`,
		"integer[]": "integer[]", "text[]": `"text"[]`, "true": "true",
		"character varying(10)": "character varying(10)", "date": `"date"`,
		"timestamp(3) without time zone": "timestamp(3) without time zone",
		"double precision":               "double precision",
		"interval day to second(3)":      "interval day to second(3)",
		"nextval('s.q'::regclass)":       `"nextval"('"s"."q"'::"regclass")`,
		"EXTRACT(year FROM d)":           `EXTRACT(year FROM "d")`,
		`E'a\'b c'::text`:                `E'a\'b c'::"text"`, "1e10": "1e10", "$1": "$1",
		"AS $function$lower$function$": "AS $function$lower$function$",
		`s."Order".zone`:               `"s"."Order"."zone"`,
	} {
		require.Equal(t, want, QuoteAll(text))
	}
}
