package parse_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/sql/parse"
)

func TestPasswordsAreConcealed(t *testing.T) {
	for text, shown := range map[string]string{
		"SELECT 'x'": "SELECT 'x'",
		"CREATE ROLE a LOGIN PASSWORD 's3cret' VALID UNTIL '2030-01-01'": "CREATE ROLE a LOGIN " +
			"PASSWORD '***' VALID UNTIL '2030-01-01'",
		"alter user a encrypted password E's3\\'cret'": "alter user a encrypted password '***'",
		"ALTER ROLE a PASSWORD $$s3cret$$":             "ALTER ROLE a PASSWORD '***'",
		"ALTER ROLE a PASSWORD /* here */ 's3cret' x":  "ALTER ROLE a PASSWORD /* here */ '***' x",
		"ALTER ROLE a PASSWORD 's3cret":                "ALTER ROLE a PASSWORD '***'",
		"ALTER ROLE a PASSWORD 's3' 's3'":              "ALTER ROLE a PASSWORD '***' '***'",
		"ALTER ROLE a PASSWORD 's3cret' U&\"":          "ALTER ROLE a PASSWORD '***' '***'",
		"ALTER ROLE a PASSWORD NULL":                   "ALTER ROLE a PASSWORD NULL",
		"SELECT 1 FROM u WHERE password = 's3cret'":    "SELECT 1 FROM u WHERE password = '***'",
		"DO $x$ BEGIN ALTER ROLE a PASSWORD 's3cret'; END $x$": "DO $x$ BEGIN ALTER ROLE a " +
			"PASSWORD '***'; END $x$",
		"DO 'BEGIN ALTER ROLE a PASSWORD ''s3cret''; END'": "DO '***'",
	} {
		got, secrets := parse.Conceal(text)
		require.Equal(t, shown, got)
		require.NotContains(t, got, "s3")
		require.Equal(t, text != shown, len(secrets) > 0, text)
	}
}
