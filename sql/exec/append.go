package exec

import (
	"context"

	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// appendAll returns the rows of its inputs one after the other. It opens an input when the one
// before has ended.
type appendAll struct {
	inputs []operator
	at     int
	opened bool
}

func (r *run) buildAppend(n *physical.Append) (operator, error) {
	inputs, err := r.buildAll(n.Inputs)
	return &appendAll{inputs: inputs}, err
}

func (a *appendAll) Open(context.Context) error {
	a.at, a.opened = 0, false
	return nil
}

func (a *appendAll) Next(ctx context.Context) (*types.Batch, error) {
	for a.at < len(a.inputs) {
		in := a.inputs[a.at]
		if !a.opened {
			if err := in.Open(ctx); err != nil {
				return nil, err
			}
			a.opened = true
		}
		b, err := in.Next(ctx)
		if err != nil || b != nil {
			return b, err
		}
		if err := in.Close(); err != nil {
			return nil, err
		}
		a.at, a.opened = a.at+1, false
	}
	return nil, nil
}

func (a *appendAll) Close() error { return closeAll(a.inputs...) }

// closeAll closes operators and returns the first error.
func closeAll(ops ...operator) error {
	var first error
	for _, op := range ops {
		if err := op.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// eachBatch calls fn with each batch of an operator that has rows, to its end.
func eachBatch(ctx context.Context, op operator,
	fn func(context.Context, *types.Batch) error) error {
	for {
		b, err := op.Next(ctx)
		if err != nil || b == nil {
			return err
		}
		if b.Rows() > 0 {
			if err := fn(ctx, b); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}
