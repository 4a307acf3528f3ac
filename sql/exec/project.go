package exec

import (
	"context"

	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// project computes expressions over its child's batches. Columns that are only passed on are shared
// with the child.
type project struct {
	run   *run
	child operator
	exprs []*eval.Program
	own   []types.Vec // results of the expressions that compute
	out   types.Batch
	// failed is the error of the row after those returned, as in condition.
	failed error
	// in is the child's batch, and rest its rows that are still to be computed, if the memory does
	// not suffice for all of them at once. step is how many rows are then computed together; 0:
	// all.
	in   *types.Batch
	rest []int32
	step int
}

func (r *run) buildProject(n *physical.Project) (operator, error) {
	if p := r.buildProjectedPoint(n); p != nil {
		return p, nil
	}
	if bare := r.projectedScan(n); bare != nil {
		return r.build(bare)
	}
	child, err := r.build(n.Child)
	if err != nil {
		return nil, err
	}
	exprs, err := compileAll(n.Exprs)
	if err != nil {
		return nil, err
	}
	return &project{run: r, child: r.stepwise(child, n.Exprs...), exprs: exprs}, nil
}

func (p *project) Open(ctx context.Context) error {
	p.failed, p.rest, p.step = nil, nil, 0
	return p.child.Open(ctx)
}

func (p *project) Close() error { return p.child.Close() }

func (p *project) Next(ctx context.Context) (*types.Batch, error) {
	if p.failed != nil {
		return nil, p.failed
	}
	if len(p.rest) > 0 {
		p.run.ctx = ctx
		return p.piece()
	}
	b, err := p.child.Next(ctx)
	if err != nil || b == nil {
		return nil, err
	}
	p.run.ctx = ctx
	if p.out.Cols == nil {
		p.out.Cols = make([]*types.Vec, len(p.exprs))
		p.own = make([]types.Vec, len(p.exprs))
	}
	if b.Rows() == 0 {
		return p.empty(), nil
	}
	if p.step > 0 {
		p.in, p.rest = b, selection(b)
		return p.piece()
	}
	err = p.compute(b, b.Sel)
	if err == nil {
		return &p.out, nil
	}
	if p.divisible(err) {
		p.in, p.rest = b, selection(b)
		p.step = len(p.rest)
		return p.halve(err)
	}
	sel, rowErr := p.run.rowsBeforeError(b, err, p.exprs...)
	if len(sel) == 0 {
		return nil, rowErr
	}
	if err := p.compute(b, sel); err != nil {
		return nil, err
	}
	p.failed = rowErr
	return &p.out, nil
}

// divisible reports whether rows that did not fit into memory together may be computed again in
// pieces.
func (p *project) divisible(err error) bool {
	if !eval.OutOfMemory(err) {
		return false
	}
	for _, e := range p.exprs {
		if !e.Repeatable() {
			return false
		}
	}
	return true
}

// piece computes the next step rows of what is left of the batch.
func (p *project) piece() (*types.Batch, error) {
	n := min(p.step, len(p.rest))
	if err := p.compute(p.in, p.rest[:n]); err != nil {
		if !p.divisible(err) {
			return nil, err
		}
		p.step = n
		return p.halve(err)
	}
	p.rest = p.rest[n:]
	return &p.out, nil
}

// halve continues with half as many rows at a time after those of the last step did not fit: err.
func (p *project) halve(err error) (*types.Batch, error) {
	if p.step /= 2; p.step == 0 {
		return nil, err
	}
	for i, e := range p.exprs {
		if _, shared := e.Column(); !shared {
			clear(p.own[i].S)
			clear(p.own[i].Arr)
		}
	}
	return p.piece()
}

// compute evaluates the expressions for the rows sel of b.
func (p *project) compute(b *types.Batch, sel []int32) error {
	for i, e := range p.exprs {
		if c, ok := e.Column(); ok {
			p.out.Cols[i] = p.retyped(i, b.Cols[c])
			continue
		}
		p.out.Cols[i] = &p.own[i]
		if err := e.Eval(&p.run.ev, b, sel, &p.own[i]); err != nil {
			return err
		}
	}
	p.out.Len, p.out.Sel = b.Len, sel
	return nil
}

// retyped shares a column under the type of the expression. A cast that leaves values as they are,
// such as int4 to int8, costs nothing, but the type decides how the value is sent to the client.
func (p *project) retyped(i int, col *types.Vec) *types.Vec {
	t := p.exprs[i].Type()
	if t == col.Type || t.OID == col.Type.OID && t.Mod == col.Type.Mod {
		return col
	}
	p.own[i] = *col
	p.own[i].Type = t
	return &p.own[i]
}

// empty returns a batch without rows, for which no expression is evaluated.
func (p *project) empty() *types.Batch {
	for i, e := range p.exprs {
		p.own[i].Reset(e.Type())
		p.out.Cols[i] = &p.own[i]
	}
	p.out.Len, p.out.Sel = 0, nil
	return &p.out
}
