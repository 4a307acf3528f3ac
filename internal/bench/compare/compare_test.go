package compare

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/internal/bench/tpch"
)

// server serves a minidb in memory, and returns its URL.
func server(t *testing.T) string {
	t.Helper()
	db, err := minidb.Open("", minidb.InMemory())
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- db.Serve(l) }()
	t.Cleanup(func() {
		require.NoError(t, db.Close())
		<-served
	})
	return "postgres://postgres@" + l.Addr().String() + "/postgres?sslmode=disable"
}

// TestEveryWorkIsMeasured, with another minidb in the place of PostgreSQL, and recorded; a second
// run shows what is slower than recorded.
func TestEveryWorkIsMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("loads servers")
	}
	dir := t.TempDir()
	o := Options{Minidb: server(t), Postgres: server(t), Dir: dir, Rows: 3000, Rounds: 2,
		Round: 2 * time.Millisecond, Record: filepath.Join(dir, "record"),
		Growth: 1000, TPCH: 0.001, MemoryTable: 2000, Corpus: filepath.Join(dir, "corpus")}
	o.Plots = filepath.Join(dir, "plots") // it is made
	require.NoError(t, os.Mkdir(o.Corpus, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(o.Corpus, "a.test"), []byte("statement ok\n"+
		"CREATE TABLE t (a int)\n\nquery I\nSELECT count(*) FROM t\n----\n0\n\n"+
		"query I\nSELECT 1\n----\n2\n"), 0o600))
	var out bytes.Buffer
	require.NoError(t, Run(t.Context(), o, &out), out.String())
	names := append([]string{}, grown...)
	for _, w := range rates() {
		names = append(names, w.name)
	}
	for _, w := range statements(1) {
		names = append(names, w.name)
	}
	for _, w := range locals {
		names = append(names, w.name)
	}
	for n := range tpch.Count {
		names = append(names, queryName(n+1))
	}
	names = append(names, sumOfAll, worstOfAll, corpusName)
	for _, w := range memoryStatements(1) {
		names = append(names, w.name)
	}
	for _, name := range names {
		require.Contains(t, out.String(), "\n"+name+" ")
	}
	require.Contains(t, out.String(), "\nPostgreSQL: PostgreSQL 15")
	require.Contains(t, out.String(), "default_transaction_isolation read committed")
	require.Contains(t, out.String(), "1 files; minidb: 2 passed, 1 failed, 0 skipped; "+
		"PostgreSQL: 2 passed, 1 failed, 0 skipped\n")
	for _, name := range []string{"compare.svg", "growth.svg"} {
		drawing, err := os.ReadFile(filepath.Join(dir, "plots", name))
		require.NoError(t, err)
		wellFormed(t, string(drawing))
	}
	ratios, err := readRecord(o.Record)
	require.NoError(t, err)
	require.Len(t, ratios, len(names)-len(grown))

	require.NoError(t, os.WriteFile(o.Record, []byte(`{"ratios": {"count(*)": 1000}}`), 0o600))
	o.Only, o.Against, o.Plots = "count(*)", o.Record, ""
	out.Reset()
	require.NoError(t, Run(t.Context(), o, &out), out.String())
	require.Contains(t, out.String(), "recorded 1000.00: SLOWER")
	require.Contains(t, out.String(), "slower than recorded: count(*)")
}

// TestAnAnswerThatDiffersEndsTheRun, and the databases are gone after it.
func TestAnAnswerThatDiffersEndsTheRun(t *testing.T) {
	ours, theirs := server(t), server(t)
	r := &runner{Options: Options{Rows: 10, Rounds: 1}, w: io.Discard}
	var sides [2]*side
	for i, at := range []string{ours, theirs} {
		s, err := newSide(t.Context(), "side", at)
		require.NoError(t, err)
		sides[i] = s
		require.NoError(t, s.exec(t.Context(), "CREATE TABLE n (a int)"))
	}
	work := statement{name: "differs", sql: "SELECT count(*) FROM n"}
	require.NoError(t, r.statement(t.Context(), work, sides))
	require.NoError(t, sides[1].exec(t.Context(), "INSERT INTO n VALUES (1)"))
	require.ErrorContains(t, r.statement(t.Context(), work, sides), "the answers differ")
	for _, s := range sides {
		admin := s.admin
		require.NoError(t, s.drop(t.Context()))
		again, err := newSide(t.Context(), "again", admin)
		require.NoError(t, err)
		require.NoError(t, again.drop(t.Context()))
	}
	c, err := connect(t.Context(), ours, []string{"SELECT 1 / $1::int"})
	require.NoError(t, err)
	require.NoError(t, c.run(0, 1))
	require.ErrorContains(t, c.run(0, 0), "22012")
	require.NoError(t, c.query("SELECT 1"))
	require.NoError(t, c.Close())
}

// TestARefusedStatementIsALine of the memory table, and not the end of the run; but PostgreSQL must
// answer.
func TestARefusedStatementIsALine(t *testing.T) {
	var out bytes.Buffer
	r := &runner{Options: Options{Rounds: 1}, w: &out}
	var sides [2]*side
	for i := range sides {
		s, err := newSide(t.Context(), "side", server(t))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.drop(context.WithoutCancel(t.Context()))) })
		sides[i] = s
	}
	work := statement{name: "refused", sql: "SELECT count(*) FROM n"}
	require.NoError(t, sides[1].exec(t.Context(), "CREATE TABLE n (a int)"))
	require.NoError(t, r.bounded(t.Context(), work, sides))
	require.Contains(t, out.String(), "misses 0.5\nrefused is refused: ")
	require.Equal(t, 0.0, r.results[0].Ratio)
	sides[0], sides[1] = sides[1], sides[0]
	require.ErrorContains(t, r.bounded(t.Context(), work, sides), "42P01")
	_, err := scripts(t.TempDir())
	require.ErrorContains(t, err, "no sqllogictest file")
}

// TestRatiosAreOfTimesOrRates: above 1 minidb is faster, whichever is measured.
func TestRatiosAreOfTimesOrRates(t *testing.T) {
	var out bytes.Buffer
	r := &runner{Options: Options{Rounds: 3}, w: &out}
	given := [2][]float64{{1, 2, 4}, {2, 2, 2}}
	next := [2]int{}
	measure := func(i int) (float64, error) { next[i]++; return given[i][next[i]-1], nil }
	require.NoError(t, r.turns(Result{Name: "time", Reach: 2}, measure))
	next = [2]int{}
	require.NoError(t, r.turns(Result{Name: "rate", PerSecond: true, Reach: 0.5}, measure))
	require.Equal(t, []float64{1, 0.5, 2}, []float64{r.results[0].Ratio, r.results[0].Low,
		r.results[0].High})
	require.Equal(t, []float64{1, 0.5, 2}, []float64{r.results[1].Ratio, r.results[1].Low,
		r.results[1].High})
	require.Contains(t, out.String(), "misses 2.0")
	require.Contains(t, out.String(), "reaches 0.5")
	failed := errors.New("failed")
	require.ErrorIs(t, r.turns(Result{}, func(int) (float64, error) { return 0, failed }), failed)
}

// TestSumAndWorstOfQueries: the sum is of the times of a round, and the worst query has the lowest
// ratio, not the longest time.
func TestSumAndWorstOfQueries(t *testing.T) {
	var out bytes.Buffer
	r := &runner{Options: Options{Rounds: 2}, w: &out}
	require.NoError(t, r.result(Result{Name: "long"}, [2][]float64{{4, 8}, {8, 16}}))
	require.NoError(t, r.result(Result{Name: "short"}, [2][]float64{{1, 1}, {0.5, 0.5}}))
	require.NoError(t, r.sums(r.results))
	require.Len(t, r.results, 4)
	sum, worst := r.results[2], r.results[3]
	require.Equal(t, [2]float64{7, 12.5}, [2]float64{sum.Ours, sum.Theirs})
	require.Equal(t, [2]float64{1.7, 16.5 / 9}, [2]float64{sum.Low, sum.High})
	require.Equal(t, worstOfAll, worst.Name)
	require.Equal(t, 0.5, worst.Ratio)
	require.Contains(t, out.String(), "the worst query is short")
}

// TestAnswersAreNear but for what is rounded.
func TestAnswersAreNear(t *testing.T) {
	require.True(t, near("a|1.00000000|\nb|2|\n", "a|1.0000000001|\nb|2|\n"))
	require.False(t, near("a|1.0|\n", "a|1.1|\n"))
	require.False(t, near("a|1|\n", "b|1|\n"))
	require.False(t, near("1|\n1|\n", "1|\n"))
	require.False(t, near("1|\n1|\n", "1|1|\n"))
}

// TestDrawings are the same for the same figures, and hold all of them.
func TestDrawings(t *testing.T) {
	results := []Result{{Name: "a <b>", Ratio: 0.5, Low: 0.4, High: 0.6, Reach: 2},
		{Name: "c", Ratio: 12, Low: 11, High: 13}, {Name: "d"}}
	drawing := bars(results)
	require.Equal(t, drawing, bars(results))
	wellFormed(t, drawing)
	require.Contains(t, drawing, "a &lt;b&gt;")
	require.Contains(t, drawing, "12.00")
	require.Contains(t, drawing, ">refused<")
	require.NotRegexp(t, "NaN|Inf", drawing)
	lines := []curve{{"read", []int{10, 100}, []float64{1e-6, 2e-6}},
		{"scan", []int{10, 100}, []float64{1e-3, 1e-1}}}
	drawing = curves(lines)
	require.Equal(t, drawing, curves(lines))
	wellFormed(t, drawing)
	require.Equal(t, 2, strings.Count(drawing, "<polyline"))
}

func wellFormed(t *testing.T, drawing string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(drawing))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
	}
}
