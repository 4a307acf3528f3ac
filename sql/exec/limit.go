package exec

import (
	"context"
	"math"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// limit skips rows and stops after some.
type limit struct {
	run           *run
	child         operator
	count, offset *eval.Program
	known         bool
	skip, left    int64
	out           types.Batch
	ties          *ties // nil without WITH TIES
}

func (r *run) buildLimit(n *physical.Limit) (operator, error) {
	r.limited = limitsLockRows(n.Child)
	child, err := r.build(n.Child)
	if err != nil {
		return nil, err
	}
	l := &limit{run: r, child: child}
	if l.count, err = compileOptional(n.Count); err != nil {
		return nil, err
	}
	if l.offset, err = compileOptional(n.Offset); err != nil {
		return nil, err
	}
	if n.Ties != nil {
		l.ties, err = r.newTies(n.Ties)
	}
	return l, err
}

func (l *limit) Open(ctx context.Context) error {
	l.known = false
	return l.child.Open(ctx)
}

func (l *limit) Close() error { return l.child.Close() }

// bounds evaluates the two expressions: NULL means no bound.
func (l *limit) bounds() error {
	l.known, l.skip, l.left = true, 0, math.MaxInt64
	if l.offset != nil {
		d, err := l.run.scalar(l.offset)
		switch {
		case err != nil:
			return err
		case !d.Null && d.I < 0:
			return sqlerr.New(sqlerr.InvalidRowCountInOffset, "OFFSET must not be negative")
		case !d.Null:
			l.skip = d.I
		}
	}
	if l.count != nil {
		d, err := l.run.scalar(l.count)
		switch {
		case err != nil:
			return err
		case !d.Null && d.I < 0:
			return sqlerr.New(sqlerr.InvalidRowCountInLimit, "LIMIT must not be negative")
		case !d.Null:
			l.left = d.I
		case l.ties != nil:
			return sqlerr.New(sqlerr.InvalidRowCountInLimit,
				"row count cannot be null in FETCH FIRST ... WITH TIES clause")
		}
	}
	if l.ties != nil {
		l.ties.open = l.left > 0
	}
	return nil
}

func (l *limit) Next(ctx context.Context) (*types.Batch, error) {
	l.run.ctx = ctx
	if !l.known {
		if err := l.bounds(); err != nil {
			return nil, err
		}
	}
	for l.left > 0 || l.ties != nil && l.ties.open {
		b, err := l.child.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		n := int64(b.Rows())
		if l.skip >= n {
			l.skip -= n
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			continue
		}
		if l.skip == 0 && n <= l.left && l.ties == nil {
			l.left -= n
			return b, nil
		}
		keep := selection(b)[l.skip:]
		if l.ties != nil {
			if keep, err = l.ties.cut(l.run, b, keep, l.left); err != nil || len(keep) == 0 {
				return nil, err
			}
		} else if int64(len(keep)) > l.left {
			keep = keep[:l.left]
		}
		l.skip = 0
		l.left = max(l.left-int64(len(keep)), 0)
		l.out = types.Batch{Cols: b.Cols, Len: b.Len, Sel: keep}
		return &l.out, nil
	}
	return nil, nil
}
