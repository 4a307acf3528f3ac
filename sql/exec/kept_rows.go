package exec

import (
	"context"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// keptBytes bounds what a scan keeps for being run again.
const keptBytes = 4 << 20

// keptRows is what a scan keeps of its rows, before the filter, when it is opened again: the inner
// side of an Apply and a correlated subquery run many times over the same table, and only the filter
// knows the outer row.
type keptRows struct {
	opens    int
	rows     *rowStore // nil: not keeping
	complete bool
	at       int
	view     types.Batch
}

// open notes another run. From the second one on rows are kept, if the scan's ranges depend on no
// variable and call nothing volatile.
func (k *keptRows) open(s *scan) {
	k.opens++
	k.at = 0
	switch {
	case k.complete || k.opens < 2:
	case k.rows != nil: // the last run did not get to its end
		k.rows.reset()
	case k.opens == 2 && s.fixedRanges():
		k.rows = newRowStore(&s.run.mem, columnTypes(s.node))
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

// add keeps a batch, or gives up when it gets too much.
func (k *keptRows) add(b *types.Batch) error {
	if k.rows == nil {
		return nil
	}
	mem := k.rows.mem
	if k.rows.bytes > keptBytes || mem.limit > 0 && mem.used > mem.limit/2 {
		k.rows.free()
		k.rows = nil
		return nil
	}
	return k.rows.addBatch(b)
}

// end notes that the scan has come to its end; what was kept has been returned by this run.
func (k *keptRows) end() {
	if k.complete = k.rows != nil; k.complete {
		k.at = k.rows.len
	}
}

func (k *keptRows) close() {
	if k.rows != nil {
		k.rows.free()
	}
	*k = keptRows{}
}

// nextKept returns kept rows.
func (s *scan) nextKept(ctx context.Context) (*types.Batch, error) {
	k := &s.kept
	for k.rows.view(&k.view, k.at) {
		k.at += k.view.Len
		b, err := s.narrow(&k.view)
		if err != nil || b != nil {
			return b, err
		}
	}
	return nil, ctx.Err()
}
