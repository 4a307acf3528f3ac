package txn

import (
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/gc"
	"github.com/minidb/minidb/txn/tso"
)

// DropSpan drops a span of keys as a whole, at a cost that does not grow with their number (txn:
// I25). It deletes nothing itself. The caller takes away, in this transaction, what led to the
// keys, so that no transaction that starts above commit_ts reads or writes any of them; a
// transaction that may still write there must validate a key that this one writes. The collector
// deletes the span once the safepoint has passed this commit and every lock below it, in the whole
// store, is settled; it checks again later (package gc). What a serializable transaction has read
// in the span counts as written.
//
// Requires: the span has an end, and its keys are never used again.
func (t *Txn) DropSpan(span kv.Span) error {
	if t.aside(span.Start) {
		c, err := t.besideWrite()
		if err != nil {
			return err
		}
		return c.DropSpan(span)
	}
	if t.node != nil {
		if err := t.node.WriteSpan(span); err != nil {
			return err
		}
	}
	key, value := gc.AppendDropped(span)
	return t.Set(key, value)
}

// HoldDropped keeps the collector from deleting the span that this transaction drops and that
// starts at start, until a transaction has committed that lets it go (ReleaseDropped). Readers in
// between find what was committed there. The holder's name is unique among those of the span.
func (t *Txn) HoldDropped(start, holder []byte) error { return t.Set(gc.HeldKey(start, holder)) }

// ReleaseDropped takes back a hold. The collector waits for transactions that began before.
func (t *Txn) ReleaseDropped(start, holder []byte) error {
	key, _ := gc.HeldKey(start, holder)
	return t.Delete(key)
}

// Keeps reports whether a span was not dropped as a whole, by the list of dropped spans, and makes
// Commit fail if it is dropped meanwhile.
func (t *Txn) Keeps(ctx context.Context, span kv.Span) (bool, error) {
	if t.aside(span.Start) {
		return true, nil
	}
	t.ValidateKept(span, t.readTS)
	key, _ := gc.AppendDropped(span)
	value, err := t.GetUnserialized(ctx, key)
	return value == nil, err
}

// ValidateKept makes Commit fail with *WriteConflictError if the span was dropped as a whole
// (DropSpan) after the timestamp: what was read or locked in it means nothing any more.
func (t *Txn) ValidateKept(span kv.Span, since tso.Timestamp) {
	if t.aside(span.Start) {
		return
	}
	key, _ := gc.AppendDropped(span)
	t.ValidateSince(kv.Span{Start: key, End: kv.Successor(key)}, since)
}

// Dropped lists the spans that were dropped as a whole and that the collector may not have deleted
// yet, as the transaction sees the list.
func (t *Txn) Dropped(ctx context.Context) (spans []kv.Span, err error) {
	it, err := t.Scan(ctx, gc.DroppedSpans(), ScanOptions{Unserialized: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for it.Next() {
		span, err := gc.DecodeDropped(it.Key(), it.Value())
		if err != nil {
			return nil, err
		}
		spans = append(spans, span)
	}
	return spans, it.Err()
}

// DroppedStart returns where a dropped span starts, of a key of the list of dropped spans; ok is
// false for other keys.
func DroppedStart(key []byte) (start []byte, ok bool) { return gc.DroppedStart(key) }
