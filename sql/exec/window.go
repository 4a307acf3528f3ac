package exec

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// window reads all its input, sorts it by partition and order, and computes its calls partition by
// partition. It returns the rows in that order.
type window struct {
	run   *run
	child operator
	node  *physical.Window
	width int // columns of the child

	partition []*eval.Program
	order     []*eval.Program
	calls     []*windowCall
	store     *rowStore // child's columns, partition keys, order keys, arguments of the calls
	rows      *rowStore // the same in order
	results   []*types.Vec
	ready     bool
	at        int
	vecs      []*types.Vec
	view      types.Batch
	out       types.Batch
	own       []types.Vec
}

// windowCall is a compiled call.
type windowCall struct {
	call       *opt.WindowCall
	args       []*eval.Program
	types      []*types.Type
	result     *types.Type
	cols       []*types.Vec // arguments of all rows, in order
	start, end scalarExpr
}

func (r *run) buildWindow(n *physical.Window) (operator, error) {
	child, err := r.build(n.Child)
	if err != nil {
		return nil, err
	}
	w := &window{run: r, child: child, node: n}
	ts := columnTypes(n.Child)
	w.width = len(ts)
	if w.partition, err = compileAll(n.PartitionBy); err != nil {
		return nil, err
	}
	ts = append(ts, programTypes(w.partition)...)
	for _, k := range n.OrderBy {
		p, err := eval.Compile(k.Expr)
		if err != nil {
			return nil, err
		}
		w.order = append(w.order, p)
		ts = append(ts, p.Type())
	}
	for i := range n.Calls {
		c := &n.Calls[i]
		wc := &windowCall{call: c, types: argTypes(c.Args), result: n.Columns()[w.width+i].Type,
			start: scalarExpr{e: c.Frame.Start}, end: scalarExpr{e: c.Frame.End}}
		if wc.args, err = compileAll(c.Args); err != nil {
			return nil, err
		}
		if c.Agg == nil && !windowFunctions[c.Name] {
			return nil, sqlerr.Unsupported(0, "window function "+c.Name)
		}
		ts = append(ts, wc.types...)
		w.calls = append(w.calls, wc)
	}
	w.store, w.rows = newRowStore(&r.mem, ts), newRowStore(&r.mem, ts)
	return w, nil
}

func (w *window) Open(ctx context.Context) error {
	w.forget()
	return w.child.Open(ctx)
}

func (w *window) forget() {
	w.ready, w.at, w.results = false, 0, nil
	w.store.free()
	w.rows.free()
}

func (w *window) Close() error {
	w.forget()
	return w.child.Close()
}

func (w *window) take(ctx context.Context, b *types.Batch) error {
	w.run.ctx = ctx
	w.vecs = append(w.vecs[:0], b.Cols[:w.width]...)
	add := func(ps []*eval.Program) error {
		for _, p := range ps {
			v, err := p.EvalVec(&w.run.ev, b, b.Sel)
			if err != nil {
				return err
			}
			w.vecs = append(w.vecs, v)
		}
		return nil
	}
	if err := add(w.partition); err != nil {
		return err
	}
	if err := add(w.order); err != nil {
		return err
	}
	for _, c := range w.calls {
		if err := add(c.args); err != nil {
			return err
		}
	}
	return w.store.add(w.vecs, selection(b))
}

// sort moves the rows from store to rows in their order and returns the keys over rows.
func (w *window) sort(ctx context.Context) (partition, order []orderKey, err error) {
	keys := func(cols []*types.Vec) (partition, order []orderKey) {
		at := w.width
		for range w.partition {
			partition = append(partition, orderKey{col: cols[at]})
			at++
		}
		for _, k := range w.node.OrderBy {
			order = append(order, orderKey{col: cols[at], desc: k.Desc, nullsFirst: k.NullsFirst})
			at++
		}
		return partition, order
	}
	if err := w.store.charge(int64(w.store.len) * (sortEntryBytes + 4)); err != nil {
		return nil, nil, err
	}
	p, o := keys(w.store.cols)
	sorted, err := sortRows(ctx, append(p[:len(p):len(p)], o...), w.store.len)
	if err != nil {
		return nil, nil, err
	}
	numbers := make([]int32, len(sorted))
	for i, e := range sorted {
		numbers[i] = e.row
	}
	if err := w.rows.add(w.store.cols, numbers); err != nil {
		return nil, nil, err
	}
	w.store.free()
	partition, order = keys(w.rows.cols)
	at := w.width + len(partition) + len(order)
	for _, c := range w.calls {
		c.cols = w.rows.cols[at : at+len(c.args)]
		at += len(c.args)
	}
	return partition, order, nil
}

func (w *window) compute(ctx context.Context) error {
	if err := eachBatch(ctx, w.child, w.take); err != nil {
		return err
	}
	w.run.ctx = ctx
	partition, order, err := w.sort(ctx)
	if err != nil {
		return err
	}
	n := w.rows.len
	for _, c := range w.calls {
		if err := w.rows.charge(int64(n) * c.result.Family.Storage().EntryWidth()); err != nil {
			return err
		}
		v := types.NewVec(c.result, n)
		v.Resize(n)
		w.results = append(w.results, v)
	}
	for from := 0; from < n; {
		to := from + 1
		for to < n && compareRows(partition, from, to) == 0 {
			to++
		}
		part := newPartition(w.run, from, to, order)
		for i, c := range w.calls {
			if err := c.compute(part, w.results[i]); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		from = to
	}
	w.ready = true
	return nil
}

func (w *window) Next(ctx context.Context) (*types.Batch, error) {
	if !w.ready {
		if err := w.compute(ctx); err != nil {
			return nil, err
		}
	}
	if !w.rows.view(&w.view, w.at) {
		return nil, nil
	}
	if w.own == nil {
		w.own = make([]types.Vec, len(w.calls))
	}
	w.out.Cols = append(w.out.Cols[:0], w.view.Cols[:w.width]...)
	for i, v := range w.results {
		w.own[i].Slice(v, w.at, w.at+w.view.Len)
		w.out.Cols = append(w.out.Cols, &w.own[i])
	}
	w.out.Len = w.view.Len
	w.at += w.view.Len
	return &w.out, ctx.Err()
}
