package txn

import (
	"bytes"
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// A transaction that only inserts has one question to the store before its commit: whether what it
// rests on, the schema, is still as this process saw it a moment ago. Where each read is a request
// it may assume so. The assumption is confirmed by the first read that the transaction makes for
// another reason, with the same snapshot, so that it never reads anything by an old schema; and
// when it reads nothing, by the validation of its commit.

// assumption is the value that a key is taken to have.
type assumption struct{ key, value []byte }

// Assume makes the transaction take a key to have the value that it had at a timestamp, without a
// read. The first read fails with *WriteConflictError if the key has another value by then, and so
// does Commit if another transaction wrote the key since, before the writes appear. Without a write
// the caller has to Confirm. Requires: the store has other writers (Foretold).
func (t *Txn) Assume(key, value []byte, since tso.Timestamp) {
	t.ValidateSince(kv.Span{Start: key, End: kv.Successor(key)}, since)
	t.assumed = &assumption{key: key, value: value}
}

// Assumes reports whether an assumption is not confirmed yet.
func (t *Txn) Assumes() bool { return t.assumed != nil }

// Confirm reads the key of an assumption that is not confirmed yet.
func (t *Txn) Confirm(ctx context.Context) error {
	a := t.assumed
	if a == nil {
		return nil
	}
	t.assumed, t.ctx = nil, ctx
	value, err := t.readStore(ctx, a.key)
	if err == nil && !bytes.Equal(value, a.value) {
		err = &WriteConflictError{Key: a.key, StartTS: t.reg.startTS, ConflictTS: t.readTS}
	}
	if err != nil {
		t.assumed = a
	}
	return err
}

// takesForAbsent reports whether a key that is about to be inserted is left to the commit, which
// fails if the key has a value.
func (t *Txn) takesForAbsent() bool {
	return t.assumed != nil && !t.locksWrites && t.stream == nil && !t.buf.HasSavepoints()
}
