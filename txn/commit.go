package txn

import (
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/commit"
	"github.com/minidb/minidb/txn/mvcc"
)

// Commit makes the transaction's writes visible and durable, all or none, and ends it. Without
// writes it does nothing, but for keys that were inserted and deleted again: they must be absent
// still.
//
// The errors are *WriteConflictError, *AlreadyExistsError, *LockedError when waiting took too long,
// ErrAmbiguous (wrapped) when the result is unknown, and those of the engine and the context; with
// any of them but ErrAmbiguous nothing was written. A serializable transaction also fails with
// *ReadConflictError, and, even without writes, with *SerializationError. *CompanionError means
// that the store's own writes are committed, and what the companion had is lost.
func (t *Txn) Commit(ctx context.Context) error {
	if t.done {
		return ErrTxnDone
	}
	defer t.finish()
	t.dropSnapshot()
	err := t.settleBeside(ctx)
	if err == nil {
		err = t.commitNotifying(func() error {
			err := t.commit(ctx)
			t.committed(err)
			return err
		})
	}
	err = t.endBeside(ctx, err)
	if errors.Is(err, ErrAbandoned) {
		t.shared.Forget() // a dead coordinator gives nothing back
		return err
	}
	t.endLoads(err == nil)
	return err
}

func (t *Txn) commit(ctx context.Context) error {
	if t.loadErr != nil {
		return t.loadErr
	}
	if !t.dirty() {
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
	if err := t.s.Room(t.frees); err != nil && len(muts) > 0 {
		return kv.NotApplied(err)
	}
	if len(muts) == 0 {
		return errors.Join(t.s.coordinator.Validate(ctx, t.coordinated(), absent), t.prepare(),
			t.AwaitDurable(ctx))
	}
	t.commitTS, err = t.s.coordinator.Commit(ctx, t.coordinated(), t.writes(muts), t.checks(absent))
	if err != nil {
		// the reason may lie in what was read
		if lost := t.AwaitDurable(context.WithoutCancel(ctx)); lost != nil {
			err = errors.Join(err, lost)
		}
	}
	return err
}

// coordinated is the transaction as the coordinator of its commit knows it.
func (t *Txn) coordinated() commit.Transaction {
	return commit.Transaction{Waiter: &t.waiter, RowLocks: t.shared, Node: t.node,
		Protocol: t.protocol}
}

// writes are the mutations of all that is buffered.
func (t *Txn) writes(muts []mvcc.Mutation) commit.Writes {
	return commit.Writes{Muts: muts, Bytes: t.buf.Bytes(), ReadTS: t.readTS, Statement: t.wrote}
}

// checks are what others must not have changed, absent among it.
func (t *Txn) checks(absent []commit.Validation) commit.Checks {
	c := commit.Checks{Validate: append(absent, t.validated...)}
	if t.reads != nil {
		c.Reads = t.reads.spans()
	}
	return c
}
