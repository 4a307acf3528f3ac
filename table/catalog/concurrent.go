package catalog

import (
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// Two transactions of READ COMMITTED that change different objects of the schema at the same time
// both commit. What each of them rests on is protected by itself: a name by its row lock (reserve)
// and its key, a schema that gets a name by a validated point (claim), a relation that a view or a
// default names likewise (Require), and the other sides, which drop or rename, by validated spans.
// The version key alone is written by both, so the second one's write of it is moved behind the
// first one's at commit.

// reserve takes the row lock of a key that the transaction read as absent and is about to write:
// another transaction that wants to write it waits until this one has ended. If the key was written
// since it was read, the error is *txn.StaleError with txn.Locking.Rereads, and otherwise
// *txn.WriteConflictError.
func (v *View) reserve(ctx context.Context, key []byte) error {
	if !v.tx.LocksBind() {
		return nil // the keys conflict at commit
	}
	found, err := v.tx.LockKey(ctx, key, rowlock.Update, false)
	if err != nil || found.CommitTS == 0 {
		return err
	}
	return v.tx.Stale(key, found)
}

// Require makes Commit fail if one of the relations has changed since the transaction read it, or
// is gone.
func (v *View) Require(ids ...table.ID) {
	for _, id := range ids {
		v.validate(table.DescKey(id))
	}
}

func (v *View) validate(key []byte) {
	v.tx.Validate(kv.Span{Start: key, End: append(key[:len(key):len(key)], 0)})
}

// Commit commits the transaction by calling commit. With rebase, a change of the schema that
// another transaction has committed since this one's snapshot does not by itself conflict. That is
// for READ COMMITTED, where each statement saw the newest schema. Transactions of this process that
// are rebased take turns, and the version that each of them leaves is above all versions before it.
//
// A transaction that has written its version to the store already (it outgrew
// txn.Options.StreamBytes) is not rebased: a concurrent transaction that changes the schema waits
// for it, and conflicts. Its version is raised to the present, for it began before others that have
// committed since.
func (v *View) Commit(ctx context.Context, rebase bool, commit func() error) error {
	if v.tx.Assumes() {
		return v.commitAssumed(ctx, commit)
	}
	if !rebase {
		return commit()
	}
	if !v.tx.Buffered(versionKey) {
		if err := v.raiseStreamed(ctx); err != nil {
			return err
		}
		return commit()
	}
	select {
	case v.c.turn <- struct{}{}:
		defer func() { <-v.c.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := v.rebase(ctx); err != nil {
		return err
	}
	return commit()
}

// raiseStreamed raises the version that the transaction has streamed out, if there is one. No other
// transaction writes that key before this one has ended.
func (v *View) raiseStreamed(ctx context.Context) error {
	if !v.tx.Streams() {
		return nil
	}
	_, own, err := v.Version(ctx)
	if err != nil || !own {
		return err
	}
	at, err := v.present(ctx)
	if err != nil {
		return err
	}
	return v.tx.Set(versionKey, encodeVersion(uint64(at)))
}

// rebase moves the write of the version key to the present. Requires: this is the transaction's
// turn.
func (v *View) rebase(ctx context.Context) error {
	at, err := v.present(ctx)
	if err != nil {
		return err
	}
	return v.tx.SetAfter(at, versionKey, encodeVersion(uint64(at)))
}

// present draws a timestamp.
func (v *View) present(ctx context.Context) (tso.Timestamp, error) {
	now, err := v.c.store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return 0, err
	}
	return now.StartTS(), now.Rollback(ctx)
}
