package commit

import (
	"errors"
	"fmt"

	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

var (
	// ErrAmbiguous means that the commit may have happened or not, and that it cannot be known
	// now. The caller must not run the transaction again blindly.
	ErrAmbiguous = errors.New("the result of the commit is unknown")

	// ErrAbandoned is returned by a commit that a test's crash point stopped half way.
	ErrAbandoned = errors.New("coordinator was abandoned at a crash point")
)

// ambiguous wraps the reason why a result is unknown.
func ambiguous(err error) error { return fmt.Errorf("%w: %w", ErrAmbiguous, err) }

// ReadConflictError is returned to a serializable transaction that read what another has written
// since.
type ReadConflictError struct {
	Key     []byte
	StartTS tso.Timestamp
}

func (e *ReadConflictError) Error() string {
	return fmt.Sprintf("transaction %s read key %q, which was written since", e.StartTS, e.Key)
}

// readConflict turns the error of a validation about a written key into that of the reader.
func readConflict(err error) error {
	var w *mvcc.WriteConflictError
	if errors.As(err, &w) {
		return &ReadConflictError{Key: w.Key, StartTS: w.StartTS}
	}
	return err
}

// rowLockedError ends a step of a commit that would write a key on which another owner has a lock.
type rowLockedError struct{ key []byte }

func (e *rowLockedError) Error() string { return fmt.Sprintf("key %q has a row lock", e.key) }

var (
	// errExtend ends a step whose timestamp would need a write to the engine.
	errExtend = errors.New("the oracle's range is used up")
	// errRedraw ends a validation that had to wait: commit_ts is to be drawn anew.
	errRedraw = errors.New("commit_ts is drawn anew")
)
