package trigram_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/table/trigram"
)

func free(int) error { return nil }

func of(t *testing.T, text string) string {
	all, err := trigram.Of(text, free)
	require.NoError(t, err)
	return show(all)
}

func show(all []trigram.Trigram) string {
	out := make([]string, len(all))
	for i, g := range all {
		out[i] = g.String()
	}
	return strings.Join(out, ",")
}

// TestTrigramsArePostgreSQLs has what show_trgm of PostgreSQL 15 returns.
func TestTrigramsArePostgreSQLs(t *testing.T) {
	require.Equal(t, "  c, ca,at ,cat", of(t, "Cat"))
	require.Equal(t, "  a,  b, a , b ", of(t, "a - b; A"))
	require.Equal(t, "", of(t, " ;- "))
	require.Equal(t, "0x8194c0,0x836e53,0x8c1b15,0x9ab6cb,0x9a07c3,0xd1b45e,0xd6bef0,0xd6682f,"+
		"0xde3801,0x00892d,0x0280ee,0x0d7f89,0x1dc363,0x1e22e9,  s,  x, st, x ,0x23b3e5,0x57bc55,"+
		"cod,de ,ode,str,tra,0x76a40e", of(t, "Ünïcode straße ТЕСТ 日本語 x"))
}

func TestSimilarity(t *testing.T) {
	for _, c := range []struct {
		a, b        string
		plain       float32
		word, tight float32
	}{
		{"word", "two words", 0.36363637, 0.8, 0.5714286},
		{"word", "word", 1, 1, 1},
		{"", "word", 0, 0, 0},
		{"hello", "a hallo there", 0.1764706, 0.33333334, 0.33333334},
	} {
		x, err := trigram.Of(c.a, free)
		require.NoError(t, err)
		y, err := trigram.Of(c.b, free)
		require.NoError(t, err)
		require.Equal(t, c.plain, trigram.Similarity(x, y), c.a)
		word, err := trigram.Word{Step: free}.Similarity(c.a, c.b)
		require.NoError(t, err)
		require.Equal(t, c.word, word, c.a)
		tight, err := trigram.Word{Step: free, Strict: true}.Similarity(c.a, c.b)
		require.NoError(t, err)
		require.Equal(t, c.tight, tight, c.a)
	}
}

// TestEveryMatchHasThePatternsTrigrams covers what an index search relies on.
func TestEveryMatchHasThePatternsTrigrams(t *testing.T) {
	for _, c := range []struct{ pattern, want string }{
		{"%cat%", "cat"}, {"cat%", "  c, ca,cat"}, {"%cat", "at ,cat"}, {"ca_", "  c, ca"},
		{"%big cat%", "  c, ca,big,cat,ig "}, {"%a%", ""}, {`%100\%%`, "00 ,100"},
		{"%-cat%", "  c, ca,cat"}, {"", ""}, {"%", ""}, {"CaT", "  c, ca,at ,cat"},
	} {
		require.Equal(t, c.want, show(trigram.OfPattern(c.pattern)), c.pattern)
	}
}

func TestSearchEndsWithItsContext(t *testing.T) {
	steps := 0
	stop := func(int) error {
		if steps++; steps > 3 {
			return context.Canceled
		}
		return nil
	}
	_, err := trigram.Word{Step: stop}.Similarity("a b c d", "a b c d")
	require.True(t, errors.Is(err, context.Canceled))
}
