package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/minidb/minidb"
)

// progress shows how far the stages are, and gives the gate of the loaders what waits to be parsed.
type progress struct {
	db    *minidb.DB
	p     *pipeline
	gate  *gate
	total int
	out   io.Writer
	live  bool // the table is drawn in place
	begun time.Time
	lines int // of the table that is on the screen
}

const progressEvery = time.Second

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// run shows the table every second until ctx ends.
func (s *progress) run(ctx context.Context) {
	s.begun = time.Now()
	t := time.NewTicker(progressEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			pending, err := s.pending(ctx)
			if err != nil {
				continue // the database is being closed
			}
			s.gate.set(pending["parse"])
			s.show(pending)
		}
	}
}

// pending counts the rows that each observer has still to run on.
func (s *progress) pending(ctx context.Context) (map[string]int64, error) {
	rows, err := s.db.Query(ctx, "SELECT name, pending FROM minidb_observers")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]int64{}
	for rows.Next() {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			return nil, err
		}
		all[name] = n
	}
	return all, rows.Err()
}

// show prints a line for each stage, or all in one line when the output is no terminal.
func (s *progress) show(pending map[string]int64) {
	c := &s.p.counts
	stages := []struct {
		name     string
		done     int64
		observer string
	}{
		{"loaded", c.loaded.Load(), ""},
		{"parsed", c.parsed.Load(), "parse"},
		{"links", c.linked.Load(), "links"},
		{"clusters", c.clustered.Load(), "cluster_changes"},
		{"rendered", c.rendered.Load(), "renders"},
		{"exported", c.exported.Load(), "export"},
	}
	seconds := time.Since(s.begun).Seconds()
	if !s.live {
		var b strings.Builder
		fmt.Fprintf(&b, "%4.0f s", seconds)
		for _, x := range stages {
			fmt.Fprintf(&b, "  %s %d", x.name, x.done)
		}
		fmt.Fprintf(&b, "  %.0f documents/s\n", float64(c.parsed.Load())/seconds)
		fmt.Fprint(s.out, b.String())
		return
	}
	var b strings.Builder
	if s.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.lines)
	}
	fmt.Fprintf(&b, "\x1b[K%-10s %10s %10s %10s\n", "", "done", "per second", "pending")
	for _, x := range stages {
		waiting := ""
		if x.observer != "" {
			waiting = fmt.Sprint(pending[x.observer])
		} else {
			waiting = fmt.Sprint(int64(s.total) - x.done)
		}
		fmt.Fprintf(&b, "\x1b[K%-10s %10d %10.0f %10s\n", x.name, x.done, float64(x.done)/seconds,
			waiting)
	}
	s.lines = len(stages) + 1
	fmt.Fprint(s.out, b.String())
}
