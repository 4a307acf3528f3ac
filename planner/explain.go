package planner

import (
	"fmt"
	"strings"
	"time"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
)

// ExplainOptions say what EXPLAIN shows.
type ExplainOptions struct {
	Verbose    bool
	HideCosts  bool
	HideTiming bool
	// Actual tells what a node did, for EXPLAIN ANALYZE: rows and time over all loops.
	Actual func(physical.Node) (rows, loops int64, elapsed time.Duration, ok bool)
}

// Explain shows a plan as PostgreSQL does, a line each.
func Explain(p *physical.Plan, o ExplainOptions) []string {
	e := &explainer{o: o}
	e.node(p.Root, 0)
	for _, cte := range p.CTEs {
		e.indent(1, "CTE "+cte.Name)
		e.node(cte.Plan, 2)
		if cte.Recursive != nil {
			e.node(cte.Recursive, 2)
		}
	}
	return e.lines
}

type explainer struct {
	o        ExplainOptions
	lines    []string
	subplans int
}

func (e *explainer) indent(depth int, s string) {
	e.lines = append(e.lines, strings.Repeat("  ", depth)+s)
}

// node writes one node and what is below it. Projections and filters are not nodes of their own in
// PostgreSQL: the first are left out, the second are a line of the node that they filter.
func (e *explainer) node(n physical.Node, depth int) {
	shown := n
	var filters []string
	for {
		if p, ok := shown.(*physical.Project); ok {
			shown = p.Child
		} else if f, ok := shown.(*physical.Filter); ok {
			filters = append(filters, "Filter: "+parens(expr.Format(f.Cond)))
			shown = f.Child
		} else {
			break
		}
	}
	arrow, detail := "", depth+1
	if depth > 0 {
		arrow, detail = "->  ", depth+3
	}
	e.indent(depth, arrow+title(shown)+e.figures(n))
	for _, d := range append(details(shown), filters...) {
		e.indent(detail, d)
	}
	if e.o.Verbose {
		names := make([]string, len(n.Columns()))
		for i, c := range n.Columns() {
			names[i] = c.Name
		}
		if len(names) > 0 {
			e.indent(detail, "Output: "+strings.Join(names, ", "))
		}
	}
	below := detail
	if depth == 0 {
		below = 1
	}
	for _, c := range shown.Children() {
		if j, ok := shown.(*physical.IndexJoin); ok && c == physical.Node(j.Inner) {
			e.lookup(j, below)
			continue
		}
		e.node(c, below)
	}
	for at := n; ; {
		for _, sub := range subplans(at) {
			e.subplans++
			e.indent(below, fmt.Sprintf("SubPlan %d", e.subplans))
			e.node(sub, below+1)
		}
		if at == shown {
			return
		}
		at = at.Children()[0]
	}
}

// lookup writes the inner side of an index join.
func (e *explainer) lookup(j *physical.IndexJoin, depth int) {
	s := j.Inner
	name, key := s.Table.Name+" key", s.Table.RowKey
	if pk := s.Table.PrimaryKey(); pk != nil {
		name = pk.Name
	}
	kind := "Index Scan"
	if s.Index != nil {
		name, key = s.Index.Name, s.Index.Columns
		if s.Covering {
			kind = "Index Only Scan"
		}
	}
	e.indent(depth, "->  "+kind+" using "+name+" on "+named(s.Table.Name, s.Alias)+e.figures(s))
	e.indent(depth+3, "Index Cond: "+oneRange(s.Table, key, &physical.Range{Eq: j.Keys}))
	if s.Filter != nil {
		e.indent(depth+3, "Filter: "+parens(expr.Format(s.Filter)))
	}
}

// figures are the estimates, and what was measured.
func (e *explainer) figures(n physical.Node) string {
	var s string
	if !e.o.HideCosts {
		est := n.Est()
		s = fmt.Sprintf("  (cost=0.00..%.2f rows=%.0f width=%d)", est.Cost, max(1, est.Rows), width(n))
	}
	if e.o.Actual == nil {
		return s
	}
	rows, loops, elapsed, ok := e.o.Actual(n)
	switch {
	case !ok || loops == 0:
		return s + " (never executed)"
	case e.o.HideTiming:
		return s + fmt.Sprintf(" (actual rows=%d loops=%d)", rows/loops, loops)
	}
	per := float64(elapsed) / float64(time.Millisecond) / float64(loops)
	return s + fmt.Sprintf(" (actual time=0.000..%.3f rows=%d loops=%d)", per, rows/loops, loops)
}

// width guesses the bytes of a row, as PostgreSQL does without statistics.
func width(n physical.Node) int {
	w := 0
	for _, c := range n.Columns() {
		if c.Type != nil && c.Type.Len > 0 {
			w += int(c.Type.Len)
		} else {
			w += 32
		}
	}
	return w
}

func title(n physical.Node) string {
	switch n := n.(type) {
	case *physical.Scan:
		return scanTitle(n)
	case *physical.VirtualScan:
		return "Seq Scan on " + named(n.Table.Name, n.Alias)
	case *physical.Values:
		if len(n.Rows) <= 1 {
			return "Result"
		}
		return `Values Scan on "*VALUES*"`
	case *physical.FuncScan:
		if n.Func != nil {
			return "Function Scan on " + named(n.Func.Name, n.Alias)
		}
		return "Function Scan on " + n.Alias
	case *physical.CTEScan:
		if n.WorkTable {
			return "WorkTable Scan on " + n.Name
		}
		return "CTE Scan on " + n.Name
	case *physical.ProjectSet:
		return "ProjectSet"
	case *physical.HashJoin:
		return "Hash" + joinTitle(n.Kind)
	case *physical.NestLoop:
		return "Nested Loop" + loopKind(n.Kind)
	case *physical.IndexJoin:
		return "Nested Loop" + loopKind(n.Kind)
	case *physical.Apply:
		return "Nested Loop" + loopKind(n.Kind)
	case *physical.Sort:
		if n.Top != nil {
			return "Top-N Sort"
		}
		return "Sort"
	case *physical.Limit:
		return "Limit"
	case *physical.Distinct:
		if n.On != nil {
			return "Unique"
		}
		return "HashAggregate"
	case *physical.Aggregate:
		if len(n.GroupBy) == 0 {
			return "Aggregate"
		}
		return "HashAggregate"
	case *physical.Append:
		return "Append"
	case *physical.SetOp:
		return "HashSetOp " + setOpName(n)
	case *physical.Window:
		return "WindowAgg"
	case *physical.LockRows:
		return "LockRows"
	case *physical.Insert:
		return "Insert on " + n.Table.Name
	case *physical.Update:
		return "Update on " + n.Table.Name
	case *physical.Delete:
		return "Delete on " + n.Table.Name
	}
	return fmt.Sprintf("%T", n)
}

func named(name, alias string) string {
	if alias != "" && alias != name {
		return name + " " + alias
	}
	return name
}

func scanTitle(n *physical.Scan) string {
	direction := ""
	if n.Reverse {
		direction = " Backward"
	}
	on := named(n.Table.Name, n.Alias)
	if n.Index == nil {
		if pk := n.Table.PrimaryKey(); pk != nil && (n.Ranges != nil || n.Ordered) {
			return "Index Scan" + direction + " using " + pk.Name + " on " + on
		}
		return "Seq Scan on " + on
	}
	kind := "Index Scan"
	if n.Covering {
		kind = "Index Only Scan"
	}
	return kind + direction + " using " + n.Index.Name + " on " + on
}

func joinTitle(k physical.JoinKind) string {
	if k == physical.Inner {
		return " Join"
	}
	return " " + k.String() + " Join"
}

func loopKind(k physical.JoinKind) string {
	if k == physical.Inner {
		return ""
	}
	return " " + k.String() + " Join"
}

func setOpName(n *physical.SetOp) string {
	name := "Intersect"
	if n.Except {
		name = "Except"
	}
	if n.All {
		name += " All"
	}
	return name
}

// details are the lines below a node's name.
func details(n physical.Node) []string {
	var out []string
	add := func(label string, e expr.Expr) {
		if e != nil {
			out = append(out, label+": "+parens(expr.Format(e)))
		}
	}
	switch n := n.(type) {
	case *physical.Scan:
		if cond := rangeText(n); cond != "" {
			out = append(out, "Index Cond: "+cond)
		}
		add("Filter", n.Filter)
	case *physical.VirtualScan:
		add("Filter", n.Filter)
	case *physical.HashJoin:
		out = append(out, "Hash Cond: "+equalities(n.LeftKeys, n.RightKeys))
		add("Join Filter", n.Cond)
	case *physical.NestLoop:
		add("Join Filter", n.Cond)
	case *physical.IndexJoin:
		add("Join Filter", n.Cond)
	case *physical.Apply:
		add("Join Filter", n.Cond)
	case *physical.Sort:
		out = append(out, "Sort Key: "+sortKeys(n.Keys, n.Child))
	case *physical.Aggregate:
		if len(n.GroupBy) > 0 {
			out = append(out, "Group Key: "+expr.FormatList(n.GroupBy))
		}
	case *physical.Distinct:
		if n.On != nil {
			out = append(out, "Unique Key: "+expr.FormatList(n.On))
		}
	case *physical.Insert:
		if c := n.OnConflict; c != nil {
			what := "NOTHING"
			if c.Update {
				what = "UPDATE"
			}
			out = append(out, "Conflict Resolution: "+what)
		}
	}
	return out
}

func parens(s string) string {
	if strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") {
		return s
	}
	return "(" + s + ")"
}

func equalities(left, right []expr.Expr) string {
	parts := make([]string, len(left))
	for i := range left {
		parts[i] = "(" + expr.Format(left[i]) + " = " + expr.Format(right[i]) + ")"
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return "(" + strings.Join(parts, " AND ") + ")"
}

// sortKeys shows a computed key by what computes it.
func sortKeys(keys []physical.SortKey, child physical.Node) string {
	parts := make([]string, len(keys))
	p, _ := child.(*physical.Project)
	for i, k := range keys {
		e := k.Expr
		if col, ok := e.(*expr.Col); ok && p != nil {
			e = p.Exprs[col.Index]
		}
		parts[i] = expr.Format(e)
		if k.Desc {
			parts[i] += " DESC"
		}
		if k.NullsFirst != k.Desc {
			parts[i] += map[bool]string{true: " NULLS FIRST", false: " NULLS LAST"}[k.NullsFirst]
		}
	}
	return strings.Join(parts, ", ")
}

// rangeText shows the sections of the key that a scan reads.
func rangeText(n *physical.Scan) string {
	const most = 4
	cols := n.Table.RowKey
	if n.Index != nil {
		cols = n.Index.Columns
	}
	var parts []string
	for i := range n.Ranges {
		if i == most {
			parts = append(parts, fmt.Sprintf("… %d more", len(n.Ranges)-most))
			break
		}
		if s := oneRange(n.Table, cols, &n.Ranges[i]); s != "" {
			parts = append(parts, s)
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	if len(parts) == 0 {
		return ""
	}
	return "(" + strings.Join(parts, " OR ") + ")"
}

func oneRange(d *table.Desc, cols []table.IndexColumn, r *physical.Range) string {
	name := func(i int) string {
		if i < len(cols) {
			if o := d.ColumnByID(cols[i].ColumnID); o >= 0 {
				return d.Columns[o].Name
			}
			return cols[i].ExprText
		}
		return "?"
	}
	var parts []string
	for i, e := range r.Eq {
		if r.IsNull != nil && r.IsNull[i] {
			parts = append(parts, "("+name(i)+" IS NULL)")
			continue
		}
		parts = append(parts, "("+name(i)+" = "+expr.Format(e)+")")
	}
	bound := func(e expr.Expr, incl bool, op string) {
		if e == nil {
			return
		}
		if incl {
			op += "="
		}
		parts = append(parts, "("+name(len(r.Eq))+" "+op+" "+expr.Format(e)+")")
	}
	bound(r.Low, r.LowIncl, ">")
	bound(r.High, r.HighIncl, "<")
	if len(parts) == 1 {
		return parts[0]
	}
	if len(parts) == 0 {
		return ""
	}
	return "(" + strings.Join(parts, " AND ") + ")"
}

// subplans are the plans of the subqueries in a node's own expressions.
func subplans(n physical.Node) []physical.Node {
	var out []physical.Node
	for _, e := range expressions(n) {
		expr.Walk(e, func(e expr.Expr) bool {
			if sq, ok := e.(*expr.Subquery); ok {
				if p, ok := sq.Plan.(physical.Node); ok {
					out = append(out, p)
				}
			}
			return true
		})
	}
	return out
}

func expressions(n physical.Node) []expr.Expr {
	switch n := n.(type) {
	case *physical.Scan:
		return []expr.Expr{n.Filter}
	case *physical.VirtualScan:
		return []expr.Expr{n.Filter}
	case *physical.Values:
		var out []expr.Expr
		for _, row := range n.Rows {
			out = append(out, row...)
		}
		return out
	case *physical.Filter:
		return []expr.Expr{n.Cond}
	case *physical.Project:
		return n.Exprs
	case *physical.HashJoin:
		return []expr.Expr{n.Cond}
	case *physical.NestLoop:
		return []expr.Expr{n.Cond}
	case *physical.Apply:
		return []expr.Expr{n.Cond}
	}
	return nil
}
