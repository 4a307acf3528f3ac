package sql_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// BenchmarkAdvance is the work of one changed row beside its commit, for tables of several sizes:
// it must not grow with them.
func BenchmarkAdvance(b *testing.B) {
	for _, size := range []int{1_000, 100_000} {
		for name, query := range map[string]string{
			"filter": "SELECT id, host, length FROM documents WHERE length > 10",
			"group":  "SELECT host, count(*), sum(length) FROM documents GROUP BY host",
			"max":    "SELECT host, max(length) FROM documents GROUP BY host",
			"reread": "SELECT host, sum(weight) FROM documents GROUP BY host",
			"join": "SELECT d.id, h.name, d.length FROM documents d JOIN hosts h ON " +
				"h.id = d.host",
			"left join": "SELECT h.id, h.name, d.id AS document FROM hosts h LEFT JOIN " +
				"documents d ON d.host = h.id",
			"join of groups": "SELECT h.name, sum(d.length) FROM documents d JOIN hosts h ON " +
				"h.id = d.host GROUP BY h.name",
		} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				benchmarkAdvance(b, query, size)
			})
		}
	}
}

func benchmarkAdvance(b *testing.B, query string, size int) {
	ctx := context.Background()
	e := newEngine(b)
	s := newSession(b, e)
	run := func(text string) { require.NoError(b, s.Query(ctx, text, &transcript{s: s}), text) }
	run("CREATE TABLE hosts (id int PRIMARY KEY, name text)")
	run("CREATE TABLE documents (id int PRIMARY KEY, host int, length int, weight float8)")
	run("CREATE INDEX ON documents (host)")
	run(fmt.Sprintf("INSERT INTO hosts SELECT i, 'host ' || i FROM generate_series(0, %d) i",
		size/20))
	run(fmt.Sprintf("INSERT INTO documents SELECT i, i / 20, i %% 100, 0.5 FROM "+
		"generate_series(0, %d) i", size))
	run("ANALYZE")
	require.NoError(b, s.CreateView(ctx, "v", query))
	b.ReportAllocs()
	for b.Loop() {
		run("BEGIN ISOLATION LEVEL REPEATABLE READ")
		tx, err := s.Tx(ctx)
		require.NoError(b, err)
		d, err := s.Relation(ctx, "documents")
		require.NoError(b, err)
		v, err := s.Relation(ctx, "v")
		require.NoError(b, err)
		delta := &exec.Delta{}
		delta.Add([]types.Datum{types.NewInt(int64(size / 2)), types.NewInt(int64(size / 40)),
			types.NewInt(int64(size / 2 % 100)), types.NewFloat(0.5)}, -1)
		delta.Add([]types.Datum{types.NewInt(int64(size / 2)), types.NewInt(int64(size / 40)),
			types.NewInt(11), types.NewFloat(0.25)}, 1)
		_, err = s.AdvanceView(ctx, v, map[table.ID]*exec.Delta{d.ID: delta},
			exec.Before{Tables: tx, Views: tx})
		require.NoError(b, err)
		run("ROLLBACK")
	}
}
