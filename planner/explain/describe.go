package explain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
)

// width returns a guess of a row's bytes, as PostgreSQL makes it without statistics.
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

// nodeOf describes a node: its title for the text form, the properties of which the title is made
// for the other forms, and details for both.
func nodeOf(n physical.Node) *node {
	switch n := n.(type) {
	case *physical.Scan:
		return scanNode(n)
	case *physical.VirtualScan:
		return relationNode("Seq Scan", "Seq Scan", n.Table.Name, n.Alias).filter(n.Filter)
	case *physical.DeltaScan:
		return relationNode("Delta Scan", "Delta Scan", n.Table.Name, n.Alias).filter(n.Filter)
	case *physical.Values:
		if len(n.Rows) <= 1 {
			return namedNode("Result")
		}
		return newNode(`Values Scan on "*VALUES*"`, "Values Scan",
			Detail{Label: "Alias", Text: "*VALUES*"})
	case *physical.FuncScan:
		alias := Detail{Label: "Alias", Text: n.Alias}
		if len(n.Funcs) > 1 || n.Funcs[0].Func == nil {
			return newNode("Function Scan on "+named(n.Alias, ""), "Function Scan", alias)
		}
		function := n.Funcs[0].Func.Name
		name := Detail{Label: "Function Name", Text: function}
		return newNode("Function Scan on "+named(function, n.Alias), "Function Scan", name, alias)
	case *physical.CTEScan:
		kind := "CTE Scan"
		if n.WorkTable {
			kind = "WorkTable Scan"
		}
		return newNode(kind+" on "+named(n.Name, n.Alias), kind,
			Detail{Label: "CTE Name", Text: n.Name},
			Detail{Label: "Alias", Text: cmp.Or(n.Alias, n.Name)})
	case *physical.Recursion:
		return newNode("Recursive Union on "+named(n.CTE.Name, ""), "Recursive Union",
			Detail{Label: "CTE Name", Text: n.CTE.Name})
	case *physical.HashJoin:
		on := Detail{Label: "Hash Cond", Text: equalities(n.LeftKeys, n.RightKeys)}
		title := "Hash Join"
		if n.Kind != opt.Inner {
			title = "Hash" + joinWords(n.Kind)
		}
		return joinNode(title, "Hash Join", n.Kind).detail(on).expr("Join Filter", n.Cond)
	case *physical.NestLoop:
		return loopNode(n.Kind, n.Cond)
	case *physical.IndexJoin:
		return loopNode(n.Kind, n.Cond)
	case *physical.Apply:
		return loopNode(n.Kind, n.Cond)
	case *physical.Insert, *physical.Update, *physical.Delete, *physical.Merge:
		return modifyNode(n)
	}
	return rowsNode(n)
}

// rowsNode is nodeOf for nodes that process the rows of their inputs.
func rowsNode(n physical.Node) *node {
	sorted := Detail{Label: "Strategy", Text: "Sorted"}
	hashed := Detail{Label: "Strategy", Text: "Hashed"}
	switch n := n.(type) {
	case *physical.ProjectSet:
		return namedNode("ProjectSet")
	case *physical.Sort:
		key := Detail{Label: "Sort Key", List: sortKeys(n.Keys, n.Child)}
		if n.Top != nil {
			return newNode("Top-N Sort", "Sort",
				Detail{Label: "Sort Method", Text: "top-N heapsort"}).detail(key)
		}
		return namedNode("Sort").detail(key)
	case *physical.Limit:
		return namedNode("Limit")
	case *physical.Distinct:
		if n.On != nil {
			return namedNode("Unique").detail(Detail{Label: "Unique Key", List: formats(n.On)})
		}
		if n.Sorted {
			return namedNode("Unique")
		}
		return newNode("HashAggregate", "Aggregate", hashed)
	case *physical.Aggregate:
		if len(n.GroupBy) == 0 {
			return newNode("Aggregate", "Aggregate", Detail{Label: "Strategy", Text: "Plain"})
		}
		name, how := "HashAggregate", hashed
		if n.Sorted {
			name, how = "GroupAggregate", sorted
		}
		return newNode(name, "Aggregate",
			how).detail(Detail{Label: "Group Key", List: formats(n.GroupBy)})
	case *physical.Append:
		return namedNode("Append")
	case *physical.SetOp:
		name := setOpName(n)
		if n.Sorted {
			return newNode("SetOp "+name, "SetOp", sorted, Detail{Label: "Command", Text: name})
		}
		return newNode("HashSetOp "+name, "SetOp", hashed, Detail{Label: "Command", Text: name})
	case *physical.Window:
		return namedNode("WindowAgg")
	case *physical.LockRows:
		return namedNode("LockRows")
	}
	return namedNode(fmt.Sprintf("%T", n))
}

func modifyNode(n physical.Node) *node {
	on := func(operation, table, alias string) *node {
		out := newNode(operation+" on "+named(table, alias), "ModifyTable",
			Detail{Label: "Operation", Text: operation})
		out.properties = append(out.properties, relationProperties(table, alias)...)
		return out
	}
	switch n := n.(type) {
	case *physical.Update:
		return on("Update", n.Table.Name, n.Alias)
	case *physical.Delete:
		return on("Delete", n.Table.Name, n.Alias)
	case *physical.Merge:
		return on("Merge", n.Table.Name, n.Alias)
	}
	insert := n.(*physical.Insert)
	out := on("Insert", insert.Table.Name, insert.Alias)
	if c := insert.OnConflict; c != nil {
		what := "NOTHING"
		if c.Update {
			what = "UPDATE"
		}
		out.detail(Detail{Label: "Conflict Resolution", Text: what})
	}
	return out
}

// newNode makes a node with a title, a type and further properties.
func newNode(title, kind string, properties ...Detail) *node {
	return &node{title: title,
		properties: append([]Detail{{Label: "Node Type", Text: kind}}, properties...)}
}

// namedNode makes a node whose title is its type.
func namedNode(name string) *node { return newNode(name, name) }

// relationNode makes a node that reads or writes a relation.
func relationNode(title, kind, table, alias string, properties ...Detail) *node {
	return newNode(title+" on "+named(table, alias), kind,
		append(properties, relationProperties(table, alias)...)...)
}

func relationProperties(table, alias string) []Detail {
	if alias == "" {
		alias = table
	}
	return []Detail{{Label: "Relation Name", Text: table}, {Label: "Alias", Text: alias}}
}

func joinNode(title, kind string, k opt.JoinKind) *node {
	return newNode(title, kind, Detail{Label: "Join Type", Text: k.String()})
}

func loopNode(k opt.JoinKind, cond expr.Expr) *node {
	title := "Nested Loop"
	if k != opt.Inner {
		title += joinWords(k)
	}
	return joinNode(title, "Nested Loop", k).expr("Join Filter", cond)
}

func joinWords(k opt.JoinKind) string { return " " + k.String() + " Join" }

// scanNode describes a scan. A scan of rows by their key is shown as a scan of the primary key's
// index, as in PostgreSQL.
func scanNode(n *physical.Scan) *node {
	if n.Keys != nil {
		return relationNode("Bitmap Heap Scan", "Bitmap Heap Scan", n.Table.Name, n.Alias).
			detail(Detail{Label: "Recheck Cond", Text: keyText(n.Keys)}).reads(n).
			filter(otherConditions(n.Filter, n.Keys))
	}
	index := ""
	if n.Index != nil {
		index = n.Index.Name
	} else if pk := n.Table.RowPrimaryKey(); pk != nil && (n.Ranges != nil || n.Ordered) {
		index = pk.Name
	}
	out := relationNode("Seq Scan", "Seq Scan", n.Table.Name, n.Alias)
	if index != "" {
		out = indexNode(n, index, n.Reverse)
	}
	if cond := rangeText(n); cond != "" {
		out.detail(Detail{Label: "Index Cond", Text: cond})
	}
	return out.reads(n).filter(n.Filter)
}

// reads adds that a scan reads a relation as it was before a change, if it does.
func (n *node) reads(s *physical.Scan) *node {
	if s.Before {
		return n.detail(Detail{Label: "Reads", Text: "before the change"})
	}
	return n
}

func indexNode(n *physical.Scan, index string, reverse bool) *node {
	kind, direction, backward := "Index Scan", "Forward", ""
	if n.Index != nil && n.Covering {
		kind = "Index Only Scan"
	}
	if reverse {
		direction, backward = "Backward", " Backward"
	}
	return relationNode(kind+backward+" using "+sqlname.Quote(index), kind, n.Table.Name, n.Alias,
		Detail{Label: "Scan Direction", Text: direction}, Detail{Label: "Index Name", Text: index})
}

func (n *node) detail(d Detail) *node {
	n.details = append(n.details, d)
	return n
}

// expr adds an expression, unless it is nil.
func (n *node) expr(label string, e expr.Expr) *node {
	if e == nil {
		return n
	}
	return n.detail(Detail{Label: label, Text: parens(expr.Format(e))})
}

func (n *node) filter(e expr.Expr) *node { return n.expr("Filter", e) }

// named is a name with an alias that differs from it, as they are written in statements.
func named(name, alias string) string {
	out := sqlname.Quote(name)
	if alias != "" && alias != name {
		out += " " + sqlname.Quote(alias)
	}
	return out
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

// sortKeys formats sort keys. A computed key is shown as the expression that computes it.
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

// rangeText formats the ranges of the key that a scan reads.
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
			o := d.Part(cols[i].ColumnID)
			if e := d.Expr(o); e != nil {
				return e.Text
			}
			return d.Columns[o].Name
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
			// A converted bound is shown with the operator of the comparison.
			op = call.Func.Name
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

// subplans returns the plans of the subqueries in a node's own expressions.
func subplans(n physical.Node) []physical.Node {
	var out []physical.Node
	physical.EachExpr(n, func(e expr.Expr) {
		physical.EachSubplan(e, func(plan physical.Node) { out = append(out, plan) })
	})
	return out
}
