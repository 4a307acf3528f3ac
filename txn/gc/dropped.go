package gc

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// A transaction that drops a span of user keys as a whole writes one key, an entry in the list of
// dropped spans, and takes away what led to the span. The collector deletes the span, locks,
// records and values, once no transaction can need any of it:
//
//   - The safepoint has passed the entry's commit_ts. So no transaction is left that may read what
//     the span held: those at or above the safepoint know no way to it. And none is left that may
//     write there: a writer that found the old way started below the drop, and fails, because it
//     validates what the drop has written.
//   - Every lock below the safepoint is settled, in the whole store. A primary in the span may
//     decide secondaries elsewhere, and its record goes with the span; so those must have become
//     records first. The locks in the span are settled too: they are late prewrites of transactions
//     that failed.
//
// An entry is removed when a later pass finds its span empty. Until then every pass deletes what it
// finds there. So neither a crash between any two steps nor a write that an engine applies late
// leaves anything for good.
//
//	user key                          value
//	00 'd' 'r' 'o' 'p' start of span  01, end of span

// droppedPrefix begins the keys of the list. No other user key begins with a zero byte.
const droppedPrefix = "\x00drop"

// droppedFormat begins the value of an entry.
const droppedFormat = 1

// DroppedSpans is the span of user keys that holds the list.
func DroppedSpans() kv.Span {
	return kv.Span{Start: []byte(droppedPrefix), End: kv.PrefixEnd([]byte(droppedPrefix))}
}

// AppendDropped returns the entry for a dropped span. Requires: the span has an end. Of several
// spans with one start only the last is remembered.
func AppendDropped(span kv.Span) (key, value []byte) {
	key = append([]byte(droppedPrefix), span.Start...)
	return key, append([]byte{droppedFormat}, span.End...)
}

// DroppedStart returns the start of the dropped span of an entry, by its key; ok is false for other
// keys.
func DroppedStart(key []byte) (start []byte, ok bool) {
	return bytes.CutPrefix(key, []byte(droppedPrefix))
}

// DecodeDropped returns the dropped span of an entry.
func DecodeDropped(key, value []byte) (kv.Span, error) {
	start, ok := DroppedStart(key)
	if !ok || len(value) < 2 || value[0] != droppedFormat {
		return kv.Span{}, fmt.Errorf("dropped span %x: %x: %w", key, value, kv.ErrCorruption)
	}
	return kv.Span{Start: bytes.Clone(start), End: bytes.Clone(value[1:])}, nil
}

// droppedPerStep is how many entries one step looks at.
const droppedPerStep = 256

// dropped is an entry of the list: its key and its span.
type dropped struct {
	key  []byte
	span kv.Span
}

// readDropped returns the first entries that were committed at or below the safepoint, from a key
// on, and the key to go on from, nil at the end.
func readDropped(
	ctx context.Context, r kv.Reader, safepoint tso.Timestamp, from []byte,
) (list []dropped, next []byte, err error) {
	span := DroppedSpans()
	if from != nil {
		span.Start = from
	}
	var v mvcc.View
	v.Init(r)
	// Every lock below the safepoint is settled.
	sc, err := v.Scan(ctx, span,
		mvcc.ScanParams{ReadParams: mvcc.ReadParams{StartTS: safepoint, NoLocks: true}})
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, sc.Close(), v.Close()) }()
	for sc.Next() {
		if len(list) == droppedPerStep {
			return list, bytes.Clone(sc.Key()), nil
		}
		d := dropped{key: bytes.Clone(sc.Key())}
		if d.span, err = DecodeDropped(sc.Key(), sc.Value()); err != nil {
			return nil, nil, err
		}
		list = append(list, d)
	}
	return list, nil, sc.Err()
}

// drop takes the next step through the list, deleting up to limit keys of a span where the engine
// cannot delete it at once, or all when limit is zero. It reports whether the list is worked off.
func (p *Pass) drop(ctx context.Context, e kv.Engine, limit int) (done bool, err error) {
	snap, err := kv.Latest(e)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	list, next, err := readDropped(ctx, snap, p.Stats.Safepoint, p.nextDropped)
	if err != nil {
		return false, err
	}
	for _, d := range list {
		if done, err := p.dropOne(ctx, e, snap, d, limit); err != nil || !done {
			p.nextDropped = d.key
			return false, err
		}
	}
	p.nextDropped = next
	return next == nil, nil
}

// dropOne deletes what is in a dropped span that is not held, or when nothing is, the entry.
func (p *Pass) dropOne(ctx context.Context, e kv.Engine, r kv.Reader, d dropped,
	limit int) (done bool, err error) {
	occupied, err := mvcc.Occupied(ctx, r, d.span)
	if err != nil {
		return false, err
	}
	if len(occupied) == 0 {
		return true, p.forget(ctx, e, d)
	}
	if held, err := isHeld(ctx, r, p.Stats.Safepoint, d.span.Start); err != nil || held {
		return err == nil, err
	}
	for _, raw := range occupied {
		if done, err := kv.DeleteSpan(ctx, e, raw, limit); err != nil || !done {
			return false, err
		}
	}
	p.Stats.Spans++
	return true, nil
}

// forget removes an entry from the list. Lazy: if a crash takes it back, its span is found empty
// again.
func (p *Pass) forget(ctx context.Context, e kv.Engine, d dropped) error {
	row := [][]byte{mvcc.Row(d.key)}
	return kv.UpdateLazy(ctx, e, row, func(r kv.Reader, b *kv.Batch) error {
		return mvcc.Forget(ctx, r, b, p.Stats.Safepoint, row[0])
	})
}
