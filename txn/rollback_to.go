package txn

import (
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/buffer"
	"github.com/minidb/minidb/txn/rowlock"
)

// Savepoint is a point in a transaction's writes to which it can return.
type Savepoint struct {
	at      uint64
	locks   rowlock.Mark
	records int
	beside  *Savepoint // of the companion's transaction; nil: there was none
}

// Savepoint marks the present state of the buffered writes.
func (t *Txn) Savepoint() Savepoint {
	sp := Savepoint{at: t.buf.Savepoint()}
	if t.waiter.Owner != nil {
		sp.locks = t.waiter.Owner.Mark()
	}
	sp.records = t.shared.Mark()
	if t.companion != nil {
		beside := t.companion.Savepoint()
		sp.beside = &beside
	}
	return sp
}

// RollbackTo forgets the writes made after sp and gives back the row locks taken since. sp and
// earlier savepoints stay usable, later ones do not.
func (t *Txn) RollbackTo(sp Savepoint) {
	if t.done {
		return
	}
	t.buf.Thaw()
	t.undo(sp)
	t.undoBeside(sp.beside)
	if t.waiter.Owner != nil {
		t.shared.ReleaseTo(sp.records)
		t.waiter.Owner.ReleaseTo(sp.locks)
	}
}

// UndoTo forgets the writes made after sp and keeps the row locks: the statement runs again.
func (t *Txn) UndoTo(sp Savepoint) {
	if !t.done {
		t.buf.Thaw()
		t.undo(sp)
		t.undoBeside(sp.beside)
	}
}

// ForgetSavepoints frees the memory of all savepoints made so far. None of them is used any more.
func (t *Txn) ForgetSavepoints() {
	t.buf.ForgetSavepoints()
	t.forgetBesideAfter(nil)
}

// ForgetSavepointsAfter frees the memory of those that were made after sp. Requires: sp has not
// been forgotten.
func (t *Txn) ForgetSavepointsAfter(sp Savepoint) {
	t.buf.ForgetSavepointsAfter(sp.at)
	t.forgetBesideAfter(sp.beside)
}

// undo forgets the writes made after sp. What was streamed out since is taken back in the store: it
// comes into the buffer as it was before, and is streamed out as writes are. That cannot be
// cancelled, because the client goes on from the savepoint. An error fails the transaction, which
// has nothing to undo then.
func (t *Txn) undo(sp Savepoint) {
	t.unloadAfter(sp)
	span := t.buf.RollbackTo(sp.at, t.stream != nil && t.stream.InDoubt())
	if span.End == nil || t.stream.Failed() != nil {
		return
	}
	ctx := context.WithoutCancel(t.writeContext())
	for span.Start != nil {
		next, err := t.undoStreamed(ctx, span, sp.at)
		if t.lost(err) {
			span.Start = next
			continue
		}
		if err == nil && next != nil {
			err = t.streamOut(ctx)
		}
		if err != nil {
			t.stream.Fail(err) // the store is closed, or cannot be read
			return
		}
		span.Start = next
	}
}

// undoStreamed brings the keys of a span that were streamed out after a savepoint back into the
// buffer, as they were at it, until the buffer is full: next is where to go on, nil at the end.
// What the buffer has is newer than the store, and is undone already. When the snapshot is gone
// next is where to go on, too.
func (t *Txn) undoStreamed(ctx context.Context, span kv.Span, at uint64) (next []byte, err error) {
	v, err := t.openStreamed(ctx)
	if err != nil {
		return nil, err
	}
	next = span.Start
	sc, err := v.View.ScanOwn(ctx, span, t.reg.startTS, false)
	if err != nil {
		return next, err
	}
	defer func() { err = errors.Join(err, sc.Close()) }()
	for sc.Next() {
		if _, ok := t.buf.Get(sc.Key); ok || sc.Lock.Seq <= at {
			continue
		}
		w := buffer.Of(&sc.Lock, nil)
		t.buf.FaultIn(sc.Key, w.AsOf(at))
		if t.buf.Held() > t.s.opts.StreamBytes {
			return kv.Successor(sc.Key), nil
		}
	}
	if sc.Err() == nil {
		return nil, nil
	}
	passed, err := sc.Passed()
	if passed != nil {
		next = kv.Successor(passed)
	}
	return next, errors.Join(sc.Err(), err)
}
