package parse

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/ctxtest"
)

func heavyTexts() map[string]string {
	rep := strings.Repeat
	return map[string]string{
		"semicolons apart":  rep("; -- x\n select 1", 1) + rep(";\nselect 1", 50_000),
		"union all":         "select 1" + rep(" union all select 1", 49_000),
		"from":              "select 1 from t" + rep(", t", 20_000),
		"operators":         "select 1" + rep(" + 1", 49_000),
		"values":            "insert into t values (1)" + rep(", (1)", 50_000),
		"values computed":   "insert into t values (1 + 1)" + rep(", (1 + 1)", 50_000),
		"in":                "select 1 in (1" + rep(", 1", 50_000) + ")",
		"in computed":       "select 1 in (1" + rep(", 1 + 1", 50_000) + ")",
		"items":             "select 1" + rep(", 1 + 1", 50_000),
		"comments":          rep("/* */ -- x\n", 1000) + "select 1" + rep(" /* */ , 1", 50_000),
		"statements apart":  rep("begin;", 50_000),
		"columns of tables": "create table t (a int" + rep(", a int", 50_000) + ")",
	}
}

// A parse that is cancelled at any of its looks ends there: it looks no more than a few times
// again.
func TestAParseEndsWhenItsContextDoes(t *testing.T) {
	for name, text := range heavyTexts() {
		t.Run(name, func(t *testing.T) {
			whole := &ctxtest.Ending{Context: t.Context()}
			_, _ = Parse(whole, text)
			require.GreaterOrEqual(t, whole.Checks, len(text)/(stepsPerLook*16))
			for n := 1; n <= whole.Checks; n += 1 + whole.Checks/2 {
				ctx := &ctxtest.Ending{Context: t.Context(), N: n}
				_, err := Parse(ctx, text)
				require.ErrorIs(t, err, context.Canceled)
				require.LessOrEqual(t, ctx.Checks, n+3)
			}
		})
	}
}

// Statements that are not there take no room, however many.
func TestEmptyStatementsAllocateNothing(t *testing.T) {
	for _, between := range []string{";", "; ", ";/* */"} {
		var l lexer
		text := strings.Repeat(between, 1<<20)
		l.lex(t.Context(), text)
		require.Len(t, l.toks, 2)
		statements, err := Parse(t.Context(), text)
		require.NoError(t, err)
		require.Empty(t, statements)
	}
}

// A run of operator characters is measured once, not once for each operator in it.
func TestOperatorsAreCutAsPostgreSQLCutsThem(t *testing.T) {
	for text, want := range map[string][]string{
		"+-+":      {"+", "-", "+"},
		"+-@":      {"+-@"},
		"@-+":      {"@-+"},
		"<=-":      {"<=", "-"},
		"*-/* */+": {"*", "-", "+"},
		"+++-- x":  {"+", "+", "+"},
		"-@/* */-": {"-@", "-"},
		"@-- x":    {"@"},
		"*<-+<-+":  {"*<-+<", "-", "+"},
	} {
		var l lexer
		l.lex(t.Context(), text)
		var got []string
		for _, tok := range l.toks[:len(l.toks)-1] {
			got = append(got, text[tok.pos:tok.end])
		}
		require.Equal(t, want, got, text)
	}
}
