package exec

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// apply runs its right side once per left row, with values of that row in variables.
type apply struct {
	run         *run
	left, right operator
	slots       []int
	args        []*eval.Program
	match       *joinMatcher
	store       *rowStore // right rows of the present candidates
	vecs        []*types.Vec
	pos         int  // position in the left selection
	open        bool // the right side runs for the row at pos
}

func (r *run) buildApply(n *physical.Apply) (operator, error) {
	switch n.Kind {
	case opt.Inner, opt.Left, opt.Semi, opt.Anti:
	default:
		return nil, sqlerr.Unsupported(0, n.Kind.String()+" lateral join")
	}
	left, right, err := r.buildBoth(n.Left, n.Right)
	if err != nil {
		return nil, err
	}
	a := &apply{run: r, left: left, right: right, slots: n.Slots}
	if a.args, err = compileAll(n.Args); err != nil {
		return nil, err
	}
	a.match, err = newJoinMatcher(r, n.Kind, n.Cond, columnTypes(n.Left), columnTypes(n.Right))
	if err != nil {
		return nil, err
	}
	a.store = newRowStore(&r.mem, columnTypes(n.Right))
	return a, nil
}

func (a *apply) Open(ctx context.Context) error {
	a.match.reset()
	a.open = false
	return a.left.Open(ctx)
}

func (a *apply) Close() error {
	a.match.reset()
	a.open = false
	a.store.free()
	return closeAll(a.left, a.right)
}

func (a *apply) Next(ctx context.Context) (*types.Batch, error) {
	return a.match.next(ctx, a)
}

// nextLeft implements candidateSource.
func (a *apply) nextLeft(ctx context.Context) (*types.Batch, error) {
	b, err := a.left.Next(ctx)
	if err != nil || b == nil {
		return nil, err
	}
	a.run.ctx = ctx
	a.pos, a.open = 0, false
	a.vecs, err = a.run.evalKeys(a.args, b, a.vecs)
	return b, err
}

// candidates collects right rows of as many left rows as fill a batch. It implements
// candidateSource.
func (a *apply) candidates(ctx context.Context) error {
	m := a.match
	a.store.reset()
	m.rights = a.store.cols
	for a.pos < len(m.sel) {
		if m.full() {
			m.completed = a.pos
			return nil
		}
		l := m.sel[a.pos]
		if !a.open {
			for i, s := range a.slots {
				a.run.setVar(s, a.vecs[i].Get(int(l)))
			}
			if err := a.right.Open(ctx); err != nil {
				return err
			}
			a.open = true
		}
		if m.settled(a.pos) {
			a.pos, a.open = a.pos+1, false
			continue
		}
		b, err := a.right.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			a.pos, a.open = a.pos+1, false
			continue
		}
		if err := a.take(b, l); err != nil {
			return err
		}
	}
	m.completed = len(m.sel)
	return nil
}

// take adds the pairs of left row l with the rows of b.
func (a *apply) take(b *types.Batch, l int32) error {
	first, n := a.store.len, b.Rows()
	if err := a.store.addBatch(b); err != nil {
		return err
	}
	for i := range n {
		a.match.add(l, int32(first+i))
	}
	if n > 0 && a.match.leftOnly() && a.match.cond == nil {
		a.pos, a.open = a.pos+1, false // one row is enough
	}
	return nil
}
