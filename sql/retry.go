package sql

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/wait"
)

// maxAttempts bounds how often an implicit transaction is run again after a conflict. Each conflict
// means that another transaction has committed, so the system as a whole makes progress.
const maxAttempts = 50

// backoff waits before attempt number attempt+1: a random time, whose bound grows with each
// attempt.
func backoff(ctx context.Context, attempt int) error {
	if attempt == 0 {
		return ctx.Err()
	}
	most := time.Millisecond << min(attempt-1, 6)
	return wait.Pause(ctx, rand.N(most)+1)
}

// Retry runs an implicit transaction that ended with err again until it has no conflict. It is the
// one loop for that (docs/ARCHITECTURE.md, "Run again"). rewind takes back what was written for the
// client since the transaction began, and reports whether the client has seen none of it. replay
// then runs all of the transaction's statements.
//
// Retry returns the error of the last attempt. It returns err itself if no attempt is allowed:
// because the error would come again, or the transaction had effects that must not happen twice.
func (s *Session) Retry(ctx context.Context, err error, rewind func() bool,
	replay func() error) error {
	for attempt := 0; err != nil && s.mayRetry(ctx, attempt, err) && rewind(); attempt++ {
		s.tally.again()
		err = replay()
	}
	return err
}

// mayRetry reports whether attempt number attempt (from 0) may follow err. It returns when the
// attempt may begin.
func (s *transactor) mayRetry(ctx context.Context, attempt int, err error) bool {
	if s.tx.state != idle || !retryable(err) && !s.assumedWrongly(err) || attempt >= maxAttempts ||
		s.sideEffects {
		return false
	}
	if s.assumed {
		s.readFirst = readFirstKept
	} else {
		s.retries = attempt + 1
	}
	s.engine.reruns.countTransaction(s.database)
	return backoff(ctx, attempt) == nil
}

// Rewound returns a portal to its state after Bind, in a transaction that Retry runs again.
func (s *Session) Rewound(p *Portal) {
	p.close()
	p.finished, p.failed, p.atEnd = false, false, false
	p.rows, p.pos, p.context, p.done = 0, 0, nil, ""
	p.spent = 0
	if s.tx.state == idle {
		s.start(inImplicit)
	}
	s.portals[p.Name] = p
}

// retryable reports whether a new attempt of the whole transaction may succeed: nothing of it is in
// the store, and it failed because of another transaction.
func retryable(err error) bool {
	var (
		se       *sqlerr.Error
		conflict *txn.WriteConflictError
		exists   *txn.AlreadyExistsError
		locked   *txn.LockedError
		deadlock *rowlock.DeadlockError
		reads    *txn.ReadConflictError
		pair     *txn.SerializationError
	)
	if errors.Is(err, txn.ErrAmbiguous) {
		return false
	}
	if errors.As(err, &conflict) || errors.As(err, &exists) || errors.As(err, &locked) ||
		errors.As(err, &deadlock) ||
		errors.As(err, &reads) || errors.As(err, &pair) {
		return true
	}
	return errors.As(err, &se) && se.Code == sqlerr.SerializationFailure
}
