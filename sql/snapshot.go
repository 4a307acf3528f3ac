package sql

import (
	"github.com/minidb/minidb/txn"
)

import "context"

// beginStatement gives a statement its snapshot. One that tells its client no more than how many
// rows it changed may go on from what is not durable yet; every other waits for what came before
// it.
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

// awaitDurable comes before rows are given to the client.
func (s *transactor) awaitDurable(ctx context.Context) error {
	if s.tx.tx == nil {
		return nil
	}
	return s.tx.tx.AwaitDurable(ctx)
}

// refused returns why the transaction cannot be serialized, if that is known at the end of a
// statement.
func (s *transactor) refused() error {
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
	s.tx.view = s.engine.catalog.View(s.tx.tx)
	return nil
}

// newestSchema shows a statement the schema as it is now, as far as its isolation level lets it:
// with all that is committed, or with constraints alone.
func (s *transactor) newestSchema(ctx context.Context) error {
	if s.tx.perStatement() {
		return s.advance(ctx)
	}
	_, err := s.renewSchema(ctx)
	return err
}

// renewSchema lets a statement of a block that keeps its snapshot know the constraints that there
// are now (docs/adr/0004). changed says that plans made before are no good.
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

// dropSnapshot lets go of a snapshot through which only the schema was read. Locks stay the
// session's.
func (s *transactor) dropSnapshot(ctx context.Context) error {
	tx := s.tx.tx
	if tx == nil {
		return nil
	}
	s.tx.tx, s.tx.view = nil, nil
	tx.SetLocking(txn.Locking{Owner: s.engine.store.RowLocks().NewOwner(0)})
	return tx.Rollback(ctx)
}
