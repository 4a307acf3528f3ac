package rule

import (
	"math"

	"github.com/minidb/minidb/planner/estimate"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table"
)

// rows estimates the rows of a tree.
func (c *Context) rows(n logical.Node) float64 {
	if !c.Estimator.Known() {
		return guess(n)
	}
	switch n := n.(type) {
	case *logical.Scan:
		return c.Estimator.TableRows(n.Desc)
	case *logical.Filter:
		if s, ok := n.Child.(*logical.Scan); ok {
			var held logical.ColSet
			for _, cond := range n.Conds {
				if col, is := heldColumn(s, cond); is {
					held.Add(col)
				}
			}
			if uniqueOn(s, held) {
				return 1
			}
		}
		return math.Max(1, c.rows(n.Child)*c.Estimator.Conds(n.Conds))
	case *logical.Project:
		return c.rows(n.Child)
	case *logical.Sort:
		return c.rows(n.Child)
	case *logical.Limit:
		rows := c.rows(n.Child)
		if k, ok := n.Count.(*expr.Const); ok && !k.Value.Null {
			return math.Max(1, math.Min(rows, float64(k.Value.I)))
		}
		return rows
	case *logical.Distinct:
		keys := n.On
		if keys == nil {
			for _, id := range n.Child.Columns() {
				keys = append(keys, c.Meta.Col(id))
			}
		}
		return c.Estimator.Groups(keys, c.rows(n.Child))
	case *logical.Aggregate:
		keys := make([]expr.Expr, len(n.Keys))
		for i, k := range n.Keys {
			keys[i] = k.Expr
		}
		return c.Estimator.Groups(keys, c.rows(n.Child))
	case *logical.Join:
		return c.joinRows(n)
	}
	return guess(n)
}

func (c *Context) joinRows(n *logical.Join) float64 {
	var left logical.ColSet
	if len(n.On) > 0 {
		left = logical.MadeCols(n.Left)
	}
	var pairs []estimate.Pair
	var rest []expr.Expr
	for _, on := range n.On {
		call, ok := on.(*expr.Call)
		if !ok || call.Func.Name != "=" || len(call.Args) != 2 {
			rest = append(rest, on)
			continue
		}
		p := estimate.Pair{Left: call.Args[0], Right: call.Args[1]}
		if !logical.ColsOf(p.Left).SubsetOf(left) {
			p.Left, p.Right = p.Right, p.Left
		}
		pairs = append(pairs, p)
	}
	return c.Estimator.Join(n.Kind, c.rows(n.Left), c.rows(n.Right), pairs, rest)
}

// tableRows is the guessed size of a table, as in package choose.
const tableRows = 1000

// guess guesses the rows of a leaf where nothing is known.
func guess(n logical.Node) float64 {
	switch n := n.(type) {
	case *logical.Scan:
		return tableRows
	case *logical.Values:
		return float64(len(n.Rows))
	case *logical.Limit:
		if k, ok := n.Count.(*expr.Const); ok && !k.Value.Null {
			return math.Max(1, float64(k.Value.I))
		}
		return guess(n.Child)
	case *logical.Aggregate:
		if len(n.Keys) == 0 {
			return 1
		}
		return math.Min(200, guess(n.Child))
	case *logical.FuncScan, *logical.CTERef:
		return 100
	case *logical.Filter:
		return guessFilter(n)
	case *logical.Project:
		return guess(n.Child)
	case *logical.Sort:
		return guess(n.Child)
	case *logical.Distinct:
		return math.Min(200, guess(n.Child))
	case *logical.Join:
		return math.Max(guess(n.Left), guess(n.Right))
	}
	return tableRows
}

func guessFilter(n *logical.Filter) float64 {
	rows := guess(n.Child)
	s, ok := n.Child.(*logical.Scan)
	var held logical.ColSet
	for _, cond := range n.Conds {
		if ok {
			if col, is := heldColumn(s, cond); is {
				held.Add(col)
				rows *= 0.005
				continue
			}
		}
		rows *= 0.3
	}
	if ok && uniqueOn(s, held) {
		return 1
	}
	return math.Max(rows, 1)
}

// uniqueOn says whether the columns contain a whole unique key of the table that a leaf reads.
func uniqueOn(n logical.Node, cols logical.ColSet) bool {
	s, _ := scanOf(n)
	if s == nil || cols.Empty() {
		return false
	}
	whole := func(key []table.IndexColumn) bool {
		for _, kc := range key {
			if kc.ColumnID == 0 || !cols.Has(s.First+s.Desc.ColumnByID(kc.ColumnID)) {
				return false
			}
		}
		return len(key) > 0
	}
	if whole(s.Desc.RowKey) {
		return true
	}
	for i := range s.Desc.Indexes {
		if ix := &s.Desc.Indexes[i]; (ix.Unique || ix.Primary) && ix.WhereText == "" &&
			whole(ix.Columns) {
			return true
		}
	}
	return false
}
