package sqlname

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQuote(t *testing.T) {
	for name, want := range map[string]string{
		"plain_1": "plain_1", "": `""`, "1x": `"1x"`, "A": `"A"`, `a"B`: `"a""B"`, "a$": `"a$"`,
		"é":     `"é"`,
		"order": `"order"`, "between": `"between"`, "left": `"left"`, "name": "name",
		"zone": "zone",
	} {
		require.Equal(t, want, Quote(name))
	}
	require.Equal(t, `s."order"`, Qualified("s", "order"))
	require.Equal(t, `'it''s \'`, Literal(`it's \`))
	require.Equal(t, `a, "user"`, Join([]string{"a", "user"}))
}

func TestKeyWordsAreQuotedUnlessUnreserved(t *testing.T) {
	require.Equal(t, 460, len(Keywords))
	for word, k := range Keywords {
		require.Equal(t, k.Category != Unreserved, Quote(word) != word, word)
	}
}
