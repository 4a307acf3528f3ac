package mvcc

import (
	"fmt"
	"strings"

	"github.com/minidb/minidb/txn/tso"
)

// LockedError is returned for a key that is locked by a transaction whose status is not known here.
type LockedError struct {
	Key []byte
	// Lock is the key's. A resolver that has asked its primary adds client and statement from
	// there.
	Lock Lock
}

func (e *LockedError) Error() string {
	holder := ""
	if h := e.Lock.Holder(); h != "" {
		holder = " of " + h
	}
	return fmt.Sprintf("key %q is locked by transaction %s%s, primary %q", e.Key, e.Lock.StartTS,
		holder, e.Lock.Primary)
}

// Holder describes in words for which client and statement the lock is held, as far as they are
// known.
func (l *Lock) Holder() string {
	var parts []string
	if l.Owner != 0 {
		parts = append(parts, "session "+tso.Timestamp(l.Owner).String())
	}
	if l.Client != 0 {
		parts = append(parts, fmt.Sprintf("process %d", l.Client))
	}
	if l.Statement != "" {
		parts = append(parts, fmt.Sprintf("for %q", l.Statement))
	}
	return strings.Join(parts, ", ")
}

// WriteConflictError is returned for a key that another transaction wrote after this one started.
type WriteConflictError struct {
	Key        []byte
	StartTS    tso.Timestamp // of the transaction that lost
	ConflictTS tso.Timestamp // commit_ts of the one that won, or its start_ts while it holds a lock
	Deleted    bool          // the one that won removed the key
}

func (e *WriteConflictError) Error() string {
	return fmt.Sprintf("write conflict on key %q: transaction %s lost to %s", e.Key, e.StartTS,
		e.ConflictTS)
}

// AlreadyExistsError is returned for a key that had to be absent and has a value.
type AlreadyExistsError struct {
	Key []byte
}

func (e *AlreadyExistsError) Error() string { return fmt.Sprintf("key %q already exists", e.Key) }

// RolledBackError is returned for a transaction that was rolled back, by itself or by a resolver.
type RolledBackError struct {
	Key     []byte
	StartTS tso.Timestamp
}

func (e *RolledBackError) Error() string {
	return fmt.Sprintf("transaction %s is rolled back (key %q)", e.StartTS, e.Key)
}

// CommittedError is returned for a transaction that is committed, so that it cannot be rolled back
// or prewritten.
type CommittedError struct {
	StartTS, CommitTS tso.Timestamp
}

func (e *CommittedError) Error() string {
	return fmt.Sprintf("transaction %s is committed at %s", e.StartTS, e.CommitTS)
}

// CommitTooEarlyError is returned for a commit_ts below the lowest one that a reader has pushed the
// transaction to.
type CommitTooEarlyError struct {
	CommitTS, MinCommitTS tso.Timestamp
}

func (e *CommitTooEarlyError) Error() string {
	return fmt.Sprintf("commit at %s is below the minimum %s", e.CommitTS, e.MinCommitTS)
}
