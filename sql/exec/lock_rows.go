package exec

import (
	"context"
	"errors"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
)

// lockRows locks the rows that its child returns: SELECT … FOR UPDATE and its like. If a row was
// changed after it was read, txn.LockCurrent returns an error: the row is rechecked, or the
// statement fails or runs again as a whole with the locks that it holds.
type lockRows struct {
	run     *run
	child   operator
	targets []lockTarget
	// single means that rows are locked and returned one by one: a LIMIT is above, or a cursor
	// reads them.
	single bool
	batch  *types.Batch // of the child, rows from at on not yet locked
	at     int
	sel    []int32
	out    types.Batch
	node   physical.Node
	extra  *types.Batch // a row as it is now, after it was found changed
}

type lockTarget struct {
	*physical.LockTarget
	mode   rowlock.Mode
	noWait bool
	skip   bool
}

var lockModes = map[string]rowlock.Mode{
	"update": rowlock.Update, "no key update": rowlock.NoKeyUpdate, "share": rowlock.Share,
	"key share": rowlock.KeyShare,
}

func (r *run) buildLockRows(n *physical.LockRows) (operator, error) {
	l := &lockRows{run: r, single: r.limited || r.env.Incremental, node: n.Child}
	r.limited = false
	for i := range n.Tables {
		t := lockTarget{LockTarget: &n.Tables[i], mode: lockModes[n.Tables[i].Strength]}
		t.skip = t.Wait == "skip locked"
		t.noWait = t.skip || t.Wait == "nowait"
		if t.mode == rowlock.None {
			return nil, sqlerr.New(sqlerr.InternalError, "unknown row lock \"%s\"", t.Strength)
		}
		l.targets = append(l.targets, t)
	}
	var err error
	l.child, err = r.build(n.Child)
	return l, err
}

func (l *lockRows) Open(ctx context.Context) error {
	l.batch, l.extra = nil, nil
	for i := range l.targets {
		table.HoldStorage(l.run.env.Tx, l.targets[i].Table)
	}
	return l.child.Open(ctx)
}

func (l *lockRows) Close() error { return l.child.Close() }

func (l *lockRows) Next(ctx context.Context) (*types.Batch, error) {
	for {
		if b := l.extra; b != nil {
			l.extra = nil
			return b, nil
		}
		if l.batch == nil {
			b, err := l.child.Next(ctx)
			if err != nil || b == nil {
				return nil, err
			}
			l.batch, l.at = b, 0
		}
		b := l.batch
		rows := selection(b)
		l.sel = l.sel[:0]
		for l.at < len(rows) && l.extra == nil && (!l.single || len(l.sel) == 0) {
			row := rows[l.at]
			l.at++
			locked, err := l.lockAll(ctx, b, int(row))
			if isStale(err) {
				locked, err = false, l.recheckRow(ctx, err, b, int(row))
			}
			if err != nil {
				return nil, err
			}
			if locked {
				l.sel = append(l.sel, row)
			}
		}
		if l.at == len(rows) {
			l.batch = nil
		}
		if len(l.sel) > 0 {
			l.out = types.Batch{Cols: b.Cols, Len: b.Len, Sel: l.sel}
			return &l.out, nil
		}
	}
}

// lockAll locks the rows of all tables that a result row is made of. It returns false if the result
// row is to be skipped.
func (l *lockRows) lockAll(ctx context.Context, b *types.Batch, row int) (bool, error) {
	for i := range l.targets {
		locked, err := l.lock(ctx, &l.targets[i], b, row)
		if !locked || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (l *lockRows) lock(ctx context.Context, t *lockTarget, b *types.Batch, row int) (bool, error) {
	key := make([]types.Datum, len(t.Key))
	for i, c := range t.Key {
		key[i] = b.Cols[c].Get(row)
		if key[i].Null {
			return true, nil // an outer join found no row of this table
		}
	}
	spans, err := table.Spans(t.Table, nil, []table.Range{{Eq: key}}, false)
	if err != nil {
		return false, err
	}
	for _, s := range spans {
		err := l.run.env.Tx.LockCurrent(ctx, s.Start, t.mode, t.noWait)
		if errors.Is(err, rowlock.ErrNotAvailable) {
			if t.skip {
				return false, nil
			}
			return false, sqlerr.New(sqlerr.LockNotAvailable,
				"could not obtain lock on row in relation \"%s\"", t.Table.Name)
		}
		if c := (*txn.WriteConflictError)(nil); errors.As(err, &c) {
			c.Deleted = false // PostgreSQL reports a deleted row as updated here
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// recheckRow reads the newest version of the row and, if that still belongs to the result, returns
// it next.
func (l *lockRows) recheckRow(ctx context.Context, stale error, b *types.Batch, row int) error {
	again := l.run.newRecheck(l.node)
	if again == nil || len(l.targets) != 1 {
		return stale
	}
	var key []types.Datum
	for _, c := range l.targets[0].Key {
		key = append(key, b.Cols[c].Get(row))
	}
	return again.row(ctx, stale, key, func(b *types.Batch) error {
		l.extra = b
		return nil
	})
}

// limitsLockRows reports whether a LIMIT over n takes its rows directly from a LockRows, which then
// must not lock more rows than the LIMIT asks for.
func limitsLockRows(n physical.Node) bool {
	for {
		switch t := n.(type) {
		case *physical.LockRows:
			return true
		case *physical.Project:
			n = t.Child
		default:
			return false
		}
	}
}
