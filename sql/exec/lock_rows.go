package exec

import (
	"context"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// lockRows makes transactions that lock the same rows exclude each other, in the way of an
// optimistic transaction: nobody waits, and whoever commits second fails with 40001. FOR UPDATE and
// FOR NO KEY UPDATE write the row back as it is, so that two of them conflict; FOR SHARE and FOR KEY
// SHARE have the commit verify that nobody wrote the row. As nothing is ever found locked, NOWAIT
// changes nothing; SKIP LOCKED, which promises to leave out what others hold, is refused.
type lockRows struct {
	run     *run
	child   operator
	targets []physical.LockTarget
}

func (r *run) buildLockRows(n *physical.LockRows) (operator, error) {
	for _, t := range n.Tables {
		if strings.Contains(strings.ToUpper(t.Wait), "SKIP") {
			return nil, sqlerr.Unsupported(0, "SKIP LOCKED")
		}
	}
	child, err := r.build(n.Child)
	if err != nil {
		return nil, err
	}
	return &lockRows{run: r, child: child, targets: n.Tables}, nil
}

func (l *lockRows) Open(ctx context.Context) error { return l.child.Open(ctx) }
func (l *lockRows) Close() error                   { return l.child.Close() }

func (l *lockRows) Next(ctx context.Context) (*types.Batch, error) {
	b, err := l.child.Next(ctx)
	if err != nil || b == nil {
		return nil, err
	}
	for i := range l.targets {
		for _, row := range selection(b) {
			if err := l.lock(ctx, &l.targets[i], b, int(row)); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

func (l *lockRows) lock(ctx context.Context, t *physical.LockTarget, b *types.Batch, row int) error {
	key := make([]types.Datum, len(t.Key))
	for i, c := range t.Key {
		key[i] = b.Cols[c].Get(row)
		if key[i].Null {
			return nil // the row of an outer join that is not there
		}
	}
	spans, err := table.Spans(t.Table, nil, []table.Range{{Eq: key}}, false)
	if err != nil {
		return err
	}
	tx := l.run.env.Tx
	for _, s := range spans {
		if strings.Contains(strings.ToUpper(t.Strength), "SHARE") {
			tx.Validate(s)
			continue
		}
		value, err := tx.Get(ctx, s.Start)
		if err != nil {
			return err
		}
		if value == nil {
			continue
		}
		if err := tx.Set(s.Start, append([]byte(nil), value...)); err != nil {
			return err
		}
	}
	return nil
}
