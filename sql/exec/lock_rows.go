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

// lockRows locks the rows that pass, for SELECT … FOR UPDATE and its like. A row that was changed
// since it was read is an error that tells so (txn.LockCurrent): the statement fails, or is run
// again with the locks that it has.
type lockRows struct {
	run     *run
	child   operator
	targets []lockTarget
	// single: a LIMIT is above or a cursor around, so rows are locked and handed on one by one.
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

// lockAll locks the rows of all tables that a result row is made of; false when it is to be
// skipped.
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
			return true, nil // the row of an outer join that is not there
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
			c.Deleted = false // to a locker, PostgreSQL calls a row that is gone updated too
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// recheckRow makes the row as it is now the next one, if it still belongs to the result.
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

// limits says whether a node hands rows of a LockRows on, so that a LIMIT above must not make it
// lock more than are asked for.
func limits(n physical.Node) bool {
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
