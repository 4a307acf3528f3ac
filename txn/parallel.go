package txn

import (
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/mvcc"
)

// SpanReader reads a span as its transaction does, in a goroutine of its own. It uses nothing of
// the transaction, which stays where it is until the reader is closed.
type SpanReader struct {
	snap   kv.Snapshot
	view   mvcc.View
	params mvcc.ScanParams
}

// SpanReaders returns n readers of a span, or none where only the transaction itself can read it:
// it has written there, it is serializable, a lock may have to be settled, or other processes write
// to the engine. What the transaction writes from then on is not shown.
//
// They read what the transaction would read (txn: I30). Each has a snapshot of the engine that is
// younger than the read timestamp, which shows the same at it as any other (package hints): commits
// below it that were in flight in the span are awaited here, and a lock that is put down later is
// of a transaction that commits above.
func (t *Txn) SpanReaders(ctx context.Context, span kv.Span, keysOnly bool,
	n int) (readers []*SpanReader, err error) {
	if t.done {
		return nil, ErrTxnDone
	}
	if free, err := t.readsFreely(ctx, span); err != nil || !free {
		return nil, err
	}
	for range n {
		snap, err := t.s.engine.Snapshot()
		if err != nil {
			return nil, errors.Join(err, CloseReaders(readers))
		}
		r := &SpanReader{snap: snap, params: mvcc.ScanParams{KeysOnly: keysOnly,
			ReadParams: mvcc.ReadParams{StartTS: t.readTS, NoLocks: true}}}
		r.view.Init(snap)
		readers = append(readers, r)
	}
	return readers, nil
}

// readsFreely reports whether what the transaction reads in a span is what any other one would read
// at its read timestamp, without a lock in its way, and no transaction need know of the reads. All
// commits of the span at or below the timestamp are applied then.
func (t *Txn) readsFreely(ctx context.Context, span kv.Span) (bool, error) {
	if !t.s.alone || t.aside(span.Start) || t.stream != nil || t.node != nil || t.reads != nil ||
		t.buf.Cursor(span, false, true) != nil {
		return false, nil
	}
	return t.settled(ctx, span)
}

// settled waits until no commit in flight below the read timestamp concerns a span, and reports
// whether no lock does.
func (t *Txn) settled(ctx context.Context, span kv.Span) (unlocked bool, err error) {
	t.ctx = ctx
	for {
		v, err := t.open()
		if err != nil {
			return false, err
		}
		waited, err := t.awaitPending(ctx,
			func(p *hints.Pending) bool { return p.HasKeyIn(span) })
		if err != nil {
			return false, err
		}
		if !waited {
			return !v.Locks.In(span), nil
		}
	}
}

// Each calls visit with each key of a part of the span, in order, until it returns an error. Key
// and value are valid during the call.
func (r *SpanReader) Each(ctx context.Context, part kv.Span,
	visit func(key, value []byte) error) (err error) {
	sc, err := r.view.Scan(ctx, part, r.params)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sc.Close()) }()
	for n := 0; sc.Next(); n++ {
		if n%rowsPerCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := visit(sc.Key(), sc.Value()); err != nil {
			return err
		}
	}
	return sc.Err()
}

// Close gives back what the reader holds.
func (r *SpanReader) Close() error { return errors.Join(r.view.Close(), r.snap.Close()) }

// CloseReaders closes them all.
func CloseReaders(readers []*SpanReader) (err error) {
	for _, r := range readers {
		err = errors.Join(err, r.Close())
	}
	return err
}
