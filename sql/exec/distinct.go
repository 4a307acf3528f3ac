package exec

import (
	"context"

	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// distinct passes on the first row of each key. The key is all columns, or the expressions of
// DISTINCT ON.
type distinct struct {
	run   *run
	child operator
	on    []*eval.Program // nil: all columns
	table *keyTable
	vecs  []*types.Vec
	found []int32
	sel   []int32
	out   types.Batch
}

func (r *run) buildDistinct(n *physical.Distinct) (operator, error) {
	child, err := r.build(n.Child)
	if err != nil {
		return nil, err
	}
	d := &distinct{run: r, child: child}
	ts := columnTypes(n.Child)
	if len(n.On) > 0 {
		if d.on, err = compileAll(n.On); err != nil {
			return nil, err
		}
		ts = programTypes(d.on)
	}
	d.table = newKeyTable(&r.mem, ts)
	return d, nil
}

func (d *distinct) Open(ctx context.Context) error {
	d.table.reset()
	return d.child.Open(ctx)
}

func (d *distinct) Close() error {
	d.table.free()
	return d.child.Close()
}

func (d *distinct) Next(ctx context.Context) (*types.Batch, error) {
	for {
		b, err := d.child.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		d.run.ctx = ctx
		cols := b.Cols
		if d.on != nil {
			if d.vecs, err = d.run.evalKeys(d.on, b, d.vecs); err != nil {
				return nil, err
			}
			cols = d.vecs
		}
		if d.sel, d.found, err = d.table.addNew(cols, selection(b), d.sel, d.found); err != nil {
			return nil, err
		}
		if len(d.sel) > 0 {
			d.out = types.Batch{Cols: b.Cols, Len: b.Len, Sel: d.sel}
			return &d.out, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// addNew adds keys and appends to fresh[:0] the rows whose key was not there before.
func (t *keyTable) addNew(cols []*types.Vec, sel, fresh, numbers []int32) ([]int32, []int32,
	error) {
	n := int32(t.len())
	numbers, err := t.add(cols, sel, numbers)
	if err != nil {
		return nil, nil, err
	}
	if fresh == nil {
		fresh = make([]int32, 0, len(sel))
	}
	fresh = fresh[:0]
	for k, i := range sel {
		if numbers[k] == n {
			fresh = append(fresh, i)
			n++
		}
	}
	return fresh, numbers, nil
}
