package txn

import (
	"bytes"
	"errors"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/ssi"
	"github.com/minidb/minidb/txn/tso"
)

// SerializationError is returned to a serializable transaction that cannot be placed in a serial
// order with the others; run the whole again.
type SerializationError = ssi.Error

// serialize makes the transaction serializable: what it reads from now on, empty spans and absent
// keys too, has its place in one serial order with what it writes (txn: I10). It must be called
// before start_ts is drawn. On an engine of this process's own, package ssi gets the reads and
// writes when they happen, and the commit before and after. It fails one of every three
// transactions that could break the order. On any other engine what was read is validated after
// commit_ts was drawn: nothing in it, ranges and absent keys included, has changed between the
// snapshot and commit_ts (reads.go, docs/adr/0006).
func (t *Txn) serialize(opts BeginOptions) {
	switch {
	case t.s.alone:
		t.node = t.s.serial.Begin(ssi.Options{ReadOnly: opts.ReadOnly, Deferrable: opts.Deferrable,
			Owner: opts.Session})
	case !opts.ReadOnly:
		t.reads = &readSet{}
	}
}

// SafeSnapshotWaits lists the sessions that wait for a safe snapshot, with those for which each
// waits.
func (s *Store) SafeSnapshotWaits() []ssi.Wait { return s.serial.Waits() }

// Abort notes that the transaction will not commit, so that no other one is failed because of it
// any more.
func (t *Txn) Abort() {
	if t.node != nil {
		t.node.Aborted()
	}
}

// Refused returns why the transaction cannot be serialized, if that was found out when an iterator
// was closed before its end. A caller that ignores the errors of Close checks it after the
// statement.
func (t *Txn) Refused() error { return t.refused }

// noteRead notes a key before it is read.
func (t *Txn) noteRead(key []byte) error {
	switch {
	case t.node != nil:
		return t.node.ReadKey(key)
	case t.reads != nil:
		t.reads.addPoint(key)
	}
	return nil
}

// noteSpan notes a span that was read.
func (t *Txn) noteSpan(span kv.Span) error {
	if t.node != nil {
		return t.node.Read(span)
	}
	t.reads.add(span)
	return nil
}

// Refuse is called before the caller returns an error because another transaction has written the
// key. If the two cannot be put in any serial order, Refuse returns that error, which is the better
// one: a new attempt will find another state. later is when the key was written after the snapshot;
// with zero the snapshot shows that write, and so would the next one.
func (t *Txn) Refuse(key []byte, later tso.Timestamp) error {
	switch {
	case t.aside(key):
	case t.node != nil:
		return t.node.Write(key)
	case t.reads == nil || later == 0:
	case slices.ContainsFunc(t.reads.list, func(s kv.Span) bool { return s.Contains(key) }):
		return &ReadConflictError{Key: bytes.Clone(key), StartTS: t.StartTS()}
	}
	return nil
}

// prepare is called once a commit has nothing to wait for any more, and before it draws commit_ts.
func (t *Txn) prepare() error {
	if t.node == nil {
		return nil
	}
	return t.node.Prepare()
}

// committed notes how a commit has ended, for the other serializable transactions. For a failure,
// Abort does.
func (t *Txn) committed(err error) {
	switch {
	case t.node == nil:
	case err == nil:
		t.node.Committed(t.commitTS)
	case errors.Is(err, ErrAmbiguous), errors.Is(err, ErrAbandoned):
		t.node.Committed(0)
	}
}
