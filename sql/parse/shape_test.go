package parse

import (
	"strings"
	"testing"

	"github.com/minidb/minidb/planner/ast"
	"github.com/stretchr/testify/require"
)

func TestShapesAreEqualWhereOnlyLiteralsDiffer(t *testing.T) {
	shape := func(text string) string {
		var s Shape
		require.True(t, ShapeOf(text, &s), text)
		return string(s.Text)
	}
	const one = "SELECT a FROM t WHERE id = 1 AND v = 'x'"
	require.Equal(t, shape(one), shape("SELECT a FROM t WHERE id = 2147483647 AND v = 'it''s'"))
	for _, other := range []string{
		"SELECT a FROM t WHERE id = 1 AND v = 2",
		"SELECT a FROM t WHERE id = -1 AND v = 'x'",
		"SELECT a FROM t WHERE id = 2147483648 AND v = 'x'",
		"SELECT a FROM t WHERE id = 1.0 AND v = 'x'",
		"SELECT b FROM t WHERE id = 1 AND v = 'x'",
		"SELECT a FROM t WHERE id = 1  AND v = 'x'",
	} {
		require.NotEqual(t, shape(one), shape(other))
	}
}

func TestAShapeKnowsItsLiterals(t *testing.T) {
	var s Shape
	const text = " update t set n = n + -7, s = E'\\n' where id= - 3 ;"
	require.True(t, ShapeOf(text, &s))
	require.Equal(t, "update t set n = n + -7, s = E'\\n' where id= - 3", text[s.First:s.End])
	at := func(what string) ast.Pos { return ast.Pos(strings.Index(text, what)) + 1 }
	require.Equal(t, []ShapeLiteral{
		{Kind: ast.LiteralInt, Text: "7", Int: 7, Pos: at("7"), Minus: at("-7")},
		{Kind: ast.LiteralString, Text: "\n", Pos: at("E'")},
		{Kind: ast.LiteralInt, Text: "3", Int: 3, Pos: at("3 ;"), Minus: at("- 3")},
	}, s.Literals)
}

func TestTextsWithoutAShape(t *testing.T) {
	var s Shape
	for _, text := range []string{
		"", ";", "BEGIN", "SELECT a FROM t", "SELECT 1; SELECT 2", "SELECT $1, 2", "SELECT 'x",
		"EXPLAIN SELECT 1",
		"WITH a AS (SELECT 1) SELECT * FROM a", "SELECT 1" +
			strings.Repeat(", 1", maxShapeLiterals),
		"SELECT 1" + strings.Repeat(" ", maxShapeText), "SELECT 1, '\x00'", "SELECT 1, '\xff'",
	} {
		require.False(t, ShapeOf(text, &s), text)
	}
}

func BenchmarkShape(b *testing.B) {
	var s Shape
	b.ReportAllocs()
	for b.Loop() {
		ShapeOf("UPDATE pgbench_accounts SET abalance = abalance + -1234 WHERE aid = 56789;", &s)
	}
}
