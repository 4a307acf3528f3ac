package estimate

import (
	"math"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/gin"
	"github.com/minidb/minidb/table/stats"
)

// Guesses about keys of GIN indexes.
const (
	keyShare     = 0.01 // of rows that have a key
	unknownShare = 0.01 // of rows that a condition includes whose keys are not known yet
	unknownLists = 3    // keys of such a condition
	similarLimit = 0.3  // of similarity
	leastPart    = 0.02 // of the rows of one key, those that have another too, at least
)

// KeyRows is what a condition over the keys of a GIN index is expected to cost.
type KeyRows struct {
	Share   float64 // of all rows, those that it includes
	Entries float64 // entries that are read, as a share of all rows
	Lists   float64 // keys whose entries are read
}

// And returns the expectation of the rows of both conditions.
func (k KeyRows) And(o KeyRows) KeyRows {
	return KeyRows{Share: k.Share * o.Share, Lists: k.Lists + o.Lists,
		Entries: both(k.Entries, o.Entries, min(k.Share, o.Share))}
}

// Or returns the expectation of the rows of either condition.
func (k KeyRows) Or(o KeyRows) KeyRows {
	return KeyRows{Share: k.Share + o.Share - k.Share*o.Share, Lists: k.Lists + o.Lists,
		Entries: k.Entries + o.Entries}
}

// both returns the entries read to intersect two lists: no more of one than a few for each row of
// the other.
func both(a, b, rows float64) float64 {
	const stepsPerRow = 8
	return min(a, rows*stepsPerRow) + min(b, rows*stepsPerRow)
}

// KeyCond returns the expectation for `column operator arg`, over column number i of a GIN index.
func (e *Estimator) KeyCond(d *table.Desc, ix *table.Index, i int, operator string,
	arg expr.Expr) KeyRows {
	unknown := KeyRows{Share: unknownShare, Entries: 3 * unknownShare, Lists: unknownLists}
	k, ok := arg.(*expr.Const)
	if !ok && e != nil {
		k = e.presentValue(arg)
	}
	column := table.GINColumn(d, ix, i)
	if k == nil || column == nil {
		return unknown
	}
	q, err := column.Query(operator, k.Value, similarLimit)
	if err != nil {
		return unknown
	}
	var keys *stats.Keys
	if e != nil {
		if t := e.tables[d.ID]; t != nil {
			c := &ix.Columns[i]
			keys = t.Keys[stats.KeysID{Column: c.ColumnID, Class: c.OpClass}]
		}
	}
	return keyRows(q, keys)
}

func keyRows(q *gin.Query, keys *stats.Keys) KeyRows {
	switch q.Op {
	case gin.Nothing:
		return KeyRows{}
	case gin.Every:
		return KeyRows{Share: 1, Entries: 1, Lists: 1}
	case gin.Key:
		share := keyShare
		if keys != nil {
			share = keys.Share(q.Key)
		}
		return KeyRows{Share: share, Entries: share, Lists: 1}
	}
	out := keyRows(q.Args[0], keys)
	least := out.Share
	for _, a := range q.Args[1:] {
		part := keyRows(a, keys)
		least = min(least, part.Share)
		if q.Op == gin.And {
			out = out.And(part)
		} else {
			out = out.Or(part)
		}
	}
	switch q.Op {
	case gin.And: // keys of one value are seldom independent
		out.Share = max(out.Share, least*leastPart)
	case gin.AtLeast:
		out.Share = min(out.Share, math.Pow(out.Share, float64(q.N)/2))
	}
	return out
}

// keyed estimates a condition that a GIN index serves, from the statistics of its keys.
func (e *Estimator) keyed(cond expr.Expr) (float64, bool) {
	for i := range e.scans {
		s := &e.scans[i]
		if t := e.tables[s.Desc.ID]; t == nil || t.Keys == nil {
			continue
		}
		for j := range s.Desc.Indexes {
			ix := &s.Desc.Indexes[j]
			if !ix.GIN() {
				continue
			}
			for n, c := range ix.Columns {
				id := s.First + s.Desc.Part(c.ColumnID)
				k, ok := logical.KeyOperationOf(cond, table.GINColumn(s.Desc, ix, n),
					func(x expr.Expr) bool { return e.idOf(x) == id })
				if ok {
					return e.KeyCond(s.Desc, ix, n, k.Operator, k.Arg).Share, true
				}
			}
		}
	}
	return 0, false
}
