package pebblekv

import (
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"
	"github.com/minidb/minidb/kv"
)

// DeleteRange implements kv.RangeDeleter: one range tombstone, which hides the span at once;
// compactions drop the files that lie in it as they are.
func (e *Engine) DeleteRange(ctx context.Context, span kv.Span) error {
	if err := ctx.Err(); err != nil {
		return kv.NotApplied(err)
	}
	if err := e.enter(); err != nil {
		return kv.NotApplied(err)
	}
	defer e.gate.RUnlock()
	if span.End == nil {
		last, err := e.lastKey(span)
		if err != nil || last == nil {
			return mark(err)
		}
		span.End = append(last, 0x00)
	}
	if span.Empty() {
		return nil
	}
	e.lazy.begun.Add(1)
	err := e.db.DeleteRange(span.Start, span.End, pebble.NoSync)
	e.lazy.applied.Add(1)
	if failed := e.fail.get(); failed != nil {
		return failed
	}
	return mark(err)
}

// lastKey returns the last key of a span, nil when there is none. A range tombstone needs an end.
func (e *Engine) lastKey(span kv.Span) (key []byte, err error) {
	it, err := e.db.NewIter(&pebble.IterOptions{LowerBound: span.Start})
	if err != nil {
		return nil, err
	}
	if it.Last() {
		key = append([]byte{}, it.Key()...)
	}
	return key, errors.Join(it.Error(), it.Close())
}
