package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
)

// Options select what is shown.
type Options struct {
	Verbose    bool
	HideCosts  bool
	HideTiming bool
	// Actual returns, for EXPLAIN ANALYZE, what was measured of a node. ok is false for a node that
	// was not measured.
	Actual func(physical.Node) (m Measured, ok bool)
	// Spilled returns, likewise, what a node wrote to temporary files: bytes, and how many runs or
	// partitions these are.
	Spilled func(physical.Node) (bytes, pieces int64)
	// Sections returns, likewise, the sections by which a node has read a table or index.
	Sections func(physical.Node) table.SectionCounts
	// Changed returns, likewise, how many rows the statement inserted, updated and deleted.
	Changed func() (inserted, updated, deleted int64)
}

// Measured is what was measured of a node, summed over all loops.
type Measured struct {
	Rows, Loops        int64
	Startup, Elapsed   time.Duration // until the first rows, and until the end
	Removed, Unmatched int64         // rows, and pairs of a join, without those that passed
}

// Plan is a described plan.
type Plan struct {
	o    Options
	root *node
	// Planning and Execution are shown unless zero.
	Planning, Execution time.Duration
}

// Detail is a line about a node below its title. Either Text or List is set. Count says that Text
// is a number, which the text form shows unless it is 0.
type Detail struct {
	Label, Text string
	List        []string
	Count       bool
}

// node is the description of one node.
type node struct {
	title      string   // in the text form
	properties []Detail // those in the title, one by one
	what       figures  // estimated and measured
	details    []Detail // below the title
	relation   string   // to the node above: "Outer", "Inner", "Member", "SubPlan", "InitPlan"
	name       string   // of a subplan
	children   []*node
}

// figures are the estimates and the measured figures, per loop.
type figures struct {
	cost, rows float64
	width      int
	loops      int64 // 0: never executed
	actual     int64
	startup    time.Duration
	elapsed    time.Duration
}

// Describe describes a plan.
func Describe(p *physical.Plan, o Options) *Plan {
	d := &describer{o: o}
	root := d.node(p.Root)
	for _, cte := range p.CTEs {
		for i, part := range []physical.Node{cte.Plan, cte.Recursive} {
			if part == nil {
				continue
			}
			n := d.node(part)
			if n.relation = "InitPlan"; i == 0 {
				n.name = "CTE " + cte.Name
			}
			root.children = append(root.children, n)
		}
	}
	return &Plan{o: o, root: root}
}

type describer struct {
	o        Options
	subplans int
}

// node describes a node and the nodes below it.
func (d *describer) node(n physical.Node) *node {
	shown := n
	var filters []expr.Expr
	for {
		if p, ok := shown.(*physical.Project); ok {
			shown = p.Child
		} else if f, ok := shown.(*physical.Filter); ok {
			filters = append(filters, f.Cond)
			shown = f.Child
		} else {
			break
		}
	}
	out := nodeOf(shown)
	out.what = d.figures(n)
	for _, f := range filters {
		out.filter(f)
	}
	d.removed(out, n, shown)
	d.spilled(out, shown)
	d.sections(out, shown)
	if m, ok := shown.(*physical.Merge); ok {
		d.merged(out, m)
	}
	if d.o.Verbose {
		out.output(n)
	}
	if s, ok := shown.(*physical.Scan); ok && s.Keys != nil {
		below := keyNode(s.Keys)
		below.relation = "Outer"
		out.children = append(out.children, below)
	}
	for i, c := range shown.Children() {
		var below *node
		if j, ok := shown.(*physical.IndexJoin); ok && c == physical.Node(j.Inner) {
			below = d.lookup(j)
		} else {
			below = d.node(c)
		}
		below.relation = relation(shown, i)
		out.children = append(out.children, below)
	}
	for at := n; ; at = at.Children()[0] {
		for _, sub := range subplans(at) {
			d.subplans++
			name := fmt.Sprintf("SubPlan %d", d.subplans)
			below := d.node(sub)
			below.relation, below.name = "SubPlan", name
			out.children = append(out.children, below)
		}
		if at == shown {
			return out
		}
	}
}

// removed adds how many rows the conditions that are shown with a node did not let pass, of which
// the highest is of node top, and how many pairs that of a join did not.
func (d *describer) removed(out *node, top, shown physical.Node) {
	if d.o.Actual == nil {
		return
	}
	var removed int64
	for at := top; ; at = at.Children()[0] {
		m, _ := d.o.Actual(at)
		removed += perLoop(m.Removed, m.Loops)
		if at == shown {
			out.counted("Join Filter", "Rows Removed by Join Filter",
				perLoop(m.Unmatched, m.Loops))
			break
		}
	}
	out.counted("Filter", "Rows Removed by Filter", removed)
}

// counted adds a number behind the last line with a label, if there is one.
func (n *node) counted(behind, label string, number int64) {
	for i, d := range slices.Backward(n.details) {
		if d.Label == behind {
			n.details = slices.Insert(n.details, i+1,
				Detail{Label: label, Text: fmt.Sprint(number), Count: true})
			return
		}
	}
}

func perLoop(sum, loops int64) int64 {
	if loops == 0 {
		return 0
	}
	return (sum + loops/2) / loops
}

// spilled adds what a node wrote to disk.
func (d *describer) spilled(out *node, n physical.Node) {
	if d.o.Spilled == nil {
		return
	}
	bytes, pieces := d.o.Spilled(n)
	if bytes == 0 {
		return
	}
	kB := (bytes + 1023) / 1024
	switch n.(type) {
	case *physical.Sort, *physical.Window:
		out.details = slices.DeleteFunc(out.details,
			func(d Detail) bool { return d.Label == "Sort Method" })
		out.detail(Detail{Label: "Sort Method",
			Text: fmt.Sprintf("external merge  Disk: %dkB", kB)})
	default:
		out.detail(Detail{Label: "Batches",
			Text: fmt.Sprintf("%d  Disk Usage: %dkB", pieces+1, kB)})
	}
}

// sections adds how much of what a scan has read was in memory, or in columns on disk.
func (d *describer) sections(out *node, n physical.Node) {
	if d.o.Sections == nil {
		return
	}
	c := d.o.Sections(n)
	if c.All == 0 {
		return
	}
	text := fmt.Sprintf("%d  In Memory: %d", c.All, c.InMemory)
	if c.OnDisk > 0 {
		text += fmt.Sprintf("  On Disk: %d", c.OnDisk)
	}
	out.detail(Detail{Label: "Sections", Text: text})
}

// merged adds what MERGE has done to the rows of its child.
func (d *describer) merged(out *node, m *physical.Merge) {
	if d.o.Changed == nil || d.o.Actual == nil {
		return
	}
	read, _ := d.o.Actual(m.Child)
	inserted, updated, deleted := d.o.Changed()
	var parts []string
	for _, c := range []struct {
		what string
		n    int64
	}{{"inserted", inserted}, {"updated", updated}, {"deleted", deleted},
		{"skipped", read.Rows - inserted - updated - deleted}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", c.what, c.n))
		}
	}
	if parts != nil {
		out.detail(Detail{Label: "Tuples", Text: strings.Join(parts, " ")})
	}
}

// relation returns PostgreSQL's name for the place of a node below another.
func relation(above physical.Node, place int) string {
	switch above.(type) {
	case *physical.Append:
		return "Member"
	case *physical.HashJoin, *physical.NestLoop, *physical.IndexJoin, *physical.Apply:
		if place > 0 {
			return "Inner"
		}
	}
	return "Outer"
}

func (n *node) output(of physical.Node) {
	var names []string
	for _, c := range of.Columns() {
		names = append(names, c.Name)
	}
	if names != nil {
		n.details = append(n.details, Detail{Label: "Output", List: names})
	}
}

// lookup describes the inner side of an index join.
func (d *describer) lookup(j *physical.IndexJoin) *node {
	s := j.Inner
	name, key := s.Table.Name+" key", s.Table.RowKey
	if pk := s.Table.RowPrimaryKey(); pk != nil {
		name = pk.Name
	}
	if s.Index != nil {
		name, key = s.Index.Name, s.Index.Columns
	}
	out := indexNode(s, name, false)
	out.what = d.figures(s)
	out.detail(Detail{Label: "Index Cond",
		Text: oneRange(s.Table, key, &physical.Range{Eq: j.Keys})}).reads(s).filter(s.Filter)
	d.removed(out, s, s)
	return out
}

func (d *describer) figures(n physical.Node) figures {
	est := n.Est()
	f := figures{cost: est.Cost, rows: max(1, est.Rows), width: width(n)}
	if d.o.Actual == nil {
		return f
	}
	if m, ok := d.o.Actual(n); ok && m.Loops > 0 {
		f.loops, f.actual = m.Loops, perLoop(m.Rows, m.Loops)
		loops := time.Duration(m.Loops)
		f.startup, f.elapsed = m.Startup/loops, m.Elapsed/loops
	}
	return f
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
