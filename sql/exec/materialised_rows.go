package exec

import (
	"context"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// materialisedMax bounds the bytes of the rows that a scan materialises.
const materialisedMax = 4 << 20

// materialisedRows holds the rows of a scan, before its filter, for the case that it is opened
// again: the inner side of an Apply and a correlated subquery run many times over the same table,
// and only the filter depends on the outer row.
type materialisedRows struct {
	opens    int
	rows     *rowStore // nil: not materialising
	complete bool
	at       int
	view     types.Batch
}

// open counts a run of the scan. From the second one on it materialises rows, if the scan's ranges
// depend on no variable and call no volatile function.
func (m *materialisedRows) open(s *scan) {
	m.opens++
	m.at = 0
	switch {
	case m.complete || m.opens < 2:
	case m.rows != nil: // the last run did not get to its end
		m.rows.reset()
	case m.opens == 2 && s.fixedRanges():
		m.rows = newRowStore(&s.run.mem, columnTypes(s.node))
	}
}

func (s *scan) fixedRanges() bool {
	varies := func(e expr.Expr) bool {
		found := expr.VolatilityOf(e) == expr.Volatile
		expr.Walk(e, func(e expr.Expr) bool {
			_, isVar := e.(*expr.Var)
			_, isSub := e.(*expr.Subquery)
			found = found || isVar || isSub
			return !found
		})
		return found
	}
	fixed := true
	s.node.Keys.Each(func(k *physical.KeyCond) { fixed = fixed && !varies(k.Arg) })
	if !fixed {
		return false
	}
	for i := range s.node.Ranges {
		g := &s.node.Ranges[i]
		for _, e := range append(g.Eq[:len(g.Eq):len(g.Eq)], g.Low, g.High) {
			if e != nil && varies(e) {
				return false
			}
		}
	}
	return true
}

// add takes a batch, or gives up when there are too many rows.
func (m *materialisedRows) add(b *types.Batch) error {
	if m.rows == nil {
		return nil
	}
	mem := m.rows.mem
	if m.rows.bytes > materialisedMax || mem.limit > 0 && mem.used > mem.limit/2 {
		m.rows.free()
		m.rows = nil
		return nil
	}
	return m.rows.addBatch(b)
}

// end notes that the scan has come to its end. This run has returned the rows already.
func (m *materialisedRows) end() {
	if m.complete = m.rows != nil; m.complete {
		m.at = m.rows.len
	}
}

func (m *materialisedRows) close() {
	if m.rows != nil {
		m.rows.free()
	}
	*m = materialisedRows{}
}

// nextMaterialised returns the next materialised rows that pass the filter.
func (s *scan) nextMaterialised(ctx context.Context) (*types.Batch, error) {
	m := &s.materialised
	for m.rows.view(&m.view, m.at) {
		m.at += m.view.Len
		b, err := s.narrow(&m.view)
		if err != nil || b != nil {
			return b, err
		}
	}
	return nil, ctx.Err()
}
