package exec

import (
	"context"

	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// distinct passes on the first row of each key. The key is all columns, or the expressions of
// DISTINCT ON.
//
// When the table of keys exceeds its share of memory it takes no more. From then on a row whose key
// it does not have is written to a partition, and the partitions are worked on after the input, one
// by one. Where the input is in order, for DISTINCT ON or because it was sorted, the rows of the
// partitions are numbered and sorted by their numbers in the end.
type distinct struct {
	run   *run
	child operator
	on    []*eval.Program // nil: all columns
	keeps bool            // the rows keep their order
	types []*types.Type   // of the child's columns
	table *keyTable
	vecs  []*types.Vec
	found []int32
	sel   []int32
	out   types.Batch

	childEnd bool
	parts    *partitions // of what is being read; nil: the table takes all keys
	pile     pile
	number   types.Vec // if keeps: numbers of the rows of a batch
	written  int64
	order    *rowSorter // if keeps: rows of partitions
	ordered  bool       // order gives its rows
}

func (r *run) buildDistinct(n *physical.Distinct) (operator, error) {
	child, err := r.build(n.Child)
	if err != nil {
		return nil, err
	}
	d := &distinct{run: r, child: child, types: columnTypes(n.Child),
		keeps: n.Sorted || len(n.On) > 0}
	ts := d.types
	if len(n.On) > 0 {
		if d.on, err = compileAll(n.On); err != nil {
			return nil, err
		}
		ts = programTypes(d.on)
	}
	d.table = newKeyTable(&r.mem, ts)
	r.noteSpill(n, &d.pile.spilled)
	return d, nil
}

func (d *distinct) Open(ctx context.Context) error {
	d.forget()
	d.table.reset()
	return d.child.Open(ctx)
}

// forget drops what was written to disk.
func (d *distinct) forget() {
	d.parts.free()
	d.pile.free()
	if d.order != nil {
		d.order.free()
	}
	d.childEnd, d.parts, d.order, d.ordered, d.written = false, nil, nil, false, 0
}

func (d *distinct) Close() error {
	d.forget()
	d.table.free()
	return d.child.Close()
}

func (d *distinct) Next(ctx context.Context) (*types.Batch, error) {
	for !d.ordered {
		b, err := d.input(ctx)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if b == nil {
			if d.order == nil {
				return nil, nil
			}
			d.ordered = true
			if err := d.order.finish(ctx); err != nil {
				return nil, err
			}
			break
		}
		d.run.ctx = ctx
		cols := b.Cols[:len(d.types)]
		if d.on != nil {
			if d.vecs, err = d.run.evalKeys(d.on, b, d.vecs); err != nil {
				return nil, err
			}
			cols = d.vecs
		}
		if err := d.choose(ctx, b, cols); err != nil {
			return nil, err
		}
		if len(d.sel) > 0 {
			d.out = types.Batch{Cols: b.Cols, Len: b.Len, Sel: d.sel}
			return &d.out, nil
		}
	}
	return d.order.next(ctx, len(d.types))
}

// input returns the next rows of the child, and then those of the partitions.
func (d *distinct) input(ctx context.Context) (*types.Batch, error) {
	if !d.childEnd {
		b, err := d.child.Next(ctx)
		if b != nil || err != nil {
			return b, err
		}
		d.childEnd = true
	}
	for {
		if d.pile.reader != nil {
			b, err := d.pile.reader.Next()
			if b != nil || err != nil {
				return b, err
			}
		}
		if d.parts != nil {
			if err := d.pile.put(d.parts); err != nil {
				return nil, err
			}
			d.parts = nil
		}
		if !d.pile.take() {
			return nil, nil
		}
		d.table.free()
	}
}

// choose makes sel the rows of b to return: those with new keys.
func (d *distinct) choose(ctx context.Context, b *types.Batch, keys []*types.Vec) (err error) {
	sel := selection(b)
	if d.parts == nil && d.pile.at.depth < deepest && d.table.len() > 0 &&
		d.run.mem.full(d.table.held(), d.table.need(keys, sel)) {
		ts := d.types
		if d.keeps {
			ts = append(ts[:len(ts):len(ts)], types.TInt8)
		}
		d.parts = d.run.newPartitions(ts, d.pile.at.depth)
	}
	if d.parts == nil {
		d.sel, d.found, err = d.table.addNew(keys, sel, d.sel, d.found)
		if err != nil || !d.keeps || d.pile.reader == nil || len(d.sel) == 0 {
			return err
		}
		err = d.order.add(ctx, b.Cols, d.sel)
		d.sel = d.sel[:0]
		return err
	}
	d.found = d.table.find(keys, sel, d.found)
	d.sel = missing(sel, d.found, d.sel)
	cols := b.Cols
	if d.keeps && d.pile.reader == nil {
		cols = d.numbered(b)
	}
	err = d.parts.add(cols, keys, d.sel)
	d.sel = d.sel[:0]
	return err
}

// numbered adds a column with the numbers of the rows sel of a batch.
func (d *distinct) numbered(b *types.Batch) []*types.Vec {
	if d.order == nil {
		n := len(d.types)
		d.order = newRowSorter(d.run, append(d.types[:n:n], types.TInt8), make([]opt.SortKey, 1),
			[]int{n})
	}
	d.number.Reset(types.TInt8)
	d.number.Resize(b.Len)
	for _, i := range d.sel {
		d.number.I[i] = d.written
		d.written++
	}
	return append(b.Cols[:len(b.Cols):len(b.Cols)], &d.number)
}

// missing appends to dst[:0] the rows of sel for which found has no key number.
func missing(sel, found, dst []int32) []int32 {
	if dst == nil {
		dst = make([]int32, 0, len(sel))
	}
	dst = dst[:0]
	for k, i := range sel {
		if found[k] < 0 {
			dst = append(dst, i)
		}
	}
	return dst
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
