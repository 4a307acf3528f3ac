package estimate

import (
	"math"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
)

// distinct returns the number of different values of an expression over whole tables; ok is false
// where it is unknown.
func (e *Estimator) distinct(x expr.Expr) (n float64, ok bool) {
	if c, _ := e.columnOf(x); c != nil {
		return max(1, c.Distinct), true
	}
	if col, isCol := stripCast(x).(*expr.Col); isCol && e.isUnique(col.Index) {
		return e.TableRows(e.scanOf(col.Index).Desc), true
	}
	return 0, false
}

// distinctAmong returns the number of different values of an expression among a number of rows; ok
// is false where it is unknown. A part of the rows has n(1-(1-part)^(rows per value)) of the
// table's n different values.
func (e *Estimator) distinctAmong(x expr.Expr, rows float64) (n float64, ok bool) {
	if n, ok = e.distinct(x); !ok {
		return 0, false
	}
	if c, total := e.columnOf(x); c != nil && rows < total {
		n *= 1 - math.Pow(1-rows/total, total/n)
	}
	return max(1, min(n, rows)), true
}

// Groups returns the number of different combinations of keys among a number of rows.
func (e *Estimator) Groups(keys []expr.Expr, rows float64) float64 {
	if len(keys) == 0 {
		return 1
	}
	n, known := 1.0, false
	for _, k := range keys {
		if _, constant := k.(*expr.Const); constant {
			continue
		}
		if m, ok := e.distinctAmong(k, rows); ok {
			n, known = n*m, true
		} else {
			n *= min(rows, groupsGuess)
		}
	}
	if !known {
		n = groupsGuess
	}
	return max(1, min(rows, n))
}

// Matches returns the number of rows of a table in which columns equal given values, at least 1.
func (e *Estimator) Matches(d *table.Desc, keys []expr.Expr) float64 {
	rows := e.TableRows(d)
	if e == nil {
		return max(1, rows*equalSelective)
	}
	for _, k := range keys {
		if n, ok := e.distinct(k); ok {
			rows *= e.notNullShare(k) / n
		} else {
			rows *= equalSelective
		}
	}
	return max(1, rows)
}

// Pair is an equality between the two sides of a join.
type Pair struct{ Left, Right expr.Expr }

// Join returns the number of rows of a join of two inputs with left and right rows, by equal pairs
// and other conditions.
func (e *Estimator) Join(kind opt.JoinKind, left, right float64, pairs []Pair,
	rest []expr.Expr) float64 {
	matched := left * right
	switch {
	case len(pairs) == 0:
	case e != nil:
		for _, p := range pairs {
			matched *= e.Pair(p, left, right)
		}
	case len(pairs) == 1:
		matched = max(left, right) // an equality keeps as many rows as the larger side has
	default:
		matched = max(min(left, right), 1)
	}
	rows := matched * e.Conds(rest)
	switch kind {
	case opt.Left:
		rows = max(rows, left)
	case opt.Right:
		rows = max(rows, right)
	case opt.Full:
		rows = max(rows, left+right)
	case opt.Semi, opt.Anti, opt.NullAnti:
		rows = e.semi(kind, left, right, pairs, rest)
	}
	return max(rows, 1)
}

// Pair returns the share of all combinations of left and right rows for which an equality is true.
func (e *Estimator) Pair(p Pair, left, right float64) float64 {
	l, lok := e.distinct(p.Left)
	r, rok := e.distinct(p.Right)
	if !lok && !rok { // each row of the larger side finds one match
		return 1 / max(left, right, 1)
	}
	if !lok {
		l = min(left, groupsGuess)
	}
	if !rok {
		r = min(right, groupsGuess)
	}
	return e.notNullShare(p.Left) * e.notNullShare(p.Right) / max(l, r, 1)
}

// semi returns the number of left rows that have, or do not have, a match: by the share of the left
// values that occur among the right ones.
func (e *Estimator) semi(kind opt.JoinKind, left, right float64, pairs []Pair,
	rest []expr.Expr) float64 {
	share := 0.5
	known := false
	if e != nil && len(pairs) > 0 {
		s := 1.0
		for _, p := range pairs {
			l, lok := e.distinctAmong(p.Left, left)
			r, rok := e.distinctAmong(p.Right, right)
			if lok && rok {
				known = true
				s *= min(1, r/l) * e.notNullShare(p.Left)
			}
		}
		if known {
			share = s * math.Sqrt(e.Conds(rest))
		}
	}
	if kind != opt.Semi && known {
		share = max(1-share, 0.01)
	}
	return left * share
}
