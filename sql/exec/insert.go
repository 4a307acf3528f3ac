package exec

import (
	"context"
	"errors"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/rowlock"
)

// insert writes its child's rows.
type insert struct {
	modification
	stored   bool // the child is read to its end before anything is written
	conflict *onConflict
	row      []types.Datum
	load     *table.Load // takes the rows, instead of the transaction; or nil
}

// onConflict is a compiled ON CONFLICT clause.
type onConflict struct {
	node  *physical.OnConflict
	set   []*eval.Program
	where *eval.Program
	// generated assigns to generated columns, over what the existing row becomes.
	generated generatedColumns
	// targets are the policies on the existing row, policies those on what it becomes.
	targets, policies []check

	lock rowlock.Mode  // of the existing row
	pair []types.Datum // the existing row, then the excluded one
	next []types.Datum
}

func (r *run) buildInsert(n *physical.Insert) (operator, error) {
	m, err := r.newModification(n.Child, n.Table, n.Checks, n.ViewChecks, n.Returning)
	if err != nil {
		return nil, err
	}
	i := &insert{modification: *m, stored: !r.frozen && readsTable(n.Child, n.Table.ID)}
	i.row = make([]types.Datum, len(n.Table.Columns))
	i.before, r.modification = r.modification, &i.modification
	if n.OnConflict == nil {
		return i, nil
	}
	c := &onConflict{node: n.OnConflict, lock: rowlock.NoKeyUpdate}
	for _, s := range slices.Concat(n.OnConflict.Set, n.OnConflict.Generated) {
		if n.Table.InUniqueKey(s.Column) {
			c.lock = rowlock.Update
		}
	}
	for _, s := range n.OnConflict.Set {
		p, err := eval.Compile(s.Expr)
		if err != nil {
			return nil, err
		}
		c.set = append(c.set, p)
	}
	if c.generated, err = compileGenerated(n.OnConflict.Generated); err != nil {
		return nil, err
	}
	if c.where, err = compileOptional(n.OnConflict.Where); err != nil {
		return nil, err
	}
	if c.targets, _, err = compileChecks(n.OnConflict.Targets); err != nil {
		return nil, err
	}
	if c.policies, _, err = compileChecks(n.OnConflict.Checks); err != nil {
		return nil, err
	}
	i.conflict = c
	return i, nil
}

func (i *insert) Next(ctx context.Context) (*types.Batch, error) {
	if !i.done {
		i.done = true
		if err := i.all(ctx); err != nil {
			return nil, err
		}
	}
	return i.output(ctx)
}

func (i *insert) all(ctx context.Context) error {
	if i.load = i.run.env.Load; i.load != nil || i.conflict != nil || i.run.modifies() {
		return i.each(ctx)
	}
	var err error
	if i.load, err = table.NewLoad(ctx, i.run.env.Tx, i.desc); err != nil {
		return err
	}
	defer i.load.Abandon()
	if err = i.each(ctx); err == nil && i.load != nil {
		err = i.load.Finish(ctx)
	}
	var taken *table.TakenError
	if errors.As(err, &taken) {
		return taken.Err
	}
	return err
}

// each inserts all rows of the child.
func (i *insert) each(ctx context.Context) error {
	if !i.stored {
		return eachBatch(ctx, i.child, i.batch)
	}
	return i.run.storeThen(ctx, i.child, i.batch)
}

// storeThen reads an operator to its end, and then calls fn with the rows in batches.
func (r *run) storeThen(ctx context.Context, op operator,
	fn func(context.Context, *types.Batch) error) error {
	var store *rowStore
	err := eachBatch(ctx, op, func(_ context.Context, b *types.Batch) error {
		if store == nil {
			ts := make([]*types.Type, len(b.Cols))
			for i, c := range b.Cols {
				ts[i] = c.Type
			}
			store = newRowStore(&r.mem, ts)
		}
		return store.addBatch(b)
	})
	if err != nil {
		return err
	}
	if store == nil {
		return nil
	}
	defer store.free()
	return store.each(ctx, fn)
}

// each calls fn with the stored rows in batches.
func (s *rowStore) each(ctx context.Context, fn func(context.Context, *types.Batch) error) error {
	var view types.Batch
	for at := 0; s.view(&view, at); at += view.Len {
		if err := fn(ctx, &view); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

func (i *insert) batch(ctx context.Context, b *types.Batch) error {
	i.run.ctx = ctx
	rows := selection(b)
	if i.load == nil {
		if err := i.writer.Foretell(ctx, i.run.env.Tx, len(rows), func(n int) []types.Datum {
			readRow(b.Cols, int(rows[n]), i.row)
			return i.row
		}); err != nil {
			return err
		}
	}
	for _, r := range rows {
		readRow(b.Cols, int(r), i.row)
		if err := i.one(ctx); err != nil {
			return err
		}
	}
	return nil
}

// one inserts i.row.
func (i *insert) one(ctx context.Context) error {
	if err := i.verify(i.row); err != nil {
		return err
	}
	if i.conflict != nil {
		if resolved, err := i.resolve(ctx); resolved || err != nil {
			return err
		}
	}
	if err := i.write(ctx); err != nil {
		return err
	}
	if i.conflict != nil && i.conflict.node.Update || i.run.modifies() {
		if err := i.touch(i.row); err != nil {
			return err
		}
	}
	i.wrote()
	i.changed.Inserted++
	if err := i.verifyViews(i.row); err != nil {
		return err
	}
	return i.emit(i.row)
}

func (i *insert) write(ctx context.Context) error {
	if i.load != nil {
		return i.writer.Load(ctx, i.run.env.Tx, i.load, i.row)
	}
	return i.writer.Insert(ctx, i.run.env.Tx, i.row)
}

// resolve applies ON CONFLICT when a row with the same key exists.
func (i *insert) resolve(ctx context.Context) (bool, error) {
	c := i.conflict
	if err := i.writer.CheckNulls(i.row); err != nil {
		return false, err
	}
	existing, _, found, err := i.writer.Conflict(ctx, i.run.env.Tx, i.row, c.node.Arbiters)
	if err != nil || !found {
		return false, err
	}
	if !c.node.Update {
		return true, nil
	}
	if i.isTouched(existing) {
		return true, sqlerr.New(sqlerr.CardinalityViolation,
			"ON CONFLICT DO UPDATE command cannot affect row a second time").
			WithHint("Ensure that no rows proposed for insertion within the same command have " +
				"duplicate constrained values.")
	}
	// The row is locked before it is tested: it may have changed by the end of the wait.
	if c.where != nil || c.targets != nil || i.run.env.Tx.LocksWrites() {
		if err := i.writer.LockRow(ctx, i.run.env.Tx, existing, c.lock); err != nil {
			return true, err
		}
	}
	c.pair = append(append(c.pair[:0], existing...), i.row...)
	if update, err := c.chosen(&i.run.ev); err != nil || !update {
		return true, err
	}
	if err := i.allowed(c.targets, existing); err != nil {
		return true, err
	}
	if err := c.assign(&i.run.ev, existing); err != nil {
		return true, err
	}
	if err := i.allowed(c.policies, c.next); err != nil {
		return true, err
	}
	if err := i.obeys(c.next); err != nil {
		return true, err
	}
	if err := i.writer.Update(ctx, i.run.env.Tx, existing, c.next); err != nil {
		return true, err
	}
	if err := i.touch(c.next); err != nil {
		return true, err
	}
	i.wrote()
	i.changed.Updated++
	if err := i.verifyViews(c.next); err != nil {
		return true, err
	}
	rt := i.run.ev.Runtime
	rt.Replaced = true
	err = i.emit(c.next)
	rt.Replaced = false
	return true, err
}

// chosen reports whether WHERE is true for the existing row.
func (c *onConflict) chosen(ev *eval.Context) (bool, error) {
	if c.where == nil {
		return true, nil
	}
	d, err := c.where.EvalRow(ev, c.pair)
	return err == nil && d.Bool(), err
}

// assign makes next of the existing row and SET.
func (c *onConflict) assign(ev *eval.Context, existing []types.Datum) error {
	c.next = append(c.next[:0], existing...)
	for k, p := range c.set {
		d, err := p.EvalRow(ev, c.pair)
		if err != nil {
			return err
		}
		c.next[c.node.Set[k].Column] = d
	}
	return c.generated.compute(ev, c.next)
}
