package compare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/minidb/minidb/internal/bench/tpch"
)

// What all 22 queries of TPC-H together are to reach, and each of them.
const (
	reachSum   = 1.3
	reachWorst = 0.7
	sumOfAll   = "TPC-H, sum of the queries"
	worstOfAll = "TPC-H, worst query"
)

func queryName(n int) string { return fmt.Sprintf("TPC-H, query %02d", n) }

// tpch runs TPC-H: each query is a work, and all of them together make two more.
func (r *runner) tpch(ctx context.Context, sides [2]*side) error {
	if r.TPCH == 0 {
		return nil
	}
	all := strings.Contains(sumOfAll, r.Only) || strings.Contains(worstOfAll, r.Only)
	var wanted []int
	for n := 1; n <= tpch.Count; n++ {
		if all || strings.Contains(queryName(n), r.Only) {
			wanted = append(wanted, n)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	g := tpch.Generator{Scale: r.TPCH, Seed: 1}
	for _, s := range sides {
		if err := s.load(ctx, r.w, g); err != nil {
			return err
		}
	}
	from := len(r.results)
	for _, n := range wanted {
		if err := r.query(ctx, g, n, sides); err != nil {
			return fmt.Errorf("%s: %w", queryName(n), err)
		}
	}
	if len(wanted) < tpch.Count {
		return nil
	}
	return r.sums(r.results[from:])
}

// load makes and fills the tables of TPC-H.
func (s *side) load(ctx context.Context, w io.Writer, g tpch.Generator) error {
	start := time.Now()
	if err := s.exec(ctx, tpch.Schema...); err != nil {
		return err
	}
	for _, table := range tpch.Tables {
		in, out := io.Pipe()
		go func() { out.CloseWithError(g.Write(out, table)) }()
		_, err := s.CopyFrom(ctx, in, "COPY "+table+" FROM STDIN")
		if err = errors.Join(err, in.Close()); err != nil {
			return fmt.Errorf("%s: %s: %w", s.name, table, err)
		}
	}
	if err := s.exec(ctx, append(tpch.Indexes, "VACUUM ANALYZE")...); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "TPC-H at scale %g loaded into %s in %v\n", g.Scale, s.name,
		time.Since(start).Round(time.Millisecond))
	return err
}

// query times a query of TPC-H on both sides, whose answers must be the same but for what divisions
// round.
func (r *runner) query(ctx context.Context, g tpch.Generator, n int, sides [2]*side) error {
	sql, err := g.Query(n)
	if err != nil {
		return err
	}
	var answers [2]string
	time1 := func(i int) (float64, error) {
		start := time.Now()
		answers[i], err = sides[i].answer(ctx, sql)
		return time.Since(start).Seconds(), err
	}
	for i := range sides { // both are warm then
		if _, err := time1(i); err != nil {
			return err
		}
	}
	if !near(answers[0], answers[1]) {
		return fmt.Errorf("the answers differ:\nminidb:\n%.500s\nPostgreSQL:\n%.500s", answers[0],
			answers[1])
	}
	return r.turns(Result{Name: queryName(n), Reference: "PostgreSQL", Reach: reachWorst}, time1)
}

// near reports whether two answers have the same values in the same order; numbers may differ by a
// millionth.
func near(a, b string) bool {
	x, y := strings.Split(a, "|"), strings.Split(b, "|")
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] == y[i] {
			continue
		}
		u, err1 := strconv.ParseFloat(strings.TrimSpace(x[i]), 64)
		v, err2 := strconv.ParseFloat(strings.TrimSpace(y[i]), 64)
		if err1 != nil || err2 != nil || strings.HasPrefix(x[i], "\n") != strings.HasPrefix(y[i],
			"\n") || math.Abs(u-v) > 1e-6*max(math.Abs(u), math.Abs(v)) {
			return false
		}
	}
	return true
}

// sums adds the works that all queries make together: the time of all, and the lowest ratio.
func (r *runner) sums(queries []Result) error {
	sum := [2][]float64{make([]float64, r.Rounds), make([]float64, r.Rounds)}
	worst := queries[0]
	for _, q := range queries {
		for i := range sum {
			for round, v := range q.rounds[i] {
				sum[i][round] += v
			}
		}
		if q.Ratio < worst.Ratio {
			worst = q
		}
	}
	if err := r.result(Result{Name: sumOfAll, Reference: "PostgreSQL", Reach: reachSum},
		sum); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(r.w, "the worst query is %s\n", worst.Name); err != nil {
		return err
	}
	worst.Name = worstOfAll
	r.results = append(r.results, worst)
	return r.line(worst)
}
