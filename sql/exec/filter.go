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
	cond  *eval.Program
	sel   []int32
	out   types.Batch
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
	return &filter{run: r, child: child, cond: cond}, nil
}

func (f *filter) Open(ctx context.Context) error { return f.child.Open(ctx) }
func (f *filter) Close() error                   { return f.child.Close() }

func (f *filter) Next(ctx context.Context) (*types.Batch, error) {
	for {
		b, err := f.child.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		f.run.ctx = ctx
		if err := f.narrow(b); err != nil {
			return nil, err
		}
		if len(f.out.Sel) > 0 {
			return &f.out, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// narrow makes out show the rows of b that pass.
func (f *filter) narrow(b *types.Batch) (err error) {
	if f.sel == nil {
		f.sel = make([]int32, 0, b.Rows())
	}
	if f.sel, err = f.cond.EvalBool(&f.run.ev, b, b.Sel, f.sel); err != nil {
		return err
	}
	f.out = types.Batch{Cols: b.Cols, Len: b.Len, Sel: f.sel}
	return nil
}
