package exec

import (
	"context"

	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// filter narrows the selection of its child's batches.
type filter struct {
	run   *run
	child operator
	cond  condition
}

func (r *run) buildFilter(n *physical.Filter) (operator, error) {
	child, err := r.build(n.Child)
	if err != nil {
		return nil, err
	}
	cond, err := eval.Compile(n.Cond)
	if err != nil {
		return nil, err
	}
	return &filter{run: r, child: r.stepwise(child, n.Cond), cond: condition{run: r, prog: cond}},
		nil
}

func (f *filter) Open(ctx context.Context) error {
	f.cond.failed = nil
	return f.child.Open(ctx)
}

func (f *filter) Close() error { return f.child.Close() }

func (f *filter) Next(ctx context.Context) (*types.Batch, error) {
	for f.cond.failed == nil {
		b, err := f.child.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		f.run.ctx = ctx
		if b, err = f.cond.narrow(b); err != nil || b != nil {
			return b, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return nil, f.cond.failed
}
