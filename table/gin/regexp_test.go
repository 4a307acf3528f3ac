package gin

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLiteralPartsOfRegularExpressions(t *testing.T) {
	for re, want := range map[string]string{
		"abc":                "%abc%",
		"^abc$":              "%%abc%%",
		"ab*c":               "%a%c%",
		"ab+c":               "%ab%c%",
		"ab{2,3}?c":          "%a%c%",
		"a.c":                "%a%c%",
		`a\.b\\c`:            `%a.b\\c%`,
		`50%_`:               `%50\%\_%`,
		`\mword\d`:           "%%word%%",
		"a[^]x]b[[:alpha:]]": "%a%b%%",
		"a(b(c)[)])d":        "%a%d%",
		"ä+ö":                "%ä%ö%",
	} {
		got, ok := likeOfRegexp(re)
		require.True(t, ok, re)
		require.Equal(t, want, got, re)
	}
	for _, re := range []string{"a|b", "(?i)abc", "***=abc", `\x41bc`, `(a)\1`, "a(b", "a[b", "*a",
		`a\`, "a{2"} {
		_, ok := likeOfRegexp(re)
		require.False(t, ok, re)
	}
}
