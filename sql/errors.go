package sql

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// Causes of a statement's end, given to its context.
var (
	errCanceledByUser   = errors.New("canceled by user request")
	errStatementTimeout = errors.New("statement timeout")
	errShutdown         = errors.New("shutdown")
)

// toSQL turns an error of a lower layer into what a client sees. Errors that have a code keep it.
func toSQL(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var (
		se        *sqlerr.Error
		safepoint *txn.SafepointError
		deadlock  *rowlock.DeadlockError
		exhausted *memory.ExhaustedError
	)
	switch {
	case errors.As(err, &se):
		return err
	case errors.Is(err, txn.ErrAmbiguous):
		// whatever the reason: a cancelled statement would mean that nothing has happened
		return wrap(sqlerr.StatementCompletionUnknown, "the outcome of the commit is unknown", err).
			WithHint("The transaction may have been committed. Read before writing again.")
	case ctx.Err() != nil && (errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)):
		return canceled(ctx)
	case errors.As(err, &exhausted):
		return outOfMemory(exhausted)
	}
	if c := conflictError(err); c != nil {
		return c
	}
	switch {
	case errors.Is(err, txn.ErrTooLarge):
		return wrap(sqlerr.OutOfMemory, "out of memory", err).
			WithDetail("The transaction holds too many writes that are not committed.").
			WithHint("Split it into several smaller transactions.")
	case errors.Is(err, kv.ErrTooLarge):
		return wrap(sqlerr.ProgramLimitExceeded, "the store takes no value of this size", err).
			WithDetail("%v", err).
			WithHint("Split the value into several rows, or keep it outside the database.")
	case errors.As(err, &deadlock):
		return deadlocked(deadlock)
	case errors.Is(err, rowlock.ErrNotAvailable):
		return wrap(sqlerr.LockNotAvailable, "could not obtain lock on row", err)
	case errors.Is(err, rowlock.ErrTimeout):
		return wrap(sqlerr.LockNotAvailable, "canceling statement due to lock timeout", err)
	case errors.Is(err, txn.ErrReadOnly):
		return wrap(sqlerr.ReadOnlySQLTransaction, "cannot write in a read-only transaction", err)
	case errors.Is(err, kv.ErrSnapshotGone):
		return wrap("72000", "snapshot too old", err).
			WithDetail("The store has given up the state that the statement reads.").
			WithHint("Run the transaction again.")
	case errors.As(err, &safepoint):
		return wrap("72000", "snapshot too old", err).WithDetail("%v", err)
	}
	if e := engineError(err); e != nil {
		return e
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return unavailable(err) // a limit of ours: the statement itself has not ended
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return canceled(ctx)
	}
	return wrap(sqlerr.InternalError, err.Error(), err)
}

// conflictError returns the 40001 of a conflict with another transaction; nil for any other error.
func conflictError(err error) error {
	var (
		conflict *txn.WriteConflictError
		exists   *txn.AlreadyExistsError
		locked   *txn.LockedError
		reads    *txn.ReadConflictError
		pair     *txn.SerializationError
		stale    *txn.StaleError
	)
	switch {
	case errors.As(err, &conflict) && conflict.Deleted:
		return serialization("could not serialize access due to concurrent delete", conflict.Key,
			err)
	case errors.As(err, &stale):
		return serialization("could not serialize access due to concurrent update", stale.Key, err)
	case errors.As(err, &conflict):
		return serialization("could not serialize access due to concurrent update", conflict.Key,
			err)
	case errors.As(err, &exists):
		return serialization("could not serialize access due to concurrent insert", exists.Key, err)
	case errors.As(err, &locked):
		return serialization("could not serialize access due to a lock of another transaction",
			locked.Key, err)
	case errors.As(err, &reads):
		return serialization(unserializable, reads.Key, err)
	case errors.As(err, &pair):
		return serialization(unserializable, pair.Key, err).WithDetail("Reason code: %s",
			pair.Reason)
	}
	return nil
}

// engineError returns what a client sees of an error of the engine; nil for any other error.
func engineError(err error) error {
	switch {
	case errors.Is(err, kv.ErrCorruption):
		return wrap(sqlerr.DataCorrupted, err.Error(),
			err).WithHint("What lies in other files can still be read. " +
			"Restore a backup (minidb restore) or a copy of the data directory, or save the " +
			"other tables with COPY.")
	case errors.Is(err, kv.ErrDiskFull):
		return wrap(sqlerr.DiskFull, "the disk is nearly full", err).WithDetail("%v", err).
			WithHint("DELETE, TRUNCATE, DROP and VACUUM still work and make room, as does " +
				"removing other files.")
	case errors.Is(err, kv.ErrFailed):
		return wrap(sqlerr.IOError, err.Error(), err)
	case errors.Is(err, kv.ErrUnavailable), errors.Is(err, tso.ErrUnavailable):
		return unavailable(err)
	case errors.Is(err, kv.ErrClosed):
		return wrap(sqlerr.AdminShutdown, "the database is closed", err)
	}
	return nil
}

// unavailable is the error of a statement that waited in vain for what the store is made of.
func unavailable(err error) error {
	return wrap(sqlerr.CannotConnectNow, "the store does not answer", err).WithDetail("%v", err).
		WithHint("Nothing was committed. Try again, here or on another server of this store.")
}

// deadlocked returns the error of a deadlock cycle, worded as PostgreSQL words it.
func deadlocked(d *rowlock.DeadlockError) error {
	var b strings.Builder
	for i, w := range d.Cycle {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "Process %d waits for a lock that process %d holds.", w.Owner, w.Blocker)
	}
	e := wrap(sqlerr.DeadlockDetected, "deadlock detected", d)
	e.Detail = b.String()
	return e
}

func wrap(code, message string, cause error) *sqlerr.Error {
	return &sqlerr.Error{Code: code, Message: message, Cause: cause}
}

// unserializable is the message of a serializable transaction that does not fit into any serial
// order of the transactions.
const unserializable = "could not serialize access due to read/write dependencies among " +
	"transactions"

func serialization(message string, key []byte, cause error) *sqlerr.Error {
	e := wrap(sqlerr.SerializationFailure, message, &conflict{key: key, cause: cause})
	return e.WithHint("The transaction might succeed if retried.")
}

// canceled is the error of a statement whose context ended, by the reason for it.
func canceled(ctx context.Context) error {
	cause := context.Cause(ctx)
	var exhausted *memory.ExhaustedError
	switch {
	case errors.As(cause, &exhausted):
		return outOfMemory(exhausted)
	case errors.Is(cause, errStatementTimeout):
		return wrap(sqlerr.QueryCanceled, "canceling statement due to statement timeout", cause)
	case errors.Is(cause, errShutdown):
		return wrap(sqlerr.AdminShutdown, "terminating connection due to administrator command",
			cause)
	case errors.Is(cause, errCanceledByUser), cause == nil:
		return wrap(sqlerr.QueryCanceled, "canceling statement due to user request", cause)
	}
	return wrap(sqlerr.QueryCanceled, "canceling statement due to user request",
		cause).WithDetail("%v", cause)
}

// errFailedTransaction is the error of every statement of a failed block.
func errFailedTransaction() error {
	return sqlerr.New(sqlerr.InFailedSQLTransaction,
		"current transaction is aborted, commands ignored until end of transaction block")
}

// OutOfMemory returns the error that a client sees when an account refuses memory.
func OutOfMemory(err error) error { return toSQL(context.Background(), err) }

// outOfMemory is the error of a statement that ended because the process's memory is used up.
func outOfMemory(e *memory.ExhaustedError) error {
	out := wrap(sqlerr.OutOfMemory, "out of memory", e)
	if e.Asked > 0 {
		out = out.WithDetail("The session held %d kB and asked for %d kB more; the process may "+
			"hold %d kB, and none that held more could be ended.",
			e.Held>>10, e.Asked>>10, e.Bound>>10)
	} else {
		out = out.WithDetail("The session held %d kB, the most of all, when the process could "+
			"hold no more: it may hold %d kB.",
			e.Held>>10, e.Bound>>10)
	}
	return out.WithHint("The view minidb_memory shows what is held. Run fewer such statements at " +
		"once, or give the process more (serve --memory).")
}

// withPosition sets the position of an error that has none.
func withPosition(err error, pos ast.Pos) error {
	var e *sqlerr.Error
	if errors.As(err, &e) && e.Position == 0 {
		return e.At(int(pos))
	}
	return err
}

// conflict keeps the key of a conflict, so that the row can be named if the statement is not run
// again.
type conflict struct {
	key   []byte
	cause error
}

func (c *conflict) Error() string { return c.cause.Error() }

func (c *conflict) Unwrap() error { return c.cause }
