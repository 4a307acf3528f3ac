package txn

import (
	"bytes"
	"encoding/binary"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/commit"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// Validate makes Commit fail with *WriteConflictError if any other transaction has put or deleted a
// key of the span after start_ts: what was read there must still be true when the writes appear.
// A transaction without writes needs no validation, for its snapshot is one instant.
//
// Of two transactions of which each writes what the other validates, one fails as long as one of
// the two spans is a point, [key, key+0x00): a point is validated under its row's latch, or after
// all locks are there. This is how a change of a table's schema (which writes the descriptor and
// validates the rows) and a change of its rows (which validates the descriptor) exclude each other.
func (t *Txn) Validate(span kv.Span) { t.ValidateSince(span, t.readTS) }

// ValidateSince is Validate of a span that was read at a timestamp of its own. Of several of one
// span the earliest counts.
func (t *Txn) ValidateSince(span kv.Span, since tso.Timestamp) {
	if t.aside(span.Start) {
		return
	}
	id := spanID(span)
	if i, known := t.validatedAt[id]; known {
		v := &t.validated[i]
		v.Since = min(v.Since, since)
		return
	}
	v := commit.Validation{
		Span:  kv.Span{Start: bytes.Clone(span.Start), End: bytes.Clone(span.End)},
		Since: since,
	}
	if span.IsPoint() {
		v.Row = mvcc.Row(span.Start)
	}
	if t.validatedAt == nil {
		t.validatedAt = map[string]int{}
	}
	t.validatedAt[id] = len(t.validated)
	t.validated = append(t.validated, v)
}

// spanID returns a string that no other span has.
func spanID(s kv.Span) string {
	b := binary.AppendUvarint(make([]byte, 0, len(s.Start)+len(s.End)+4), uint64(len(s.Start)))
	b = append(append(b, s.Start...), s.End...)
	if s.End == nil {
		b = append(b, 0) // an empty end is an empty span, none is no bound
		return "-" + string(b)
	}
	return string(b)
}
