package rule

import (
	"math"

	"github.com/minidb/minidb/planner/estimate"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
)

// rows returns the estimated number of rows of a tree.
func (c *Context) rows(n logical.Node) float64 {
	if !c.Estimator.Known() {
		return guess(n)
	}
	switch n := n.(type) {
	case *logical.Scan:
		return c.Estimator.TableRows(n.Desc)
	case *logical.Filter:
		return c.filterRows(n)
	case *logical.Barrier:
		return c.rows(n.Child)
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
		return c.Estimator.Groups(c.distinctKeys(n), c.rows(n.Child))
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

func (c *Context) filterRows(n *logical.Filter) float64 {
	if s, ok := n.Child.(*logical.Scan); ok {
		if equated, _ := equatedColumns(s, n.Conds); containsUniqueKey(s, equated) {
			return 1
		}
	}
	return math.Max(1, c.rows(n.Child)*c.Estimator.Conds(n.Conds))
}

func (c *Context) distinctKeys(n *logical.Distinct) []expr.Expr {
	if n.On != nil {
		return n.On
	}
	var keys []expr.Expr
	for _, id := range n.Child.Columns() {
		keys = append(keys, c.Meta.Col(id))
	}
	return keys
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
		if !ok || call.Func.Comparison() != "=" || len(call.Args) != 2 {
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

// Guesses where nothing is known of a table: its rows, the groups that its rows make, the rows of a
// function or of a WITH query, and the shares of rows that conditions keep.
const (
	tableRows      = 1000
	groupRows      = 200
	functionRows   = 100
	equalityShare  = 0.005
	conditionShare = 0.3
)

// guess returns the guessed rows of a tree without statistics.
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
		return math.Min(groupRows, guess(n.Child))
	case *logical.FuncScan, *logical.CTERef:
		return functionRows
	case *logical.Filter:
		return guessFilter(n)
	case *logical.Barrier:
		return guess(n.Child)
	case *logical.Project:
		return guess(n.Child)
	case *logical.Sort:
		return guess(n.Child)
	case *logical.Distinct:
		return math.Min(groupRows, guess(n.Child))
	case *logical.Join:
		return math.Max(guess(n.Left), guess(n.Right))
	}
	return tableRows
}

func guessFilter(n *logical.Filter) float64 {
	rows := guess(n.Child)
	rest := n.Conds
	if s, ok := n.Child.(*logical.Scan); ok {
		var equated logical.ColSet
		equated, rest = equatedColumns(s, n.Conds)
		if containsUniqueKey(s, equated) {
			return 1
		}
		for range len(n.Conds) - len(rest) {
			rows *= equalityShare
		}
	}
	for range rest {
		rows *= conditionShare
	}
	return math.Max(rows, 1)
}
