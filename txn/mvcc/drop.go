package mvcc

import (
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// Occupied returns the spans of the engine's keys that hold anything of a span of user keys: one
// for each column that does. The write column comes first: deleted in this order, no record is ever
// without the value that it points to.
func Occupied(ctx context.Context, r kv.Reader, span kv.Span) (occupied []kv.Span, err error) {
	for _, family := range []byte{familyWrite, familyData, familyLock, familyRowLock,
		familyNotify} {
		raw := familySpan(family, span)
		it, err := r.NewIter(ctx, raw)
		if err != nil {
			return nil, err
		}
		if it.First() {
			occupied = append(occupied, raw)
		}
		if err := errors.Join(it.Err(), it.Close()); err != nil {
			return nil, err
		}
	}
	return occupied, nil
}

// Forget drops all versions of a row at or below the safepoint, the newest too: to readers at or
// above it the key was never there. Requires what Collect requires, and that no reader asks for the
// key.
func Forget(ctx context.Context, r kv.Reader, b *kv.Batch, safepoint tso.Timestamp,
	row []byte) (err error) {
	s := newStep(r, b)
	defer s.close(&err)
	return s.history(ctx, row, safepoint, func(commitTS tso.Timestamp, w Write) bool {
		b.Delete(appendWriteKey(nil, row, commitTS))
		if w.Kind == KindPut && !w.HasShort {
			b.Delete(appendDataKey(nil, row, w.StartTS))
		}
		return true
	})
}
