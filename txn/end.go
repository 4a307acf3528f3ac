package txn

import (
	"context"

	"github.com/minidb/minidb/txn/buffer"
	"github.com/minidb/minidb/txn/hints"
)

// Rollback ends the transaction without a trace. It may be repeated, and after Commit it does
// nothing.
func (t *Txn) Rollback(ctx context.Context) error {
	if t.stream != nil && !t.done {
		t.rollbackStream(ctx)
	}
	t.endLoads(false)
	c := t.companion
	t.finish()
	if c != nil {
		return c.Rollback(ctx)
	}
	return nil
}

// Unlock gives back all locks of a transaction that has failed and waits for its end. What it has
// streamed out is rolled back, because those are locks too. Nothing can be read or written any
// more.
func (t *Txn) Unlock() {
	if t.done {
		return
	}
	if t.stream != nil {
		t.rollbackStream(context.Background())
		t.stream.Fail(ErrTxnDone)
	}
	t.endLoads(false)
	if o := t.waiter.Owner; o != nil {
		t.shared.Release(nil)
		o.ReleaseTo(0)
	}
}

// finish releases everything that the transaction holds.
func (t *Txn) finish() {
	if t.done {
		return
	}
	t.done = true
	if t.stream != nil {
		t.stream.End()
	}
	t.dropSnapshot()
	t.Abort()
	t.releaseLocks()
	t.noteReplaced()
	t.s.registry.leave(&t.reg)
	t.buf = buffer.Buffer{}
	t.counted.none()
	t.dependencies, t.companion = nil, nil
}

// releaseLocks ends the transaction's locks, once what it wrote is visible.
func (t *Txn) releaseLocks() {
	if o := t.waiter.Owner; o != nil {
		t.shared.Release(t.hasWritten)
		o.ReleaseTo(0)
		o.SetTransaction(0)
	}
}

// hasWritten reports whether the transaction has committed a write of the key.
func (t *Txn) hasWritten(key string) bool {
	if t.commitTS == 0 || t.stream != nil {
		return false
	}
	w, ok := t.buf.Get([]byte(key))
	return ok && (w.Kind == buffer.Put || w.Kind == buffer.Delete)
}

// noteReplaced notes for the collector what the transaction has replaced, before it lets go of the
// safepoint: a pass at or above its commit_ts begins after that.
func (t *Txn) noteReplaced() {
	if t.replaced.Empty() {
		return
	}
	at := t.commitTS
	// it may have committed all the same: at or below the newest timestamp that any record has
	if at == 0 {
		at = max(t.s.memory.Recent.Newest(), t.reg.startTS+1)
	}
	t.s.memory.Garbage.NoteReplaced(at, &t.replaced)
	t.replaced = hints.Replaced{}
}
