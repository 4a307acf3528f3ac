package exec

import (
	"context"
	"errors"
	"iter"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// funcScan runs a set-returning function in FROM. The function pushes its rows; a coroutine turns
// that into pulling, so that LIMIT over an endless series ends.
type funcScan struct {
	run     *run
	node    *physical.FuncScan
	args    []scalarExpr
	scalar  scalarExpr
	batch   *types.Batch
	count   int64 // rows so far, for WITH ORDINALITY
	started bool
	next    func() (struct{}, bool)
	stop    func()
	err     error // why the coroutine ended
}

// errStopped ends a set-returning function whose remaining rows are not needed.
var errStopped = errors.New("exec: set-returning function stopped")

func (r *run) buildFuncScan(n *physical.FuncScan) (operator, error) {
	return &funcScan{run: r, node: n, args: scalarExprs(n.Args), scalar: scalarExpr{e: n.Scalar}},
		nil
}

func (f *funcScan) Open(context.Context) error {
	f.halt()
	f.started, f.count, f.err = false, 0, nil
	return nil
}

func (f *funcScan) Close() error {
	f.halt()
	f.started = true
	return nil
}

func (f *funcScan) halt() {
	if f.stop != nil {
		f.stop()
		f.next, f.stop = nil, nil
	}
}

func (f *funcScan) Next(ctx context.Context) (*types.Batch, error) {
	f.run.ctx = ctx
	if !f.started {
		f.started = true
		if f.batch == nil {
			f.batch = types.NewBatchCap(columnTypes(f.node), 0)
		}
		f.batch.Reset()
		if f.node.Func == nil {
			return f.one()
		}
		if err := f.begin(); err != nil {
			return nil, err
		}
	}
	if f.next == nil {
		return nil, f.err
	}
	f.batch.Reset()
	if _, more := f.next(); !more {
		f.halt()
		if f.err != nil {
			return nil, f.err
		}
	}
	if f.batch.Len == 0 {
		return nil, nil
	}
	return f.batch, nil
}

// one is the row of a scalar function.
func (f *funcScan) one() (*types.Batch, error) {
	d, err := f.scalar.value(f.run)
	if err != nil {
		return nil, err
	}
	return f.batch, f.emit([]types.Datum{d})
}

func (f *funcScan) emit(row []types.Datum) error {
	f.count++
	cols := f.batch.Cols
	if f.node.Ordinality {
		cols[len(cols)-1].Append(types.NewInt(f.count))
		cols = cols[:len(cols)-1]
	}
	for i, c := range cols {
		c.Append(row[i])
	}
	f.batch.Len++
	return nil
}

// begin evaluates the arguments and readies the coroutine, which yields each time the batch is
// full.
func (f *funcScan) begin() error {
	args := make([]types.Datum, len(f.args))
	for i := range f.args {
		d, err := f.args[i].value(f.run)
		if err != nil {
			return err
		}
		if d.Null && !f.node.Func.NotStrict {
			return nil // no rows
		}
		args[i] = d
	}
	ts := argTypes(f.node.Args)
	rt := f.run.ev.Runtime
	f.next, f.stop = iter.Pull(func(yield func(struct{}) bool) {
		rt.ArgTypes = ts
		f.err = f.node.Func.Set(rt, args, func(row []types.Datum) error {
			if err := f.emit(row); err != nil {
				return err
			}
			if f.batch.Len < types.BatchSize {
				return nil
			}
			if !yield(struct{}{}) {
				return errStopped
			}
			return f.run.context().Err()
		})
	})
	return nil
}

func argTypes(es []expr.Expr) []*types.Type {
	ts := make([]*types.Type, len(es))
	for i, e := range es {
		ts[i] = e.Type()
	}
	return ts
}
