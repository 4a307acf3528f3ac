package sql

import (
	"context"

	"github.com/minidb/minidb/table"
)

// drawn are values of a sequence with CACHE that the session has drawn and not given out. They are
// of one epoch: ALTER SEQUENCE makes them void.
type drawn struct {
	epoch      uint32
	next, left int64
}

// drawValue returns the next value of a sequence: of those that the session has drawn already, or
// the first of as many as its CACHE says.
func (r *planRunner) drawValue(ctx context.Context, d *table.Desc) (int64, error) {
	if d.Sequence.Cache <= 1 {
		return r.engine.catalog.NextVal(ctx, d)
	}
	k, ok := r.drawn[d.ID]
	if !ok || k.left == 0 || k.epoch != d.Sequence.Epoch {
		first, more, err := r.engine.catalog.NextVals(ctx, d)
		if err != nil {
			return 0, err
		}
		k = drawn{epoch: d.Sequence.Epoch, next: first, left: more + 1}
	}
	v := k.next
	if k.left--; k.left > 0 {
		k.next += d.Sequence.Increment
	}
	if r.drawn == nil {
		r.drawn = map[table.ID]drawn{}
	}
	r.drawn[d.ID] = k
	return v, nil
}
