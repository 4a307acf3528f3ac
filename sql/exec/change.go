package exec

import (
	"context"

	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// change is UPDATE and DELETE: rows of the child begin with all columns of the table.
type change struct {
	modification
	columns int       // of the table
	once    *keyTable // row keys seen, where a row may come twice
	vecs    []*types.Vec
	fresh   []int32
	numbers []int32
	stored  *rowStore // rows to change, with the values of set

	// UPDATE only.
	deletes bool
	assign  []opt.Assign
	set     []*eval.Program
	// generated assigns to generated columns, over the new row.
	generated generatedColumns
	old       []types.Datum
	next      []types.Datum // the new row, then the child's further columns
	node      physical.Node // the child
}

func (r *run) buildUpdate(n *physical.Update) (operator, error) {
	m, err := r.newModification(n.Child, n.Table, n.Checks, n.ViewChecks, n.Returning)
	if err != nil {
		return nil, err
	}
	c := &change{modification: *m, assign: n.Set}
	exprs := make([]expr.Expr, len(n.Set))
	for i, s := range n.Set {
		exprs[i] = s.Expr
	}
	if c.set, err = compileAll(exprs); err != nil {
		return nil, err
	}
	if c.generated, err = compileGenerated(n.Generated); err != nil {
		return nil, err
	}
	c.prepare(n.Child, exprs)
	return c, nil
}

func (r *run) buildDelete(n *physical.Delete) (operator, error) {
	m, err := r.newModification(n.Child, n.Table, nil, nil, n.Returning)
	if err != nil {
		return nil, err
	}
	c := &change{modification: *m, deletes: true}
	c.prepare(n.Child, nil)
	return c, nil
}

// prepare decides how the child is read, and when to write.
func (c *change) prepare(child physical.Node, set []expr.Expr) {
	c.before, c.node = c.run.modification, child
	c.run.modification = &c.modification
	c.columns = len(c.desc.Columns)
	if singleScan(child) == nil || c.run.modifies() {
		c.once = c.touchedKeys()
	}
	c.old = make([]types.Datum, c.columns)
	c.next = make([]types.Datum, len(child.Columns()))
	if !c.run.frozen && !streams(child, set) {
		c.stored = newRowStore(&c.run.mem, append(columnTypes(child), programTypes(c.set)...))
	}
}

func (c *change) Open(ctx context.Context) error {
	c.forget()
	return c.modification.Open(ctx)
}

func (c *change) Close() error {
	c.forget()
	return c.modification.Close()
}

func (c *change) forget() {
	if c.stored != nil {
		c.stored.free()
	}
}

func (c *change) Next(ctx context.Context) (*types.Batch, error) {
	if !c.done {
		c.done = true
		if err := eachBatch(ctx, c.child, c.take); err != nil {
			return nil, err
		}
		if c.stored != nil {
			if err := c.stored.each(ctx, c.apply); err != nil {
				return nil, err
			}
			c.stored.free()
		}
	}
	return c.output(ctx)
}

// take computes the new values for a batch of the child, and applies or stores them.
func (c *change) take(ctx context.Context, b *types.Batch) (err error) {
	c.run.ctx = ctx
	sel := selection(b)
	if c.once != nil {
		c.vecs = c.vecs[:0]
		for _, k := range c.keyCols {
			c.vecs = append(c.vecs, b.Cols[k])
		}
		if c.fresh, c.numbers, err = c.once.addNew(c.vecs, sel, c.fresh, c.numbers); err != nil {
			return err
		}
		if sel = c.fresh; len(sel) == 0 {
			return nil
		}
	}
	c.vecs = append(c.vecs[:0], b.Cols...)
	for _, p := range c.set {
		v, err := p.EvalVec(&c.run.ev, b, sel)
		if err != nil {
			return err
		}
		c.vecs = append(c.vecs, v)
	}
	if c.stored != nil {
		return c.stored.add(c.vecs, sel)
	}
	return c.apply(ctx, &types.Batch{Cols: c.vecs, Len: b.Len, Sel: sel})
}

// apply changes the rows of b: the child's columns, then the values of set.
func (c *change) apply(ctx context.Context, b *types.Batch) error {
	width := len(c.next)
	for _, r := range selection(b) {
		readRow(b.Cols[:c.columns], int(r), c.old)
		copy(c.next, c.old)
		if c.returned != nil {
			readRow(b.Cols[c.columns:width], int(r), c.next[c.columns:])
		}
		if !c.deletes {
			if err := c.assignNew(b, int(r)); err != nil {
				return err
			}
		}
		err := c.write(ctx)
		if isStale(err) {
			if again := c.run.newRecheck(c.node); again != nil {
				if err := c.recheckRow(ctx, err, again); err != nil {
					return err
				}
				continue
			}
		}
		if err != nil {
			return err
		}
		if c.run.modifies() && !c.deletes {
			if err := c.touch(c.next); err != nil { // its key may have changed
				return err
			}
		}
		c.wrote()
		if c.deletes {
			c.changed.Deleted++
		} else {
			c.changed.Updated++
			if err := c.verifyViews(c.next[:c.columns]); err != nil {
				return err
			}
		}
		if err := c.emit(c.next); err != nil {
			return err
		}
	}
	return nil
}

// recheckRow changes the newest version of the row c.old, if it is still among the rows to change.
// A write first locks the row, so nothing of the first attempt has been written.
func (c *change) recheckRow(ctx context.Context, stale error, l *recheck) error {
	cols, _ := rowKey(c.desc)
	key := make([]types.Datum, len(cols))
	for i, o := range cols {
		key[i] = c.old[o]
	}
	exprs := make([]expr.Expr, len(c.assign))
	for i, a := range c.assign {
		exprs[i] = a.Expr
	}
	set, err := compileAll(exprs) // programs own their results, and the first ones' are in use
	if err != nil {
		return err
	}
	return l.row(ctx, stale, key, func(b *types.Batch) error {
		sel := selection(b)
		vecs := append([]*types.Vec(nil), b.Cols...)
		for _, p := range set {
			v, err := p.EvalVec(&c.run.ev, b, sel)
			if err != nil {
				return err
			}
			vecs = append(vecs, v)
		}
		return c.apply(ctx, &types.Batch{Cols: vecs, Len: b.Len, Sel: sel})
	})
}

// assignNew makes the new row from the values of set in row of b.
func (c *change) assignNew(b *types.Batch, row int) error {
	for i, s := range c.assign {
		c.next[s.Column] = b.Cols[len(c.next)+i].Get(row)
	}
	if err := c.generated.compute(&c.run.ev, c.next); err != nil {
		return err
	}
	return c.verify(c.next[:c.columns])
}

// write writes the change of c.old to c.next.
func (c *change) write(ctx context.Context) error {
	tx := c.run.env.Tx
	if c.deletes {
		return c.writer.Delete(ctx, tx, c.old)
	}
	return c.writer.Update(ctx, tx, c.old, c.next[:c.columns])
}
