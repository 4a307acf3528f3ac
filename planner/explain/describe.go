package explain

import (
	"fmt"
	"strings"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
)

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

func joinTitle(k opt.JoinKind) string {
	if k == opt.Inner {
		return " Join"
	}
	return " " + k.String() + " Join"
}

func loopKind(k opt.JoinKind) string {
	if k == opt.Inner {
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

// details are what is said of a node below its name.
func details(n physical.Node) []Detail {
	var out []Detail
	add := func(label string, e expr.Expr) {
		if e != nil {
			out = append(out, Detail{Label: label, Text: parens(expr.Format(e))})
		}
	}
	switch n := n.(type) {
	case *physical.Scan:
		if cond := rangeText(n); cond != "" {
			out = append(out, Detail{Label: "Index Cond", Text: cond})
		}
		add("Filter", n.Filter)
	case *physical.VirtualScan:
		add("Filter", n.Filter)
	case *physical.HashJoin:
		out = append(out, Detail{Label: "Hash Cond", Text: equalities(n.LeftKeys, n.RightKeys)})
		add("Join Filter", n.Cond)
	case *physical.NestLoop:
		add("Join Filter", n.Cond)
	case *physical.IndexJoin:
		add("Join Filter", n.Cond)
	case *physical.Apply:
		add("Join Filter", n.Cond)
	case *physical.Sort:
		out = append(out, Detail{Label: "Sort Key", List: sortKeys(n.Keys, n.Child)})
	case *physical.Aggregate:
		if len(n.GroupBy) > 0 {
			out = append(out, Detail{Label: "Group Key", List: formats(n.GroupBy)})
		}
	case *physical.Distinct:
		if n.On != nil {
			out = append(out, Detail{Label: "Unique Key", List: formats(n.On)})
		}
	case *physical.Insert:
		if c := n.OnConflict; c != nil {
			what := "NOTHING"
			if c.Update {
				what = "UPDATE"
			}
			out = append(out, Detail{Label: "Conflict Resolution", Text: what})
		}
	}
	return out
}

func formats(es []expr.Expr) []string {
	out := make([]string, len(es))
	for i, e := range es {
		out[i] = expr.Format(e)
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
func sortKeys(keys []opt.SortKey, child physical.Node) []string {
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
	return parts
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
		if call, ok := e.(*expr.Call); ok && call.Func.Bound {
			op = call.Func.Name // the bound is where the comparison says, whatever the range includes
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
	physical.EachExpr(n, func(e expr.Expr) {
		physical.EachSubplan(e, func(plan physical.Node) { out = append(out, plan) })
	})
	return out
}
