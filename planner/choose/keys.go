package choose

import (
	"math"
	"slices"

	"github.com/minidb/minidb/planner/estimate"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
)

// keyCond is a condition that GIN indexes serve, with what it is expected to cost.
type keyCond struct {
	cond *physical.KeyCond
	rows estimate.KeyRows
}

// keysPath returns the cheapest path by entries of GIN indexes, nil if they serve no condition. Its
// ranges express no condition entirely: all are tested on each row.
func (c *chooser) keysPath(s *logical.Scan, conds []expr.Expr, req required) *path {
	if !slices.ContainsFunc(s.Desc.Indexes, func(ix table.Index) bool { return ix.GIN() }) {
		return nil
	}
	var found []keyCond
	for _, cond := range conds {
		if k := c.keyCond(s, cond, conds); k != nil && k.rows.Share < 1 {
			found = append(found, *k)
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(a, b keyCond) int {
		switch {
		case a.rows.Share < b.rows.Share:
			return -1
		case a.rows.Share > b.rows.Share:
			return 1
		}
		return 0
	})
	best := found[:1]
	rows, cost := found[0].rows, c.keysCost(s, found[0].rows)
	for i := 2; i <= len(found); i++ {
		more := rows.And(found[i-1].rows)
		if with := c.keysCost(s, more); with < cost {
			best, rows, cost = found[:i], more, with
		}
	}
	p := &path{covered: make([]bool, len(conds)), keys: joined(best, false)}
	p.rows = math.Max(1, c.est.TableRows(s.Desc)*rows.Share)
	p.keys.Each(func(k *physical.KeyCond) { p.index = k.Index })
	p.cost = cost
	out := math.Max(1, c.est.TableRows(s.Desc)*c.est.Conds(conds))
	if len(req.order) > 0 {
		p.cost += c.costs.SortRows(out)
	} else if req.limit > 0 && req.limit < out {
		p.cost = opt.Stopped(p.cost, req.limit, out)
	}
	return p
}

// keysCost returns the cost of finding and reading rows.
func (c *chooser) keysCost(s *logical.Scan, k estimate.KeyRows) float64 {
	all := c.est.TableRows(s.Desc)
	return c.costs.KeysScan(k.Lists, all*k.Entries, math.Max(1, all*k.Share))
}

// joined returns the AND of conditions, with any their OR.
func joined(list []keyCond, any bool) *physical.KeyCond {
	if len(list) == 1 {
		return list[0].cond
	}
	out := &physical.KeyCond{Any: any}
	for _, k := range list {
		out.Args = append(out.Args, k.cond)
	}
	return out
}

// keyCond returns how GIN indexes serve a condition, nil if they do not. Indexes must have all rows
// that satisfy conds, with an OR the rows of its sides.
func (c *chooser) keyCond(s *logical.Scan, cond expr.Expr, conds []expr.Expr) *keyCond {
	switch e := cond.(type) {
	case *expr.And:
		var parts []keyCond
		for _, arg := range e.Args {
			if k := c.keyCond(s, arg, conds); k != nil && k.rows.Share < 1 {
				parts = append(parts, *k)
			}
		}
		return combined(parts, false)
	case *expr.Or:
		return c.anyKeyCond(s, cond, e.Args, conds)
	case *expr.Quantified:
		if each := eachElement(e); each != nil {
			return c.anyKeyCond(s, cond, each, conds)
		}
	}
	return c.singleKeyCond(s, cond, conds)
}

// anyKeyCond is keyCond of an OR: every side must be served.
func (c *chooser) anyKeyCond(s *logical.Scan, whole expr.Expr, sides,
	conds []expr.Expr) *keyCond {
	parts := make([]keyCond, len(sides))
	for i, side := range sides {
		k := c.keyCond(s, side, conds)
		if k == nil {
			return nil
		}
		parts[i] = *k
	}
	out := combined(parts, true)
	if len(parts) > 1 {
		out.cond.Cond = c.expr(whole, s.Out)
	}
	return out
}

func combined(parts []keyCond, any bool) *keyCond {
	if len(parts) == 0 {
		return nil
	}
	rows := parts[0].rows
	for _, p := range parts[1:] {
		if any {
			rows = rows.Or(p.rows)
		} else {
			rows = rows.And(p.rows)
		}
	}
	return &keyCond{joined(parts, any), rows}
}

// eachElement returns the sides of `x op ANY (constant array)` as conditions of their own, nil for
// anything else.
func eachElement(q *expr.Quantified) []expr.Expr {
	a, ok := q.Array.(*expr.Const)
	if q.All || !ok || a.T.Elem == nil || a.Value.Null || len(a.Value.Arr.Elems) > maxAnyKeys {
		return nil
	}
	out := []expr.Expr{}
	for _, v := range a.Value.Arr.Elems {
		out = append(out, &expr.Call{Func: q.Op, Args: []expr.Expr{q.Left,
			&expr.Const{T: a.T.Elem, Value: v}}, T: q.Type()})
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// maxAnyKeys is the largest number of elements of an array for each of which an index is asked.
const maxAnyKeys = 100

// singleKeyCond is keyCond of a single operation, by the index with which it costs least.
func (c *chooser) singleKeyCond(s *logical.Scan, cond expr.Expr, conds []expr.Expr) *keyCond {
	var best *keyCond
	of := s.ByIndex(cond)
	for i := range s.Desc.Indexes {
		ix := &s.Desc.Indexes[i]
		if !ix.GIN() || !usable(s, ix, conds) {
			continue
		}
		for n := range ix.Columns {
			id := s.KeyID(ix.Columns[n].ColumnID)
			if id == 0 {
				continue
			}
			op, ok := logical.KeyOperationOf(of, table.GINColumn(s.Desc, ix, n),
				func(x expr.Expr) bool {
					col, isCol := x.(*expr.Col)
					return isCol && col.Index == id
				})
			if !ok || !c.constantDuring(s, op.Arg) {
				continue
			}
			rows := c.est.KeyCond(s.Desc, ix, n, op.Operator, op.Arg)
			if best != nil {
				have, cost := c.keysCost(s, best.rows), c.keysCost(s, rows)
				if have < cost || have == cost && ix.WhereText == "" { // a partial one is smaller
					continue
				}
			}
			best = &keyCond{rows: rows, cond: &physical.KeyCond{Index: ix, Column: n,
				Operator: op.Operator, Arg: c.expr(op.Arg, nil), Cond: c.expr(cond, s.Out),
				Rows: rows.Share * c.est.TableRows(s.Desc)}}
		}
	}
	return best
}
