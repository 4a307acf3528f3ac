package txn

import (
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/lockwait"
)

// Commit makes the transaction's writes visible and durable, all or none, and ends it. Without
// writes it does nothing, but for keys that were inserted and deleted again: they must be absent
// still.
//
// The errors are *WriteConflictError, *AlreadyExistsError, *LockedError when waiting took too long,
// ErrAmbiguous (wrapped) when the result is unknown, and those of the engine and the context; with
// any of them but ErrAmbiguous nothing was written. A serializable transaction also fails with
// *ReadConflictError, and, even without writes, with *SerializationError.
func (t *Txn) Commit(ctx context.Context) error {
	if t.done {
		return ErrTxnDone
	}
	defer t.finish()
	t.dropSnapshot()
	err := t.commitNotifying(func() error {
		err := t.commit(ctx)
		t.committed(err)
		return err
	})
	if errors.Is(err, ErrAbandoned) {
		t.shared.Forget() // a dead coordinator gives nothing back
	}
	return err
}

func (t *Txn) commit(ctx context.Context) error {
	if !t.Dirty() {
		return errors.Join(t.prepare(), t.AwaitDurable(ctx))
	}
	if err := t.s.enter(); err != nil {
		return err
	}
	defer t.s.gate.RUnlock()
	defer t.noteReplaced() // Close writes down what was noted
	if t.stream != nil {
		return t.commitStream(ctx)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	muts, absent, err := t.mutations(ctx, false)
	if err != nil {
		return err
	}
	c := &committer{
		s: t.s, t: t, startTS: t.reg.startTS, muts: muts, bytes: t.buf.bytes, validate: absent,
	}
	if err := t.s.Room(t.frees); err != nil && len(muts) > 0 {
		return kv.NotApplied(err)
	}
	if len(muts) == 0 {
		return errors.Join(c.validateLocked(ctx, &lockwait.Backoff{}), t.prepare(),
			t.AwaitDurable(ctx))
	}
	c.validate = append(c.validate, t.validated...)
	if t.reads != nil {
		c.reads = t.reads.spans()
	}
	if err := c.run(ctx); err != nil {
		// the reason may lie in what was read
		if lost := t.AwaitDurable(context.WithoutCancel(ctx)); lost != nil {
			err = errors.Join(err, lost)
		}
		return err
	}
	t.commitTS = c.commitTS
	return nil
}

// run chooses the protocol of the commit, once (txn: I15). Each step of it may be repeated: the
// second run finds the lock, the record or the rollback of the first. A commit in one phase whose
// result was lost is looked up and, if it is not there, prevented by a rollback record. It is never
// tried again in two phases, which would not find its record.
func (c *committer) run(ctx context.Context) error {
	if c.t.node != nil {
		if err := c.awaitRowLocks(ctx); err != nil {
			return err
		}
		if err := c.t.prepare(); err != nil {
			return err
		}
	}
	protocol := c.protocol()
	if protocol == OnePhase {
		return c.onePhase(ctx)
	}
	if err := c.awaitRowLocks(ctx); err != nil {
		return err
	}
	c.prewriting = true
	if protocol == Async {
		return c.asyncCommit(ctx)
	}
	return c.twoPhase(ctx)
}

// protocol decides how the commit reaches the store. It is asked once (txn: I15).
func (c *committer) protocol() Protocol {
	switch p := c.t.protocol; {
	case p == OnePhase, p == Async && c.fewKeys():
		return p
	case p == Auto && c.s.drawsUnderLatches() && c.oneBatch() && c.oneGroup():
		return OnePhase
	}
	return TwoPhase
}

// fewKeys reports whether the keys of the commit fit into the primary's lock, and whether what it
// validates stays true until all locks are there: with one update that is the update itself, with
// several it cannot be known.
func (c *committer) fewKeys() bool {
	if len(c.muts) > asyncKeysMax {
		return false
	}
	size := 0
	for i := range c.muts[1:] {
		size += len(c.muts[i+1].Key)
	}
	return size <= asyncBytesMax && (len(c.validate) == 0 || c.oneBatch() && c.oneGroup())
}
