package exec

import (
	"bytes"
	"context"
	"errors"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// recheck reads the newest version of a row that was changed by a transaction for which the
// statement waited, and tests it again: PostgreSQL's EvalPlanQual in READ COMMITTED. The rest of
// the statement continues in its own snapshot. Only statements over one scan are rechecked row by
// row; the session runs others again as a whole.
type recheck struct {
	run  *run
	node physical.Node
	scan *physical.Scan
	all  []int // ordinals of all columns
}

// newRecheck returns nil if the statement must run again as a whole: n is more than one scan with
// filters, projections and sorts above it.
func (r *run) newRecheck(n physical.Node) *recheck {
	s := recheckableScan(n)
	if !r.env.Recheck || s == nil {
		return nil
	}
	l := &recheck{run: r, node: n, scan: s, all: make([]int, len(s.Table.Columns))}
	for i := range l.all {
		l.all[i] = i
	}
	return l
}

// recheckableScan returns the one scan of a node if each of its rows can be rechecked by itself;
// otherwise nil.
func recheckableScan(n physical.Node) *physical.Scan {
	s := singleScan(n)
	if s == nil || physical.TreeHasExpr(n, expr.HasSubquery) {
		return nil
	}
	for at := n; at != physical.Node(s); at = at.Children()[0] {
		if _, limited := at.(*physical.Limit); limited {
			return nil
		}
	}
	return s
}

// LocksInPieces reports whether a plan locks the rows of one scan, each of which can be rechecked
// by itself if it was changed. Such a plan may return rows before it has locked all of them.
func LocksInPieces(plan *physical.Plan) bool {
	for n := plan.Root; ; {
		switch t := n.(type) {
		case *physical.LockRows:
			return recheckableScan(t.Child) != nil
		case *physical.Project:
			n = t.Child // without a list of its children: most plans are of this form
		default:
			children := n.Children()
			if len(children) != 1 {
				return false
			}
			n = children[0]
		}
	}
}

// isStale reports whether err is about a row that was changed after it was read.
func isStale(err error) bool {
	var stale *txn.StaleError
	return errors.As(err, &stale)
}

// row calls fn with what the plan makes of the newest version of the row with that key, read at the
// timestamp of the recheck. If that version is gone, the row may have got another key, under which
// it cannot be found: row then returns stale, the error that led here, and the statement runs again
// as a whole. A cursor may have returned rows already and cannot run again. For it, row finds out
// whether the row was simply deleted, and if so continues without it. Requires: the row is locked.
func (l *recheck) row(ctx context.Context, stale error, key []types.Datum,
	fn func(b *types.Batch) error) error {
	tx := l.run.env.Tx
	before := tx.ReadTS()
	if err := tx.Advance(ctx); err != nil {
		return err
	}
	defer tx.ReadAt(before)
	row := make([]types.Datum, len(l.all))
	found, err := table.GetRow(ctx, tx, l.scan.Table, key, l.all, row)
	if err != nil {
		return err
	}
	if !found {
		tx.ReadAt(before)
		if l.run.env.Incremental {
			if deleted, err := l.wasDeleted(ctx, stale); deleted || err != nil {
				return err
			}
		}
		return stale
	}
	if inside, err := l.inRanges(row); err != nil || !inside {
		return err
	}
	cols := columnTypes(l.scan)
	b := types.NewBatchCap(cols, 1)
	out := make([]types.Datum, len(l.scan.Out))
	for i, o := range l.scan.Out {
		out[i] = row[o]
	}
	b.AppendRow(out)
	op, err := l.run.build(l.over(l.node, b))
	if err != nil {
		return err
	}
	defer op.Close()
	if err := op.Open(ctx); err != nil {
		return err
	}
	return eachBatch(ctx, op, func(_ context.Context, b *types.Batch) error { return fn(b) })
}

// wasDeleted reports whether a row that is gone was deleted, rather than moved to another key: no
// transaction changed it between the snapshot and the commit that removed it, and that commit wrote
// no row of the table.
func (l *recheck) wasDeleted(ctx context.Context, stale error) (bool, error) {
	var gone *txn.StaleError
	if !errors.As(stale, &gone) {
		return false, nil
	}
	tx := l.run.env.Tx
	snapshot := tx.ReadTS()
	defer tx.ReadAt(snapshot)
	if written, err := tx.WrittenBetween(ctx, gone.Key, snapshot, gone.CommitTS); err != nil ||
		written {
		return false, err
	}
	puts, err := l.putsRow(ctx, gone.CommitTS)
	return !puts, err
}

// putsRow reports whether the commit at a timestamp wrote a new version of a row of the table. It
// compares the table's rows just before the commit with those at it.
func (l *recheck) putsRow(ctx context.Context, at tso.Timestamp) (puts bool, err error) {
	tx, rows := l.run.env.Tx, l.scan.Table.IndexSpan(table.RowIndexID)
	tx.ReadAt(at - 1)
	before, err := tx.Scan(ctx, rows, txn.ScanOptions{})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, before.Close()) }()
	tx.ReadAt(at)
	after, err := tx.Scan(ctx, rows, txn.ScanOptions{})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, after.Close()) }()
	next := func(it *txn.Iterator, ts tso.Timestamp) bool {
		tx.ReadAt(ts) // an iterator that waited for a lock opens anew
		return it.Next()
	}
	more := next(before, at-1)
	for next(after, at) {
		for more && bytes.Compare(before.Key(), after.Key()) < 0 {
			more = next(before, at-1)
		}
		if !more || !bytes.Equal(before.Key(), after.Key()) ||
			!bytes.Equal(before.Value(), after.Value()) {
			return true, errors.Join(before.Err(), after.Err())
		}
	}
	return false, errors.Join(before.Err(), after.Err())
}

// over copies the plan with the row in place of its scan. Sorts are left out: there is one row.
func (l *recheck) over(n physical.Node, row *types.Batch) physical.Node {
	switch t := n.(type) {
	case *physical.Scan:
		return &fixedRow{Base: t.Base, scan: t, row: row}
	case *physical.Filter:
		c := *t
		c.Child = l.over(t.Child, row)
		return &c
	case *physical.Project:
		c := *t
		c.Child = l.over(t.Child, row)
		return &c
	case *physical.Sort:
		return l.over(t.Child, row)
	case *physical.LockRows:
		return l.over(t.Child, row)
	}
	return n
}

// inRanges reports whether a row is in one of the scan's ranges. It leaves that to the whole
// condition if the scan has one for rows that are rechecked.
func (l *recheck) inRanges(row []types.Datum) (bool, error) {
	if l.scan.Ranges == nil || l.scan.Recheck != nil {
		return true, nil
	}
	key := l.scan.Table.RowKey
	if ix := l.scan.Index; ix != nil && ix.ID != table.RowIndexID {
		key = ix.Columns
	}
	for i := range l.scan.Ranges {
		g := &l.scan.Ranges[i]
		sr := scanRange{eq: scalarExprs(g.Eq), low: scalarExpr{e: g.Low},
			high: scalarExpr{e: g.High}, node: g}
		rg, empty, err := sr.eval(l.run)
		if err != nil {
			return false, err
		}
		if !empty && inRange(l.scan.Table, key, &rg, row) {
			return true, nil
		}
	}
	return false, nil
}

func inRange(d *table.Desc, key []table.IndexColumn, g *table.Range, row []types.Datum) bool {
	column := func(i int) (*types.Type, types.Datum) {
		o := d.ColumnByID(key[i].ColumnID)
		return d.Columns[o].Type, row[o]
	}
	for i, want := range g.Eq {
		t, have := column(i)
		if have.Null != want.Null || !have.Null && types.Compare(t, have, want) != 0 {
			return false
		}
	}
	if g.Low == nil && g.High == nil {
		return true
	}
	t, have := column(len(g.Eq))
	if have.Null {
		return false
	}
	return withinBounds(t, have, g)
}

// withinBounds reports whether a value lies between the bounds of a range.
func withinBounds(t *types.Type, have types.Datum, g *table.Range) bool {
	if g.Low != nil {
		if c := types.Compare(t, have, *g.Low); c < 0 || c == 0 && !g.LowIncl {
			return false
		}
	}
	if g.High != nil {
		if c := types.Compare(t, have, *g.High); c > 0 || c == 0 && !g.HighIncl {
			return false
		}
	}
	return true
}

// fixedRow takes the place of a scan in the plan: its one row is known.
type fixedRow struct {
	physical.Base
	scan *physical.Scan
	row  *types.Batch
}

// Children is part of physical.Node.
func (*fixedRow) Children() []physical.Node { return nil }

// buildFixedRow applies the scan's filter to the row.
func (r *run) buildFixedRow(n *fixedRow) (operator, error) {
	s := &scan{run: r, node: n.scan, batch: n.row, started: true, filter: condition{run: r}}
	f := &fixedScan{scan: s}
	var err error
	filter := n.scan.Filter
	if n.scan.Recheck != nil {
		filter = n.scan.Recheck
	}
	s.filter.prog, err = compileOptional(filter)
	return f, err
}

type fixedScan struct {
	scan *scan
	done bool
}

func (f *fixedScan) Open(context.Context) error { return nil }
func (f *fixedScan) Close() error               { return nil }

func (f *fixedScan) Next(ctx context.Context) (*types.Batch, error) {
	if f.done {
		return nil, nil
	}
	f.done = true
	f.scan.run.ctx = ctx
	return f.scan.narrow(f.scan.batch)
}
