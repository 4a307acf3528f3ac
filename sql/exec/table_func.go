package exec

import (
	"errors"
	"iter"

	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table/types"
)

// tableFunc runs a function of FROM. A set-returning function pushes its rows; a coroutine turns
// that into pulling, so that LIMIT over an endless series ends.
type tableFunc struct {
	run    *run
	def    *opt.TableFunc
	types  []*types.Type // of the arguments
	args   []scalarExpr
	scalar scalarExpr
	batch  *types.Batch
	row    int // of batch: the next one that appendRow takes
	begun  bool
	pull   func() (struct{}, bool)
	stop   func()
	err    error // why the coroutine ended
}

// errStopped ends a set-returning function whose remaining rows are not needed.
var errStopped = errors.New("exec: set-returning function stopped")

func newTableFunc(r *run, def *opt.TableFunc, columns []*types.Type) *tableFunc {
	return &tableFunc{run: r, def: def, types: argTypes(def.Args), args: scalarExprs(def.Args),
		scalar: scalarExpr{e: def.Scalar}, batch: types.NewBatchCap(columns, 0)}
}

// restart makes the function begin anew.
func (f *tableFunc) restart() {
	f.halt()
	f.begun, f.err = false, nil
}

// end makes the function return no further rows.
func (f *tableFunc) end() {
	f.halt()
	f.begun = true
}

func (f *tableFunc) halt() {
	if f.stop != nil {
		f.stop()
		f.pull, f.stop = nil, nil
	}
	f.batch.Reset()
	f.row = 0
}

// next returns the next rows, nil at the end. They are valid until the call after it.
func (f *tableFunc) next() (*types.Batch, error) {
	f.batch.Reset()
	f.row = 0
	if !f.begun {
		f.begun = true
		if err := f.begin(); err != nil {
			return nil, err
		}
	}
	if f.pull != nil {
		f.run.ev.Runtime.ArgTypes = f.types // another function may have run since the last call
		if _, more := f.pull(); !more {
			f.pull, f.stop = nil, nil
		}
	}
	if f.err != nil || f.batch.Len == 0 {
		return nil, f.err
	}
	return f.batch, nil
}

// advance reports whether there is a row for appendRow.
func (f *tableFunc) advance() (bool, error) {
	if f.row < f.batch.Len {
		return true, nil
	}
	b, err := f.next()
	return b != nil, err
}

// appendRow adds the current row to cols and moves to the next one; after the end it adds NULLs.
func (f *tableFunc) appendRow(cols []*types.Vec) {
	for i, c := range cols {
		d := types.Null
		if f.row < f.batch.Len {
			d = f.batch.Cols[i].Get(f.row)
		}
		c.Append(d)
	}
	f.row++
}

// begin makes the only row of a scalar function, or evaluates the arguments of a set-returning one
// and readies the coroutine, which yields each time the batch is full.
func (f *tableFunc) begin() error {
	if f.def.Func == nil {
		d, err := f.scalar.value(f.run)
		if err != nil {
			return err
		}
		return f.append([]types.Datum{d})
	}
	args := make([]types.Datum, len(f.args))
	for i := range f.args {
		d, err := f.args[i].value(f.run)
		if err != nil {
			return err
		}
		if d.Null && !f.def.Func.NotStrict {
			return nil // no rows
		}
		args[i] = d
	}
	f.pull, f.stop = iter.Pull(func(yield func(struct{}) bool) {
		f.err = f.def.Func.Set(f.run.ev.Runtime, args, func(row []types.Datum) error {
			if err := f.append(row); err != nil {
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

// append adds a row of the function to the batch.
func (f *tableFunc) append(row []types.Datum) error {
	if f.def.Record != nil {
		var err error
		if row, err = builtin.Fields(f.def.Record, row[0]); err != nil {
			return err
		}
	}
	f.batch.AppendRow(row)
	return nil
}

func argTypes(es []expr.Expr) []*types.Type {
	ts := make([]*types.Type, len(es))
	for i, e := range es {
		ts[i] = e.Type()
	}
	return ts
}
