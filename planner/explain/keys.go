package explain

import (
	"slices"
	"strings"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/physical"
)

// keyText formats a condition that GIN indexes serve.
func keyText(k *physical.KeyCond) string {
	if k.Cond != nil {
		return parens(expr.Format(k.Cond))
	}
	parts := make([]string, len(k.Args))
	for i, a := range k.Args {
		parts[i] = keyText(a)
	}
	return "(" + strings.Join(parts, " AND ") + ")"
}

// otherConditions returns the conditions of a filter that are not those by which rows were found.
func otherConditions(filter expr.Expr, k *physical.KeyCond) expr.Expr {
	served := []string{keyText(k)}
	if k.Cond == nil {
		for _, a := range k.Args {
			served = append(served, keyText(a))
		}
	}
	list := []expr.Expr{filter}
	if and, ok := filter.(*expr.And); ok {
		list = and.Args
	}
	var rest []expr.Expr
	for _, e := range list {
		if !slices.Contains(served, parens(expr.Format(e))) {
			rest = append(rest, e)
		}
	}
	switch len(rest) {
	case 0:
		return nil
	case 1:
		return rest[0]
	}
	return &expr.And{Args: rest}
}

// keyNode describes how the rows of a condition are found, in PostgreSQL's form: conditions on one
// index that are all to be true are one scan of it.
func keyNode(k *physical.KeyCond) *node {
	rows := figures{rows: max(1, keyRows(k))}
	if ix := oneIndex(k); ix != "" {
		out := newNode("Bitmap Index Scan on "+ix, "Bitmap Index Scan",
			Detail{Label: "Index Name", Text: ix}).
			detail(Detail{Label: "Index Cond", Text: keyText(k)})
		out.what = rows
		return out
	}
	title := "BitmapAnd"
	if k.Any {
		title = "BitmapOr"
	}
	out := namedNode(title)
	out.what = rows
	for _, a := range k.Args {
		below := keyNode(a)
		below.relation = "Member"
		out.children = append(out.children, below)
	}
	return out
}

// oneIndex returns the name of the index that serves a condition, or all parts of an AND; "" if
// there are several.
func oneIndex(k *physical.KeyCond) string {
	if k.Index != nil {
		return k.Index.Name
	}
	name := ""
	for _, a := range k.Args {
		if k.Any || a.Index == nil || name != "" && a.Index.Name != name {
			return ""
		}
		name = a.Index.Name
	}
	return name
}

// keyRows estimates the rows that a condition includes.
func keyRows(k *physical.KeyCond) float64 {
	rows := k.Rows
	for i, a := range k.Args {
		switch r := keyRows(a); {
		case k.Any || i == 0:
			rows += r
		default:
			rows = min(rows, r)
		}
	}
	return rows
}
