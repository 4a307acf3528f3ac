package exec

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// window reads all its input, sorts it by partition and order, and computes its calls for the rows
// of a batch as they are asked for. It returns the rows in that order.
type window struct {
	run   *run
	child operator
	width int // columns of the child

	// evaluated are the partition keys, the order keys and the arguments of the calls, which follow
	// the child's columns in rows.
	evaluated []*eval.Program
	keys      partitionKeys
	calls     []*windowCall
	rows      windowRows
	part      *partition // of the last row returned; nil: there is none
	ready     bool
	at        int
	vecs      []*types.Vec
	results   []*types.Vec
	out       types.Batch
}

// windowCall is a compiled call.
type windowCall struct {
	call       *opt.WindowCall
	types      []*types.Type
	result     *types.Type
	first      int // column of its first argument
	start, end scalarExpr
	rows       *windowRows
	walk       frameWalk
}

// arg is argument k of row i.
func (c *windowCall) arg(k, i int) types.Datum {
	cols, at := c.rows.at(i)
	return cols[c.first+k].Get(at)
}

func (r *run) buildWindow(n *physical.Window) (operator, error) {
	child, err := r.build(n.Child)
	if err != nil {
		return nil, err
	}
	w := &window{run: r, child: child}
	ts := columnTypes(n.Child)
	w.width = len(ts)
	var keys []opt.SortKey
	for _, e := range n.PartitionBy {
		keys = append(keys, opt.SortKey{Expr: e})
	}
	keys = append(keys, n.OrderBy...)
	var exprs []expr.Expr
	var from []int
	for i, k := range keys {
		exprs = append(exprs, k.Expr)
		from = append(from, w.width+i)
	}
	for i := range n.Calls {
		c := &n.Calls[i]
		if c.Agg == nil && !windowFunctions[c.Name] {
			return nil, sqlerr.Unsupported(0, "window function "+c.Name)
		}
		wc := &windowCall{call: c, types: argTypes(c.Args), result: n.Columns()[w.width+i].Type,
			first: w.width + len(exprs), rows: &w.rows,
			start: scalarExpr{e: c.Frame.Start}, end: scalarExpr{e: c.Frame.End}}
		exprs = append(exprs, c.Args...)
		w.calls = append(w.calls, wc)
		w.results = append(w.results, types.NewVec(wc.result, 0))
		w.keys.peers = w.keys.peers || wc.needsPeers()
	}
	if w.evaluated, err = compileAll(exprs); err != nil {
		return nil, err
	}
	w.keys.partition, w.keys.all = len(n.PartitionBy), len(keys)
	w.rows.sorter = newRowSorter(r, append(ts, programTypes(w.evaluated)...), keys, from)
	r.noteSpill(n, &w.rows.sorter.spilled)
	return w, nil
}

func (w *window) Open(ctx context.Context) error {
	w.forget()
	return w.child.Open(ctx)
}

func (w *window) forget() {
	w.dropPartition()
	w.ready, w.at = false, 0
	w.rows.reset()
}

func (w *window) dropPartition() {
	if w.part != nil {
		w.part.free()
		w.part = nil
	}
}

func (w *window) Close() error {
	w.forget()
	return w.child.Close()
}

func (w *window) take(ctx context.Context, b *types.Batch) error {
	w.run.ctx = ctx
	w.vecs = append(w.vecs[:0], b.Cols[:w.width]...)
	for _, p := range w.evaluated {
		v, err := p.EvalVec(&w.run.ev, b, b.Sel)
		if err != nil {
			return err
		}
		w.vecs = append(w.vecs, v)
	}
	return w.rows.sorter.add(ctx, w.vecs, selection(b))
}

func (w *window) Next(ctx context.Context) (*types.Batch, error) {
	if !w.ready {
		if err := eachBatch(ctx, w.child, w.take); err != nil {
			return nil, err
		}
		w.run.ctx = ctx
		if err := w.rows.sort(ctx); err != nil {
			return nil, err
		}
		w.ready = true
	}
	b, err := w.rows.next(ctx, w.width)
	if b == nil || err != nil {
		return nil, err
	}
	w.run.ctx = ctx
	w.out.Cols = append(w.out.Cols[:0], b.Cols[:w.width]...)
	for i, c := range w.calls {
		w.results[i].Reset(c.result)
		w.results[i].Resize(b.Len)
		w.out.Cols = append(w.out.Cols, w.results[i])
	}
	if err := w.compute(ctx, w.at, w.at+b.Len); err != nil {
		return nil, err
	}
	w.out.Len = b.Len
	w.at += b.Len
	return &w.out, nil
}

// compute sets the results of the rows from … to-1.
func (w *window) compute(ctx context.Context, from, to int) error {
	base := from
	for from < to {
		if w.part == nil || from == w.part.to {
			w.dropPartition()
			part, err := newPartition(ctx, w.run, &w.rows, from, w.keys)
			if err != nil {
				return err
			}
			w.part = part
			for _, c := range w.calls {
				if err := c.begin(part); err != nil {
					return err
				}
			}
		}
		end := min(to, w.part.to)
		for i, c := range w.calls {
			if err := c.compute(w.part, from, end, base, w.results[i]); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		from = end
	}
	return w.rows.err
}
