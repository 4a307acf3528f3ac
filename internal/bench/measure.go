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
}

// side is one of the two that are compared: op runs once per operation, called by several goroutines
// with their number.
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
	// paper is the ratio that Percolator's authors measured to Bigtable (§3.2, figure 8); 0: they did not.
	paper float64
}

// Of figure 8: a transaction that reads one cell, and one that writes one.
const (
	paperReads  = 0.94
	paperWrites = 0.23
)

// run alternates the sides and prints one line.
func (m *measurement) run(ctx context.Context, o Options, w io.Writer) error {
	var ours, theirs []float64
	var ops, syncs uint64
	for range o.Rounds {
		before := count(m.minidb.syncs)
		rate, n, err := turn(ctx, m.minidb, m.workers, o.Round)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", m.name, m.minidb.name, err)
		}
		ours, ops, syncs = append(ours, rate), ops+n, syncs+count(m.minidb.syncs)-before
		if m.reference.op == nil {
			continue
		}
		if rate, _, err = turn(ctx, m.reference, m.workers, o.Round); err != nil {
			return fmt.Errorf("%s: %s: %w", m.name, m.reference.name, err)
		}
		theirs = append(theirs, rate)
	}
	cells := []string{fmt.Sprintf("%.0f/s", median(ours)*float64(max(1, m.batch))), "", "", "", ""}
	if m.reference.op != nil {
		cells[1] = fmt.Sprintf("%s %.0f/s", m.reference.name, median(theirs))
		cells[2] = fmt.Sprintf("%.2f", median(ours)/median(theirs))
	}
	if m.paper != 0 {
		cells[3] = fmt.Sprintf("%.2f", m.paper)
	}
	if m.minidb.syncs != nil && ops > 0 {
		cells[4] = fmt.Sprintf("%.2f", float64(syncs)/float64(ops))
	}
	return printRow(w, m.name, cells)
}

// columns are the heads of the table.
var columns = []string{"minidb", "reference", "ratio", "paper", "syncs/op"}

func printRow(w io.Writer, name string, cells []string) error {
	line := fmt.Sprintf("%-38s %12s  %-24s %6s %6s %9s", name, cells[0], cells[1], cells[2], cells[3], cells[4])
	_, err := fmt.Fprintln(w, strings.TrimRight(line, " "))
	return err
}

func count(f func() uint64) uint64 {
	if f == nil {
		return 0
	}
	return f()
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
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
			for ; !stop.Load(); n++ {
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
