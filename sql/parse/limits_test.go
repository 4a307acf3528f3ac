package parse

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/stretchr/testify/require"
)

// Every way to nest, far deeper than a goroutine's stack would bear: a clear error, no crash.
func TestDeepNestingIsRefused(t *testing.T) {
	const n = 100_000
	rep := strings.Repeat
	texts := map[string]string{
		"parentheses":        "select " + rep("(", n) + "1" + rep(")", n),
		"open parentheses":   "select " + rep("(", n),
		"rows":               "select " + rep("(1,", n) + "1" + rep(")", n),
		"not":                "select " + rep("not ", n) + "true",
		"minus":              "select " + rep("- ", n) + "a",
		"prefix operator":    "select " + rep("@ ", n) + "a",
		"case":               "select " + rep("case when ", n) + "a" + rep(" then 1 end", n),
		"calls":              "select " + rep("f(", n) + "1" + rep(")", n),
		"cast":               "select " + rep("cast(", n) + "1" + rep(" as int)", n),
		"coalesce":           "select " + rep("coalesce(", n) + "1" + rep(")", n),
		"trim":               "select " + rep("trim(", n) + "1" + rep(")", n),
		"arrays":             "select " + rep("array[", n) + "1" + rep("]", n),
		"array elements":     "select array" + rep("[", n) + "1" + rep("]", n),
		"subscripts":         "select " + rep("a[", n) + "1" + rep("]", n),
		"subqueries":         rep("select (", n) + "1" + rep(")", n),
		"exists":             rep("select exists (", n) + "select 1" + rep(")", n),
		"in lists":           "select " + rep("1 in (", n) + "1" + rep(")", n),
		"any":                "select " + rep("a = any (", n) + "1" + rep(")", n),
		"like":               "select " + rep("a not like not ", n) + "a",
		"between":            "select " + rep("a between 1 and not ", n) + "a",
		"distinct from":      "select " + rep("a is distinct from not ", n) + "a",
		"from":               rep("select * from (", n) + "select 1" + rep(") x", n),
		"queries":            rep("(", n) + "select 1" + rep(")", n),
		"joins":              "select * from " + rep("(a cross join ", n) + "b" + rep(")", n),
		"joins to the right": "select * from a" + rep(" join a", n) + rep(" on true", n),
		"with":               rep("with x as (", n) + "select 1" + rep(") select 1", n),
		"explain":            rep("explain ", n) + "select 1",
		"prepare":            rep("prepare p as ", n) + "select 1",
		"functions in from":  "select * from " + rep("f(", n) + "1" + rep(")", n),
		"union to the right": rep("select 1 union (", n) + "select 1" + rep(")", n),
		"windows":            "select " + rep("f() over (order by ", n) + "1" + rep(")", n),
		"filters":            "select " + rep("f() filter (where ", n) + "a" + rep(")", n),
		"defaults": "create table t (a int default " + rep("(", n) + "1" + rep(")", n) +
			")",
		"conflict targets": "insert into t values (1) on conflict (" + rep("(", n) + "a" +
			rep(")", n) + ") do nothing",
		"values":               "insert into t values (" + rep("(", n) + "1" + rep(")", n) + ")",
		"mixed not and parens": "select " + rep("not (not ", n) + "a" + rep(")", n),
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(t.Context(), text)
			var e *sqlerr.Error
			require.ErrorAs(t, err, &e)
			require.Contains(t, []string{sqlerr.StatementTooComplex, sqlerr.SyntaxError}, e.Code,
				e.Message)
			require.Positive(t, e.Position)
		})
	}
}

// Long lists and chains are what programs write; they must parse.
func TestLongStatementsParse(t *testing.T) {
	const n = 20_000
	rep := strings.Repeat
	for name, text := range map[string]string{
		"in list":    "select * from t where a in (1" + rep(", 2", n) + ")",
		"or":         "select * from t where a = 1" + rep(" or a = 2", n),
		"plus":       "select 1" + rep(" + 1", n),
		"casts":      "select 1" + rep("::int", 1000),
		"rows":       "insert into t values (1, 'x')" + rep(", (2, 'y')", n),
		"sums":       "insert into t values (1 + 1)" + rep(", (1 + 1)", n),
		"items":      "select 1" + rep(", 2", n),
		"from":       "select * from t" + rep(", t", 1000),
		"joins":      "select * from t" + rep(" natural join t", 1000),
		"union":      "select 1" + rep(" union select 1", 2000),
		"statements": rep("select 1;", n),
		"nesting":    "select " + rep("(", 1000) + "1" + rep(")", 1000),
		"minus":      "select " + rep("- ", 1000) + "a",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(t.Context(), text)
			require.NoError(t, err)
		})
	}
}

func TestChainsAreBounded(t *testing.T) {
	for _, text := range []string{
		"select 1" + strings.Repeat("+1", maxChain+1),
		"select 1" + strings.Repeat("::int", maxChain+1),
		"select 1 where (1" + strings.Repeat("+1", maxChain/2) + ") = 1" +
			strings.Repeat("+1", maxChain/2),
		"select 1 where true" + strings.Repeat(" or true", maxLogic+1),
		"select * from t" + strings.Repeat(" cross join t", maxChain+1),
	} {
		_, err := Parse(t.Context(), text)
		var e *sqlerr.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, sqlerr.StatementTooComplex, e.Code)
	}
}

func TestTextOverTheLimitIsRefused(t *testing.T) {
	_, err := Parse(t.Context(), strings.Repeat(" ", MaxTextBytes+1))
	var e *sqlerr.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, sqlerr.ProgramLimitExceeded, e.Code)
}

// Depths side by side are not added up: lists, and the operands of AND and OR.
func TestLongListsOfOperatorsParse(t *testing.T) {
	rep := strings.Repeat
	const n = 65_535
	for _, text := range []string{
		"select * from (values ($1::int)" + rep(", ($1::int)", n) + ") v",
		"select * from t where a = 1" + rep(" or a = 1 and b = 1 + 1", n),
		"select * from t where a = 1" + rep(" and a = 1", n),
		"select (select 1 in (1 + 1" + rep(", 1 + 1", n) + "))",
		"select (select coalesce(1 + 1" + rep(", 1 + 1", n) + "))",
	} {
		_, err := Parse(t.Context(), text)
		require.NoError(t, err, "%.60s", text)
	}
}

// Parsers are pooled: what one goroutine parses must not show in another's tree.
func TestParsersOfManyGoroutinesDoNotMix(t *testing.T) {
	texts := []string{
		"select a + b * c from t where d in (1, 2, x + 1)",
		"insert into t values (1 + 1, 'a'), (2, f(3)) returning a",
		"select * from a left join b on a.x = b.y, c",
		"select 'unterminated",
	}
	want := make([]string, len(texts))
	for i, s := range texts {
		want[i] = outcome(s)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 400 {
				k := i % len(texts)
				if got := outcome(texts[k]); got != want[k] {
					t.Errorf("%s: %s", texts[k], got)
					return
				}
			}
		})
	}
	wg.Wait()
}

// outcome is what Parse says of text, trees or error.
func outcome(text string) string {
	parsed, err := Parse(context.Background(), text)
	if err != nil {
		return err.Error()
	}
	var sb strings.Builder
	for _, s := range parsed {
		sb.WriteString(sprintPositions(s.Stmt))
	}
	return sb.String()
}
