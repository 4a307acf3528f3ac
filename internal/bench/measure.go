package bench

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options of a run.
type Options struct {
	Dir    string        // where the stores are made; they are removed afterwards
	Round  time.Duration // length of one side's turn
	Rounds int           // turns of each side
	Only   string        // run only measurements whose name contains it
	// Documents are the sizes of the tables under a view.
	Documents []int
}

// side is one of the two that are compared: op runs once per operation, called by several
// goroutines with their number.
type side struct {
	name string
	op   func(ctx context.Context, worker, n int) error
	// syncs, when set, counts syncs of the log so far.
	syncs func() uint64
}

// measurement compares minidb, the first side, with a reference.
type measurement struct {
	name      string
	workers   int
	minidb    side
	reference side // op is nil when there is none
	batch     int  // what is counted happens so often in one op; 0 means once
	// paper is the ratio that Percolator's authors measured to Bigtable (§3.2, figure 8); 0: they
	// did not.
	paper float64
}

// Of figure 8: a transaction that reads one cell, and one that writes one.
const (
	paperReads  = 0.94
	paperWrites = 0.23
)

// tally is what the turns of one side came to.
type tally struct {
	rates []float64 // operations per second, turn by turn
	ops   uint64
	syncs uint64
}

// take gives a side its turn.
func (t *tally) take(ctx context.Context, s side, workers int, length time.Duration) error {
	before := count(s.syncs)
	rate, n, err := turn(ctx, s, workers, length)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	t.rates, t.ops, t.syncs = append(t.rates, rate), t.ops+n, t.syncs+count(s.syncs)-before
	return nil
}

// syncsPerOp is empty for a side whose syncs are not counted.
func (t *tally) syncsPerOp(s side) string {
	if s.syncs == nil || t.ops == 0 {
		return ""
	}
	return fmt.Sprintf("%.3f", float64(t.syncs)/float64(t.ops))
}

// run gives the sides their turns, now the one first and now the other, and prints one line. What
// disturbs the machine for longer than two turns disturbs both sides of a pair, so the ratio is the
// median of those of the pairs, printed with the lowest and the highest of them.
func (m *measurement) run(ctx context.Context, o Options, w io.Writer) error {
	var ours, theirs tally
	for round := range o.Rounds {
		pair := []func() error{
			func() error { return ours.take(ctx, m.minidb, m.workers, o.Round) },
			func() error { return theirs.take(ctx, m.reference, m.workers, o.Round) },
		}
		if m.reference.op == nil {
			pair = pair[:1]
		}
		if round%2 == 1 {
			slices.Reverse(pair)
		}
		for _, take := range pair {
			if err := take(); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
	}
	cells := []string{perSecond(ours, m.batch), ours.syncsPerOp(m.minidb), "", "", "", "", ""}
	if m.reference.op != nil {
		ratios := pairRatios(ours, theirs)
		cells[2] = m.reference.name + " " + perSecond(theirs, 1)
		cells[3] = theirs.syncsPerOp(m.reference)
		cells[4] = fmt.Sprintf("%.2f", median(ratios))
		cells[5] = fmt.Sprintf("%.2f-%.2f", slices.Min(ratios), slices.Max(ratios))
	}
	if m.paper != 0 {
		cells[6] = fmt.Sprintf("%.2f", m.paper)
	}
	return printRow(w, m.name, cells)
}

func perSecond(t tally, batch int) string {
	return fmt.Sprintf("%.0f/s", median(t.rates)*float64(max(1, batch)))
}

// pairRatios divides each turn of ours by the turn of theirs beside it.
func pairRatios(ours, theirs tally) []float64 {
	ratios := make([]float64, len(ours.rates))
	for i := range ratios {
		ratios[i] = ours.rates[i] / theirs.rates[i]
	}
	return ratios
}

// columns are the heads of the table.
var columns = []string{"minidb", "syncs/op", "reference", "syncs/op", "ratio", "extremes", "paper"}

func printRow(w io.Writer, name string, cells []string) error {
	line := fmt.Sprintf("%-38s %11s %8s  %-22s %8s %6s %10s %6s",
		name, cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6])
	_, err := fmt.Fprintln(w, strings.TrimRight(line, " "))
	return err
}

func count(f func() uint64) uint64 {
	if f == nil {
		return 0
	}
	return f()
}

// median returns the middle value, or the mean of the two in the middle.
func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// turn runs one side for a while and returns its operations per second and their number.
func turn(ctx context.Context, s side, workers int, length time.Duration) (float64, uint64, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var stop atomic.Bool
	var total atomic.Uint64
	var wg sync.WaitGroup
	start := time.Now()
	timer := time.AfterFunc(length, func() { stop.Store(true) })
	defer timer.Stop()
	for worker := range workers {
		wg.Go(func() {
			n := 0
			for ; n == 0 || !stop.Load(); n++ { // a turn of nothing has no ratio
				if err := s.op(ctx, worker, n); err != nil {
					cancel(err)
					stop.Store(true)
					return
				}
			}
			total.Add(uint64(n))
		})
	}
	wg.Wait()
	elapsed := time.Since(start)
	if err := context.Cause(ctx); err != nil {
		return 0, 0, err
	}
	return float64(total.Load()) / elapsed.Seconds(), total.Load(), nil
}
