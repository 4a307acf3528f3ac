package compare

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// What the statements of the memory table are given: the bound of the minidb that is served for
// them, and how many times as fast as PostgreSQL each is to be.
const (
	memoryBound = "256MiB"
	reachMemory = 0.5
)

// memoryTable runs statements that must hold, sort or group n rows on a minidb that may hold 256
// MiB. A statement that minidb refuses counts as infinitely slow.
func (r *runner) memoryTable(ctx context.Context) error {
	works := memoryStatements(r.MemoryTable)
	some := false
	for _, work := range works {
		some = some || strings.Contains(work.name, r.Only)
	}
	if r.MemoryTable == 0 || !some {
		return nil
	}
	return r.pair(ctx, []string{"--memory", memoryBound}, func(sides [2]*side) error {
		for _, s := range sides {
			if err := s.exec(ctx, memoryFill("m", r.MemoryTable), "ANALYZE m"); err != nil {
				return err
			}
		}
		for _, work := range works {
			if !strings.Contains(work.name, r.Only) {
				continue
			}
			if err := r.bounded(ctx, work, sides); err != nil {
				return fmt.Errorf("%s: %w", work.name, err)
			}
		}
		return nil
	})
}

// bounded times a statement on each side, whose answers must be the same unless minidb refuses it.
// Nothing is run to warm up: at these sizes the caches do not matter.
func (r *runner) bounded(ctx context.Context, work statement, sides [2]*side) error {
	var answers [2]string
	var refused error
	measure := func(i int) (float64, error) {
		if err := sides[i].exec(ctx, work.before...); err != nil {
			return 0, err
		}
		start := time.Now()
		answer, err := sides[i].answer(ctx, work.sql)
		answers[i] = answer
		var coded interface{ SQLState() string }
		if i == 0 && errors.As(err, &coded) {
			refused = err
			return math.Inf(1), nil
		}
		return time.Since(start).Seconds(), err
	}
	err := r.turns(Result{Name: work.name, Reference: "PostgreSQL", Reach: reachMemory}, measure)
	switch {
	case err != nil:
		return err
	case refused != nil:
		_, err = fmt.Fprintf(r.w, "%s is refused: %v\n", work.name, refused)
		return err
	case answers[0] != answers[1]:
		return fmt.Errorf("the answers differ:\nminidb:\n%.500s\nPostgreSQL:\n%.500s", answers[0],
			answers[1])
	}
	return nil
}

// memoryFill makes a table of n rows: a is 1 to n, g one of 1000 groups, c the numbers below n out
// of order, t a text of 32 bytes.
func memoryFill(name string, n int) string {
	return fmt.Sprintf(`CREATE TABLE %s AS SELECT i AS a, i %% 1000 AS g,
		(i::bigint * 7919 %% %d)::int AS c, md5(i::text) AS t FROM generate_series(1, %d) AS s (i)`,
		name, n, n)
}

// memoryStatements are the works of the memory table. What they return is small, so that clients do
// not count.
func memoryStatements(n int) []statement {
	last := fmt.Sprintf(" OFFSET %d", n-1)
	works := []statement{
		{name: "CREATE TABLE AS", before: []string{"DROP TABLE IF EXISTS made"},
			sql: memoryFill("made", n)},
		{name: "sort by text", sql: `SELECT * FROM m ORDER BY t COLLATE "C"` + last},
		{name: "sort by all columns",
			sql: `SELECT * FROM m ORDER BY g, c, t COLLATE "C", a` + last},
		{name: "ORDER BY … LIMIT 5", sql: `SELECT * FROM m ORDER BY t COLLATE "C" LIMIT 5`},
		{name: "hash join", sql: `SELECT count(*), max(x.t COLLATE "C"), max(y.t COLLATE "C")
			FROM m AS x JOIN m AS y ON x.a = y.c`},
		{name: "GROUP BY, 1000 groups", sql: `SELECT count(*), sum(n), max(s)
			FROM (SELECT g, count(*) AS n, sum(a) AS s FROM m GROUP BY g) AS q`},
		{name: "GROUP BY text", sql: `SELECT count(*), max(n)
			FROM (SELECT t, count(*) AS n FROM m GROUP BY t) AS q`},
		{name: "count(DISTINCT int)", sql: "SELECT count(DISTINCT c) FROM m"},
		{name: "SELECT DISTINCT text", sql: "SELECT count(*) FROM (SELECT DISTINCT t FROM m) AS q"},
		{name: "row_number by text", sql: `SELECT max(r), max(t COLLATE "C")
			FROM (SELECT t, row_number() OVER (ORDER BY t COLLATE "C") AS r FROM m) AS q`},
		{name: "UNION of two ints", sql: `SELECT count(*)
			FROM (SELECT a FROM m UNION SELECT c FROM m) AS q`},
		{name: "array_agg(text)", sql: "SELECT cardinality(array_agg(t)) FROM m"},
		{name: "WITH … AS MATERIALIZED", sql: `WITH w AS MATERIALIZED (SELECT * FROM m)
			SELECT (SELECT count(*) FROM w), (SELECT max(t COLLATE "C") FROM w)`},
	}
	for i := range works {
		works[i].name = "memory, " + works[i].name
	}
	return works
}
