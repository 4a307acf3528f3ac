package compare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options of a comparison.
type Options struct {
	Postgres string // URL of a PostgreSQL in which a database may be made; "": embedded works only
	Minidb   string // URL of a minidb that runs; "": Program serves one
	Program  string // the minidb to serve
	Dir      string // where the stores are made
	Rows     int    // of the table that statements read
	Round    time.Duration
	Rounds   int
	Only     string  // only works whose name contains it
	Record   string  // file that gets the ratios; "": none
	Against  string  // file with ratios of an earlier run; "": none
	Plots    string  // folder that gets the drawings; "": none
	Growth   int     // greatest number of rows of the growth plots; 0: none
	TPCH     float64 // scale of TPC-H; 0: none
	// MemoryTable is how many rows the statements have that exceed memory; 0: none.
	MemoryTable int
	Corpus      string // folder of sqllogictest files that both servers run; "": none
}

// Result is what came of a work.
type Result struct {
	Name      string
	Reference string
	// Ours and Theirs are medians: seconds of a statement, or operations per second of a rate.
	Ours, Theirs float64
	PerSecond    bool
	// Ratio is the median, over the rounds, of how many times as fast minidb was.
	Ratio, Low, High float64
	Reach            float64
	rounds           [2][]float64 // what was measured in each round
}

// Run compares, and prints a line for each work.
func Run(ctx context.Context, o Options, w io.Writer) (err error) {
	recorded, err := readRecord(o.Against)
	if err != nil {
		return err
	}
	if o.Plots != "" { // now, and not once all is measured
		if err := os.MkdirAll(o.Plots, 0o755); err != nil {
			return err
		}
	}
	r := &runner{Options: o, w: w, recorded: recorded}
	if err := r.head(); err != nil {
		return err
	}
	if o.Postgres != "" {
		if err := r.servers(ctx); err != nil {
			return err
		}
	}
	if err := r.embedded(ctx); err != nil {
		return err
	}
	return errors.Join(r.foot(), writeRecord(o.Record, r.results), r.draw(ctx))
}

type runner struct {
	Options
	w        io.Writer
	recorded map[string]float64
	results  []Result
}

// servers measures what clients of a server meet.
func (r *runner) servers(ctx context.Context) error {
	err := r.pair(ctx, nil, func(sides [2]*side) error {
		if err := r.works(ctx, sides); err != nil {
			return err
		}
		if err := r.tpch(ctx, sides); err != nil {
			return err
		}
		return r.corpus(ctx, sides)
	})
	if err != nil {
		return err
	}
	return r.memoryTable(ctx)
}

// pair makes a database on minidb and one on PostgreSQL, gives both to measure, and drops them. The
// minidb is the one that runs already, or one that is served with more flags for the while.
func (r *runner) pair(ctx context.Context, flags []string,
	measure func(sides [2]*side) error) (err error) {
	// What was made is removed though ctx has ended.
	last := context.WithoutCancel(ctx)
	at := r.Minidb
	if at == "" {
		dir, err := os.MkdirTemp(r.Dir, "served")
		if err != nil {
			return err
		}
		url, stop, err := serve(last, r.Program, dir, flags...)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
		at = url
	}
	sides := [2]*side{}
	for i, s := range []struct{ name, url string }{{"minidb", at}, {"PostgreSQL", r.Postgres}} {
		made, err := newSide(ctx, s.name, s.url)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, made.drop(last)) }()
		sides[i] = made
		line, err := made.settings(ctx)
		if err == nil {
			_, err = fmt.Fprintf(r.w, "%s: %s\n", s.name, line)
		}
		if err != nil {
			return err
		}
	}
	return measure(sides)
}

// works measures transactions and statements on tables of Rows rows, which are made only if any of
// these works is wanted.
func (r *runner) works(ctx context.Context, sides [2]*side) error {
	some := false
	for _, work := range rates() {
		some = some || strings.Contains(work.name, r.Only)
	}
	for _, work := range statements(r.Rows) {
		some = some || strings.Contains(work.name, r.Only)
	}
	if !some {
		return nil
	}
	for _, s := range sides {
		if err := s.exec(ctx, tables(r.Rows)...); err != nil {
			return err
		}
	}
	for _, work := range rates() {
		if strings.Contains(work.name, r.Only) {
			if err := r.rate(ctx, work, sides); err != nil {
				return fmt.Errorf("%s: %w", work.name, err)
			}
		}
	}
	for _, work := range statements(r.Rows) {
		if strings.Contains(work.name, r.Only) {
			if err := r.statement(ctx, work, sides); err != nil {
				return fmt.Errorf("%s: %w", work.name, err)
			}
		}
	}
	return nil
}

// turns gives both sides a turn in each round, and the first one by turns. measure returns seconds,
// or operations per second.
func (r *runner) turns(res Result, measure func(side int) (float64, error)) error {
	var got [2][]float64
	for round := range r.Rounds {
		for i := range 2 {
			side := (i + round) % 2
			v, err := measure(side)
			if err != nil {
				return err
			}
			got[side] = append(got[side], v)
		}
	}
	return r.result(res, got)
}

// result keeps and prints what was measured in the rounds of both sides.
func (r *runner) result(res Result, got [2][]float64) error {
	ratios := make([]float64, r.Rounds)
	for i := range ratios {
		if ratios[i] = got[1][i] / got[0][i]; res.PerSecond {
			ratios[i] = 1 / ratios[i]
		}
	}
	res.Ours, res.Theirs, res.Ratio = median(got[0]), median(got[1]), median(ratios)
	res.Low, res.High = slices.Min(ratios), slices.Max(ratios)
	res.rounds = got
	r.results = append(r.results, res)
	return r.line(res)
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// statement times a statement on each side, whose answers must be the same.
func (r *runner) statement(ctx context.Context, work statement, sides [2]*side) error {
	var data []byte
	if work.copies != nil {
		data = work.copies(r.Rows)
	}
	var answers [2]string
	time1 := func(i int) (seconds float64, err error) {
		s := sides[i]
		if err := s.exec(ctx, work.before...); err != nil {
			return 0, err
		}
		start := time.Now()
		if data != nil {
			_, err = s.CopyFrom(ctx, bytes.NewReader(data), work.sql)
		} else {
			answers[i], err = s.answer(ctx, work.sql)
		}
		if err == nil && s.TxStatus() == 'T' {
			err = s.exec(ctx, "COMMIT")
		}
		seconds = time.Since(start).Seconds()
		return seconds, err
	}
	for i := range sides { // both are warm then
		if _, err := time1(i); err != nil {
			return err
		}
	}
	if answers[0] != answers[1] {
		return fmt.Errorf("the answers differ:\nminidb:\n%.500s\nPostgreSQL:\n%.500s", answers[0],
			answers[1])
	}
	return r.turns(Result{Name: work.name, Reference: "PostgreSQL", Reach: work.reach}, time1)
}

// rate has clients repeat an operation on each side.
func (r *runner) rate(ctx context.Context, work rate, sides [2]*side) error {
	var clients [2][]*client
	defer func() {
		for _, c := range slices.Concat(clients[0], clients[1]) {
			_ = c.Close()
		}
	}()
	for i, s := range sides {
		for range work.clients {
			c, err := connect(ctx, s.url, work.prepare)
			if err != nil {
				return err
			}
			clients[i] = append(clients[i], c)
		}
	}
	ops := func(i int) func(worker int, dice *rand.Rand) error {
		return func(worker int, dice *rand.Rand) error {
			if work.connects {
				c, err := connect(ctx, sides[i].url, nil)
				if err != nil {
					return err
				}
				return errors.Join(c.query(";"), c.Close())
			}
			return work.op(clients[i][worker], dice, r.Rows)
		}
	}
	for i := range sides {
		if _, err := perSecond(ctx, work.clients, r.Round/4, ops(i)); err != nil {
			return err
		}
	}
	return r.turns(Result{Name: work.name, Reference: "PostgreSQL", Reach: work.reach,
		PerSecond: true}, func(i int) (float64, error) {
		return perSecond(ctx, work.clients, r.Round, ops(i))
	})
}

// perSecond runs an operation again and again in each of n goroutines.
func perSecond(ctx context.Context, n int, length time.Duration,
	op func(worker int, dice *rand.Rand) error) (float64, error) {
	var stop atomic.Bool
	var done atomic.Int64
	errs := make([]error, n)
	var wg sync.WaitGroup
	start := time.Now()
	timer := time.AfterFunc(length, func() { stop.Store(true) })
	defer timer.Stop()
	for worker := range n {
		wg.Go(func() {
			dice := rand.New(rand.NewPCG(uint64(worker), uint64(start.UnixNano())))
			for first := true; first || !stop.Load() && ctx.Err() == nil; first = false {
				if errs[worker] = op(worker, dice); errs[worker] != nil {
					stop.Store(true)
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	rate := float64(done.Load()) / time.Since(start).Seconds()
	return rate, errors.Join(append(errs, ctx.Err())...)
}

// head says what is measured on what.
func (r *runner) head() error {
	_, err := fmt.Fprintf(r.w, "%s, %d cores, %d rows, %d rounds, %v a turn\n"+
		"ratio: how many times as fast as the reference minidb is, median of the rounds; above 1 "+
		"minidb is faster\n",
		runtime.Version(), runtime.GOMAXPROCS(0), r.Rows, r.Rounds, r.Round)
	return err
}
