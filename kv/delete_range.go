package kv

import "context"

// RangeDeleter is an engine that deletes all keys of a span at a cost that does not grow with their
// number.
type RangeDeleter interface {
	// DeleteRange deletes every key of the span. It is a lazy update that names each row of which a
	// key lies in the span: it is atomic, snapshots keep what they show, what is set afterwards
	// stays, and a later durable Update makes it durable. Requires: no Update of one of these rows
	// runs beside it. An engine need not keep them apart, and what such an update reads may be gone
	// when it writes.
	//
	// Cancelling ctx is honoured until the deletion is handed over; the error is then
	// ErrNotApplied.
	DeleteRange(ctx context.Context, span Span) error
}

// deleteBatch bounds one update of DeleteSpan on an engine that deletes key by key.
const deleteBatch = 1024

// DeleteSpan deletes the keys of a span: all at once where the engine can, and otherwise up to
// limit of them, in updates of a bounded number of keys, or all when limit is zero. It reports
// whether none is left. Requires: no Update of a row in the span runs beside it.
func DeleteSpan(ctx context.Context, e Engine, span Span, limit int) (done bool, err error) {
	if span.Empty() {
		return true, nil
	}
	if d, ok := e.(RangeDeleter); ok {
		return true, d.DeleteRange(ctx, span)
	}
	l := LimitsOf(e)
	for left := limit; limit == 0 || left > 0; {
		n := bounded(bounded(deleteBatch, l.Ops), l.Rows)
		if limit > 0 {
			n = min(n, left)
		}
		keys, err := firstKeys(ctx, e, span, n, l.Bytes)
		if err != nil || len(keys) == 0 {
			return err == nil, err
		}
		if err := deleteKeys(ctx, e, keys); err != nil {
			return false, err
		}
		left -= len(keys)
		span.Start = append(keys[len(keys)-1], 0x00)
	}
	return false, nil
}

// firstKeys returns up to n of the first keys of a span, of rows of one group, and, if bytes is not
// zero, of no more bytes.
func firstKeys(ctx context.Context, e Engine, span Span, n, bytes int) (keys [][]byte, err error) {
	s, err := e.Snapshot()
	if err != nil {
		return nil, err
	}
	it, err := s.NewIter(ctx, span)
	if err != nil {
		return nil, firstOf(err, s.Close())
	}
	group, size := uint64(0), 0
	for ok := it.First(); ok && len(keys) < n; ok = it.Next() {
		g := GroupOf(e, Row(it.Key()))
		size += len(it.Key())
		if len(keys) > 0 && (g != group || bytes != 0 && size > bytes) {
			break
		}
		group = g
		keys = append(keys, append([]byte(nil), it.Key()...))
	}
	return keys, firstOf(it.Err(), it.Close(), s.Close())
}

// deleteKeys deletes keys of one group, lazily.
func deleteKeys(ctx context.Context, e Engine, keys [][]byte) error {
	rows := make([][]byte, len(keys))
	for i, key := range keys {
		rows[i] = Row(key)
	}
	return UpdateLazy(ctx, e, rows, func(_ Reader, b *Batch) error {
		for _, key := range keys {
			b.Delete(key)
		}
		return nil
	})
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
