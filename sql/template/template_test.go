package template_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/sql/template"
	"github.com/stretchr/testify/require"
)

func shapeOf(t *testing.T, text string) *parse.Shape {
	var s parse.Shape
	require.True(t, parse.ShapeOf(text, &s), text)
	return &s
}

func statementOf(t *testing.T, text string) ast.Statement {
	p, err := parse.ParseOne(context.Background(), text)
	require.NoError(t, err)
	return p.Stmt
}

func made(t *testing.T, text string) *template.Template {
	return template.New(shapeOf(t, text), statementOf(t, text))
}

func TestLiteralsBecomeParametersWhereTheyAreValues(t *testing.T) {
	for text, want := range map[string][]template.Argument{
		"SELECT 1 FROM t WHERE a = 2 AND 3 < b":               {{Int: 2}, {Int: 3}},
		"SELECT a FROM t WHERE a = -2 AND b - 3 = 4":          {{Int: -2}},
		"SELECT a FROM t WHERE a = 'x' OR a = 'y'":            nil,
		"SELECT a FROM t WHERE a = 'x' ORDER BY 1 LIMIT 1":    {{Text: "x", Quoted: true}},
		"SELECT a FROM t WHERE a IN (1, 2)":                   nil,
		"SELECT a FROM t WHERE a = DATE '2020-01-01'":         nil,
		"SELECT a FROM t AS OF SYSTEM TIME '-1s' WHERE a = 1": nil,
		"SELECT a FROM t, u WHERE t.a = 1":                    nil,
		"INSERT INTO t VALUES (1, - 2, 'x', 3 + 4), (5, DEFAULT, NULL, 6)": {
			{Int: 1}, {Int: -2}, {Text: "x", Quoted: true}, {Int: 5}, {Int: 6}},
		"INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 2 WHERE t.a = 3": {{Int: 1},
			{Int: 2}},
		"INSERT INTO t SELECT 1 FROM u WHERE a = 2": nil,
		"UPDATE t SET a = 1, b = b - 2, c = c * 3, d = 4 + d WHERE e = 5": {{Int: 1},
			{Int: 2}, {Int: 5}},
		"UPDATE t SET (a, b) = (1, 2) WHERE e = 3": {{Int: 3}},
		"DELETE FROM t WHERE a = 1 RETURNING 2":    {{Int: 1}},
	} {
		tm := made(t, text)
		if want == nil {
			require.Nil(t, tm.Stmt, text)
			continue
		}
		require.NotNil(t, tm.Stmt, text)
		got, ok := tm.Arguments(shapeOf(t, text))
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
}

func TestATemplateLeavesTheStatementAsItWas(t *testing.T) {
	for _, text := range []string{
		"SELECT a FROM t WHERE a = 1 AND b > 2", "UPDATE t SET a = 1, b = b + -2 WHERE c = 3",
		"DELETE FROM t WHERE a = 1",
		"INSERT INTO t VALUES (1, 'x') ON CONFLICT (a) DO UPDATE SET b = 2",
	} {
		stmt := statementOf(t, text)
		require.NotNil(t, template.New(shapeOf(t, text), stmt).Stmt)
		require.Equal(t, statementOf(t, text), stmt)
	}
}

func TestWhatStaysMustBeEqual(t *testing.T) {
	tm := made(t, "SELECT a FROM t WHERE a = 1 LIMIT 2")
	_, ok := tm.Arguments(shapeOf(t, "SELECT a FROM t WHERE a = 5 LIMIT 3"))
	require.False(t, ok)
}

func TestATemplateIsMadeTheSecondTimeAndGivenUpWhenItDoesNotServe(t *testing.T) {
	const text = "SELECT a FROM t WHERE a = 1"
	c, s := template.NewCache(10), shapeOf(t, text)
	find := func() (bool, bool) {
		tm, again := c.Find(s)
		return tm != nil, again
	}
	found, again := find()
	require.False(t, found || again)
	found, again = find()
	require.True(t, !found && again)
	c.Add(s, statementOf(t, text))
	for range 100 {
		tm, _ := c.Find(s)
		require.NotNil(t, tm)
		tm.Refused()
		tm.Served()
	}
	for {
		tm, again := c.Find(s)
		require.False(t, again)
		if tm == nil {
			break
		}
		tm.Refused()
	}
}

func TestTheCacheForgetsWhatIsNotUsed(t *testing.T) {
	c := template.NewCache(10)
	kept := shapeOf(t, "SELECT a FROM kept WHERE a = 1")
	c.Find(kept)
	for i := range 100 {
		c.Find(shapeOf(t, fmt.Sprintf("SELECT a FROM t%d WHERE a = 1", i)))
		_, again := c.Find(kept)
		require.True(t, again)
	}
	_, again := c.Find(shapeOf(t, "SELECT a FROM t1 WHERE a = 1"))
	require.False(t, again)
}

func TestTheTreeOfATextWithParametersIsKept(t *testing.T) {
	c := template.NewCache(10)
	for text, kept := range map[string]bool{"SELECT $1::int": true, "SELECT 1": false} {
		first, err := c.Parse(context.Background(), text)
		require.NoError(t, err)
		second, err := c.Parse(context.Background(), text)
		require.NoError(t, err)
		require.Equal(t, first, second)
		require.Equal(t, kept, first.Stmt == second.Stmt, text)
	}
	_, err := c.Parse(context.Background(), "SELECT $1,")
	require.Error(t, err)
}
