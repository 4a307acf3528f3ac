package sql

import (
	"context"
	"errors"

	"github.com/minidb/minidb/txn"
)

// readFirstKept is how many INSERTs of a session look for their rows first after one that did not
// has failed: the next ones likely meet rows that are there, too.
const readFirstKept = 16

// assume makes an INSERT that is all of its transaction look at nothing before its commit, where
// each look is a request: the schema is the one that this process saw last, and the rows are new.
// The commit fails if either is wrong, and Retry runs the statement again, which then looks first.
func (s *transactor) assume() {
	switch {
	case s.tx.pessimistic || s.retries > 0 || s.tx.isolation == serializable:
	case s.readFirst > 0:
		s.readFirst--
	default:
		s.assumed = s.tx.view.Assume() || s.assumed
	}
}

// confirmed returns err, the failure of a statement, unless that rests on a schema that was assumed
// and is no more: then it is a conflict.
func (s *transactor) confirmed(ctx context.Context, err error) error {
	if tx := s.tx.tx; tx != nil && ctx.Err() == nil {
		if outdated := tx.Confirm(ctx); outdated != nil {
			return outdated
		}
	}
	return err
}

// assumedWrongly reports whether an attempt failed for what it had assumed long ago.
func (s *transactor) assumedWrongly(err error) bool {
	var old *txn.SafepointError
	return s.assumed && errors.As(err, &old)
}
