package sql

import (
	"context"

	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
)

// ObserverRun gives the transaction of a session, which has a block open, to a run of an observer,
// and finds the observer in it; ok is false when it is not there. The commit fails when the
// observer is dropped or replaced meanwhile.
func (s *Session) ObserverRun(ctx context.Context, name string) (t *txn.Txn, o catalog.Observed,
	ok bool, err error) {
	if err := s.ensure(ctx); err != nil {
		return nil, o, false, err
	}
	if o, ok, err = s.tx.view.Observer(ctx, s.databaseID, name); err != nil || !ok {
		return nil, o, false, err
	}
	s.tx.view.HoldObserver(o)
	// As after a first statement the snapshot stays as it is: the change is looked up in it.
	s.tx.statements++
	return s.tx.tx, o, true, nil
}

// Observers lists the observers of the session's database, in the transaction of its open block.
func (s *Session) Observers(ctx context.Context) ([]catalog.Observed, error) {
	if err := s.ensure(ctx); err != nil {
		return nil, err
	}
	return s.tx.view.Observers(ctx, s.databaseID)
}
