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
	pair        *pairing
	store       *rowStore // right rows of the present candidates
	vecs        []*types.Vec
	at          int
	open        bool // the right side runs for the row at position at
}

func (r *run) buildApply(n *physical.Apply) (operator, error) {
	switch n.Kind {
	case opt.Inner, opt.Left, opt.Semi, opt.Anti:
	default:
		return nil, sqlerr.Unsupported(0, n.Kind.String()+" lateral join")
	}
	left, err := r.build(n.Left)
	if err != nil {
		return nil, err
	}
	right, err := r.build(n.Right)
	if err != nil {
		return nil, err
	}
	a := &apply{run: r, left: left, right: right, slots: n.Slots}
	if a.args, err = compileAll(n.Args); err != nil {
		return nil, err
	}
	if a.pair, err = newPairing(r, n.Kind, n.Cond, columnTypes(n.Left), columnTypes(n.Right)); err != nil {
		return nil, err
	}
	a.store = newRowStore(&r.mem, columnTypes(n.Right))
	return a, nil
}

func (a *apply) Open(ctx context.Context) error {
	a.pair.batch, a.open = nil, false
	return a.left.Open(ctx)
}

func (a *apply) Close() error {
	a.pair.batch, a.open = nil, false
	a.store.free()
	return closeAll(a.left, a.right)
}

func (a *apply) Next(ctx context.Context) (*types.Batch, error) {
	p := a.pair
	for {
		if p.batch == nil {
			b, err := a.left.Next(ctx)
			if err != nil || b == nil {
				return nil, err
			}
			p.start(b)
			a.at, a.open = 0, false
			a.run.ctx = ctx
			if a.vecs, err = a.run.evalKeys(a.args, b, a.vecs); err != nil {
				return nil, err
			}
		}
		if err := a.candidates(ctx); err != nil {
			return nil, err
		}
		a.run.ctx = ctx
		out, err := p.emit()
		if p.done == len(p.sel) {
			p.batch = nil
		}
		if err != nil || out != nil {
			return out, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// candidates collects right rows of as many left rows as fill a batch.
func (a *apply) candidates(ctx context.Context) error {
	p := a.pair
	a.store.reset()
	p.rights = a.store.cols
	for a.at < len(p.sel) {
		if p.full() {
			p.done = a.at
			return nil
		}
		l := p.sel[a.at]
		if !a.open {
			for i, s := range a.slots {
				a.run.setVar(s, a.vecs[i].Get(int(l)))
			}
			if err := a.right.Open(ctx); err != nil {
				return err
			}
			a.open = true
		}
		if p.settled(a.at) {
			a.at, a.open = a.at+1, false
			continue
		}
		b, err := a.right.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			a.at, a.open = a.at+1, false
			continue
		}
		if err := a.take(b, l); err != nil {
			return err
		}
	}
	p.done = len(p.sel)
	return nil
}

// take adds the pairs of left row l with the rows of b.
func (a *apply) take(b *types.Batch, l int32) error {
	first, n := a.store.len, b.Rows()
	if err := a.store.addBatch(b); err != nil {
		return err
	}
	for i := 0; i < n; i++ {
		a.pair.add(l, int32(first+i))
	}
	if n > 0 && a.pair.leftOnly() && a.pair.cond == nil {
		a.at, a.open = a.at+1, false // one row is enough
	}
	return nil
}
