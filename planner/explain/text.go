package explain

import (
	"fmt"
	"strings"
)

// Text returns the lines of the plan's text form.
func (p *Plan) Text() []string {
	w := &textWriter{p: p}
	w.node(p.root, 0)
	if p.Planning != 0 {
		w.indent(0, fmt.Sprintf("Planning Time: %.3f ms", millis(p.Planning)))
	}
	if p.Execution != 0 {
		w.indent(0, fmt.Sprintf("Execution Time: %.3f ms", millis(p.Execution)))
	}
	return w.lines
}

type textWriter struct {
	p     *Plan
	lines []string
}

func (w *textWriter) indent(depth int, s string) {
	w.lines = append(w.lines, strings.Repeat("  ", depth)+s)
}

func (w *textWriter) node(n *node, depth int) {
	arrow, detail, below := "", depth+1, 1
	if depth > 0 {
		arrow, detail, below = "->  ", depth+3, depth+3
	}
	w.indent(depth, arrow+n.title+w.figures(&n.what))
	for _, d := range n.details {
		text := d.Text
		switch {
		case d.List != nil:
			text = strings.Join(d.List, ", ")
		case d.Count && text == "0":
			continue
		}
		w.indent(detail, d.Label+": "+text)
	}
	for _, c := range n.children {
		at := below
		if c.name != "" {
			w.indent(at, c.name)
		}
		if c.name != "" || c.relation == "InitPlan" {
			at++
		}
		w.node(c, at)
	}
}

// figures formats the estimates and the measured figures.
func (w *textWriter) figures(f *figures) string {
	var s string
	if !w.p.o.HideCosts {
		s = fmt.Sprintf("  (cost=0.00..%.2f rows=%.0f width=%d)", f.cost, f.rows, f.width)
	}
	switch {
	case w.p.o.Actual == nil:
		return s
	case f.loops == 0:
		return s + " (never executed)"
	case w.p.o.HideTiming:
		return s + fmt.Sprintf(" (actual rows=%d loops=%d)", f.actual, f.loops)
	}
	return s + fmt.Sprintf(" (actual time=%.3f..%.3f rows=%d loops=%d)", millis(f.startup),
		millis(f.elapsed), f.actual, f.loops)
}
