package sql

import (
	"github.com/minidb/minidb/txn"
)

import "context"

// beginStatement gives a statement its snapshot. If the client will receive only the number of
// changed rows, the statement may read what is not durable yet. Every other statement waits until
// all that it sees is durable.
func (s *transactor) beginStatement(ctx context.Context, k *kind) error {
	fresh := s.tx.tx == nil
	if err := s.ensure(ctx); err != nil {
		return err
	}
	s.tx.statements++
	if n := len(s.tx.savepoints); n > 0 {
		s.tx.tx.ForgetSavepointsAfter(s.tx.savepoints[n-1].at) // those of earlier statements
	} else {
		s.tx.tx.ForgetSavepoints()
	}
	s.references.Clear()
	// A transaction that Parse has begun a moment ago, for this statement alone, reads what is
	// newest as it is.
	if !fresh && !(s.prompt && s.tx.state == inImplicit && s.tx.statements == 1) {
		if err := s.newestSchema(ctx); err != nil {
			return err
		}
	}
	early := k.countsOnly()
	s.tx.optimistic = s.optimistic(k)
	if !early {
		if err := s.tx.tx.AwaitDurable(ctx); err != nil {
			return err
		}
	}
	s.setLocking(early)
	return nil
}

// awaitDurable waits until what the statement has read is durable. It precedes rows sent to the
// client.
func (s *transactor) awaitDurable(ctx context.Context) error {
	if s.tx.tx == nil {
		return nil
	}
	return s.tx.tx.AwaitDurable(ctx)
}

// serializationError returns why the transaction cannot be serialized, if that is known at the end
// of a statement.
func (s *transactor) serializationError() error {
	if s.tx.tx == nil {
		return nil
	}
	return s.tx.tx.Refused()
}

// advance moves the transaction to a new snapshot, of the schema too.
func (s *transactor) advance(ctx context.Context) error {
	if err := s.tx.tx.Advance(ctx); err != nil {
		return err
	}
	s.tx.view = s.engine.catalog.ViewWith(s.tx.tx, s.temporarySchema())
	return nil
}

// newestSchema shows the statement the newest schema that its isolation level allows: all that is
// committed, or only the newest constraints.
func (s *transactor) newestSchema(ctx context.Context) error {
	if s.tx.perStatement() {
		return s.advance(ctx)
	}
	_, err := s.renewSchema(ctx)
	return err
}

// renewSchema shows the newest constraints to a statement of a block that keeps its snapshot
// (docs/adr/0004). changed reports that plans made before are not valid any more.
func (s *transactor) renewSchema(ctx context.Context) (changed bool, err error) {
	if s.tx.state != inBlock || s.tx.perStatement() || s.tx.asOf != 0 {
		return false, nil
	}
	changed, err = s.tx.view.Renew(ctx)
	if changed {
		s.references.ForgetReferrers()
	}
	return changed, err
}

// refreshable reports whether the statement may have a newer snapshot: always in READ COMMITTED,
// otherwise when it is the transaction's first.
func (s *transactor) refreshable() bool {
	return s.tx.perStatement() || s.tx.statements <= 1 && len(s.tx.savepoints) == 0 &&
		!s.tx.tx.Dirty()
}

// refresh gives the statement a new snapshot. Requires: refreshable.
func (s *transactor) refresh(ctx context.Context) error {
	if s.tx.perStatement() {
		return s.advance(ctx)
	}
	if err := s.dropSnapshot(ctx); err != nil {
		return err
	}
	return s.ensure(ctx)
}

// dropSnapshot drops a snapshot through which only the schema was read. The session keeps its
// locks.
func (s *transactor) dropSnapshot(ctx context.Context) error {
	tx := s.tx.tx
	if tx == nil {
		return nil
	}
	s.tx.tx, s.tx.view = nil, nil
	tx.SetLocking(txn.Locking{Owner: s.engine.store.RowLocks().NewOwner(0)})
	return tx.Rollback(ctx)
}
