package gc

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// A dropped span may be held, by those that are to read it later: the collector deletes it once the
// safepoint has passed the transaction that removes the last hold. The transaction that drops the
// span writes the holds, so there is no safepoint at which the span is dropped and not held yet.
//
//	user key                                                    value
//	00 'h' 'o' 'l' 'd' uvarint(len of start) start holder       01

// heldPrefix begins the keys of holds.
const heldPrefix = "\x00hold"

// HeldKey returns the key and the value of a hold on the dropped span that starts at start.
func HeldKey(start, holder []byte) (key, value []byte) {
	return append(heldSpan(start).Start, holder...), []byte{droppedFormat}
}

// heldSpan holds the keys of all holds on a span.
func heldSpan(start []byte) kv.Span {
	prefix := binary.AppendUvarint([]byte(heldPrefix), uint64(len(start)))
	prefix = append(prefix, start...)
	return kv.Span{Start: prefix, End: kv.PrefixEnd(prefix)}
}

// isHeld reports whether a reader at the safepoint sees a hold on a dropped span.
func isHeld(ctx context.Context, r kv.Reader, safepoint tso.Timestamp,
	start []byte) (held bool, err error) {
	var v mvcc.View
	v.Init(r)
	// Every lock below the safepoint is settled.
	sc, err := v.Scan(ctx, heldSpan(start),
		mvcc.ScanParams{ReadParams: mvcc.ReadParams{StartTS: safepoint, NoLocks: true}})
	if err != nil {
		return false, err
	}
	held = sc.Next()
	return held, errors.Join(sc.Err(), sc.Close(), v.Close())
}
