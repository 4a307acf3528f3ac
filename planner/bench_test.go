package planner_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/sql/parse"
)

func benchSchema(t testing.TB) *schema {
	s := newSchema()
	s.define(t, `CREATE TABLE t (id int PRIMARY KEY, name text, n int, created timestamptz);
		CREATE TABLE u (id int PRIMARY KEY, t_id int, v numeric(10,2));
		CREATE INDEX u_t ON u (t_id)`)
	for i := 1; i <= 64; i++ {
		s.define(t, fmt.Sprintf("CREATE TABLE t%d (a%d int PRIMARY KEY, b%d int, x%d varchar(40))",
			i, i, i, i))
	}
	return s
}

// manyJoins returns a query that joins n tables in a chain of equalities, as SQLite's select5.test
// does.
func manyJoins(n int) string {
	var from, where []string
	for i := n; i >= 1; i-- {
		from = append(from, fmt.Sprintf("t%d", i))
		if i > 1 {
			where = append(where, fmt.Sprintf("a%d = b%d", i-1, i))
		}
	}
	return "SELECT x1, x2 FROM " + strings.Join(from, ", ") + " WHERE a3 = 7 AND " +
		strings.Join(where, " AND ")
}

func BenchmarkPlan(b *testing.B) {
	s := benchSchema(b)
	for _, bench := range []struct{ name, text string }{
		{"point", "SELECT name FROM t WHERE id = $1"},
		{"insert", "INSERT INTO t (id, name, n) VALUES (1, 'x', 2)"},
		{"update", "UPDATE t SET n = n + 1 WHERE id = $1"},
		{"join", "SELECT t.name, sum(u.v) FROM t JOIN u ON u.t_id = t.id WHERE t.n > 5 GROUP BY " +
			"t.name ORDER BY 2 DESC LIMIT 10"},
		{"joins64", manyJoins(64)},
	} {
		p, err := parse.ParseOne(context.Background(), bench.text)
		require.NoError(b, err)
		b.Run(bench.name, func(b *testing.B) { benchPlan(b, s, p.Stmt) })
		b.Run("bind/"+bench.name, func(b *testing.B) { benchBind(b, s, p.Stmt) })
	}
}

func benchPlan(b *testing.B, s *schema, stmt ast.Statement) {
	env := s.env()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := planner.Plan(context.Background(), env, stmt, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func benchBind(b *testing.B, s *schema, stmt ast.Statement) {
	env := s.env()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := bind.Statement(context.Background(), env, stmt, nil); err != nil {
			b.Fatal(err)
		}
	}
}
