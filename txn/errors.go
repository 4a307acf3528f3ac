package txn

import (
	"errors"
	"fmt"

	"github.com/minidb/minidb/txn/commit"
	"github.com/minidb/minidb/txn/gc"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/minidb/minidb/txn/wait"
)

// The errors of the protocol's steps, under the names that the layers above use.
type (
	// WriteConflictError is returned when another transaction wrote the key first; run the whole
	// again.
	WriteConflictError = mvcc.WriteConflictError
	// AlreadyExistsError is returned for an inserted key that has a value.
	AlreadyExistsError = mvcc.AlreadyExistsError
	// LockedError is returned for a key that stayed locked in the store for longer than
	// Options.LockWait.
	LockedError = mvcc.LockedError
	// ReadConflictError is returned to a serializable transaction that read what another has
	// written since.
	ReadConflictError = commit.ReadConflictError
	// SafepointError is returned to a reader at a timestamp whose versions may have been
	// collected.
	SafepointError = gc.SafepointError
)

var (
	// ErrAmbiguous means that the commit may have happened or not, and that it cannot be known
	// now. The caller must not run the transaction again blindly.
	ErrAmbiguous = commit.ErrAmbiguous

	// ErrTxnDone is returned by calls on a transaction that was committed or rolled back.
	ErrTxnDone = errors.New("transaction is finished")

	// ErrTooLarge is returned by a write of a transaction that holds Options.MaxTxnBytes. A single
	// value that the engine cannot take is kv.ErrTooLarge.
	ErrTooLarge = errors.New("transaction is too large")

	// ErrReadOnly is returned by a write in a read-only transaction.
	ErrReadOnly = errors.New("transaction is read-only")

	// ErrClosed is returned by calls on a closed Store.
	ErrClosed = wait.ErrClosed

	// ErrNoOracle is returned by Open of a store that other processes may write to without
	// Options.Oracle: with an oracle each, one would not see what another has acknowledged.
	ErrNoOracle = errors.New("a store that several processes share needs one oracle for all " +
		"(Options.Oracle)")

	// ErrAbandoned is returned by a commit that a test's crash point stopped half way.
	ErrAbandoned = commit.ErrAbandoned
)

// FutureError is returned for a historical read at a time that has not come yet.
type FutureError struct {
	StartTS, Now tso.Timestamp
}

func (e *FutureError) Error() string {
	return fmt.Sprintf("start timestamp %s is in the future (now %s)", e.StartTS, e.Now)
}

// errStopped ends a visit early.
var errStopped = errors.New("stop")
